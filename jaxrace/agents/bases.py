"""Features of observations for linear policies. Axes: p features, d inputs."""

import dataclasses
import functools
import itertools
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxrace.core.float32 import as_float32, require_held
from jaxrace.core.validation import BadArgument, require_integer

_MOST_FEATURES = 100_000


class Basis(Protocol):
    """What every basis offers; your own needs these members, and a hash."""

    @property
    def num_features(self) -> int:
        """p."""
        ...

    def __call__(self, observation: Any) -> jax.Array:
        """The features, float32 [..., p]; observations may have any leading axes."""
        ...


class _OfInputs:
    """What bases of d inputs share; their first field is a size, too."""

    num_inputs: int

    def __post_init__(self: Any) -> None:
        name = dataclasses.fields(self)[0].name
        for size in {name, "num_inputs"}:
            require_integer(size, getattr(self, size), 1)
        if self.num_features > _MOST_FEATURES:
            got = f"{self.num_features:,} with {self.num_inputs} inputs"
            raise BadArgument(name, f"at most {_MOST_FEATURES:,} features", got)

    def _checked(self, observation: Any) -> jax.Array:
        """The observations [..., d]: JAX would broadcast any number of inputs."""
        shape = jnp.shape(observation)
        if shape[-1:] != (self.num_inputs,):
            wanted = f"{self.num_inputs} numbers on the last axis"
            raise BadArgument("observation", wanted, f"shape {list(shape)}")
        return observation


@dataclasses.dataclass(frozen=True)
class Fourier(_OfInputs):
    """cos(pi c . x) for all c in {0, ..., order}^d, x in [0, 1]^d (Konidaris et al. 2011).

    >>> Fourier(order=3, num_inputs=2).num_features
    16
    >>> print(Fourier(2, 1)(jnp.array([0.0])))
    [1. 1. 1.]
    """

    order: int  # the highest frequency of an input
    num_inputs: int  # d

    @property
    def num_features(self) -> int:
        """p = (order + 1)^d."""
        return (self.order + 1) ** self.num_inputs

    @functools.cached_property
    def frequencies(self) -> NDArray[np.float32]:
        """c of each feature, float32 [d, p]; the first is 0, whose feature is 1."""
        listed = itertools.product(range(self.order + 1), repeat=self.num_inputs)
        return np.array(list(listed), np.float32).T

    def __call__(self, observation: jax.Array) -> jax.Array:
        """The features, float32 [..., p], of observations [..., d] in [0, 1]."""
        x = as_float32("observation", self._checked(observation))
        phases = jnp.matmul(x, self.frequencies, precision=jax.lax.Precision.HIGHEST)
        return jnp.cos(jnp.pi * phases)


@dataclasses.dataclass(frozen=True)
class Cells(_OfInputs):
    """One feature for each cell of a grid over [0, 1]^d: a table.

    >>> print(Cells(cells=2, num_inputs=2)(jnp.array([0.9, 0.1])))
    [0. 0. 1. 0.]
    """

    cells: int  # of each input
    num_inputs: int  # d

    @property
    def num_features(self) -> int:
        """p = cells^d."""
        return self.cells**self.num_inputs

    def __call__(self, observation: jax.Array) -> jax.Array:
        """The features, float32 [..., p], of observations [..., d] in [0, 1]."""
        require_held("observation", self._checked(observation))
        x = jnp.clip(jnp.asarray(observation), 0, 1)  # the product of integers might overflow
        cell = jnp.minimum((x * self.cells).astype(jnp.int32), self.cells - 1)
        powers = self.cells ** np.arange(self.num_inputs - 1, -1, -1, dtype=np.int32)
        number = (cell * powers).sum(-1, dtype=jnp.int32)
        return jax.nn.one_hot(number, self.num_features, dtype=jnp.float32)


@dataclasses.dataclass(frozen=True)
class Affine(_OfInputs):
    """1, and the inputs themselves."""

    num_inputs: int  # d

    @property
    def num_features(self) -> int:
        """p = 1 + d."""
        return 1 + self.num_inputs

    def __call__(self, observation: jax.Array) -> jax.Array:
        """The features, float32 [..., p], of observations [..., d]."""
        x = as_float32("observation", self._checked(observation))
        return jnp.concatenate([jnp.ones((*x.shape[:-1], 1), jnp.float32), x], -1)


@dataclasses.dataclass(frozen=True)
class PerAction:
    """Of ``policies.Softmax``: d weights and a constant for each action but the first.

    >>> print(PerAction(num_actions=2)(jnp.array([7.0, 5.0])))
    [[0. 0. 0.]
     [7. 5. 1.]]
    """

    num_actions: int  # A

    def __post_init__(self) -> None:
        require_integer("num_actions", self.num_actions, 2)

    def __call__(self, observation: Any) -> jax.Array:
        """Of one observation of d numbers: float32 [A, (A - 1)(d + 1)]."""
        inputs = jnp.append(jnp.ravel(observation).astype(jnp.float32), jnp.float32(1))
        return jnp.kron(jnp.eye(self.num_actions, dtype=jnp.float32)[:, 1:], inputs)
