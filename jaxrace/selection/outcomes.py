"""What a score says of a pair, as a number from 0 to 1 that bounds hold for."""

from typing import Literal, get_args

import jax
import jax.numpy as jnp

from jaxrace.selection.comparisons import LARGEST_SCORE
from jaxrace.validation import require_positive

Outcome = Literal["wins", "scores"]
OUTCOMES: tuple[str, ...] = get_args(Outcome)


def require_max_score(max_score: float) -> None:
    """Raise ValueError unless scores up to this one have 32 bits, and shares of it, too."""
    require_positive("max_score", max_score)
    if max_score > LARGEST_SCORE:
        raise ValueError(
            f"max_score: expected a number of at most {LARGEST_SCORE:.2g}, got {max_score}"
        )


def within(score: jax.Array, outcome: str, max_score: jax.Array) -> jax.Array:
    """Is a score finite, and in the range that the bounds rely on? bool, any shape.

    The range is from ``-max_score`` to ``max_score``; of wins it does not matter.
    """
    score, max_score = _alike(score, max_score)
    finite = jnp.isfinite(score)
    return finite if outcome == "wins" else finite & (jnp.abs(score) <= max_score)


def share_of(score: jax.Array, outcome: str, max_score: jax.Array) -> jax.Array:
    """Y in [0, 1], any shape: 1 for a win, 1/2 for a tie, 0 for a loss; or the score, rescaled.

    >>> print(share_of(jnp.array([-2.0, 0.0, 1.0]), "wins", jnp.float32(1)))
    [0.  0.5 1. ]
    >>> print(share_of(jnp.array([-2.0, 0.0, 1.0]), "scores", jnp.float32(2)))
    [0.   0.5  0.75]
    """
    if outcome == "wins":
        return (1 + jnp.sign(score)) / 2
    score, max_score = _alike(score, max_score)
    return (score / max_score + 1) / 2


def _alike(score: jax.Array, max_score: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Both in the wider dtype; scores may have 64 bits, or be whole numbers."""
    dtype = score.dtype if score.dtype == jnp.float64 else max_score.dtype
    return score.astype(dtype), max_score.astype(dtype)
