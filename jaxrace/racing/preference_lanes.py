"""Several rounds of a batch of preference-based races, for what is in doubt only.

Once few pairs are open, these alone are counted, from a list; and only races with a verdict in
these rounds go through them. Axes: B races (lanes), K options, r rounds, P pairs of a block.
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
from jaxrace.racing import preference_rounds as rounds
from jaxrace.racing.preference_state import PreferenceParams, PreferenceState

# Races that go from verdict to verdict together: they fill the vector units.
_BLOCK_LANES = 128


def play_rounds(
    states: PreferenceState,
    params: PreferenceParams,
    outcomes: Any,
    first_round: jax.Array,
    *,
    compare: Callable[[Any, Any], jax.Array],
    top: int,
    rule: str,
    most_listed: int,
) -> PreferenceState:
    """``preference_rounds.play_rounds`` of B races.

    Args:
        states: Leaves [B, ...], with the samples of the rounds.
        params: Leaves [B, ...].
        outcomes: These samples, leaves [B, K, r, ...].
        first_round: int32 [], rounds played before.
        compare: Preference between two single outcomes.
        top: kappa.
        rule: See ``kernels.select_and_discard``.
        most_listed: Of so many open pairs or fewer a list is worked through.
    """
    old = states.outcomes
    # The sample buffer stays out of the loops' carries.
    states = dataclasses.replace(states, outcomes=None)
    finite = jax.vmap(base.finite_rounds)(outcomes)
    num_rounds = finite.shape[2]
    start = jax.vmap(rounds.begin, (0, 0, None))(states, params, first_round)
    end = rounds.last_of(params, first_round, num_rounds)
    settle = functools.partial(_settle, start, end, top=top, rule=rule)

    def count_all(_: Any) -> tuple[rounds.Progress, jax.Array]:
        gains = rounds.flat(gains_of_all(compare, old, outcomes, first_round))
        look = jax.vmap(rounds.verdict_rounds, (0, 0, 1, None))
        progress = settle(look(params, states.net, gains, first_round))
        return progress, jax.vmap(rounds.counted_gains, (1, 0, None))(gains, progress, first_round)

    def count_listed(wanted: jax.Array) -> tuple[rounds.Progress, jax.Array]:
        gains_of = functools.partial(open_pairs.listed_gains, compare, old, outcomes, first_round)
        listed, verdicts = _look_at_listed(
            states.net, params, gains_of, wanted, first_round, num_rounds, most_listed
        )
        progress = settle(verdicts)
        return progress, _add_listed(listed, progress, first_round)

    wanted = open_pairs.first_orders(start.active)
    few = wanted.sum(dtype=jnp.int32) <= most_listed
    progress, gained = lax.cond(few, count_listed, count_all, wanted)
    finish = jax.vmap(rounds.finish, (0, 0, 0, 0, 0, None))
    states = finish(states, params, progress, gained, finite, first_round)
    return dataclasses.replace(states, outcomes=old)


def gains_of_all(
    compare: Callable[[Any, Any], jax.Array], old: Any, new: Any, num_old: jax.Array
) -> jax.Array:
    """``kernels.round_gains`` of B races: int32 [r, B, K, K]; samples [B, K, ...]."""
    return jax.vmap(functools.partial(kernels.round_gains, compare), (0, 0, None), 1)(
        old, new, num_old
    )


def _settle(
    progress: rounds.Progress, end: jax.Array, verdicts: jax.Array, *, top: int, rule: str
) -> rounds.Progress:
    """Let the races go from verdict to verdict; most have none in later rounds."""
    num_lanes = end.size
    go_through = functools.partial(rounds.go_through, top=top, rule=rule)

    def play(places: jax.Array, progress: rounds.Progress) -> rounds.Progress:
        lane = jnp.minimum(places, num_lanes - 1)
        args = jax.tree.map(lambda x: jnp.moveaxis(x[lane], 0, -1), (progress, verdicts, end))
        found = kernels.with_operands_kept(go_through, places[0] < num_lanes, *args)
        return jax.tree.map(
            lambda x, y: x.at[places].set(jnp.moveaxis(y, -1, 0), mode="drop"), progress, found
        )

    pending = jax.vmap(rounds.next_verdict)(progress.active, verdicts) <= end
    progress = kernels.for_listed(pending, min(_BLOCK_LANES, num_lanes), play, progress)
    return jax.vmap(rounds.stop)(progress, end)


class _Listed(NamedTuple):
    """Open pairs in blocks, and what each of the rounds adds to their net counts."""

    places: jax.Array  # int32 [blocks, P], in [B, K, K]
    gains: jax.Array  # int32 [blocks, P, r]
    num_blocks: jax.Array  # int32 []


def _look_at_listed(
    net: jax.Array,
    params: PreferenceParams,
    gains_of: Callable[[jax.Array], jax.Array],
    wanted: jax.Array,
    first_round: jax.Array,
    num_rounds: int,
    most_listed: int,
) -> tuple[_Listed, jax.Array]:
    """The wanted pairs, counted, and the round in which each is decided: int32 [B, K, K]."""
    num_options = net.shape[-1]
    block = kernels.listing_block(most_listed)
    most_blocks = -(-most_listed // block)
    numbers = rounds.numbers_of(first_round, num_rounds)
    at = jnp.minimum(numbers, params.thresholds.shape[1]) - 1
    thresholds = params.thresholds[:, at]  # [B, r]
    flat = net.reshape(-1)

    def look(places: jax.Array, carry: tuple[_Listed, jax.Array]) -> tuple[_Listed, jax.Array]:
        listed, verdicts = carry
        place = jnp.minimum(places, flat.size - 1)
        gains = gains_of(places)
        found = kernels.with_operands_kept(
            _first_verdicts,
            places[0] < flat.size,
            flat[place],
            gains.T,
            thresholds[place // num_options**2].T,
            numbers,
        )
        for_first = jnp.where(found > 0, found, rounds.NEVER)
        for_second = jnp.where(found < 0, -found, rounds.NEVER)
        reverse = open_pairs.mirrored(places, flat.size, num_options)
        verdicts = verdicts.at[places].set(for_first, mode="drop")
        verdicts = verdicts.at[reverse].set(for_second, mode="drop")
        listed = _Listed(
            lax.dynamic_update_index_in_dim(listed.places, places, listed.num_blocks, 0),
            lax.dynamic_update_index_in_dim(listed.gains, gains, listed.num_blocks, 0),
            listed.num_blocks + 1,
        )
        return listed, verdicts

    nothing = _Listed(
        jnp.full((most_blocks, block), flat.size, jnp.int32),
        jnp.zeros((most_blocks, block, num_rounds), jnp.int32),
        jnp.int32(0),
    )
    never = jnp.full_like(flat, rounds.NEVER)
    listed, verdicts = kernels.for_listed(wanted, block, look, (nothing, never))
    return listed, verdicts.reshape(net.shape)


def _first_verdicts(
    net: jax.Array, gains: jax.Array, thresholds: jax.Array, numbers: jax.Array
) -> jax.Array:
    """The round in which each of P pairs (i, j) is decided: positive for i, negative for j, or 0.

    See ``preference_rounds.verdict_rounds``. Arguments [P], [r, P], [r, P], [r].
    """
    found = jnp.zeros_like(net)
    # Written out, one loop over the pairs does it all.
    for number, gained, threshold in zip(numbers, gains, thresholds, strict=True):
        net, least = net + gained, jnp.maximum(threshold, 0)
        now = jnp.where(net >= least, number, jnp.where(-net >= least, -number, 0))
        found = jnp.where(found == 0, now, found)
    return found


def _add_listed(listed: _Listed, progress: rounds.Progress, first_round: jax.Array) -> jax.Array:
    """What the rounds that counted added to the net counts: int32 [B, K, K]."""
    last_round = progress.last_round
    num_options, size = last_round.shape[-1], last_round.size
    numbers = rounds.numbers_of(first_round, listed.gains.shape[-1])
    last_of_pair = last_round.reshape(-1)

    def add(block: jax.Array, total: jax.Array) -> jax.Array:
        places = listed.places[block]
        counted = numbers <= last_of_pair[jnp.minimum(places, size - 1)][:, None]
        gained = jnp.where(counted, listed.gains[block], 0).sum(1, dtype=jnp.int32)
        total = total.at[places].set(gained, mode="drop")
        reverse = open_pairs.mirrored(places, size, num_options)
        return total.at[reverse].set(-gained, mode="drop")

    none = jnp.zeros_like(last_of_pair)
    return lax.fori_loop(0, listed.num_blocks, add, none).reshape(last_round.shape)
