"""Steps of a few searches side by side, as plain Python makes them: small programs, on the host.

They leave the rows that ``step`` leaves under vmap. Axes: B searches, K policies of each.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.compilation import bounded_jit, brief
from jaxrace.racing import drawing, single
from jaxrace.rollout import Rollout
from jaxrace.search.final_race import FinalRace, FinalRaceState
from jaxrace.search.policy_search import PolicySearch, SearchRow, SearchState, ranked_by

Axis = int | None  # that of the searches in their params, if they have their own


def has_small_steps(learner: Any) -> bool:
    """Can ``step_lanes`` make the steps of this learner?"""
    return type(search_of(learner)) is PolicySearch


def chunk_of(learner: Any) -> int:
    """Rounds that are drawn at once, in every race of a learner."""
    search = search_of(learner)
    return search.race.chunk if search.chunk is None else search.chunk


def search_of(learner: Any) -> Any:
    """The policy search of a learner, which may have a final race."""
    return learner.search if isinstance(learner, FinalRace) else learner


def step_lanes(
    learner: Any,
    states: Any,
    params: Any,
    axis: Axis,
    alive: np.ndarray,
    draw: single.Draw | None = None,
) -> tuple[Any, SearchRow]:
    """One step of B searches: their next states, and a row of each, leaves [B, ...].

    Searches that end early wait for the others, so that all final races are run together; those
    that wait leave rows that have not ``ran``. ``alive``, bool [B], are those that have not failed
    or ended; ``draw`` draws outcomes unless the rollout of the search shall.
    """
    search = search_of(learner)
    draw = draw or functools.partial(drawing.draw_rows, search.rollout)
    is_final = (
        search is not learner
        and not (~np.asarray(_is_done(search, axis, states.search, params.search)) & alive).any()
    )
    asked, begun, *of_race = _ask(learner, axis, is_final, states, params)
    race = learner.race if is_final else search.race
    ended = single.play(race, draw, chunk_of(learner), begun, *of_race)
    return _tell(learner, axis, is_final, states, params, asked, ended, of_race[1])


@bounded_jit(2, work=brief)
def _is_done(search: PolicySearch, axis: Axis, states: SearchState, params: Any) -> jax.Array:
    return jax.vmap(search.done, (0, axis))(states, params)


@bounded_jit(3, work=brief)
def _ask(learner: Any, axis: Axis, is_final: bool, states: Any, params: Any) -> Any:
    """What a search asks, races that have begun, and their options and params.

    ``is_final`` says that they are the final ones.
    """
    search = search_of(learner)

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
    return asked, single.begin(race, common, race_params, keys, example), options, race_params


@functools.partial(jax.jit, static_argnums=0)  # for its shape: traced once
def _outcome(rollout: Rollout, key: jax.Array, option: Any) -> Any:
    return rollout(key, option)


@bounded_jit(3, work=brief)
def _tell(
    learner: Any,
    axis: Axis,
    is_final: bool,
    states: Any,
    params: Any,
    asked: Any,
    ended: Any,
    race_params: Any,
) -> tuple[Any, SearchRow]:
    """What a learner makes of races that have ``ended``."""
    search = search_of(learner)

    def tell(state: Any, params: Any, asked: Any, ended: Any, race_params: Any) -> Any:
        if is_final:
            result = learner.race.result(ended, race_params)
            row = _without_generation(state.search)
            return learner.tell(state, params, state.search, row, result)
        ranked = ranked_by(search.race.result(ended, race_params))
        if search is learner:
            return search.tell(state, params, asked, ranked)
        searched, row = search.tell(state.search, params.search, asked, ranked)
        recent = learner.remember(state.recent, row)
        return FinalRaceState(searched, recent, state.finished), row

    return jax.vmap(tell, (0, axis, 0, 0, 0))(states, params, asked, ended, race_params)


def _without_generation(state: SearchState) -> SearchRow:
    """The row of a search that is done."""
    none, no = jnp.zeros((), jnp.int32), jnp.zeros((), bool)
    return SearchRow(
        ran=no,
        generation=state.generation,
        episodes=state.episodes,
        simulated=none,
        max_rounds=none,
        options_decided=none,
        finished=no,
        best=state.best,
        valid=~no,
    )
