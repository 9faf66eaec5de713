"""Features of observations for linear policies. Axes: p features, d inputs.

ValueError for a size that is no positive integer, or for over 100,000 features.
"""

import dataclasses
import functools
import itertools
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxrace.core.narrowing import as_float32, require_held
from jaxrace.core.validation import require_integer

_MOST_FEATURES = 100_000


class Basis(Protocol):
    """What every basis offers; a hashable object of your own with these members serves as well."""

    @property
    def num_features(self) -> int:
        """p."""
        ...

    def __call__(self, observation: Any) -> jax.Array:
        """The features, float32 [..., p]; observations may have any leading axes."""
        ...


def _require_sizes(name: str, basis: Any) -> None:
    require_integer(name, getattr(basis, name), 1)
    require_integer("num_inputs", basis.num_inputs, 1)
    if basis.num_features > _MOST_FEATURES:
        raise ValueError(
            f"{name}: expected at most {_MOST_FEATURES:,} features, "
            f"got {basis.num_features:,} with {basis.num_inputs} inputs"
        )


def _require_inputs(observation: Any, num_inputs: int) -> None:
    # Broadcasting would make features of any number of inputs.
    if jnp.shape(observation)[-1:] != (num_inputs,):
        raise ValueError(
            f"observation: expected {num_inputs} numbers on the last axis, "
            f"got shape {[*jnp.shape(observation)]}"
        )


@dataclasses.dataclass(frozen=True)
class Fourier:
    """cos(pi c . x) for all c in {0, ..., order}^d, x in [0, 1]^d (Konidaris et al. 2011).

    >>> Fourier(order=3, num_inputs=2).num_features
    16
    >>> print(Fourier(2, 1)(jnp.array([0.0])))
    [1. 1. 1.]
    """

    order: int  # the highest frequency of an input
    num_inputs: int  # d

    def __post_init__(self) -> None:
        _require_sizes("order", self)

    @property
    def num_features(self) -> int:
        """p = (order + 1)^d."""
        return (self.order + 1) ** self.num_inputs

    @functools.cached_property
    def frequencies(self) -> NDArray[np.float32]:
        """c of each feature, float32 [d, p]; the first feature is the constant 1."""
        listed = itertools.product(range(self.order + 1), repeat=self.num_inputs)
        return np.array(list(listed), np.float32).T

    def __call__(self, observation: jax.Array) -> jax.Array:
        """The features, float32 [..., p], of observations [..., d] in [0, 1]."""
        _require_inputs(observation, self.num_inputs)
        x = as_float32("observation", observation)
        phases = jnp.matmul(x, self.frequencies, precision=jax.lax.Precision.HIGHEST)
        return jnp.cos(jnp.pi * phases)


@dataclasses.dataclass(frozen=True)
class Cells:
    """One feature for each cell of a grid over [0, 1]^d: a table.

    >>> print(Cells(cells=2, num_inputs=2)(jnp.array([0.9, 0.1])))
    [0. 0. 1. 0.]
    """

    cells: int  # of each input
    num_inputs: int  # d

    def __post_init__(self) -> None:
        _require_sizes("cells", self)

    @property
    def num_features(self) -> int:
        """p = cells^d."""
        return self.cells**self.num_inputs

    def __call__(self, observation: jax.Array) -> jax.Array:
        """The features, float32 [..., p], of observations [..., d] in [0, 1]."""
        _require_inputs(observation, self.num_inputs)
        require_held("observation", observation)
        x = jnp.clip(jnp.asarray(observation), 0, 1)  # the product of integers might overflow
        places = jnp.minimum((x * self.cells).astype(jnp.int32), self.cells - 1)
        powers = self.cells ** np.arange(self.num_inputs - 1, -1, -1, dtype=np.int32)
        number = (places * powers).sum(-1, dtype=jnp.int32)
        return jax.nn.one_hot(number, self.num_features, dtype=jnp.float32)


@dataclasses.dataclass(frozen=True)
class Affine:
    """1, and the inputs themselves.

    >>> print(Affine(2)(jnp.array([0.25, 0.5])))
    [1.   0.25 0.5 ]
    """

    num_inputs: int  # d

    def __post_init__(self) -> None:
        require_integer("num_inputs", self.num_inputs, 1)

    @property
    def num_features(self) -> int:
        """p = 1 + d."""
        return 1 + self.num_inputs

    def __call__(self, observation: jax.Array) -> jax.Array:
        """The features, float32 [..., p], of observations [..., d]."""
        _require_inputs(observation, self.num_inputs)
        x = as_float32("observation", observation)
        return jnp.concatenate([jnp.ones((*x.shape[:-1], 1), jnp.float32), x], -1)
