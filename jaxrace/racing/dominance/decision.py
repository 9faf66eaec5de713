"""Who leads a dominance race, is that certain, and who must be drawn next?

The pseudo-code is in docs/dominance_race.md, "The allocation". Axes: K options.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

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


class Evidence(NamedTuple):
    """What a decision is taken on."""

    highest: jax.Array  # float32 [K, K], e_ij
    margin: jax.Array  # int32 [K, K], see ``DominanceState``
    complete: jax.Array  # int32 [K], m_i: blocks of each option


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
    evidence: Evidence, params: DominanceParams, most: jax.Array, top: int, blocks: Blocks
) -> Decision:
    """Certify, or ask for more, or give up; ``most`` is M, int32 []: an option's blocks at most."""
    num_options = evidence.complete.shape[0]
    leads = first_of(standing(evidence, params.level, blocks), top)
    cross = leads[:, None] & ~leads[None, :]
    over = evidence.highest >= params.level
    dominates = ~(cross & ~over).any()
    strong = evidence.highest >= params.strong_level
    wins = strong.sum(1, dtype=jnp.int32)  # z_i
    losses = strong.sum(0, dtype=jnp.int32)  # o_j
    # K - 1 and not K: a tie across the boundary is a top kappa, too.
    lacking = cross & (wins[:, None] + losses[None, :] < num_options - 1)
    otherwise = jnp.where(lacking.any(), jnp.int32(RUNNING), COUNTS)
    certificate = jnp.where(dominates, DOMINANCE, otherwise)
    running = certificate == RUNNING
    # Within a tolerance each of two may be over the other.
    against = over.T & (params.null == 0)
    doubtful = cross & ~(over | against)
    # Rare: all of T against the rest is decided, but not all of it for T.
    lacking = lacking & running & ~doubtful.any()
    doubtful |= stand_ins(lacking, evidence.highest, strong)
    complete = evidence.complete
    exhausted = doubtful & (shared_blocks(complete) >= most)
    ends = exhausted.any() | ~doubtful.any()
    deficit = jnp.where(doubtful, params.level - evidence.highest, -jnp.inf)
    hopeless = ~ends & (deficit > _reach(evidence, params, most, blocks)).any()
    served = doubtful & (deficit >= deficit.max() - params.slack)
    lags = complete[:, None] <= complete[None, :]  # i has no more blocks than j
    asked = ((served | served.T) & lags).any(1)
    certificate = jnp.where(running & ends, EXHAUSTED, certificate)
    certificate = jnp.where(running & hopeless, GIVEN_UP, certificate)
    return Decision(certificate, doubtful, asked & running & ~ends & ~hopeless)


def _reach(
    evidence: Evidence, params: DominanceParams, most: jax.Array, blocks: Blocks
) -> jax.Array:
    """What the log e-values [K, K] may still grow by, if gaps are no larger than they look.

    A gap is taken to be its estimate and ``give_up`` standard errors, 1 / sqrt(6 n) for nearly
    equal continuous laws. No more than a forecast; no guarantee depends on it.
    """
    shared, null, give_up = shared_blocks(evidence.complete), params.null, params.give_up
    mean = mean_margin(evidence.margin, shared, blocks)
    gap = (mean - null) / 2 + give_up / jnp.sqrt(6.0 * blocks.start(shared).astype(jnp.float32))
    samples = ((most - shared) * blocks.later).astype(jnp.float32)
    return samples * growth_by_gap(blocks) * jnp.maximum(gap, 0) ** 2


def growth_by_gap(blocks: Blocks) -> float:
    """What a log e-value grows by per sample, over the square of the gap S_ij - 1/2."""
    return 3 / (1 + 1 / (2 * blocks.later))


def mean_margin(margin: jax.Array, shared: jax.Array, blocks: Blocks) -> jax.Array:
    """2 S_ij - 1 over so many common blocks, float32."""
    blocks_counted = jnp.maximum(shared, 1).astype(jnp.float32)
    return margin.astype(jnp.float32) / (float(blocks.unit) * blocks_counted)


def standing(evidence: Evidence, level: jax.Array, blocks: Blocks) -> Standing:
    """The sort keys: verdicts, and S_ij > 1/2 where a pair has none; the sum of 2 S_ij - 1."""
    num_options = evidence.complete.shape[0]
    over = evidence.highest >= level
    ahead = over | (~over.T & (evidence.margin > 0))
    mean = mean_margin(evidence.margin, shared_blocks(evidence.complete), blocks)
    total = base.fixed_point(mean, num_options).sum(1, dtype=jnp.int32)
    return Standing(ahead.sum(1, dtype=jnp.int32), total)


def perhaps_tied(strong: jax.Array, leads: jax.Array) -> jax.Array:
    """Options whose scores the strong verdicts leave room to be equal across the boundary.

    ``strong`` are the verdicts [K, K] that all hold together, ``leads`` [K] is the set that
    certificate (b) names: i with some j across the boundary, such that z_i + o_j is at most K - 1.
    """
    wins, losses = strong.sum(1, dtype=jnp.int32), strong.sum(0, dtype=jnp.int32)
    barely = wins[:, None] + losses[None, :] <= strong.shape[0] - 1
    pairs = leads[:, None] & ~leads[None, :] & barely
    return pairs.any(1) | pairs.any(0)


def shared_blocks(complete: jax.Array) -> jax.Array:
    """Blocks that each two options have in common: int32 [K, K]."""
    return jnp.minimum(complete[:, None], complete[None, :])


def first_of(keys: Standing, top: int) -> jax.Array:
    """bool [K]: is an option among the first kappa? Ties go to the smaller index."""
    index = jnp.arange(keys.wins.shape[0], dtype=jnp.int32)
    before = index[:, None] < index[None, :]
    # Counting who is ahead takes no sort, which is slow for many small arrays.
    for key in (keys.total, keys.wins):
        before = (key[:, None] > key[None, :]) | ((key[:, None] == key[None, :]) & before)
    return before.sum(0, dtype=jnp.int32) < top


def stand_ins(lacking: jax.Array, highest: jax.Array, strong: jax.Array) -> jax.Array:
    """For each pair (i, j) that lacks counts: the likeliest of (i, p) and (p, j) to give one.

    Likeliest is the largest e-value without a strong verdict either way; equals go by p.
    """
    num_options = highest.shape[0]
    apart = ~jnp.eye(num_options, dtype=bool)
    candidate = apart & ~strong & ~strong.T
    value = jnp.where(candidate, highest, -jnp.inf)
    partner, partner_value = value.argmax(1), value.max(1)  # p of (i, p)
    rival, rival_value = value.argmax(0), value.max(0)  # p of (p, j)
    more = partner_value[:, None] > rival_value[None, :]
    same = partner_value[:, None] == rival_value[None, :]
    by_row = more | (same & (partner[:, None] <= rival[None, :]))
    rows = (lacking & by_row).any(1)  # i stands in as (i, p)
    columns = (lacking & ~by_row).any(0)
    index = jnp.arange(num_options)
    chosen = (rows[:, None] & (index[None, :] == partner[:, None])) | (
        columns[None, :] & (index[:, None] == rival[None, :])
    )
    return chosen & candidate
