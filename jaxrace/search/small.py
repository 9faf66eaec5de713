"""Steps of a few searches side by side, as several small programs that plain Python calls.

They leave the rows of ``step`` under vmap. One program for a whole step compiles for longer than it
runs. Axes: B searches, K policies of each, n rounds, P pairs of policies.
"""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.agents.preferences import Preference
from jaxrace.agents.rollout import Rollout
from jaxrace.core.compilation import MIDDLING, jit
from jaxrace.core.keys import with_keys, without_keys
from jaxrace.racing import PreferenceParams, PreferenceRace, PreferenceState, base, driver
from jaxrace.racing.preference.race import PIECE
from jaxrace.racing.preference.rounds import Told
from jaxrace.search.final_race import FinalRace, FinalRaceState
from jaxrace.search.policy_search import PolicySearch, SearchRow, SearchState, ranked_by

Axis = int | None  # of the searches in their params, if each has its own

_COMPARED = 512 * 30**2  # pairs of outcomes, by one call


def has_small_steps(learner: Any) -> bool:
    """Can ``step_lanes`` make the steps of this learner?"""
    return type(_search_of(learner)) is PolicySearch


def _search_of(learner: Any) -> Any:
    """The policy search of a learner, which may have a final race."""
    return learner.search if isinstance(learner, FinalRace) else learner


def step_lanes(
    learner: Any, states: Any, params: Any, axis: Axis, alive: np.ndarray
) -> tuple[Any, SearchRow]:
    """One step of B searches: their next states, and a row of each, leaves [B, ...].

    Searches that end early wait until all final races run together, and have not ``ran``.
    ``alive``, bool [B], are those that neither failed nor ended.
    """
    search = _search_of(learner)
    is_final = (
        search is not learner
        and not (~np.asarray(_is_done(search, axis, states.search, params.search)) & alive).any()
    )
    asked, keys, races, asks, options, race_params = _ask(learner, axis, is_final, states, params)
    race, told = learner.race if is_final else search.race, 0
    chunk = search.race.chunk if search.chunk is None else search.chunk
    while np.asarray(asks).any():
        rows = keys, options, races.simulated
        outcomes = _draw(search.rollout, chunk, rows, np.asarray(asks))
        nets = None
        if isinstance(race, PreferenceRace) and chunk <= PIECE:
            races, nets = _count(race.compare, races, outcomes, race_params, told)
        races, asks = _tell_race(race, races, outcomes, nets, race_params, np.int32(told))
        told += chunk
    return _tell(learner, axis, is_final, states, asked, races, params, race_params)


def _draw(rollout: Rollout, num_rounds: int, rows: driver.Rows, asked: np.ndarray) -> Any:
    """The next samples [B, K, n, ...] of those that ask, and zeros for the others, in NumPy.

    One program draws any number of options, a block at a time.
    """
    size = kernels.sizes().rows
    numbers = jax.tree.map(np.asarray, without_keys(rows))
    numbers = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), numbers)
    wanted = np.flatnonzero(asked)
    pieces = [wanted[start : start + size] for start in range(0, len(wanted), size)]
    found = []
    for piece in pieces:
        block = np.resize(piece, size)  # filled up with options that are drawn already
        own = jax.tree.map(lambda x, block=block: x[block], numbers)
        found.append(_draw_block(rollout, num_rounds, *with_keys(own, rows)))

    def together(*parts: jax.Array) -> np.ndarray:
        drawn = np.zeros((asked.size, *parts[0].shape[1:]), parts[0].dtype)
        for piece, part in zip(pieces, parts, strict=True):
            drawn[piece] = np.asarray(part)[: len(piece)]
        return drawn.reshape(*asked.shape, *drawn.shape[1:])

    return jax.tree.map(together, *found)


@jit(2, work=lambda *_: MIDDLING)
def _draw_block(rollout: Rollout, num_rounds: int, *rows: Any) -> Any:
    one = jax.tree.map(lambda x: x[0], rows)
    draw, _ = kernels.drawn_quickly(driver.by_key(rollout), *one)
    return driver.of_rows(draw, num_rounds)(*rows)


@jit(1, donated=(0,))
def _tell_race(
    race: Any, states: Any, outcomes: Any, nets: Any, params: Any, told: jax.Array
) -> tuple[Any, jax.Array]:
    """The states of B races, and who asks next, bool [B, K]; ``nets`` are those of ``_count``."""
    if nets is None:
        states = race.tell_batch(states, outcomes, params, told)
    else:
        finite = jax.vmap(base.finite_rounds)(outcomes)
        states = race.decide_batch(states, Told(nets, finite, told), params)
    return states, jax.vmap(race.ask)(states, params)


