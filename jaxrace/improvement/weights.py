"""Softmax policies, trajectories as arrays of JAX, and importance sampling.

Axes: p features, A actions, n trajectories of T steps.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.nn import logsumexp
from jax.typing import ArrayLike

from jaxrace.agents.bases import Basis, Cells
from jaxrace.core.validation import BadArgument, require_function, require_integer
from jaxrace.judging.policies.bounds import Used
from jaxrace.judging.policies.trajectories import (
    NOBODY,
    ReturnRange,
    Trajectories,
    checked,
    require_all,
)
from jaxrace.judging.policies.weighing import Mixed

_NEVER = -1e4  # in place of the logarithm of 0: below that of any float32 product
_EXACT = lax.Precision.HIGHEST  # a GPU would round factors to 10 bits otherwise

# Also a pytree. A set grows in its empty rows.
jax.tree_util.register_dataclass(
    Trajectories, [field.name for field in dataclasses.fields(Trajectories)], []
)


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
        return jax.nn.log_softmax(jnp.matmul(features, theta.T, precision=_EXACT))

    def probabilities(self, theta: jax.Array, observation: Any) -> jax.Array:
        """P(a | s), float32 [..., A]."""
        return jnp.exp(self.log_probabilities(theta, self.basis(observation)))

    def __call__(self, theta: jax.Array, observation: Any, key: jax.Array) -> jax.Array:
        """An action drawn with ``key``: int32 []."""
        logits = self.log_probabilities(theta, self.basis(observation))
        return jax.random.categorical(key, logits).astype(jnp.int32)


def unmixed(theta: ArrayLike) -> Mixed:
    """The policy pi alone, given theta, float32 [A, p].

    >>> unmixed(jnp.zeros((2, 3))).alpha.item()
    1.0
    """
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


def trajectories(
    observations: Any,
    actions: ArrayLike,
    probabilities: ArrayLike,
    rewards: ArrayLike,
    lengths: ArrayLike | None = None,
    behaviour: ArrayLike | None = None,
    returns: ReturnRange | None = None,
) -> Trajectories:
    """A checked set of trajectories, in 32 bits, for programs of JAX.

    Args:
        observations: Leaves [n, T, ...].
        actions: Integers from 0 on, [n, T].
        probabilities: Of these actions by the policies that took them, [n, T].
        rewards: [n, T].
        lengths: Steps of each trajectory, 1 to T, [n]; what is beyond does not count. Default T.
        behaviour: Which policy generated each, integers from 0 on, [n]; default: the same one.
        returns: If given, no return may be outside of it.

    Raises:
        BadArgument: Shapes do not fit, or a number is out of its range; names trajectory and step.

    >>> data = trajectories(np.zeros((2, 3, 1)), [[0, 1, 1]] * 2, [[0.5] * 3] * 2, [[1, 0, 1]] * 2)
    >>> data.present.tolist()
    [True, True]
    """
    leaves, tree = jax.tree.flatten(observations)
    found = checked(leaves, actions, probabilities, rewards, lengths, behaviour, returns)
    whole = dataclasses.replace(found, observations=tree.unflatten(found.observations))
    kinds = {"b": bool, "i": np.int32, "u": np.int32}
    narrowed = jax.tree.map(lambda x: x.astype(kinds.get(x.dtype.kind, np.float32)), whole)
    return jax.device_put(narrowed)


def empty_rows(example: Trajectories, count: int) -> Trajectories:
    """As many empty rows as wanted, of the shapes of ``example``."""
    empty = jax.tree.map(lambda x: jnp.zeros((count, *x.shape[1:]), x.dtype), example)
    return dataclasses.replace(
        empty,
        probabilities=jnp.ones_like(empty.probabilities),
        behaviour=jnp.full_like(empty.behaviour, NOBODY),
    )


class Visits(NamedTuple):
    """Of tables: how often each action was taken in each cell, all that a weight depends on."""

    # float32 [A p, n], with rows for matrix products: those of the transposed take longer.
    counts: jax.Array
    initial: jax.Array  # float32 [A, p], probabilities of pi_0


class KnownTrajectories(NamedTuple):
    """Trajectories, and all that weighing many policies needs and does not depend on them."""

    features: jax.Array  # float32 [p, n, T]
    actions: jax.Array  # int32 [n, T]
    taken: jax.Array  # bool [n, T]
    log_behaviour: jax.Array  # float32 [n, T], ln of the probability it was done with
    initial: jax.Array  # float32 [n, T], probability that pi_0 does the same
    returns: jax.Array  # float32 [n], normalised
    rows: Used  # which hold a trajectory, and whose
    visits: Visits | None  # of tables, if pi_0 is one


def evidence(
    softmax: LinearSoftmax, data: Trajectories, returns: ReturnRange, initial: jax.Array | None
) -> KnownTrajectories:
    """Make trajectories ready for weighing the policies of a class.

    ``initial`` is theta of pi_0, float32 [A, p]; None: pi_0 is the policy that generated each.
    """
    features = softmax.basis(data.observations)
    chance, visits = data.probabilities, None
    if initial is not None:
        listed = jnp.exp(softmax.log_probabilities(initial, features))
        chance = jnp.take_along_axis(listed, data.actions[..., None], -1)[..., 0]
    if initial is not None and isinstance(softmax.basis, Cells):
        done = jax.nn.one_hot(data.actions, softmax.num_actions, dtype=jnp.float32)
        done = jnp.where(data.taken[..., None], done, 0)
        # Not a product of matrices: of many small ones a library takes several times as long.
        counts = (done[..., :, None] * features[..., None, :]).sum(1)
        visits = Visits(counts.reshape(len(counts), -1).T, jax.nn.softmax(initial, axis=0))
    return KnownTrajectories(
        features=jnp.moveaxis(features, -1, 0),
        actions=data.actions,
        taken=data.taken,
        log_behaviour=jnp.log(data.probabilities),
        initial=chance,
        returns=returns.returns(data),
        rows=Used(data.present, data.behaviour),
        visits=visits,
    )


def joined(first: KnownTrajectories, second: KnownTrajectories) -> KnownTrajectories:
    """All trajectories of both, for the same policies."""
    visits = None
    if first.visits is not None and second.visits is not None:
        counts = jnp.concatenate([first.visits.counts, second.visits.counts], 1)
        visits = Visits(counts, first.visits.initial)
    features = jnp.concatenate([first.features, second.features], 1)
    # What is left has the trajectories first.
    left = [one._replace(features=None, visits=None) for one in (first, second)]
    both = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), *left)
    return both._replace(features=features, visits=visits)


def log_ratios(policy: Mixed, known: KnownTrajectories) -> jax.Array:
    """ln pi(a_t | s_t) - ln pi_i(a_t | s_t) of every step taken, else 0: [n, T]."""
    # Actions first, steps last: the long axis is the one that a processor takes at once.
    logits = jnp.tensordot(policy.theta, known.features, 1, precision=_EXACT)  # [A, n, T]
    numbers = jnp.arange(logits.shape[0], dtype=jnp.int32)[:, None, None]
    chosen = jnp.where(numbers == known.actions, logits, 0).sum(0)
    own = jnp.exp(chosen - logsumexp(logits, axis=0))
    own = jnp.where(known.actions < logits.shape[0], own, 0)  # never: an action that pi lacks
    mixture = policy.alpha * own + (1 - policy.alpha) * known.initial
    return jnp.where(known.taken, jnp.log(mixture) - known.log_behaviour, 0)


def log_weights(policy: Mixed, known: KnownTrajectories) -> jax.Array:
    """ln w(tau) of every trajectory, float32 [n]."""
    if known.visits is None:
        return log_ratios(policy, known).sum(-1)
    counts, initial = known.visits
    own = jax.nn.softmax(policy.theta, axis=0)
    factors = jnp.log(policy.alpha * own + (1 - policy.alpha) * initial)
    # Nothing is added for what was not done, even if the policy would never do it.
    factors = jnp.maximum(factors, _NEVER).reshape(-1)
    added = jnp.matmul(factors, counts, precision=_EXACT)
    return added - jnp.where(known.taken, known.log_behaviour, 0).sum(-1)


def weighted_returns(weights: jax.Array, known: KnownTrajectories) -> jax.Array:
    """X_i = R(tau_i) w_i, float32 [n]; 0 in empty rows."""
    return jnp.where(known.rows.present, known.returns * weights, 0)


def weighted_estimate(weights: jax.Array, known: KnownTrajectories) -> jax.Array:
    """g = sum X_i / sum w_i, the weighted estimate of a policy's performance; 0 without weight."""
    total = jnp.where(known.rows.present, weights, 0).sum()
    return jnp.where(total > 0, weighted_returns(weights, known).sum() / total, 0)
