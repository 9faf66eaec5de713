"""Tables over a grid of observations. Axes: d inputs, C = bins^d cells, A actions."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from jaxrace.core.narrowing import require_range
from jaxrace.core.validation import BadArgument, require_integer, require_kind, require_shape

# Cells and their entries are numbered in int32.
_MOST_ENTRIES = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Grid:
    """A box cut into equal cells; what lies outside the box belongs to the outermost cells.

    For the SARSA(lambda) of Busa-Fekete et al. 2014, section 6.2; the ends of the box are ours.

    Attributes:
        low: Lower end of each input [d], in the units of the observation.
        high: Upper end of each input [d], above the lower end.
        bins: Intervals of equal width that each input is cut into; all cells are numbered in int32.

    >>> grid = Grid(low=(0.0, -2.0), high=(8.0, 8.0), bins=20)
    >>> int(grid.cell(jnp.array([0.5, -1.9]))), grid.num_cells
    (20, 400)
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    bins: int

    def __post_init__(self) -> None:
        require_integer("bins", self.bins, 1)
        for name in ("low", "high"):
            object.__setattr__(self, name, _finite_numbers(name, getattr(self, name)))
        if len(self.high) != len(self.low):
            raise BadArgument("high", f"{len(self.low)} numbers, as in low", repr(self.high))
        low, high = np.array([self.low, self.high], np.float32)
        with np.errstate(over="ignore"):
            width = high - low
        if not (np.isfinite(width) & (width > 0)).all():
            expected = f"numbers above those of low {self.low}, that float32 tells from them, at a "
            raise BadArgument("high", f"{expected}finite distance", str(self.high))
        if self.num_cells > _MOST_ENTRIES:
            raise BadArgument(
                "bins", f"at most {_MOST_ENTRIES} cells", f"{self.bins}^{len(self.low)}"
            )

    @property
    def num_cells(self) -> int:
        """C."""
        return self.bins ** len(self.low)

    def cell(self, observation: ArrayLike) -> jax.Array:
        """The number, int32 [], of the cell of one observation [d], row by row.

        The last input varies fastest; NaN counts as the lower end.
        """
        require_shape("observation", observation, (len(self.low),))
        low, high = np.array(self.low, np.float32), np.array(self.high, np.float32)
        shares = (jnp.asarray(observation, jnp.float32) - low) / (high - low)
        # Cut off while they are floats: the largest of those have no integer.
        bins = jnp.clip(jnp.nan_to_num(jnp.floor(shares * self.bins)), 0, self.bins - 1)
        number = jnp.zeros((), jnp.int32)
        for index in bins.astype(jnp.int32):
            number = number * self.bins + index
        return number


@dataclasses.dataclass(frozen=True)
class GreedyTable:
    """The action of the largest value in the observation's cell, the first of several equal ones.

    A ``policies.Policy`` whose parameters theta are the table Q of action values (Sutton and Barto,
    Reinforcement Learning, chapter 6), float32 [C, A]. It ignores the key.

    Attributes:
        grid: Cuts the observations into cells.
        actions: The A actions to choose from, finite, in the units of the environment.

    >>> policy = GreedyTable(Grid(low=(0.0,), high=(1.0,), bins=2), actions=(0.1, 0.4, 0.7))
    >>> table = jnp.array([[0.0, 0.0, -1.0], [1.0, 2.0, 2.0]])
    >>> print(policy(table, jnp.array([0.8]), jax.random.key(0)).round(1))
    0.4
    """

    grid: Grid
    actions: tuple[float, ...]

    def __post_init__(self) -> None:
        require_kind("grid", self.grid, Grid)
        object.__setattr__(self, "actions", _finite_numbers("actions", self.actions))
        if self.grid.num_cells * len(self.actions) > _MOST_ENTRIES:
            raise BadArgument(
                "actions",
                f"at most {_MOST_ENTRIES} entries of the table",
                f"{len(self.actions)} actions in {self.grid.num_cells} cells",
            )

    def example(self) -> np.ndarray:
        """Zeros, float32 [C, A]."""
        return np.zeros((self.grid.num_cells, len(self.actions)), np.float32)

    def __call__(self, theta: jax.Array, observation: ArrayLike, key: jax.Array) -> jax.Array:
        """The greedy action for one observation [d]: float32 []."""
        require_shape("theta", theta, (self.grid.num_cells, len(self.actions)))
        return self.action(greedy(theta[self.grid.cell(observation)]))

    def action(self, index: ArrayLike) -> jax.Array:
        """The action with a number below A: float32 []."""
        return jnp.asarray(self.actions, jnp.float32)[index]


def greedy(values: jax.Array) -> jax.Array:
    """The number of the largest of the values [A], the first of several equal ones: int32 [].

    >>> int(greedy(jnp.array([1.0, 2.0, 2.0])))
    1
    """
    return lax.argmax(values, 0, jnp.int32)


def _finite_numbers(name: str, values: tuple[float, ...]) -> tuple[float, ...]:
    """The values as Python floats, so that they can be hashed; all must be finite."""
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError, OverflowError):
        numbers = ()
    if not numbers or not np.isfinite(numbers).all():
        raise BadArgument(f"{name}", "a tuple of finite numbers", repr(values))
    require_range(name, np.array(numbers), np.float32)
    return numbers
