"""Running an algorithm against a known problem: as one program, or as the jobs of a sweep.

Axes: K arms, d = 2 for duels or 1 for arms, M regrets, R records, G problems.
"""

import dataclasses
import functools
import warnings
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from numpy.typing import ArrayLike

from jaxrace.core.compilation import is_traced, jit
from jaxrace.core.keys import is_key
from jaxrace.core.protocol import pytree
from jaxrace.core.records import shown_records
from jaxrace.core.validation import BadArgument, require_integer, require_keys
from jaxrace.dueling.base import Algorithm, DecisionAlgorithm
from jaxrace.dueling.elimination import InterleavedFilter
from jaxrace.dueling.problems import MEASURES, Problem, shuffled, step_keys, uniform_at, uniform_of
from jaxrace.dueling.savage import Savage, run_by_rounds
from jaxrace.judging.winners import condorcet_winner
from jaxrace.kernels import kahan
from jaxrace.kernels.kahan import Total

# Choices whose random numbers are drawn, and whose regrets are summed, at once; at most.
_BLOCK = 64

_ORDER_NUMBER = 2**32 - 1  # choices have keys of their own, from 0 on


class DuelRecord(NamedTuple):
    """What a number of choices has come to; a leading axis [R] for all records of a run."""

    time: jax.Array  # int32 [], choices so far
    regret: jax.Array  # float32 [M], of these choices, not of all so far
    recommended: jax.Array  # int32 [], arm
    decided_at: jax.Array  # int32 [], choices until it stopped exploring; 0 if it has not

    def __str__(self) -> str:
        number = self.regret.shape[-1]
        heads = [f"{name} regret" for name in MEASURES] if number == len(MEASURES) else ["regret"]
        regrets = {head: self.regret[..., place] for place, head in enumerate(heads)}
        columns = {"time": self.time, **regrets, "recommended": self.recommended}
        return shown_records(type(self).__name__, columns | {"decided_at": self.decided_at})


