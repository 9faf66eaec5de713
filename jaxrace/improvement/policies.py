"""Policies whose probabilities can be compared: softmax, and mixtures with the initial policy.

Axes: p features, A actions, n trajectories of T steps.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike

from jaxrace.agents.bases import Basis
from jaxrace.core.validation import BadArgument, require_function, require_integer
from jaxrace.judging.policies.trajectories import require_all
from jaxrace.judging.policies.weighing import Mixed


@dataclasses.dataclass(frozen=True)
class LinearSoftmax:
    """P(a | s) proportional to exp(theta_a . phi(s)), one of ``jaxrace.agents.policies``.

    >>> from jaxrace.agents.bases import Fourier
    >>> policy = LinearSoftmax(Fourier(1, 2), num_actions=3)
    >>> theta = policy.example()
    >>> theta[0, 0] = 2.0  # of the constant feature
    >>> [f"{chance:.2f}" for chance in policy.probabilities(theta, jnp.zeros(2))]
    ['0.79', '0.11', '0.11']
    """

    basis: Basis  # features of observations; see ``jaxrace.agents.bases``
    num_actions: int  # A; actions are int32 [] from 0 on

    def __post_init__(self) -> None:
        require_function("basis", self.basis)
        require_integer("num_actions", self.num_actions, 2)

    def example(self) -> np.ndarray:
        """Zeros, float32 [A, p]: the uniform policy."""
        return np.zeros((self.num_actions, self.basis.num_features), np.float32)

    def require_theta(self, name: str, theta: ArrayLike) -> None:
        """Raise BadArgument unless ``theta`` is [A, p], and finite unless it is traced."""
        shape = self.num_actions, self.basis.num_features
        if jnp.shape(theta) != shape:
            raise BadArgument(name, f"numbers {[*shape]}", f"{[*jnp.shape(theta)]}")
        if not isinstance(theta, Tracer):
            numbers = np.asarray(theta)
            require_all(name, numbers, ~np.isfinite(numbers), "a finite number")

    def log_probabilities(self, theta: jax.Array, features: jax.Array) -> jax.Array:
        """ln P(a | s) for features [..., p]: float32 [..., A]."""
        return jax.nn.log_softmax(_logits(theta, features))

    def probabilities(self, theta: jax.Array, observation: Any) -> jax.Array:
        """P(a | s), float32 [..., A]."""
        return jnp.exp(self.log_probabilities(theta, self.basis(observation)))

    def __call__(self, theta: jax.Array, observation: Any, key: jax.Array) -> jax.Array:
        """An action drawn with ``key``: int32 []."""
        logits = _logits(theta, self.basis(observation))
        return jax.random.categorical(key, logits).astype(jnp.int32)


def _logits(theta: jax.Array, features: jax.Array) -> jax.Array:
    # A GPU would round the factors to 10 bits otherwise.
    return jnp.matmul(features, theta.T, precision=jax.lax.Precision.HIGHEST)


def unmixed(theta: ArrayLike) -> Mixed:
    """The policy pi alone, given theta, float32 [A, p]."""
    return Mixed(jnp.asarray(theta), jnp.ones((), jnp.float32))


class MixedWith(NamedTuple):
    """A mixture and what it is mixed with: the parameters of a ``MixedPolicy``."""

    mixed: Mixed
    initial: jax.Array  # float32 [A, p], theta of pi_0


@dataclasses.dataclass(frozen=True)
class MixedPolicy:
    """A ``LinearSoftmax`` mixed with another one, as a policy for rollouts.

    >>> from jaxrace.agents.bases import Fourier
    >>> policy = MixedPolicy(LinearSoftmax(Fourier(1, 1), num_actions=2))
    >>> theta = jnp.array([[9.0, 0.0], [0.0, 0.0]])
    >>> half = MixedWith(Mixed(theta, jnp.float32(0.5)), jnp.zeros((2, 2)))
    >>> print(policy.probabilities(half, jnp.zeros(1)).round(2))
    [0.75 0.25]
    """

    softmax: LinearSoftmax

    def example(self) -> MixedWith:
        """Zeros: pi_0, uniform."""
        zeros = jnp.asarray(self.softmax.example())
        return MixedWith(Mixed(zeros, jnp.zeros((), jnp.float32)), zeros)

    def probabilities(self, theta: MixedWith, observation: Any) -> jax.Array:
        """P(a | s), float32 [..., A]."""
        mixed, initial = theta
        features = self.softmax.basis(observation)
        own = jnp.exp(self.softmax.log_probabilities(mixed.theta, features))
        other = jnp.exp(self.softmax.log_probabilities(initial, features))
        return mixed.alpha * own + (1 - mixed.alpha) * other

    def __call__(self, theta: MixedWith, observation: Any, key: jax.Array) -> jax.Array:
        """An action drawn with ``key``: int32 []."""
        logits = jnp.log(self.probabilities(theta, observation))
        return jax.random.categorical(key, logits).astype(jnp.int32)
