"""Who leads a race on shared tasks, is that certain, and who runs further tasks?

As in the dominance race, but for the tasks, which come one by one. Axes: K options.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxrace.racing import base
from jaxrace.racing.dominance import decision
from jaxrace.racing.dominance.state import COUNTS, DOMINANCE, EXHAUSTED, RUNNING
from jaxrace.racing.shared.state import SharedParams, common_tasks


class Seen(NamedTuple):
    """What a decision is taken on."""

    highest: jax.Array  # float32 [K, K], e_ij: the largest ln E_ij so far
    over: jax.Array  # bool [K, K], verdicts
    mean: jax.Array  # float32 [K, K], of the differences
    told: jax.Array  # int32 [K], tasks of each option


class Decision(NamedTuple):
    """What comes of looking at a race."""

    certificate: jax.Array  # int32 []
    asked: jax.Array  # bool [K]


def decide(seen: Seen, params: SharedParams, top: int, by_counts: bool) -> Decision:
    """Certify, or ask for more, or end where a pair in doubt has no tasks left.

    ``by_counts``: Is there certificate (b)?
    """
    leads = decision.first_of(standing(seen), top)
    cross = leads[:, None] & ~leads[None, :]
    certificate = jnp.where((cross & ~seen.over).any(), jnp.int32(RUNNING), DOMINANCE)
    # Within a tolerance each of two may be over the other.
    against = seen.over.T & (params.tolerance == 0)
    doubtful = cross & ~(seen.over | against)
    if by_counts:
        strong = seen.highest >= params.strong_level
        wins, losses = strong.sum(1, dtype=jnp.int32), strong.sum(0, dtype=jnp.int32)
        # K - 1 and not K: a tie across the boundary is a top kappa, too.
        lacking = cross & (wins[:, None] + losses[None, :] < seen.told.size - 1)
        is_counted = (certificate == RUNNING) & ~lacking.any()
        certificate = jnp.where(is_counted, COUNTS, certificate)
        lacking = lacking & (certificate == RUNNING) & ~doubtful.any()
        doubtful |= decision.stand_ins(lacking, seen.highest, strong)
    running = certificate == RUNNING
    exhausted = doubtful & (common_tasks(seen.told) >= params.max_rounds)
    ends = exhausted.any() | ~doubtful.any()
    deficit = jnp.where(doubtful, params.level - seen.highest, -jnp.inf)
    served = doubtful & (deficit >= deficit.max() - params.slack)
    lags = seen.told[:, None] <= seen.told[None, :]
    asked = ((served | served.T) & lags).any(1)
    certificate = jnp.where(running & ends, EXHAUSTED, certificate)
    return Decision(certificate, asked & running & ~ends)


def standing(seen: Seen) -> decision.Standing:
    """The sort keys: verdicts, and where a pair has none the mean; the sum of the means."""
    ahead = seen.over | (~seen.over.T & (seen.mean > 0))
    total = base.fixed_point(seen.mean, seen.told.size).sum(1, dtype=jnp.int32)
    return decision.Standing(ahead.sum(1, dtype=jnp.int32), total)


def next_batch(told: jax.Array, params: SharedParams) -> jax.Array:
    """How many tasks, int32 [K], options that ask are to have at the next look."""
    share = jnp.floor(told.astype(jnp.float32) * params.growth).astype(jnp.int32)
    return jnp.minimum(told + jnp.maximum(params.least, share), params.max_rounds)
