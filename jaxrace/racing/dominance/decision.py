"""Who leads a race by e-values, is that certain, and who must be drawn next?

For the dominance race, which counts in blocks, and the race on shared tasks. The pseudo-code is in
docs/dominance_race.md, "The allocation". Axes: K options.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxrace.evidence.decision import Seen, behind, in_doubt
from jaxrace.evidence.decision import seen_of as judged
from jaxrace.racing import base
from jaxrace.racing.dominance.state import (
    COUNTS,
    DOMINANCE,
    EXHAUSTED,
    GIVEN_UP,
    RUNNING,
    Blocks,
    DominanceParams,
)


class Standing(NamedTuple):
    """The sort keys of a race."""

    wins: jax.Array  # int32 [K]
    total: jax.Array  # int32 [K]


class Decision(NamedTuple):
    """What comes of looking at a race."""

    certificate: jax.Array  # int32 []
    doubtful: jax.Array  # bool [K, K], N: pairs (i, j) to be drawn for
    asked: jax.Array  # bool [K]


def decide(
    seen: Seen,
    progress: jax.Array,
    params: Any,
    most: jax.Array,
    top: int,
    *,
    by_counts: bool = True,
    reach: jax.Array | None = None,
) -> Decision:
    """Certify, or ask for more, or end.

    A race ends where a pair in doubt has ``most`` blocks or tasks, int32 []; options have made
    ``progress``, int32 [K]. It gives up where a pair lacks more than its ``reach`` [K, K]. Without
    ``by_counts`` there is no certificate (b).
    """
    leads = first_of(standing(seen), top)
    is_tolerant = params.tolerance > 0
    found = in_doubt(
        seen,
        leads,
        params.level,
        params.slack,
        is_tolerant=is_tolerant,
        by_counts=by_counts,
        xp=jnp,
    )
    doubtful = found.doubtful
    exhausted = doubtful & (common(progress) >= most)
    ends = exhausted.any() | ~doubtful.any()
    otherwise = jnp.where(ends, EXHAUSTED, jnp.int32(RUNNING))
    if reach is not None:
        hopeless = ~ends & (doubtful & (params.level - seen.highest > reach)).any()
        otherwise = jnp.where(hopeless, GIVEN_UP, otherwise)
    otherwise = jnp.where(found.is_counted, COUNTS, otherwise)
    certificate = jnp.where(found.dominates, DOMINANCE, otherwise)
    asked = behind(found.served, progress) & (certificate == RUNNING)
    return Decision(certificate, doubtful, asked)


def decide_blocks(
    highest: jax.Array,
    margin: jax.Array,
    complete: jax.Array,
    params: DominanceParams,
    *,
    top: int,
    blocks: Blocks,
) -> Decision:
    """``decide`` of a dominance race; ``complete`` are the whole blocks of each option."""
    most, shared = blocks.complete(params.max_rounds), common(complete)
    seen = seen_of(highest, margin, complete, params, blocks)
    reach = reach_of(seen.mean, shared, most, params.null, params.give_up, blocks)
    return decide(seen, complete, params, most, top, reach=reach)


def seen_of(
    highest: jax.Array,
    margin: jax.Array,
    complete: jax.Array,
    params: DominanceParams,
    blocks: Blocks,
) -> Seen:
    """What a decision is taken on; arguments as fields of ``DominanceState``."""
    mean = mean_margin(margin, common(complete), blocks)
    return judged(highest, mean, params.level, params.strong_level, params.null)


def reach_of(
    mean: Any, shared: Any, most: Any, null: Any, give_up: Any, blocks: Blocks, xp: Any = jnp
) -> Any:
    """What the log e-values [K, K] may still grow by, if gaps are no larger than they look.

    A gap is taken to be its estimate and ``give_up`` standard errors, 1 / sqrt(6 n) for nearly
    equal continuous laws. No more than a forecast; no guarantee depends on it.
    """
    played = xp.where(shared > 0, blocks.first + (shared - 1) * blocks.later, 0)
    gap = (mean - null) / 2 + give_up / xp.sqrt(6.0 * played.astype(mean.dtype))
    samples = ((most - shared) * blocks.later).astype(mean.dtype)
    return samples * growth_by_gap(blocks) * xp.maximum(gap, 0) ** 2


def growth_by_gap(blocks: Blocks) -> float:
    """What a log e-value grows by per sample, over the square of the gap S_ij - 1/2."""
    return 3 / (1 + 1 / (2 * blocks.later))


def mean_margin(margin: jax.Array, shared: jax.Array, blocks: Blocks) -> jax.Array:
    """2 S_ij - 1 over so many common blocks, float32."""
    blocks_counted = jnp.maximum(shared, 1).astype(jnp.float32)
    return margin.astype(jnp.float32) / (float(blocks.unit) * blocks_counted)


def standing(seen: Seen) -> Standing:
    """The sort keys: verdicts, and a mean above 0 where a pair has none; the sum of the means."""
    ahead = seen.over | (~seen.over.T & (seen.mean > 0))
    total = base.fixed_point(seen.mean, len(ahead)).sum(1, dtype=jnp.int32)
    return Standing(ahead.sum(1, dtype=jnp.int32), total)


def common(progress: jax.Array) -> jax.Array:
    """Blocks or tasks that each two options have in common: int32 [K, K]."""
    return jnp.minimum(progress[:, None], progress[None, :])


def first_of(keys: Standing, top: int) -> jax.Array:
    """bool [K]: is an option among the first kappa? Ties go to the smaller index."""
    index = jnp.arange(keys.wins.shape[0], dtype=jnp.int32)
    before = index[:, None] < index[None, :]
    # Counting who is ahead takes no sort, which is slow for many small arrays.
    for key in (keys.total, keys.wins):
        before = (key[:, None] > key[None, :]) | ((key[:, None] == key[None, :]) & before)
    return before.sum(0, dtype=jnp.int32) < top
