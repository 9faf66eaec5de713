"""What told samples add to the evidence of a dominance race.

Axes: B races (lanes), K options, N = capacity, r rounds told, b samples of a block, P pairs.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace import kernels
from jaxrace.racing import base
from jaxrace.racing.dominance_state import Blocks, DominanceParams, DominanceState

# Rows, or pairs, that are worked on at once: they fill the vector units and stay in the cache.
_BLOCK_ROWS = 512


def keep_samples(states: DominanceState, outcomes: Any, asked: jax.Array) -> DominanceState:
    """Append the samples of the options that had asked.

    Args:
        states: Leaves [B, ...].
        outcomes: Leaves [B, K, r, ...].
        asked: bool [B, K].
    """
    num_told = jax.tree.leaves(outcomes)[0].shape[2]
    told = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), outcomes)
    kept = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states.outcomes)
    start = states.simulated.reshape(-1)
    rounds = jnp.arange(num_told, dtype=jnp.int32)

    def write(rows: jax.Array, kept: Any) -> Any:
        # What exceeds the capacity is dropped; a row that is nowhere is too.
        at = (rows[:, None], start[jnp.minimum(rows, start.size - 1)][:, None] + rounds)
        return jax.tree.map(
            lambda old, new: old.at[at].set(new[rows].astype(old.dtype), mode="drop"), kept, told
        )

    kept = kernels.for_listed(asked, _BLOCK_ROWS, write, kept)
    finite = jax.vmap(base.finite_rounds)(outcomes)
    numbers = states.simulated[..., None] + 1 + rounds
    none = jnp.iinfo(jnp.int32).max
    first_bad = jnp.where(asked[..., None] & ~finite, numbers, none).min(-1)
    is_first = (states.first_bad == 0) & (first_bad < none)
    return dataclasses.replace(
        states,
        outcomes=jax.tree.map(lambda x, old: x.reshape(old.shape), kept, states.outcomes),
        simulated=states.simulated + jnp.where(asked, num_told, 0),
        first_bad=jnp.where(is_first, first_bad, states.first_bad),
    )


def count_blocks(
    states: DominanceState,
    params: DominanceParams,
    before: jax.Array,
    after: jax.Array,
    *,
    blocks: Blocks,
    compare: Callable[[Any, Any], jax.Array],
    opens: bool,
    goes_on: bool,
) -> DominanceState:
    """Play the blocks that pairs of options have come to share.

    Args:
        states: Leaves [B, ...], with all samples.
        params: Leaves [B, ...].
        before: int32 [B, K], blocks of each option that had been played.
        after: int32 [B, K], blocks that it has.
        blocks: Their sizes.
        compare: Preference between two single outcomes.
        opens: May there be first blocks among them?
        goes_on: May there be later ones?
    """
    num_lanes, num_options = before.shape
    first, second = map(np.asarray, np.triu_indices(num_options, 1))  # of P pairs
    # Lanes on the last axis, as the rows of these gathers are: [P, B].
    played = jnp.minimum(before.T[first], before.T[second])
    shared = jnp.minimum(after.T[first], after.T[second])
    # Computed once: XLA would do so again wherever they are used.
    played, shared = lax.optimization_barrier((played, shared))
    evidence = (states.log_bets, states.highest, states.margin)
    evidence = jax.tree.map(lambda x: x.reshape(-1, *x.shape[3:]), evidence)
    samples = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states.outcomes)
    first, second = jnp.asarray(first, jnp.int32), jnp.asarray(second, jnp.int32)

    def play_one_each(block: jax.Array, size: int, evidence: Any) -> Any:
        """One block, numbered [P, B], of every pair that shares it."""

        def play(places: jax.Array, evidence: Any) -> Any:
            place = jnp.minimum(places, block.size - 1)
            pair, lane = place // num_lanes, place % num_lanes
            rows = tuple(lane * num_options + option[pair] for option in (first, second))
            start = blocks.start(block.reshape(-1)[place])
            signs = _block_signs(compare, samples, rows, start, size)
            # Where a pair's numbers lie in [B, K, K], in both orders.
            at = rows[0] * num_options + second[pair], rows[1] * num_options + first[pair]
            nowhere = places == block.size
            at = tuple(jnp.where(nowhere, states.highest.size, x) for x in at)
            weights = params.log_weights[lane]
            return _add_block(evidence, signs, at, params.bets[lane], weights, blocks)

        return kernels.for_listed(block < shared, _BLOCK_ROWS, play, evidence)

    if opens:
        is_new = (played == 0) & (shared > 0)
        number = jnp.where(is_new, 0, shared)
        evidence = lax.cond(
            is_new.any(),
            lambda evidence: play_one_each(number, blocks.first, evidence),
            lambda evidence: evidence,
            evidence,
        )
        played = jnp.where(is_new, 1, played)
    if goes_on:
        evidence = lax.fori_loop(
            0,
            (shared - played).max(),
            lambda number, evidence: play_one_each(played + number, blocks.later, evidence),
            evidence,
        )
    log_bets, highest, margin = evidence
    return dataclasses.replace(
        states,
        log_bets=log_bets.reshape(states.log_bets.shape),
        highest=highest.reshape(states.highest.shape),
        margin=margin.reshape(states.margin.shape),
    )


def _block_signs(
    compare: Callable[[Any, Any], jax.Array],
    samples: Any,
    rows: tuple[jax.Array, ...],
    start: jax.Array,
    size: int,
) -> jax.Array:
    """Signs of the samples from ``start`` [P] on, of the options in two rows [P]: [b, b, P]."""
    numbers = start + jnp.arange(size, dtype=jnp.int32)[:, None]  # [b, P]
    x, y = (jax.tree.map(lambda kept, row=row: kept[row, numbers], samples) for row in rows)
    of_pairs = jax.vmap(compare)
    return jax.vmap(jax.vmap(of_pairs, (None, 0)), (0, None))(x, y).astype(jnp.int8)


def _add_block(
    evidence: tuple[jax.Array, jax.Array, jax.Array],
    signs: jax.Array,
    at: tuple[jax.Array, ...],
    bets: jax.Array,
    log_weights: jax.Array,
    blocks: Blocks,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Add a block's signs [b, b, P] to the numbers at the places of its pairs, in both orders."""
    log_bets, highest, margin = evidence
    # The bets of a batch of races are those of each: [P, L], one column of bets per pair.
    factors = kernels.log_block_factors(signs, bets.T)  # [2, L, P]
    net = signs.sum((0, 1), dtype=jnp.int32)
    unit = (blocks.first * blocks.later // signs.shape[0]) ** 2
    for order, sign in ((0, 1), (1, -1)):
        here = at[order]
        total = log_bets[here] + factors[order].T
        log_e = jax.nn.logsumexp(log_weights + total, axis=-1)
        log_bets = log_bets.at[here].set(total, mode="drop")
        highest = highest.at[here].max(log_e, mode="drop")
        margin = margin.at[here].add(sign * unit * net, mode="drop")
    return log_bets, highest, margin