def _count(
    compare: Preference, states: PreferenceState, new: Any, params: PreferenceParams, num_old: int
) -> tuple[PreferenceState, np.ndarray]:
    """B races with the next samples, and their ``kernels.open_round_nets``, int32 [B, P, n].

    The host lists the open pairs: one small program compares those of all races of a search.
    """
    is_open = np.asarray(states.active) & (num_old < np.asarray(params.max_rounds))[:, None, None]
    old, size = jax.tree.map(np.array, states.outcomes), jax.tree.leaves(new)[0].shape[2]
    for kept, told in zip(jax.tree.leaves(old), jax.tree.leaves(new), strict=True):
        kept[:, :, num_old : num_old + size] = told[:, :, : kept.shape[2] - num_old]
    states = dataclasses.replace(
        states,
        outcomes=old,
        round=np.asarray(states.round) + np.int32(size),
        simulated=np.asarray(states.simulated) + np.int32(size) * is_open.any(-1),
    )
    first, second = np.triu_indices(is_open.shape[1], 1)
    pairs, net = np.argwhere(is_open[:, first, second]), np.asarray(states.net)
    nets = np.zeros((*net[:, first, second].shape, size), np.int32)
    every, at_once = np.ones((size, size), bool), max(_COMPARED // size**2, 1)
    for start in range(0, len(pairs), at_once):
        # Filled up with pairs that are compared already.
        race, pair = np.resize(pairs[start : start + at_once], (at_once, 2)).T
        both = first[pair], second[pair]

        def samples_of(option: Any, tree: Any, at: int, race: Any = race) -> Any:
            return jax.tree.map(lambda x: x[race, option, at : at + size], tree)

        newest = [samples_of(option, new, 0) for option in both]
        gained = np.array(_compare(compare, np.tril(every), np.tril(every, -1), newest, newest))
        for number in range(0, num_old, size):
            before = [samples_of(option, old, number) for option in both]
            gained += np.asarray(_compare(compare, every, every, before, newest))
        nets[race, pair] = net[race, *both][:, None] + gained.cumsum(1, dtype=np.int32)
    return states, nets


@jit(1, work=lambda *_: MIDDLING)
def _compare(
    compare: Preference, forth: jax.Array, back: jax.Array, samples: Any, new: Any
) -> jax.Array:
    """Signs of samples of i against each new one of j, less the reverse: int32 [P, n].

    ``forth`` and ``back``, bool [n, samples], say which count.
    """
    against = jax.vmap(jax.vmap(jax.vmap(compare, (0, None)), (None, 0)))
    won, lost = against(samples[0], new[1]), against(samples[1], new[0])
    return (jnp.where(forth, won, 0) - jnp.where(back, lost, 0)).sum(-1, dtype=jnp.int32)


@jit(2)
def _is_done(search: PolicySearch, axis: Axis, states: SearchState, params: Any) -> jax.Array:
    return jax.vmap(search.done, (0, axis))(states, params)


@jit(3)
def _ask(learner: Any, axis: Axis, is_final: bool, states: Any, params: Any) -> Any:
    """What a search asks; keys, states, who asks first, options and params of the races begun.

    ``is_final`` says that they are the final ones.
    """
    search = _search_of(learner)

    def ask(state: Any, params: Any) -> Any:
        if is_final:
            return None, *learner.ask(state, params)
        if search is not learner:
            state, params = state.search, params.search
        asked = search.ask(state, params)
        race_params = search.race.params_at(asked.table, asked.max_rounds)
        return asked._replace(table=None), asked.race_key, asked.options, race_params

    asked, keys, options, race_params = jax.vmap(ask, (0, axis))(states, params)
    race, common = learner.race if is_final else search.race, search.common_random_numbers
    of_one = jax.tree.map(lambda x: x[0, 0], options)
    shapes = _outcome.eval_shape(search.rollout, keys[0], of_one)
    example = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), shapes)
    option_keys = driver.option_keys(keys, race.num_options, common)
    begun = jax.vmap(lambda params: race.init(example, params))(race_params)
    asks = jax.vmap(race.ask)(begun, race_params)
    return asked, option_keys, begun, asks, options, race_params


@functools.partial(jax.jit, static_argnums=0)  # for its shape: traced once
def _outcome(rollout: Rollout, key: jax.Array, option: Any) -> Any:
    return rollout(key, option)


@jit(3)
def _tell(
    learner: Any,
    axis: Axis,
    is_final: bool,
    states: Any,
    asked: Any,
    races: Any,
    params: Any,
    race_params: Any,
) -> tuple[Any, SearchRow]:
    """What a learner makes of races that have ended."""
    search = _search_of(learner)

    def tell(state: Any, asked: Any, race: Any, params: Any, race_params: Any) -> Any:
        if is_final:
            result = learner.race.result(race, race_params)
            row = _without_generation(state.search)
            return learner.tell(state, state.search, row, result, params)
        ranked = ranked_by(search.race.result(race, race_params))
        if search is learner:
            return search.tell(state, asked, ranked, params)
        searched, row = search.tell(state.search, asked, ranked, params.search)
        recent = learner.remember(state.recent, row)
        return FinalRaceState(searched, recent, state.raced), row

    return jax.vmap(tell, (0, 0, 0, axis, 0))(states, asked, races, params, race_params)


def _without_generation(state: SearchState) -> SearchRow:
    """The row of a search that is done."""
    zero, no = jnp.zeros((), jnp.int32), jnp.zeros((), bool)
    counted = state.generation, state.episodes, zero, zero, zero
    return SearchRow(no, *counted, race_decided=no, best=state.best, valid=~no)
