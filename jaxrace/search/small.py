"""Steps of a few searches side by side, as plain Python makes them: small programs, on the host.

They leave the rows that ``step`` leaves under vmap. Axes: B searches, K policies of each.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import racing
from jaxrace.compilation import bounded_jit
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
    draw = draw or functools.partial(drawing.draw_rows, search_of(learner).rollout)
    if isinstance(learner, PolicySearch):
        return _search(learner, states, params, axis, draw)
    is_searching = ~np.asarray(_is_done(learner, axis, states, params)) & alive
    if is_searching.any():
        of_search = params.search
        searched, rows = _search(learner.search, states.search, of_search, axis, draw)
        return _remember(learner, states, searched, rows), rows
    asked = _ask_finally(learner, axis, states, params)
    result = _race(learner.search, learner.race, draw, *asked)
    return _tell_finally(learner, axis, states, params, result)


def _search(
    search: PolicySearch, states: SearchState, params: Any, axis: Axis, draw: single.Draw
) -> tuple[SearchState, SearchRow]:
    asked, *of_race = _ask(search, axis, states, params)
    result = _race(search, search.race, draw, asked.race_key, *of_race)
    return _tell(search, axis, states, params, asked, result)


def _race(
    search: PolicySearch,
    race: racing.Race,
    draw: single.Draw,
    keys: jax.Array,
    options: Any,
    params: Any,
) -> Any:
    """The results of B races."""
    shapes = jax.eval_shape(functools.partial(_first_outcome, search.rollout), keys, options)
    example = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), shapes)
    chunk, common = chunk_of(search), search.common_random_numbers
    return single.run_lanes(race, draw, chunk, common, keys, example, options, params)


@functools.partial(jax.jit, static_argnums=0)  # for its shape: traced once
def _first_outcome(rollout: Rollout, keys: jax.Array, options: Any) -> Any:
    return rollout(keys[0], jax.tree.map(lambda x: x[0, 0], options))


def _little(*_: Any) -> float:
    return 0.0


@bounded_jit(2, work=_little)
def _is_done(learner: FinalRace, axis: Axis, states: Any, params: Any) -> jax.Array:
    return jax.vmap(learner.search.done, (0, axis))(states.search, params.search)


@bounded_jit(2, work=_little)
def _ask(search: PolicySearch, axis: Axis, states: Any, params: Any) -> Any:
    """What ``PolicySearch.ask`` returns, and the options and params of the races."""

    def ask(state: SearchState, params: Any) -> Any:
        asked = search.ask(state, params)
        race_params = search.race.params_at(asked.table, asked.max_rounds)
        return asked._replace(table=None), asked.options, race_params

    return jax.vmap(ask, (0, axis))(states, params)


@bounded_jit(2, work=_little)
def _tell(
    search: PolicySearch, axis: Axis, states: Any, params: Any, asked: Any, result: Any
) -> tuple[SearchState, SearchRow]:
    def tell(state: Any, params: Any, asked: Any, result: Any) -> tuple[SearchState, SearchRow]:
        return search.tell(state, params, asked, ranked_by(result))

    return jax.vmap(tell, (0, axis, 0, 0))(states, params, asked, result)


@bounded_jit(1, work=_little)
def _remember(learner: FinalRace, states: Any, searched: Any, rows: Any) -> FinalRaceState:
    recent = jax.vmap(learner.remember)(states.recent, rows)
    return FinalRaceState(searched, recent, states.finished)


@bounded_jit(2, work=_little)
def _ask_finally(learner: FinalRace, axis: Axis, states: Any, params: Any) -> Any:
    return jax.vmap(learner.ask, (0, axis))(states, params)


@bounded_jit(2, work=_little)
def _tell_finally(
    learner: FinalRace, axis: Axis, states: Any, params: Any, result: Any
) -> tuple[FinalRaceState, SearchRow]:
    def tell(state: FinalRaceState, params: Any, result: Any) -> Any:
        return learner.tell(state, params, state.search, _without_generation(state.search), result)

    return jax.vmap(tell, (0, axis, 0))(states, params, result)


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