def run(
    algorithm: Algorithm,
    key: jax.Array,
    problem: Problem,
    horizon: int,
    params: Any,
    records: int = 100,
) -> DuelRecord:
    """Run to the horizon, with the choices that the loop of ``ask`` and ``tell`` would make.

    Choice number t (from 0) has the keys ``step_keys(key, t)``, of ``ask`` and of the outcome, and
    the params ``algorithm.of_run(params, key)``. Pure: batch it with ``jax.vmap``.

    Args:
        algorithm: Such as ``Rucb``.
        key: Of the whole run.
        problem: From ``duels`` or ``arms``.
        horizon: T, the number of choices.
        params: From ``algorithm.params``.
        records: R, at equal distances; divides the horizon.

    Raises:
        ValueError: The problem is not for this algorithm, or the horizon is not a multiple of
            ``records`` or ends before everything has been tried once. A needed Condorcet winner
            that is missing is warned of, unless the matrix is traced.

    >>> from jaxrace.dueling import Rucb, duels, matrices
    >>> algorithm, problem = Rucb(num_arms=3), duels(matrices.flat(3, 0.9))
    >>> log = run(algorithm, jax.random.key(0), problem, 400, algorithm.params(), records=4)
    >>> log.time.tolist(), int(log.recommended[-1]), log.regret.shape  # by dueling.MEASURES
    ([100, 200, 300, 400], 0, (4, 4))
    """
    require_keys("key", key, ndim=0)
    require_horizon(algorithm, horizon)
    _require_divisor("records", records, horizon)
    require_fit(algorithm, problem)
    if not is_traced(problem.probabilities):
        note = note_without_winner(type(algorithm).__name__, algorithm, problem.probabilities)
        if note is not None:
            warnings.warn(note, stacklevel=2)
    return _run(algorithm, records, horizon // records, key, problem, params)


def _work(algorithm: Algorithm, records: int, interval: int, *_: Any) -> float:
    return 30.0 * records * interval * algorithm.num_arms**2


@jit(3, work=_work)
def _run(
    algorithm: Algorithm, records: int, interval: int, key: jax.Array, problem: Problem, params: Any
) -> DuelRecord:
    def go_on(own: Any, _: None) -> tuple[Any, DuelRecord]:
        return advance(algorithm, interval, key, own, problem, params)

    return lax.scan(go_on, algorithm.init(algorithm.of_run(params, key)), None, records)[1]


def advance(
    algorithm: Algorithm, interval: int, key: jax.Array, own: Any, problem: Problem, params: Any
) -> tuple[Any, DuelRecord]:
    """Make ``interval`` more choices: intervals of any lengths are one run."""
    params = algorithm.of_run(params, key)
    rest = interval, key, own, problem, params
    if isinstance(algorithm, Savage) and algorithm.is_by_rounds and problem.has_costs:
        own, regret = run_by_rounds(algorithm, *rest)
    else:
        own, regret = _run_one_by_one(algorithm, *rest)
    recommended = problem.named(algorithm.recommend(own, params))
    return own, DuelRecord(own.time, regret, recommended, algorithm.decided_at(own, params))


def _run_one_by_one(
    algorithm: Algorithm, count: int, key: jax.Array, state: Any, problem: Problem, params: Any
) -> tuple[Any, jax.Array]:
    """The state after ``count`` more choices, and their regret, float32 [M]."""
    first, measures = state.time, problem.num_measures
    num_blocks, size = block_sizes(count)

    def run_block(number: jax.Array, carry: tuple[Any, Total]) -> tuple[Any, Total]:
        own, total = carry
        start = number * size
        times = first + start + jnp.arange(size, dtype=jnp.int32)
        # A loop of known length does not make the host of a GPU wait.
        length = size if num_blocks * size == count else jnp.minimum(size, count - start)
        if isinstance(algorithm, InterleavedFilter) and problem.has_costs:
            uniforms = jax.vmap(uniform_at, (None, 0))(key, times)
            own, regret = algorithm.play(own, uniforms, length, problem, params)
            return own, kahan.add(total, regret)
        own_keys, outcome_keys = jax.vmap(functools.partial(step_keys, key))(times)
        noises = jax.vmap(algorithm.draw)(own_keys), jax.vmap(uniform_of)(outcome_keys)

        def choose(index: jax.Array, carry: tuple[Any, jax.Array]) -> tuple[Any, jax.Array]:
            own, regret = carry
            noise, uniform = jax.tree.map(lambda leaf: _taken(leaf, index), noises)
            choice = algorithm.choose(noise, own, params)
            own = algorithm.tell(own, choice, uniform < problem.probability(choice), params)
            if problem.has_costs:
                return own, regret + problem.cost(choice)
            return own, regret + problem.loss(algorithm.recommend(own, params))

        own, regret = lax.fori_loop(0, length, choose, (own, jnp.zeros(measures, jnp.float32)))
        return own, kahan.add(total, regret)

    state, total = lax.fori_loop(0, num_blocks, run_block, (state, kahan.zero(measures)))
    return state, total.value


def block_sizes(count: int) -> tuple[int, int]:
    """How many blocks of which size make so many choices: of equal ones if not too small.

    >>> block_sizes(100), block_sizes(101), block_sizes(10_000), block_sizes(7)
    ((2, 50), (2, 51), (200, 50), (1, 7))
    """
    least = -(-count // _BLOCK)
    even = (n for n in range(least, 2 * least) if count % n == 0 and 2 * count > n * _BLOCK)
    number = next(even, least)
    return number, -(-count // number)


def _taken(leaf: jax.Array, index: jax.Array) -> jax.Array:
    taken = leaf[index]
    # JAX's check for keys used twice cannot see that every key of a block is taken once.
    return jax.random.clone(taken) if is_key(taken) else taken


def require_fit(algorithm: Algorithm, problem: Problem) -> None:
    """Raise ValueError unless the problem, of arrays or traced, is one for this algorithm."""
    if not isinstance(problem, Problem):
        got, hint = f"a {type(problem).__name__}", ": dueling.duels(matrix) makes one"
        raise BadArgument("problem", "a Problem", got, hint)
    shape = tuple(problem.probabilities.shape)
    expected = (algorithm.num_arms,) * algorithm.choice_size
    if shape != expected:
        raise BadArgument("problem", f"probabilities {list(expected)}", str(list(shape)))
    count = algorithm.num_decisions
    if problem.losses is not None and problem.losses.shape[-1] != count:
        expected, got = f"a utility of each of {count} decisions", problem.losses.shape[-1]
        raise BadArgument("problem", expected, str(got))


def require_horizon(algorithm: Algorithm, horizon: int) -> None:
    """Raise ValueError unless an algorithm can try everything once."""
    require_integer("horizon", horizon, 1)
    if horizon < algorithm.opening:
        expected = f"at least {algorithm.opening}, in which {type(algorithm).__name__}"
        raise BadArgument("horizon", f"{expected} tries everything once", str(horizon))


def _require_divisor(name: str, value: int, horizon: int) -> None:
    require_integer(name, value, 1)
    if horizon % value:
        raise BadArgument(name, f"a divisor of horizon = {horizon}", str(value))


def note_without_winner(name: str, algorithm: Algorithm, matrix: ArrayLike) -> str | None:
    """A warning where an algorithm, by its user's name, needs a Condorcet winner and has none."""
    asked = algorithm.decision if isinstance(algorithm, DecisionAlgorithm) else algorithm
    if not asked.needs_condorcet_winner or condorcet_winner(matrix) is not None:
        return None
    return (
        f"{name} needs an arm that beats every other one, and there is none: it may never "
        "settle, or settle on any arm"
    )


@pytree
class DuelJob:
    """One run to be made; leaves [jobs, ...] for many, see ``DuelWork``."""

    key: jax.Array
    problem: ArrayLike  # int32 [], number of the problem


@pytree
class DuelWork:
    """What ``sweep.run`` does with a ``DuelJob``; a row of its log is a ``DuelRecord``.

    Every run of duels has the arms in another random order. When the sweep begins, ValueError as
    of ``run``; only ``note_without_winner`` tells of a missing Condorcet winner.

    >>> import numpy as np
    >>> from jaxrace import sweep
    >>> from jaxrace.dueling import Rucb, duels, matrices
    >>> problems = jax.tree.map(lambda x: x[None], duels(matrices.flat(3, 0.9)))
    >>> work = DuelWork(Rucb(3), 50, 100, problems, Rucb(3).params())
    >>> jobs = DuelJob(jax.random.split(jax.random.key(0), 2), np.zeros(2, np.int32))
    >>> sweep.run(work, sweep.stacked(jobs)).rows.row.time.tolist()
    [50, 100, 50, 100]
    """

    algorithm: Algorithm = dataclasses.field(metadata={"static": True})
    interval: int = dataclasses.field(metadata={"static": True})  # choices between two records
    horizon: int = dataclasses.field(metadata={"static": True})  # T, a multiple of the interval
    problems: Problem  # leaves [G, ...]
    params: Any  # of the algorithm
    # Does a run also end when the algorithm stops exploring, and plays what it recommends?
    ends_when_decided: bool = dataclasses.field(default=False, metadata={"static": True})

    def init(self, job: DuelJob) -> tuple[Any, DuelJob]:
        """The state before the first choice; checks the work, too."""
        require_horizon(self.algorithm, self.horizon)
        _require_divisor("interval", self.interval, self.horizon)
        require_fit(self.algorithm, self._problem(job))
        return self.algorithm.init(self.algorithm.of_run(self.params, job.key)), job

    def step(self, state: tuple[Any, DuelJob]) -> tuple[tuple[Any, DuelJob], DuelRecord]:
        own, job = state
        problem = self._problem(job)
        if problem.has_costs:
            order_key = jax.random.fold_in(job.key, jnp.uint32(_ORDER_NUMBER))
            problem = shuffled(order_key, problem)
        own, record = advance(self.algorithm, self.interval, job.key, own, problem, self.params)
        return (own, job), record

    def done(self, state: tuple[Any, DuelJob]) -> jax.Array:
        reached = state[0].time >= self.horizon
        if self.ends_when_decided:
            reached |= self.algorithm.decided_at(state[0], self.params) > 0
        return reached

    def failed(self, row: DuelRecord) -> jax.Array:
        return jnp.zeros_like(row.time, bool)

    def _problem(self, job: DuelJob) -> Problem:
        return jax.tree.map(lambda x: x[job.problem], self.problems)
