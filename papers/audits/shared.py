"""How often do races on shared tasks certify a wrong set? Theorems: docs/theory/tables.md.

Options are equally good, or apart by just the tolerance, so that errors are as likely as can be. Of
equal ones the first are taken to be the best: any other set that is certified is wrong. Broken
controls show that errors would be seen. Axes: K options, N tasks.

    python -m papers.audits.shared           the full audit, 100,000 races per line, in Markdown
    python -m papers.audits.shared 20000     a smaller one
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels, racing
from papers.audits import reckoning

DELTA = 0.05

Table = Callable[[jax.Array, int], jax.Array]  # (key, N) -> scores in [0, 1], float32 [K, N]


@dataclasses.dataclass(frozen=True)
class SharedTask:
    """Options that are equally good, or the last ones better by the tolerance."""

    name: str  # for reports
    table: Table
    num_options: int
    num_tasks: int
    finite: bool = False
    by: Any = "mean"
    tolerance: float = 0.0
    every_task: bool = False  # is it looked at after every task?
    evidence: float = 1.0  # share of the evidence needed that is enough, below 1 in a control
    as_they_are: bool = False  # is the order of a list not drawn?

    @property
    def race(self) -> racing.SharedRace:
        """The race; half of the options are the best."""
        by_mean = {"low": 0, "high": 1}
        by_wins = {"compare": kernels.total_order}
        settings: dict[str, Any] = by_mean if self.by == "mean" else by_wins
        return racing.SharedRace(
            num_options=self.num_options,
            top=self.num_options // 2,
            capacity=self.num_tasks,
            finite=self.finite,
            by=self.by,
            **settings,
        )

    @property
    def params(self) -> racing.SharedParams:
        """Its numbers."""
        looks = {"first": 1, "least": 1, "growth": 0.0} if self.every_task else {}
        params = self.race.params(DELTA, tolerance=self.tolerance, **looks)
        less = np.float32(math.log(self.evidence))
        levels = {name: getattr(params, name) + less for name in ("level", "strong_level")}
        return dataclasses.replace(params, **levels)


def _coins(chances: tuple[float, ...], key: jax.Array, num_tasks: int) -> jax.Array:
    """How likely each option is right."""
    of_all = jnp.array(chances, jnp.float32)[:, None]
    return jax.random.bernoulli(key, of_all, (len(chances), num_tasks)).astype(jnp.float32)


def _unlike(key: jax.Array, num_tasks: int) -> jax.Array:
    """Of mean 1/2: a constant, 0 or 1, 1 in one of twenty tasks and else a little less, a range."""
    first, second, third = jax.random.split(key, 3)
    coin = jax.random.bernoulli(first, 0.5, (num_tasks,))
    rare = jax.random.bernoulli(second, 0.05, (num_tasks,))
    even = jax.random.uniform(third, (num_tasks,), jnp.float32)
    low = jnp.float32((0.5 - 0.05) / 0.95)
    half = jnp.full(num_tasks, 0.5, jnp.float32)
    return jnp.stack([jnp.where(rare, 1.0, low), half, coin.astype(jnp.float32), even])


def _common_shock(key: jax.Array, num_tasks: int) -> jax.Array:
    """What all options share is ten times what they have for themselves."""
    shared, own = jax.random.split(key)
    shock = jax.random.uniform(shared, (1, num_tasks), jnp.float32)
    return 0.9 * shock + 0.1 * jax.random.uniform(own, (4, num_tasks), jnp.float32)


def _copies(key: jax.Array, num_tasks: int) -> jax.Array:
    """The first, a copy, a copy with a little noise, and its opposite."""
    first, noise = jax.random.split(key)
    scores = jax.random.uniform(first, (num_tasks,), jnp.float32, 0.01, 0.99)
    moved = scores + 0.01 * jnp.sign(jax.random.uniform(noise, (num_tasks,), jnp.float32) - 0.5)
    return jnp.stack([moved, scores, scores, 1 - scores])


def _sorted_halves(num_options: int, key: jax.Array, num_tasks: int) -> jax.Array:
    """The last options are right in the first half of the list, the others in the second."""
    del key
    is_last = jnp.arange(num_options) >= num_options // 2
    is_early = jnp.arange(num_tasks) < num_tasks // 2
    return (is_last[:, None] == is_early[None, :]).astype(jnp.float32)


def _one_against_many(key: jax.Array, num_tasks: int) -> jax.Array:
    """The second is a little better on all tasks but one, on which it loses all that."""
    del key
    is_one = jnp.arange(num_tasks) == num_tasks - 1
    return jnp.stack([is_one.astype(jnp.float32), jnp.where(is_one, 0, 1 / (num_tasks - 1))])


def _rare(key: jax.Array, num_tasks: int) -> jax.Array:
    """All right but for two tasks, one each."""
    del key
    number = jnp.arange(num_tasks)
    return jnp.stack([number != 0, number != 1]).astype(jnp.float32)


_TWO_COINS, _FOUR_COINS = (functools.partial(_coins, (0.5,) * number) for number in (2, 4))
_HARDLY_RIGHT, _APART = (functools.partial(_coins, both) for both in ((0.02, 0.02), (0.4, 0.6)))
# Tasks that a third option was right on, which likes those the second is good at.
_PICKED = functools.partial(_coins, (0.3, 0.7))
_TWO_HALVES, _FOUR_HALVES = (functools.partial(_sorted_halves, number) for number in (2, 4))

TASKS: tuple[SharedTask, ...] = (
    SharedTask("two coins, looked at after every task", _TWO_COINS, 2, 150, every_task=True),
    SharedTask("two coins, by wins", _TWO_COINS, 2, 150, by="wins"),
    SharedTask("two that are hardly ever right", _HARDLY_RIGHT, 2, 150),
    SharedTask("four coins", _FOUR_COINS, 4, 150),
    SharedTask("equal means of unlike laws", _unlike, 4, 150),
    SharedTask("a common shock", _common_shock, 4, 150),
    SharedTask("copies, with noise and opposite", _copies, 4, 150),
    SharedTask("a gap that is the tolerance", _APART, 2, 150, tolerance=0.2),
    SharedTask("the same by wins", _APART, 2, 150, by="wins", tolerance=0.1),
    *(
        SharedTask(f"a sorted list of {number}", _TWO_HALVES, 2, number, True)
        for number in (20, 200, 2000)
    ),
    SharedTask("four on a sorted list", _FOUR_HALVES, 4, 200, True),
    SharedTask("the same by wins", _FOUR_HALVES, 4, 200, True, by="wins"),
    SharedTask("one task against all others", _one_against_many, 2, 200, True),
    SharedTask("one task each", _rare, 2, 200, True, every_task=True),
)

CONTROLS: tuple[SharedTask, ...] = (
    SharedTask("control: a tenth of the evidence", _TWO_COINS, 2, 150, by="wins", evidence=0.1),
    SharedTask("control: a sorted list, not drawn", _TWO_HALVES, 2, 200, True, as_they_are=True),
    SharedTask("control: tasks picked by another option", _PICKED, 2, 150),
    SharedTask("control: a tolerance that is less than the gap", _APART, 2, 150, tolerance=0.4),
)


def audit(
    races: int = reckoning.FULL_SIZE, tasks: tuple[SharedTask, ...] = TASKS
) -> Iterator[reckoning.Finding]:
    """Count wrong certificates, which are allowed delta, in so many races per line."""
    for number, task in enumerate(tasks):
        key = jax.random.fold_in(jax.random.key(0), number)
        errors = reckoning.count_wrong(functools.partial(_wrong, task), key, races)
        kind = f"list of {task.num_tasks}" if task.finite else "stream"
        claim = f"{task.by}, {kind}"
        yield reckoning.Finding(task.name, claim, DELTA, DELTA, int(errors), races)


def control(races: int = reckoning.FULL_SIZE) -> Iterator[reckoning.Finding]:
    """The same of races that are broken, or told what they must not be: they must be refuted."""
    return audit(min(races, reckoning.MOST_OF_CONTROL), CONTROLS)


def _lookup(key: jax.Array, option: jax.Array, task: jax.Array) -> jax.Array:
    del key
    return option[task]


def _wrong(task: SharedTask, keys: jax.Array) -> np.ndarray:
    """Which races, bool [n], certify others than the first, or than the last by tolerance."""
    race = task.race
    tables = _tables(task, keys)
    certified, in_top = _play(race, task.as_they_are, keys, tables, task.params)
    is_first = np.arange(task.num_options) < race.top
    right = np.asarray(in_top) == (~is_first if task.tolerance else is_first)
    return np.asarray(certified) & ~right.all(-1)


@functools.partial(jax.jit, static_argnums=0)
def _tables(task: SharedTask, keys: jax.Array) -> jax.Array:
    def of_race(key: jax.Array) -> jax.Array:
        return task.table(jax.random.fold_in(key, 1), task.num_tasks)

    return jax.vmap(of_race)(keys)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _play(
    race: racing.SharedRace,
    as_they_are: bool,
    keys: jax.Array,
    tables: jax.Array,
    params: racing.SharedParams,
) -> tuple[jax.Array, jax.Array]:
    """Which races certify, bool [races], and who is among their first kappa, bool [races, K]."""

    def of_race(key: jax.Array, table: jax.Array) -> tuple[jax.Array, jax.Array]:
        order = racing.task_order(race, key)
        # What undoes the order that the race draws.
        tasks = jnp.argsort(order) if as_they_are else jnp.arange(race.capacity)
        result = racing.run(race, key, _lookup, table, params, tasks=tasks.astype(jnp.int32))
        return result.decided, jnp.argsort(result.ranking) < race.top

    return jax.vmap(of_race)(keys, tables)


if __name__ == "__main__":
    asked_for = reckoning.races_asked_for("Audit the races on shared tasks.")
    found = [*reckoning.told(audit(asked_for)), *reckoning.told(control(asked_for))]
    print(reckoning.markdown_table(found, "Race"))
