"""What told samples add to the evidence of a dominance race.

Axes: B races (lanes), K options, N = capacity, r rounds told, b samples of a block, P pairs.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace import kernels
from jaxrace.racing.dominance.state import Blocks, DominanceParams, DominanceState


def keep_samples(states: Any, outcomes: Any, lacking: jax.Array, bad: jax.Array) -> Any:
    """Append samples [B, K, r, ...], of each option at most as many as it lacks, int32 [B, K].

    What is told beyond that is written, too, but never read: later samples take its place. Those
    that are ``bad``, bool [B, K, r], are none.
    """
    num_told = bad.shape[2]
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

    kept = kernels.for_listed(
        lacking > 0, kernels.listing_block(lacking.size, light=True), write, kept
    )
    numbers = states.simulated[..., None] + 1 + rounds
    none = jnp.iinfo(jnp.int32).max
    first_bad = jnp.where(bad & (rounds < lacking[..., None]), numbers, none).min(-1)
    is_first = (states.first_bad == 0) & (first_bad < none)
    return dataclasses.replace(
        states,
        outcomes=jax.tree.map(lambda x, old: x.reshape(old.shape), kept, states.outcomes),
        simulated=states.simulated + jnp.minimum(lacking, num_told),
        first_bad=jnp.where(is_first, first_bad, states.first_bad),
    )


def count_blocks(
    states: DominanceState,
    params: DominanceParams,
    before: jax.Array,
    after: jax.Array,
    *,
    blocks: Blocks,
    difference: Callable[[Any, Any], jax.Array],
    opens: bool,
    goes_on: bool,
) -> DominanceState:
    """Play the blocks that pairs of options have come to share.

    ``difference`` of two outcomes is a sign, an integer, or a float32 in [-1, 1].

    Options had ``before`` blocks, int32 [B, K], which have been played, and have ``after``. May
    there be first blocks among those to be played (``opens``), and later ones (``goes_on``)?
    """
    num_lanes, num_options = before.shape
    first, second = jnp.asarray(np.triu_indices(num_options, 1), jnp.int32)  # of P pairs
    before, after = before.T, after.T  # [K, B]: lanes fill the vector units
    evidence = (states.log_bets, states.highest, states.margin)
    evidence = jax.tree.map(lambda x: x.reshape(-1, *x.shape[3:]), evidence)
    samples = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states.outcomes)
    bets, log_weights = params.bets.T, params.log_weights.T  # [L, B]

    def play_one_each(
        next_block: Callable[[jax.Array], jax.Array], size: int, evidence: Any
    ) -> Any:
        """One block of every pair that shares it; its number, from those that were shared."""

        def to_play(before: jax.Array, after: jax.Array) -> jax.Array:
            shared = jnp.minimum(before[:, None], before[None, :])
            is_next = next_block(shared) < jnp.minimum(after[:, None], after[None, :])
            return is_next[first, second]  # [P, B]: of both orders the first

        wanted = kernels.with_operands_kept(to_play, (before < after).any(), before, after)

        def play(places: jax.Array, evidence: Any) -> Any:
            place = jnp.minimum(places, wanted.size - 1)
            pair, lane = place // num_lanes, place % num_lanes
            block = next_block(jnp.minimum(before[first[pair], lane], before[second[pair], lane]))
            rows = tuple(lane * num_options + option[pair] for option in (first, second))
            found = _block_differences(difference, samples, rows, blocks.start(block), size)
            # Where a pair's numbers lie in [B, K, K], in both orders.
            at = rows[0] * num_options + second[pair], rows[1] * num_options + first[pair]
            at = jnp.where(places == wanted.size, states.highest.size, jnp.stack(at))  # [2, P]
            log_bets, highest, margin = evidence
            told = jnp.moveaxis(log_bets[at], -1, 1)
            total, log_e, gain = kernels.with_operands_kept(
                functools.partial(_add_block, blocks.unit),
                places[0] < wanted.size,  # always, which the compiler does not know
                told,
                found,
                bets[:, lane],
                log_weights[:, lane],
                params.null[lane],
            )
            return (
                log_bets.at[at].set(jnp.moveaxis(total, 1, -1), mode="drop"),
                highest.at[at].max(log_e, mode="drop"),
                margin.at[at].add(jnp.stack([gain, -gain]), mode="drop"),
            )

        block = kernels.listing_block(wanted.size, light=True)
        return kernels.for_listed(wanted, block, play, evidence)

    # What the capacity has no room for is not compiled: such slices of it would not be.
    capacity = jax.tree.leaves(samples)[0].shape[1]
    if opens and blocks.first <= capacity:
        never = jnp.iinfo(jnp.int32).max
        evidence = lax.cond(
            ((before == 0) & (after > 0)).any(),
            lambda evidence: play_one_each(
                lambda shared: jnp.where(shared == 0, jnp.int32(0), never), blocks.first, evidence
            ),
            lambda evidence: evidence,
            evidence,
        )
    if goes_on and blocks.first + blocks.later <= capacity:
        # No pair advances by more blocks than its options; first blocks have been played.
        evidence = lax.fori_loop(
            0,
            (after - jnp.maximum(before, 1)).max(),
            lambda number, evidence: play_one_each(
                lambda shared: jnp.maximum(shared, 1) + number, blocks.later, evidence
            ),
            evidence,
        )
    log_bets, highest, margin = evidence
    return dataclasses.replace(
        states,
        log_bets=log_bets.reshape(states.log_bets.shape),
        highest=highest.reshape(states.highest.shape),
        margin=margin.reshape(states.margin.shape),
    )


def _block_differences(
    difference: Callable[[Any, Any], jax.Array],
    samples: Any,
    rows: tuple[jax.Array, ...],
    start: jax.Array,
    size: int,
) -> jax.Array:
    """Of the samples from ``start`` [P] on, of the options in two rows [P]: [b, b, P]."""
    slices = [kernels.sample_slices(samples, row, start, size) for row in rows]

    def take_all(x: Any, y: Any) -> jax.Array:
        found = jax.vmap(jax.vmap(jax.vmap(difference), (None, 0)), (0, None))(x, y)
        is_sign = jnp.issubdtype(found.dtype, jnp.integer)
        return found.astype(jnp.int8 if is_sign else jnp.float32)

    # There always are pairs, which the compiler does not know.
    return kernels.with_operands_kept(take_all, start[0] >= 0, *slices)


def _add_block(
    unit: int,
    told: jax.Array,
    found: jax.Array,
    bets: jax.Array,
    log_weights: jax.Array,
    null: jax.Array,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """What a block of differences ``found`` [b, b, P] adds to P pairs, in both orders.

    ``told``, float32 [2, L, P], are the sums of ln F_m(lambda) before it; ``bets`` and
    ``log_weights`` are [L, P], ``null`` [P]. Returns the sums after it, ln E_ij [2, P], and the
    margin [P] of the first order in whole units.
    """
    size = found.shape[0]
    # 1 + lambda (d - mu) / 2 is 1 - lambda mu / 2, at least 1, times a smaller bet on d alone.
    surplus = 1 - bets * null / 2
    if jnp.issubdtype(found.dtype, jnp.integer):
        logs = kernels.log_block_factors(found, bets / surplus)
        # At most 23 signs in an int8. In two steps, of which XLA would make one of single numbers.
        net = functools.reduce(jnp.add, found.sum(0, dtype=jnp.int8).astype(jnp.int32))
        margin = unit // size**2 * net
    else:
        logs = kernels.log_block_products(found, bets / surplus)
        margin = jnp.rint(unit * found.mean((0, 1))).astype(jnp.int32)
    total = told + logs + size * jnp.log(surplus)
    return total, jax.nn.logsumexp(log_weights + total, axis=1), margin
