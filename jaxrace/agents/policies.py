"""Parametric policies: ``policy(theta, observation, key) -> action``, pure, for one observation.

Parameters theta are a pytree: a flat float32 vector [p] but for ``MLP``. Deterministic policies
ignore the key.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.core.float32 import require_held
from jaxrace.core.validation import BadArgument, require_integer, require_shape

_UNROLLED_INPUTS = 16
_MOST_ACTIONS = 2**31 - 1  # an action is an int32


class Policy(Protocol):
    """What every policy offers; a frozen dataclass of your own with these members will do."""

    def example(self) -> Any:
        """Parameters of the right structure, shapes and dtypes: zeros of NumPy."""
        ...

    def __call__(self, theta: Any, observation: Any, key: jax.Array) -> jax.Array:
        """The action for one observation."""
        ...


@dataclasses.dataclass(frozen=True)
class Linear:
    """Actions W s, or W s + b with an intercept: float32 [outputs], or [] for one output.

    >>> policy = Linear(inputs=2, bias=True)
    >>> print(policy(jnp.array([1.0, 2.0, 0.5]), jnp.array([1.0, 1.0]), jax.random.key(0)))
    3.5
    """

    inputs: int  # length of the observation
    outputs: int = 1  # length of the action
    bias: bool = False  # add an intercept

    def __post_init__(self) -> None:
        require_integer("inputs", self.inputs, 1)
        require_integer("outputs", self.outputs, 1)

    def example(self) -> np.ndarray:
        """Zeros, float32 [outputs * (inputs + bias)]."""
        return np.zeros(self.outputs * (self.inputs + self.bias), np.float32)

    @property
    def weight_names(self) -> list[str]:
        """What each number of theta multiplies."""
        of_one = [f"s[{i}]" for i in range(self.inputs)] + ["constant"] * self.bias
        if self.outputs == 1:
            return of_one
        return [f"{name} for action {k}" for k in range(self.outputs) for name in of_one]

    def __call__(self, theta: jax.Array, observation: jax.Array, key: jax.Array) -> jax.Array:
        """The linear map of one observation [inputs]."""
        require_shape("theta", theta, self.example().shape)
        require_shape("observation", observation, (self.inputs,))
        require_held("theta", theta)
        require_held("observation", observation)
        weights = theta.reshape(self.outputs, -1)
        if self.inputs > _UNROLLED_INPUTS:
            action = weights[:, : self.inputs] @ observation
        else:
            # Written out, the products fuse with the simulator's loop.
            terms = [weights[:, i] * observation[i] for i in range(self.inputs)]
            action = functools.reduce(jnp.add, terms)
        if self.bias:
            action = action + weights[:, -1]
        return action[0] if self.outputs == 1 else action


@dataclasses.dataclass(frozen=True)
class Sigmoid:
    """Actions in (0, 1): 1 / (1 + exp(-theta . s)), with an intercept unless ``bias=False``.

    The policy of the medical task (Busa-Fekete et al. 2014, section 6.2). The paper's population
    size 4 + floor(3 ln p) = 7 fits p = 3 parameters only, hence the intercept.

    >>> print(Sigmoid(2)(jnp.zeros(3), jnp.array([1.0, 2.0]), jax.random.key(0)))
    0.5
    """

    inputs: int
    bias: bool = True

    def __post_init__(self) -> None:
        require_integer("inputs", self.inputs, 1)

    def example(self) -> np.ndarray:
        """Zeros, float32 [inputs + bias]."""
        return Linear(self.inputs, bias=self.bias).example()

    @property
    def weight_names(self) -> list[str]:
        """What each number of theta multiplies."""
        return Linear(self.inputs, bias=self.bias).weight_names

    def __call__(self, theta: jax.Array, observation: jax.Array, key: jax.Array) -> jax.Array:
        """The action for one observation [inputs]."""
        return jax.nn.sigmoid(Linear(self.inputs, bias=self.bias)(theta, observation, key))


@dataclasses.dataclass(frozen=True)
class Softmax:
    """A random discrete action: P(a | s) proportional to exp(theta . phi(s, a)).

    >>> policy = Softmax(features=lambda s: jnp.outer(jnp.arange(2.0), s), num_params=1)
    >>> print(policy.probabilities(jnp.array([1.0]), jnp.array([0.0])))
    [0.5 0.5]
    """

    features: Callable[[Any], jax.Array]  # of an observation: phi of each of A actions, [A, p]
    num_params: int  # p

    def __post_init__(self) -> None:
        require_integer("num_params", self.num_params, 1)
        if not callable(self.features):
            raise BadArgument("features", "a function", repr(self.features))

    def example(self) -> np.ndarray:
        """Zeros, float32 [p]."""
        return np.zeros(self.num_params, np.float32)

    def probabilities(self, theta: jax.Array, observation: Any) -> jax.Array:
        """P(a | s), float32 [A]; NaN where features of the observation are NaN."""
        return jax.nn.softmax(self._utilities(theta, observation))

    def __call__(self, theta: jax.Array, observation: Any, key: jax.Array) -> jax.Array:
        """An action drawn with ``key``: int32 []."""
        return jax.random.categorical(key, self._utilities(theta, observation)).astype(jnp.int32)

    def _utilities(self, theta: jax.Array, observation: Any) -> jax.Array:
        require_held("theta", theta)
        require_held("observation", observation)
        return self.features(observation) @ theta


@dataclasses.dataclass(frozen=True)
class MLP:
    """A multilayer perceptron: tanh layers, a linear last one, then ``output`` if given.

    >>> policy = MLP(sizes=(2, 8, 3), output=jnp.tanh)
    >>> theta = jax.tree.map(jnp.asarray, policy.example())
    >>> print(policy(theta, jnp.ones(2), jax.random.key(0)))
    [0. 0. 0.]
    """

    sizes: tuple[int, ...]  # lengths of the observation, of each hidden layer, and of the action
    output: Callable[[jax.Array], jax.Array] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(self.sizes))
        if len(self.sizes) < 2:
            raise BadArgument("sizes", "at least two", repr(self.sizes))
        for size in self.sizes:
            require_integer("sizes", size, 1)

    def example(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Zeros: weights [n, m] and biases [m] of each layer, float32."""
        return [
            (np.zeros((n, m), np.float32), np.zeros(m, np.float32))
            for n, m in itertools.pairwise(self.sizes)
        ]

    def __call__(
        self, theta: list[tuple[jax.Array, jax.Array]], observation: jax.Array, key: jax.Array
    ) -> jax.Array:
        """The action for one observation [sizes[0]]: float32 [sizes[-1]]."""
        require_held("theta", theta)
        require_held("observation", observation)
        *hidden, last = theta
        layer = observation
        for weights, biases in hidden:
            layer = jnp.tanh(layer @ weights + biases)
        action = layer @ last[0] + last[1]
        return action if self.output is None else self.output(action)


@dataclasses.dataclass(frozen=True)
class Constant:
    """The same action whatever is observed; theta is that action, a float32 []."""

    def example(self) -> np.ndarray:
        """Zero, float32 []."""
        return np.zeros((), np.float32)

    def __call__(self, theta: jax.Array, observation: Any, key: jax.Array) -> jax.Array:
        """The action theta."""
        return theta


@dataclasses.dataclass(frozen=True)
class UniformChoice:
    """One of the actions in theta, float32 [num_actions], drawn uniformly in every step.

    >>> print(UniformChoice(2)(jnp.array([3.0, 3.0]), None, jax.random.key(0)))
    3.0
    """

    num_actions: int

    def __post_init__(self) -> None:
        require_integer("num_actions", self.num_actions, 1, _MOST_ACTIONS)

    def example(self) -> np.ndarray:
        """Zeros, float32 [num_actions]."""
        return np.zeros(self.num_actions, np.float32)

    def __call__(self, theta: jax.Array, observation: Any, key: jax.Array) -> jax.Array:
        """A uniformly drawn action."""
        require_shape("theta", theta, (self.num_actions,))
        return theta[jax.random.randint(key, (), 0, self.num_actions, jnp.int32)]
