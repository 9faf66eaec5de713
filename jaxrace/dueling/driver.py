"""Playing an algorithm against a known problem, as one compiled program.

Axes: K arms, d = 2 for duels or 1 for arms, M measures of regret, R records.
"""

import dataclasses
import functools
import warnings
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import Tracer

from jaxrace.dueling import savage_rounds
from jaxrace.dueling.base import Algorithm, Noise
from jaxrace.dueling.problems import Problem
from jaxrace.dueling.savage import Savage
from jaxrace.dueling.steps import draw_uniform, step_keys
from jaxrace.dueling.winners import condorcet_winner
from jaxrace.validation import require_integer, require_keys

# Choices whose random numbers are drawn at once.
_BLOCK = 64


class Record(NamedTuple):
    """What a number of choices has come to."""

    time: jax.Array  # int32 [], choices so far
    regret: jax.Array  # float32 [M], of these choices, not of all so far
    recommended: jax.Array  # int32 [], arm
    settled_at: jax.Array  # int32 [], choices until it stopped exploring; 0 if it has not


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class PlayState:
    """A run between two records."""

    key: jax.Array
    algorithm: Any


def play(
    algorithm: Algorithm,
    key: jax.Array,
    problem: Problem,
    horizon: int,
    params: Any,
    records: int = 100,
) -> Record:
    """Play to the horizon; the same choices as the loop of ``ask`` and ``tell`` would make.

    Choice number t (from 0) has the key ``fold_in(key, t)``, which ``step_keys`` splits into that
    of ``ask`` and that of the outcome; the params of that loop are ``algorithm.of_run(params,
    key)``. Pure: batch it with ``jax.vmap`` over keys and problems.

    Args:
        algorithm: Which.
        key: Of the whole run.
        problem: From ``duels`` or ``arms``.
        horizon: T, the number of choices.
        params: Of the algorithm.
        records: R, at equal distances; divides the horizon.

    Returns:
        Leaves [R, ...].

    Raises:
        ValueError: ``key`` is no key, the problem is not for this algorithm, or ``horizon`` is
            no multiple of ``records`` or ends before everything has been tried once.

    Warns:
        UserWarning: The algorithm needs a Condorcet winner, and there is none (not under a trace).

    >>> from jaxrace.dueling import Rucb, duels
    >>> from jaxrace.dueling.matrices import flat
    >>> algorithm = Rucb(num_arms=3)
    >>> log = play(algorithm, jax.random.key(0), duels(flat(3, 0.9)), 400, algorithm.params(), 4)
    >>> log.time.tolist(), int(log.recommended[-1])
    ([100, 200, 300, 400], 0)
    """
    require_keys("key", key, ndim=0)
    require_horizon(algorithm, horizon)
    require_integer("records", records, 1)
    if horizon % records:
        raise ValueError(f"records: expected a divisor of horizon = {horizon}, got {records}")
    require_fit(algorithm, problem)
    warn_without_winner(algorithm, problem)
    return _play(algorithm, records, horizon // records, key, problem, params)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _play(
    algorithm: Algorithm, records: int, interval: int, key: jax.Array, problem: Problem, params: Any
) -> Record:
    def go_on(state: PlayState, _: None) -> tuple[PlayState, Record]:
        return advance(algorithm, interval, state, problem, params)

    return lax.scan(go_on, begin(algorithm, key, params), None, records)[1]


def begin(algorithm: Algorithm, key: jax.Array, params: Any) -> PlayState:
    """The state before the first choice."""
    return PlayState(key, algorithm.begin(algorithm.of_run(params, key)))


def advance(
    algorithm: Algorithm, interval: int, state: PlayState, problem: Problem, params: Any
) -> tuple[PlayState, Record]:
    """Make ``interval`` more choices."""
    params = algorithm.of_run(params, state.key)
    rest = interval, state.key, state.algorithm, problem, params
    if isinstance(algorithm, Savage) and algorithm.is_by_rounds and problem.has_costs:
        own, regret = savage_rounds.play(algorithm, *rest)
    else:
        own, regret = _play_one_by_one(algorithm, *rest)
    recommended = problem.named(algorithm.best(own, params))
    record = Record(own.time, regret, recommended, algorithm.settled_at(own, params))
    return PlayState(state.key, own), record


def _play_one_by_one(
    algorithm: Algorithm, count: int, key: jax.Array, state: Any, problem: Problem, params: Any
) -> tuple[Any, jax.Array]:
    """The state after ``count`` more choices, and their regret, float32 [M]."""
    first = state.time
    size = next(size for size in range(min(_BLOCK, count), 0, -1) if count % size == 0)

    def play_one(carry: tuple, noise: tuple[Noise, jax.Array]) -> tuple[tuple, None]:
        own, regret = carry
        choice = algorithm.choose(noise[0], own, params)
        outcome = noise[1] < problem.probability(choice)
        own = algorithm.update(own, choice, outcome, params)
        if problem.has_costs:
            return (own, regret + problem.cost(choice)), None
        return (own, regret + problem.loss(algorithm.best(own, params))), None

    def play_block(number: jax.Array, carry: tuple) -> tuple:
        times = first + number * size + jnp.arange(size, dtype=jnp.int32)
        noises = jax.vmap(functools.partial(_noise, algorithm, key))(times)
        return lax.scan(play_one, carry, noises)[0]

    start = state, jnp.zeros(problem.num_measures, jnp.float32)
    return lax.fori_loop(0, count // size, play_block, start)


def _noise(algorithm: Algorithm, key: jax.Array, time: jax.Array) -> tuple[Noise, jax.Array]:
    return algorithm.draw(step_keys(key, time)[0]), draw_uniform(key, time)


def require_fit(algorithm: Algorithm, problem: Problem) -> None:
    """Raise ValueError unless the problem is one for this algorithm."""
    shape = tuple(problem.probabilities.shape)
    expected = (algorithm.num_arms,) * algorithm.choice_size
    if shape != expected:
        raise ValueError(f"problem: expected probabilities {list(expected)}, got {list(shape)}")
    count = algorithm.num_decisions
    if problem.losses is not None and problem.losses.shape[-1] != count:
        raise ValueError(
            f"problem: expected a utility of each of {count} decisions, "
            f"got {problem.losses.shape[-1]}"
        )


def require_horizon(algorithm: Algorithm, horizon: int) -> None:
    """Raise ValueError unless an algorithm can try everything once.

    >>> from jaxrace.dueling import SupKlucb
    >>> require_horizon(SupKlucb(4), 9)
    Traceback (most recent call last):
    ValueError: horizon: expected at least 10, in which SupKlucb tries everything once, got 9
    """
    require_integer("horizon", horizon, 1)
    if horizon < algorithm.opening:
        raise ValueError(
            f"horizon: expected at least {algorithm.opening}, in which "
            f"{type(algorithm).__name__} tries everything once, got {horizon}"
        )


def warn_without_winner(algorithm: Algorithm, problem: Problem) -> None:
    """Warn where an algorithm needs a Condorcet winner that is not there; not under a trace."""
    if not algorithm.needs_condorcet_winner or isinstance(problem.probabilities, Tracer):
        return
    if condorcet_winner(problem.probabilities) is None:
        warnings.warn(
            f"{type(algorithm).__name__} needs an arm that beats every other one, and there is "
            "none: it may never settle, or settle on any arm",
            stacklevel=3,
        )
