"""Races as plain Python runs them, one or a few: small programs, and a loop on the host.

The samples are drawn by a program of their own: another sampler compiles nothing else. Axes: B
lanes, 1 for a race by itself; K options, n rounds.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxrace import kernels
from jaxrace.compilation import MOST_BRIEF, bounded_jit, brief, is_outermost, is_traced
from jaxrace.racing import base, drawing

# Takes rounds, rows as drawing has them, and who asks, bool [B, K]: samples [B, K, n, ...].
Draw = Callable[[int, drawing.Rows, np.ndarray], Any]


def _work(race: base.Race, *of_race: Any) -> float:
    # A batch always counts as brief: its caller has decided that.
    return race.work if _num_lanes(of_race) == 1 else 0.0


def _level(race: base.Race, *of_race: Any) -> int:
    """Batches run long enough for a program that is twice as fast, and compiled as long again."""
    return int(_num_lanes(of_race) > 1)


def _num_lanes(of_race: Any) -> int:
    return len(jax.tree.leaves(of_race)[0])


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
    # Options that advance unequally are drawn one by one, as a sampler may be expensive.
    few = race.opening > 0 and race.num_options <= drawing.SINGLE_ROWS
    size = 1 if few else min(race.num_options, kernels.sizes().rows)
    draw = functools.partial(drawing.draw_rows, sample, size=size)
    options = jax.tree.map(lambda x: x[None], options)
    params = jax.tree.map(lambda x: np.asarray(x)[None], params)
    begun = _begin(race, common_random_numbers, params, key[None], example)
    states = play(race, draw, chunk, begun, options, params)
    return None if states is None else _end(race, states, params)


def play(
    race: base.Race,
    draw: Draw,
    chunk: int,
    begun: tuple[jax.Array, Any, jax.Array],
    options: Any,
    params: Any,
) -> Any:
    """The last states of B races, as ``begin`` began them; None if the sampler holds a tracer.

    ``options`` and ``params`` have leaves [B, ...].
    """
    option_keys, states, asked = begun
    told, is_open, is_brief = 0, race.opening == 0, _work(race, states) <= MOST_BRIEF
    while np.asarray(asked).any():
        num_rounds = chunk if is_open else race.opening
        rows = option_keys, options, states.simulated
        outcomes = draw(num_rounds, rows, np.asarray(asked))
        if is_traced(outcomes):  # the sampler holds a tracer of a vmap around this call
            return None
        if is_open:
            here = race.count_here(states, outcomes, params, told) if is_brief else None
            states, counts = here or _count(race, states, outcomes, params, np.int32(told))
            told += chunk
        else:
            states, counts, is_open = _open(race, states, outcomes, params), None, True
        states, asked = _decide(race, states, counts, params)
    return _finish(race, states, params) if race.is_unfinished(states) else states


def begin(
    race: base.Race, common_random_numbers: bool, params: Any, keys: jax.Array, example: Any
) -> tuple[jax.Array, Any, jax.Array]:
    """The keys of the options, states, and who is asked for first.

    The ``keys`` of the races are [B], and an outcome is shaped as the ``example``.
    """
    option_keys = drawing.option_keys(keys, race.num_options, common_random_numbers)
    states = jax.vmap(lambda params: race.init(example, params))(params)
    return option_keys, states, jax.vmap(race.ask)(states, params)


_begin = bounded_jit(2, work=brief)(begin)


@bounded_jit(1, work=_work, level=_level, donated=(0,))
def _open(race: base.Race, states: Any, outcomes: Any, params: Any) -> Any:
    return race.open_lanes(states, outcomes, params)


@bounded_jit(1, work=_work, level=_level, donated=(0,))
def _count(race: base.Race, states: Any, outcomes: Any, params: Any, first_round: jax.Array) -> Any:
    return race.count_lanes(states, outcomes, params, first_round)


# Deciding is long to compile and soon done: never at a higher level.
@bounded_jit(1, work=_work, donated=(0,))
def _decide(race: base.Race, states: Any, counts: Any, params: Any) -> tuple[Any, jax.Array]:
    """The states once it is decided, and who is asked for next, bool [B, K]."""
    states = race.decide_lanes(states, counts, params)
    return states, jax.vmap(race.ask)(states, params)


@bounded_jit(1, work=_work, donated=(0,))
def _finish(race: base.Race, states: Any, params: Any) -> Any:
    return race.finish_lanes(states, params)


@bounded_jit(1, work=_work)
def _end(race: base.Race, states: Any, params: Any) -> tuple[Any, Any]:
    state, params = jax.tree.map(lambda x: x[0], (states, params))
    return race.result(state, params), race.first_outcomes(state)
