"""A batch of races that draw only for the options that ask, and make room for the next when done.

Races of very different length share a program badly if all wait for the longest. Here a fixed
number of lanes is played; once some of them have ended, their results are written out, and the next
races take their places. Axes: B races, W lanes, K options.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace import kernels
from jaxrace.racing import base
from jaxrace.racing.rows import map_rows

# Lanes are filled again once this share of them has ended.
_ENDED_SHARE = 8
# So many rounds fill the vector registers as the innermost axis; fewer leave it to the options.
_FEW_ROUNDS = 16


class _Lanes(NamedTuple):
    """The races that are being played, and what came of the others."""

    states: Any  # leaves [W, ...]
    races: jax.Array  # int32 [W], which race a lane plays; B where none
    next_race: jax.Array  # int32 []
    results: Any  # leaves [B, ...]


def play(
    race: base.UnequalRace,
    draw: Callable[..., Any],
    chunk: int,
    example: Any,
    option_keys: jax.Array,
    options: Any,
    params: Any,
) -> tuple[Any, Any]:
    """Play B races.

    Args:
        race: Advances its options unequally.
        draw: ``draw(option_key, option, sample_number) -> outcome``.
        chunk: Rounds per call.
        example: An outcome of ``jax.ShapeDtypeStruct``s.
        option_keys: [B, K].
        options: Leaves [B, K, ...].
        params: Leaves [B, ...].

    Returns:
        The results, and the races' ``first_outcomes``; leaves [B, ...].
    """
    num_races = option_keys.shape[0]
    num_lanes = min(kernels.sizes().races, num_races)

    def of_lanes(tree: Any, races: jax.Array) -> Any:
        return jax.tree.map(lambda x: x[jnp.minimum(races, num_races - 1)], tree)

    def draw_next(states: Any, rows: tuple[Any, Any], num_rounds: int) -> Any:
        rounds = jnp.arange(num_rounds, dtype=jnp.int32)

        def draw_block(option_keys: jax.Array, options: Any, drawn: jax.Array) -> Any:
            numbers = (rounds[:, None] + drawn).astype(jnp.uint32)
            if num_rounds < min(_FEW_ROUNDS, drawn.size):
                return jax.vmap(jax.vmap(draw), (None, None, 0))(option_keys, options, numbers)
            of_rounds = jax.vmap(draw, (None, None, 0))
            return jax.vmap(of_rounds, out_axes=1)(option_keys, options, numbers.T)

        return map_rows(draw_block, states.asked, (*rows, states.simulated), axis=1)

    def concluded(states: Any, races: jax.Array) -> tuple[Any, Any]:
        lane_params = of_lanes(params, races)
        states = race.finish_lanes(states, lane_params)
        return jax.vmap(race.conclude)(states, lane_params), jax.vmap(race.first_outcomes)(states)

    def write_out(lanes: _Lanes) -> _Lanes:
        """The results of the lanes that have ended; their places are free then."""
        ended = ~lanes.states.asked.any(-1)

        def write(places: jax.Array, results: Any) -> Any:
            place = jnp.minimum(places, num_lanes - 1)
            races = jnp.where(places < num_lanes, lanes.races[place], num_races)
            found = concluded(jax.tree.map(lambda x: x[place], lanes.states), races)
            return jax.tree.map(lambda x, y: x.at[races].set(y, mode="drop"), results, found)

        block = max(1, num_lanes // _ENDED_SHARE)
        results = kernels.for_listed(ended, block, write, lanes.results)
        return lanes._replace(races=jnp.where(ended, num_races, lanes.races), results=results)

    def fill(lanes: _Lanes) -> _Lanes:
        """The next races take the free places, and draw their first samples."""
        free = lanes.races == num_races
        number = lanes.next_race + jnp.cumsum(free, dtype=jnp.int32) - 1
        fresh = free & (number < num_races)
        races = jnp.where(fresh, number, lanes.races)
        rows, lane_params = of_lanes(((option_keys, options), params), races)
        begun = jax.vmap(lambda p: race.begin(example, p))(lane_params)
        # What a lane's last race has left of samples is overwritten before it is read, but for the
        # first outcomes of a race without rounds: those of another race, as good for a check.
        begun = dataclasses.replace(begun, outcomes=lanes.states.outcomes)

        def choose(new: jax.Array, old: jax.Array) -> jax.Array:
            return jnp.where(fresh.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        states = jax.tree.map(choose, begun, lanes.states)
        # The others have counted samples, and wait to be looked at.
        waiting = states.asked & ~fresh[:, None]
        opened = dataclasses.replace(states, asked=states.asked & fresh[:, None])
        opened = race.open_lanes(opened, draw_next(opened, rows, race.opening), lane_params)
        states = dataclasses.replace(opened, asked=opened.asked | waiting)
        next_race = lanes.next_race + fresh.sum(dtype=jnp.int32)
        return _Lanes(states, races, next_race, lanes.results)

    def play_on(lanes: _Lanes) -> _Lanes:
        """Fill the free lanes, and play until enough have ended to fill them again, or all."""
        lanes = fill(lanes)
        rows, lane_params = of_lanes(((option_keys, options), params), lanes.races)

        def too_few_ended(states: Any) -> jax.Array:
            num_ended = num_lanes - states.asked.any(-1).sum(dtype=jnp.int32)
            enough = (num_ended * _ENDED_SHARE >= num_lanes) & (lanes.next_race < num_races)
            return ~enough & (num_ended < num_lanes)

        def play_chunk(states: Any) -> Any:
            states = race.look_lanes(states, lane_params)
            return race.count_lanes(states, draw_next(states, rows, chunk), lane_params)

        states = lax.while_loop(too_few_ended, play_chunk, lanes.states)
        return write_out(lanes._replace(states=states))

    nobody = jnp.full((num_lanes,), num_races, jnp.int32)
    idle = jax.vmap(lambda p: race.begin(example, p))(of_lanes(params, nobody))
    idle = dataclasses.replace(idle, asked=jnp.zeros_like(idle.asked))
    results = jax.tree.map(
        lambda x: jnp.zeros((num_races, *x.shape[1:]), x.dtype),
        jax.eval_shape(concluded, idle, nobody),
    )
    return lax.while_loop(
        lambda lanes: (lanes.races < num_races).any() | (lanes.next_race < num_races),
        play_on,
        _Lanes(idle, nobody, jnp.int32(0), results),
    ).results
