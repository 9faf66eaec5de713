"""One race by itself, as plain Python runs it: small programs, and a loop on the host.

The samples are drawn by a program of their own: another sampler compiles nothing else. Axes: B = 1
lanes, K options, n rounds.
"""

from typing import Any

import jax
import numpy as np

from jaxrace.compilation import bounded_jit, is_outermost, is_traced
from jaxrace.racing import base, drawing

_DRAW_LEVEL = 1  # what a user's simulator takes is not known: it runs half as fast at most


def _work(race: base.Race, *_: Any) -> float:
    return race.work


def _little(*_: Any) -> float:
    return 0.0


def run(
    race: base.Race,
    sample: drawing.Sample,
    chunk: int,
    common_random_numbers: bool,
    key: jax.Array,
    options: Any,
    params: Any,
) -> tuple[Any, Any] | None:
    """The result and ``first_outcomes`` of a race; None under a trace, which has no host."""
    if is_traced((key, options, params)) or not is_outermost():
        return None
    example = jax.eval_shape(sample, key, jax.tree.map(lambda x: x[0], options))
    example = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), example)
    keys, states = _begin(race, common_random_numbers, key, example, params)
    options = _lane(options)
    told, is_open = 0, race.opening == 0
    states, asked = _look(race, states, params)
    while np.asarray(asked).any():
        num_rounds = chunk if is_open else race.opening
        rows = keys, options, states.simulated
        outcomes = _draw_next(race, sample, num_rounds, rows, np.asarray(asked), example)
        if is_traced(outcomes):  # the sampler holds a tracer of a vmap around this call
            return None
        if is_open:
            states = _advance(race, states, outcomes, params, np.int32(told))
            told += chunk
        else:
            states, is_open = _open(race, states, outcomes, params), True
        states, asked = _look(race, states, params)
    if race.is_unfinished(states):
        states = _finish(race, states, params)
    return _end(race, states, params)


def _draw_next(
    race: base.Race,
    sample: drawing.Sample,
    num_rounds: int,
    rows: drawing.Rows,
    asked: np.ndarray,
    example: Any,
) -> Any:
    """The next samples [1, K, n, ...], of those that ask at least."""
    unequal = race.opening > 0
    if not unequal or asked.size > drawing.SINGLE_ROWS:
        return _draw(sample, num_rounds, unequal, rows, asked)
    # One by one, as compiled code does, which takes a list and a loop.
    shape = (*asked.shape, num_rounds)
    outcomes = jax.tree.map(lambda x: np.zeros((*shape, *x.shape), x.dtype), example)
    for number in np.flatnonzero(asked):
        outcomes = _draw_one(sample, num_rounds, rows, np.int32(number), outcomes)
    return outcomes


@bounded_jit(3, work=_little, level=_DRAW_LEVEL)
def _draw(
    sample: drawing.Sample, num_rounds: int, unequal: bool, rows: drawing.Rows, asked: jax.Array
) -> Any:
    return drawing.draw_next(sample, num_rounds, unequal, rows, asked)


@bounded_jit(2, work=_little, level=_DRAW_LEVEL)
def _draw_one(
    sample: drawing.Sample, num_rounds: int, rows: drawing.Rows, number: jax.Array, outcomes: Any
) -> Any:
    """``outcomes`` [1, K, n, ...] with the samples of one option among them."""
    drawn = drawing.draw_row(sample, num_rounds, jax.tree.map(lambda x: x[0, number], rows))
    return jax.tree.map(lambda x, new: x.at[0, number].set(new), outcomes, drawn)


def _lane(tree: Any) -> Any:
    """Of one race those of B = 1."""
    return jax.tree.map(lambda x: x[None], tree)


@bounded_jit(2, work=_work)
def _begin(
    race: base.Race, common_random_numbers: bool, key: jax.Array, example: Any, params: Any
) -> tuple[jax.Array, Any]:
    keys = drawing.option_keys(key[None], race.num_options, common_random_numbers)
    return keys, _lane(race.init(example, params))


@bounded_jit(1, work=_work, donated=(0,))
def _open(race: base.Race, states: Any, outcomes: Any, params: Any) -> Any:
    return race.open_lanes(states, outcomes, _lane(params))


@bounded_jit(1, work=_work, donated=(0,))
def _advance(
    race: base.Race, states: Any, outcomes: Any, params: Any, first_round: jax.Array
) -> Any:
    return race.advance_lanes(states, outcomes, _lane(params), first_round)


@bounded_jit(1, work=_work, donated=(0,))
def _look(race: base.Race, states: Any, params: Any) -> tuple[Any, jax.Array]:
    """The states once it is decided, and who is asked for next, bool [1, K]."""
    states = race.look_lanes(states, _lane(params))
    return states, jax.vmap(race.ask, (0, None))(states, params)


@bounded_jit(1, work=_work, donated=(0,))
def _finish(race: base.Race, states: Any, params: Any) -> Any:
    return race.finish_lanes(states, _lane(params))


@bounded_jit(1, work=_work)
def _end(race: base.Race, states: Any, params: Any) -> tuple[Any, Any]:
    state = jax.tree.map(lambda x: x[0], states)
    return race.result(state, params), race.first_outcomes(state)
