"""What selectors by rounds share: scores within bounds, and verdicts that stay. Axes: K options."""

import abc
import dataclasses
from typing import Any, ClassVar, Literal, get_args

import jax
import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.core.protocol import verb
from jaxrace.core.validation import require_choice, require_positive
from jaxrace.selection.base import Selector, Standing
from jaxrace.selection.comparisons import LARGEST_SCORE

Outcome = Literal["wins", "scores"]
OUTCOMES: tuple[str, ...] = get_args(Outcome)


@dataclasses.dataclass(frozen=True)
class RoundSelector(Selector):
    """Who is undecided is compared in rounds; after each, who is clear is decided for good.

    Bounds hold for numbers Y in [0, 1]: a state has their ``counts`` and ``totals``. It has
    ``rounds``, complete ones; ``place``, up to which those who wait had their turn of this round;
    ``selected`` and ``discarded``, bool [K]. The params have ``delta`` and ``max_score``.
    """

    outcome: Outcome = "wins"  # what counts; scores must be bounded

    is_guaranteed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("outcome", self.outcome, OUTCOMES)

    @abc.abstractmethod
    def waiting(self, state: Any) -> jax.Array:
        """Who has not had a turn in this round: options [K], or pairs [K K], bool."""

    @abc.abstractmethod
    def counted(self, state: Any, pair: jax.Array, share: jax.Array) -> Any:
        """The state with Y of the first over the second, and the place behind them."""

    @abc.abstractmethod
    def decided(self, state: Any, params: Any) -> Any:
        """The state after a round."""

    def accepts(self, score: jax.Array, params: Any) -> jax.Array:
        score, most = _alike(score, params.max_score)
        finite = jnp.isfinite(score)
        return finite if self.outcome == "wins" else finite & (jnp.abs(score) <= most)

    def turn(self, state: Any) -> jax.Array:
        """The number of the first who waits, int32 []."""
        return kernels.first_best(self.waiting(state).astype(jnp.int32))

    @verb
    def tell(self, state: Any, pair: Any, score: Any, params: Any) -> Any:
        share = share_of(score, self.outcome, params.max_score).astype(state.totals.dtype)
        told = dataclasses.replace(self.counted(state, pair, share), time=state.time + 1)
        over = dataclasses.replace(told, rounds=told.rounds + 1, place=jnp.zeros_like(told.place))
        is_over = ~self.waiting(told).any()
        decided = self.decided(over, params)
        return jax.tree.map(lambda a, b: jnp.where(is_over, a, b), decided, told)

    def standing_by(self, state: Any, params: Any, scores: jax.Array, *keys: jax.Array) -> Standing:
        """By verdicts, then by keys [K]."""
        status = state.selected.astype(jnp.int32) - state.discarded.astype(jnp.int32)
        is_decided = (state.selected | state.discarded).all()
        confidence = jnp.where(is_decided, 1 - params.delta, 0)
        return Standing(scores, kernels.ranking(status, *keys), confidence)


def require_max_score(max_score: float) -> None:
    """Raise ValueError unless scores up to this one have 32 bits, and shares of it, too."""
    require_positive("max_score", max_score)
    if max_score > LARGEST_SCORE:
        raise ValueError(
            f"max_score: expected a number of at most {LARGEST_SCORE:.2g}, got {max_score}"
        )


def share_of(score: jax.Array, outcome: str, max_score: jax.Array) -> jax.Array:
    """Y in [0, 1], any shape: 1 for a win, 1/2 for a tie, 0 for a loss; or the score, rescaled."""
    if outcome == "wins":
        return (1 + jnp.sign(score)) / 2
    score, max_score = _alike(score, max_score)
    return (score / max_score + 1) / 2


def _alike(score: jax.Array, max_score: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Both in the wider dtype; scores may have 64 bits, or be whole numbers."""
    dtype = score.dtype if score.dtype == jnp.float64 else max_score.dtype
    return score.astype(dtype), max_score.astype(dtype)
