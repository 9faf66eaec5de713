"""The jobs of a sweep, and what is done with each. Axes: J jobs, n of them, W lanes of a device."""

import dataclasses
import itertools
import math
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaxrace.core.keys import with_keys, without_keys
from jaxrace.core.protocol import pytree
from jaxrace.core.validation import BadArgument, require_function, require_integer


@runtime_checkable
class Work(Protocol):
    """What is done with a job, as pure JAX functions of one job; such as ``Once``.

    A pytree, whose leaves are the arrays that all jobs share: other numbers compile nothing.

    A work may also have ``host_step(jobs)``, which gives None or a ``step(states, alive)`` of all
    jobs side by side, leaves [J, ...], that plain Python calls. It returns states, rows and which
    of them ran; last bits may differ from those of ``step``.
    """

    def init(self, job: Any) -> Any:
        """The state before the first step, a pytree of arrays."""
        ...

    def step(self, state: Any) -> tuple[Any, Any]:
        """The next state, and a row of the log: a pytree of arrays.

        Also called on the last state of a job, if other lanes go on; the result is dropped.
        """
        ...

    def done(self, state: Any) -> jax.Array:
        """Is this the last state? A bool []."""
        ...

    def failed(self, row: Any) -> jax.Array:
        """Does this row show that the job has failed? Then it ends. A bool []."""
        ...


@dataclasses.dataclass(frozen=True)
class Jobs:
    """The jobs of a sweep, made when they are wanted: memory need not grow with their number.

    Attributes:
        count: J.
        inputs: ``inputs(numbers)`` is what ``init`` is given, for jobs by their numbers, int64 [n];
            a pytree of arrays with leaves [n, ...].
        costs: What each job is expected to take, in any unit, [J], if known: the long ones begin
            first, and the lanes get equal shares.
        brief: All of them take a second or two. Their program is then compiled in two thirds of the
            time, and runs about half as fast.
        lanes: In a part of a sweep, the lane that each job has in the whole, [J].

    >>> squares = Jobs(count=1_000_000, inputs=lambda numbers: numbers.astype(np.float32) ** 2)
    >>> squares.inputs(np.array([3, 5]))
    array([ 9., 25.], dtype=float32)
    """

    count: int
    inputs: Callable[[NDArray[np.int64]], Any]
    costs: ArrayLike | None = None
    brief: bool = False
    lanes: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        require_integer("count", self.count, 0)
        require_function("inputs", self.inputs)
        if self.costs is not None:
            costs = np.asarray(self.costs)
            if costs.shape != (self.count,) or not np.isfinite(costs).all():
                raise BadArgument("costs", f"{self.count} numbers", repr(costs))

    def plan(self, width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The jobs in the order in which they begin, and the lane of each, [J].

        W successive jobs have the W lanes, and the next W are turned by about .618 W: equal jobs
        often come in a period that divides W. With costs, the most expensive W jobs have a lane
        each, the next W in reverse, and so on, and they begin in that order.

        >>> Jobs(8, lambda numbers: numbers).plan(4)[1].tolist()
        [0, 1, 2, 3, 3, 0, 1, 2]
        >>> Jobs(4, lambda numbers: numbers, [1.0, 4.0, 3.0, 2.0]).plan(2)[1].tolist()
        [0, 0, 1, 1]
        """
        rank = np.arange(self.count)
        if self.lanes is not None:
            return rank, self.lanes
        turn_of, index = np.divmod(rank, width)
        if self.costs is None:
            turns = itertools.count(round((math.sqrt(5) - 1) / 2 * width))
            turn = next(turn for turn in turns if math.gcd(turn, width) == 1)
            return rank, (index + turn_of * turn) % width
        order = np.argsort(-np.asarray(self.costs, np.float64), kind="stable")
        lane = np.where(turn_of % 2, width - 1 - index, index)
        return order, lane[np.argsort(order)]


def stacked(jobs: Any, costs: ArrayLike | None = None, brief: bool = False) -> Jobs:
    """The jobs that are the rows of a pytree, leaves [J, ...]; for the rest see ``Jobs``."""
    shapes = [np.shape(leaf) for leaf in jax.tree.leaves(jobs)]
    lengths = {shape[:1] for shape in shapes}
    if len(lengths) != 1 or () in lengths:
        found = ", ".join(str(list(shape)) for shape in shapes) or "no arrays"
        raise BadArgument("jobs", "arrays with one leading axis in common", found)
    numbers_of_jobs = jax.device_get(without_keys(jobs))  # NumPy takes rows faster than JAX

    def inputs(numbers: NDArray[np.int64]) -> Any:
        return with_keys(jax.tree.map(lambda x: x[numbers], numbers_of_jobs), jobs)

    return Jobs(shapes[0][0], inputs, costs, brief)


@pytree
class Once:
    """Work whose jobs take one step and leave one row; a row with NaN says that a job failed."""

    # ``function(constants, job) -> row``, pure and hashable.
    function: Callable[[Any, Any], Any] = dataclasses.field(metadata={"static": True})
    constants: Any  # what all jobs share, a pytree of arrays

    def init(self, job: Any) -> tuple[Any, jax.Array]:
        """The job, which is not done."""
        return job, jnp.bool_(False)

    def step(self, state: tuple[Any, jax.Array]) -> tuple[tuple[Any, jax.Array], Any]:
        """Call the function."""
        return (state[0], jnp.bool_(True)), self.function(self.constants, state[0])

    def done(self, state: tuple[Any, jax.Array]) -> jax.Array:
        """Has it been called?"""
        return state[1]

    def failed(self, row: Any) -> jax.Array:
        """Is there a NaN?"""
        leaves = [x for x in jax.tree.leaves(row) if jnp.issubdtype(x.dtype, jnp.floating)]
        return jnp.stack([jnp.bool_(False), *(jnp.isnan(x).any() for x in leaves)]).any()
