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
    """
    old = states.outcomes
    # The sample buffer stays out of the loops' carries.
    states = dataclasses.replace(states, outcomes=None)
    finite = jax.vmap(base.finite_rounds)(outcomes)
    start = jax.vmap(rounds.begin, (0, 0, None))(states, params, first_round)
    gains_of = functools.partial(open_pairs.listed_gains, compare, old, outcomes, first_round)
    wanted = open_pairs.first_orders(start.active)
    num_rounds = finite.shape[2]
    listed, verdicts = _look_at_listed(
        states.net, params, gains_of, wanted, first_round, num_rounds
    )
    end = rounds.last_of(params, first_round, num_rounds)
    progress = _settle(start, end, verdicts, top=top, rule=rule)
    gained = _add_listed(listed, progress)
    finish = jax.vmap(rounds.finish, (0, 0, 0, 0, 0, None))
    states = finish(states, params, progress, gained, finite, first_round)
    return dataclasses.replace(states, outcomes=old)


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
) -> tuple[_Listed, jax.Array]:
    """The wanted pairs, counted, and the round in which each is decided: int8 [B, K, K]."""
    num_options = net.shape[-1]
    num_pairs = len(net) * num_options * (num_options - 1) // 2
    block = kernels.listing_block(num_pairs)
    most_blocks = -(-num_pairs // block)
    numbers = rounds.numbers_of(num_rounds)
    last = params.thresholds.shape[1] - 1
    at = jnp.minimum(first_round + jnp.arange(num_rounds, dtype=jnp.int32), last)
    thresholds = params.thresholds.T[at]  # [r, B]
    flat = net.reshape(-1)
    never = rounds.NUMBER(rounds.NEVER)

    def look(places: jax.Array, carry: tuple[_Listed, jax.Array]) -> tuple[_Listed, jax.Array]:
        listed, verdicts = carry
        place = jnp.minimum(places, flat.size - 1)
        gains = gains_of(places)
        found = kernels.with_operands_kept(
            _first_verdicts,
            places[0] < flat.size,
            flat[place],
            gains.T,
            thresholds[:, place // num_options**2],
            numbers,
        )
        for_first = jnp.where(found > 0, found, never)
        for_second = jnp.where(found < 0, -found, never)
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
    undecided = jnp.full_like(flat, never, rounds.NUMBER)
    listed, verdicts = kernels.for_listed(wanted, block, look, (nothing, undecided))
    return listed, verdicts.reshape(net.shape)


def _first_verdicts(
    net: jax.Array, gains: jax.Array, thresholds: jax.Array, numbers: jax.Array
) -> jax.Array:
    """The round in which each of P pairs (i, j) is decided: positive for i, negative for j, or 0.

    See ``preference_rounds.verdict_rounds``. Arguments [P], [r, P], [r, P], [r].
    """
    found, none = jnp.zeros_like(net, rounds.NUMBER), rounds.NUMBER(0)
    # Written out, one loop over the pairs does it all.
    for number, gained, threshold in zip(numbers, gains, thresholds, strict=True):
        net, least = net + gained, jnp.maximum(threshold, 0)
        now = jnp.where(net >= least, number, jnp.where(-net >= least, -number, none))
        found = jnp.where(found == 0, now, found)
    return found


def _add_listed(listed: _Listed, progress: rounds.Progress) -> jax.Array:
    """What the rounds that counted added to the net counts: int32 [B, K, K]."""
    last_round = progress.last_round
    num_options, size = last_round.shape[-1], last_round.size
    numbers = rounds.numbers_of(listed.gains.shape[-1])
    last_of_pair = last_round.reshape(-1)

    def add(block: jax.Array, total: jax.Array) -> jax.Array:
        places = listed.places[block]
        counted = numbers <= last_of_pair[jnp.minimum(places, size - 1)][:, None]
        gained = jnp.where(counted, listed.gains[block], 0).sum(1, dtype=jnp.int32)
        total = total.at[places].set(gained, mode="drop")
        reverse = open_pairs.mirrored(places, size, num_options)
        return total.at[reverse].set(-gained, mode="drop")

    none = jnp.zeros_like(last_of_pair, jnp.int32)
    return lax.fori_loop(0, listed.num_blocks, add, none).reshape(last_round.shape)
