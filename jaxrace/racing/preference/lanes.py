"""Several rounds of a batch of preference-based races, for what is in doubt only.

Open pairs alone are counted, from a list; and only races with a verdict in these rounds go
through them. Axes: B races (lanes), K options, r rounds, P pairs of a block.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace import kernels
from jaxrace.kernels import open_pairs
from jaxrace.racing import base
from jaxrace.racing.preference import rounds
from jaxrace.racing.preference.state import PreferenceParams, PreferenceState


class Listed(NamedTuple):
    """Open pairs in blocks, and what each of the rounds adds to their net counts."""

    places: jax.Array  # int32 [blocks, P], in [B, K, K]
    gains: jax.Array  # int32 [blocks, P r]: along a long axis XLA copies by whole registers


_Looked = tuple[jax.Array, Listed, jax.Array]  # see _look_at_listed


def workspace(num_lanes: int, num_options: int, num_rounds: int) -> Listed:
    """Room for all pairs of B races, in which as much is written as there are open pairs."""
    num_pairs = num_lanes * num_options * (num_options - 1) // 2
    block = kernels.listing_block(num_pairs)
    blocks = -(-num_pairs // block)
    return Listed(
        jnp.zeros((blocks, block), jnp.int32), jnp.zeros((blocks, block * num_rounds), jnp.int32)
    )


def play_rounds(
    states: PreferenceState,
    params: PreferenceParams,
    outcomes: Any,
    first_round: jax.Array,
    room: Listed,
    *,
    compare: Callable[[Any, Any], jax.Array],
    top: int,
    rule: str,
) -> tuple[PreferenceState, Listed]:
    """``preference_rounds.play_rounds`` of B races.

    Args:
        states: Leaves [B, ...], with the samples of the rounds.
        params: Leaves [B, ...].
        outcomes: These samples, leaves [B, K, r, ...].
        first_round: int32 [], rounds played before.
        room: From ``workspace``, or from the last call.
        compare: Preference between two single outcomes.
        top: kappa.
        rule: See ``kernels.select_and_discard``.
    """
    old = states.outcomes
    # The sample buffer stays out of the loops' carries.
    states = dataclasses.replace(states, outcomes=None)
    finite = jax.vmap(base.finite_rounds)(outcomes)
    start = jax.vmap(rounds.begin, (0, 0, None))(states, params, first_round)
    gains_of = functools.partial(open_pairs.listed_gains, compare, old, outcomes, first_round)
    wanted = open_pairs.first_orders(start.active)
    num_blocks, listed, verdicts = _look_at_listed(
        states.net, params, gains_of, wanted, first_round, room
    )
    end = rounds.last_of(params, first_round, finite.shape[2])
    progress = _settle(start, end, verdicts, top=top, rule=rule)
    gained = _add_listed(num_blocks, listed, progress)
    finish = jax.vmap(rounds.finish, (0, 0, 0, 0, 0, None))
    states = finish(states, params, progress, gained, finite, first_round)
    return dataclasses.replace(states, outcomes=old), listed


def _settle(
    progress: rounds.Progress, end: jax.Array, verdicts: jax.Array, *, top: int, rule: str
) -> rounds.Progress:
    """Let the races go from verdict to verdict; most have none in later rounds."""
    num_lanes = end.size
    go_through = functools.partial(rounds.go_through, top=top, rule=rule)

    def play(places: jax.Array, progress: rounds.Progress) -> rounds.Progress:
        lane = jnp.minimum(places, num_lanes - 1)
        args = jax.tree.map(lambda x: _moved(x[lane], 0, -1), (progress, verdicts, end))
        found = kernels.with_operands_kept(go_through, places[0] < num_lanes, *args)
        return jax.tree.map(
            lambda x, y: x.at[places].set(_moved(y, -1, 0), mode="drop"), progress, found
        )

    pending = jax.vmap(rounds.next_verdict)(progress.active, verdicts) <= end
    progress = kernels.for_listed(pending, min(kernels.sizes().decided, num_lanes), play, progress)
    return jax.vmap(rounds.stop)(progress, end)


def _moved(x: jax.Array, source: int, destination: int) -> jax.Array:
    """``jnp.moveaxis``; XLA moves bytes faster than bools."""
    as_it_moves = x.astype(jnp.int8) if x.dtype == bool else x
    return jnp.moveaxis(as_it_moves, source, destination).astype(x.dtype)


def _look_at_listed(
    net: jax.Array,
    params: PreferenceParams,
    gains_of: Callable[[jax.Array], jax.Array],
    wanted: jax.Array,
    first_round: jax.Array,
    room: Listed,
) -> tuple[jax.Array, Listed, jax.Array]:
    """The wanted pairs, counted, and the round in which each is decided.

    Returns:
        The number of blocks that are filled, int32 []; these; and the rounds, int8 [B, K, K].
    """
    num_options = net.shape[-1]
    block = room.places.shape[1]
    num_rounds = room.gains.shape[1] // block
    numbers = rounds.numbers_of(num_rounds)
    last = params.thresholds.shape[1] - 1
    at = jnp.minimum(first_round + jnp.arange(num_rounds, dtype=jnp.int32), last)
    thresholds = params.thresholds.T[at]  # [r, B]
    # As a rule all races have the same, and none need be gathered.
    alike = (thresholds == thresholds[:, :1]).all()
    flat = net.reshape(-1)
    never = rounds.NUMBER(rounds.NEVER)

    def for_all(net: jax.Array, gains: jax.Array, lane: jax.Array) -> jax.Array:
        del lane
        return _first_verdicts(net, gains.T, thresholds[:, 0], numbers)

    def for_each(net: jax.Array, gains: jax.Array, lane: jax.Array) -> jax.Array:
        own = thresholds[:, lane]
        look = functools.partial(_first_verdicts, numbers=numbers)
        # There always is a first lane, which the compiler does not know.
        return kernels.with_operands_kept(look, lane[0] >= 0, net, gains.T, own)

    def look(places: jax.Array, carry: _Looked) -> _Looked:
        number, listed, verdicts = carry
        place = jnp.minimum(places, flat.size - 1)
        gains = gains_of(places)
        looked_at = flat[place], gains, place // num_options**2
        if kernels.sizes().keeps_operands:
            found = lax.cond(alike, for_all, for_each, *looked_at)
        else:
            found = for_each(*looked_at)
        for_first = jnp.where(found > 0, found, never)
        for_second = jnp.where(found < 0, -found, never)
        reverse = open_pairs.mirrored(places, flat.size, num_options)
        verdicts = verdicts.at[places].set(for_first, mode="drop")
        verdicts = verdicts.at[reverse].set(for_second, mode="drop")
        listed = jax.tree.map(
            lambda x, y: lax.dynamic_update_index_in_dim(x, y, number, 0),
            listed,
            Listed(places, gains.reshape(-1)),
        )
        return number + 1, listed, verdicts

    undecided = jnp.full_like(flat, never, rounds.NUMBER)
    start = (jnp.int32(0), room, undecided)
    num_blocks, listed, verdicts = kernels.for_listed(wanted, block, look, start)
    return num_blocks, listed, verdicts.reshape(net.shape)


def _first_verdicts(
    net: jax.Array, gains: jax.Array, thresholds: jax.Array, numbers: jax.Array
) -> jax.Array:
    """The round in which each of P pairs (i, j) is decided: positive for i, negative for j, or 0.

    See ``preference_rounds.verdict_rounds``. Arguments [P], [r, P], [r] or [r, P], [r].
    """
    found, none = jnp.zeros_like(net, rounds.NUMBER), rounds.NUMBER(0)
    # Written out, one loop over the pairs does it all.
    for number, gained, threshold in zip(numbers, gains, thresholds, strict=True):
        net, least = net + gained, jnp.maximum(threshold, 0)
        now = jnp.where(net >= least, number, jnp.where(-net >= least, -number, none))
        found = jnp.where(found == 0, now, found)
    return found


def _add_listed(num_blocks: jax.Array, listed: Listed, progress: rounds.Progress) -> jax.Array:
    """What the rounds that counted added to the net counts: int32 [B, K, K]."""
    last_round = progress.last_round
    num_options, size = last_round.shape[-1], last_round.size
    block_size = listed.places.shape[1]
    numbers = rounds.numbers_of(listed.gains.shape[1] // block_size)
    last_of_pair = last_round.reshape(-1)

    def add(block: jax.Array, total: jax.Array) -> jax.Array:
        places = listed.places[block]
        counted = numbers <= last_of_pair[jnp.minimum(places, size - 1)][:, None]
        gains = listed.gains[block].reshape(counted.shape)
        gained = jnp.where(counted, gains, 0).sum(1, dtype=jnp.int32)
        total = total.at[places].set(gained, mode="drop")
        reverse = open_pairs.mirrored(places, size, num_options)
        return total.at[reverse].set(-gained, mode="drop")

    none = jnp.zeros_like(last_of_pair, jnp.int32)
    return lax.fori_loop(0, num_blocks, add, none).reshape(last_round.shape)
