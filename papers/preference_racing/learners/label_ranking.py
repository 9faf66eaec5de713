"""Label ranking by pairwise comparison: which action is best in a state, learned from preferences.

One logistic regression for every pair of actions, and a vote of all of them (Hüllermeier,
Fürnkranz, Cheng and Brinker 2008, Label ranking by learning pairwise preferences), as used for
policies by Fürnkranz, Hüllermeier, Cheng and Park 2012 (Preference-based reinforcement learning: a
formal framework and a policy iteration algorithm). Axes: A actions, P = A (A - 1) / 2 pairs, n
states.
"""

import dataclasses
import functools
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from jaxrace.agents.policies import Linear
from jaxrace.core.narrowing import require_range
from jaxrace.core.validation import BadArgument, require_integer, require_shape

# Weight of the penalty. Weka's regressions, which Fürnkranz et al. 2012 use, have 1e-8. In float32
# the loss would be flat long before its minimum where the examples can be separated. With 1e-4 a
# fixed number of iterations reaches the minimum, and what is certain still gets more than 0.999.
RIDGE = 1e-4

# Together they give probabilities right to three digits, also where the examples can be separated.
# A slope below _FLAT is rounding error: set to 0 it ends the line search at once.
_ITERATIONS = 40
_FLAT = 3e-7


@dataclasses.dataclass(frozen=True)
class LabelRanking:
    """The action with most votes, of a finite set; a ``policies.Policy`` that ignores its key.

    theta holds the weights of the regressions, float32 [P, inputs + 1], the intercept last. Row p
    belongs to the pair ``pairs[p] = (a, b)`` and gives f_ab, the probability that action a is
    preferred to b; f_ba = 1 - f_ab. Action a has sum over b of f_ab votes; of equals, the first is
    taken.

    Attributes:
        inputs: Length of the observation.
        actions: The A actions, at least two different finite numbers.

    >>> policy = LabelRanking(inputs=1, actions=(0.1, 0.4, 0.7))
    >>> theta = jnp.array([[-9.0, 0.0], [9.0, 0.0], [9.0, 0.0]])  # pairs 0-1, 0-2, 1-2
    >>> policy.votes(theta, jnp.array([1.0])).round(2).tolist()
    [1.0, 2.0, 0.0]
    """

    inputs: int
    actions: tuple[float, ...]

    def __post_init__(self) -> None:
        require_integer("inputs", self.inputs, 1)
        object.__setattr__(self, "actions", tuple(float(action) for action in self.actions))
        different = len(set(self.actions)) == len(self.actions) >= 2
        if not different or not np.isfinite(self.actions).all():
            raise BadArgument(
                "actions", "at least two different finite numbers", repr(self.actions)
            )
        require_range("actions", np.array(self.actions), np.float32)

    @property
    def pairs(self) -> np.ndarray:
        """The pairs of actions by number, the smaller one first: int32 [P, 2]."""
        return np.array([*itertools.combinations(range(len(self.actions)), 2)], np.int32)

    def example(self) -> np.ndarray:
        """Zeros, float32 [P, inputs + 1]: every vote is divided equally."""
        return np.zeros((len(self.pairs), self.inputs + 1), np.float32)

    def probabilities(self, theta: jax.Array, observation: jax.Array) -> jax.Array:
        """f_ab of every pair for one observation [inputs]: float32 [P]."""
        num_pairs = len(self.pairs)
        require_shape("theta", theta, (num_pairs, self.inputs + 1))
        linear = Linear(self.inputs, outputs=num_pairs, bias=True)
        margins = linear(theta.reshape(-1), observation, jax.random.key(0))
        return jax.nn.sigmoid(margins.reshape(num_pairs))

    def votes(self, theta: jax.Array, observation: jax.Array) -> jax.Array:
        """The votes for each action in one observation [inputs]: float32 [A]."""
        # f_ba = 1 - f_ab: as row b of a sum, a one for each pair in which b is second.
        first, second = self.pairs.T
        action = np.arange(len(self.actions), dtype=np.int32)[:, None]
        signs = (action == first).astype(np.float32) - (action == second).astype(np.float32)
        ones = (action == second).sum(axis=1, dtype=np.float32)
        return (signs * self.probabilities(theta, observation)).sum(axis=1) + ones

    def choose(self, theta: jax.Array, observation: jax.Array) -> jax.Array:
        """The number of the action with most votes, the first of equals: int32 []."""
        return lax.argmax(self.votes(theta, observation), 0, jnp.int32)

    def __call__(self, theta: jax.Array, observation: jax.Array, key: jax.Array) -> jax.Array:
        """The action with most votes for one observation [inputs]: float32 []."""
        return jnp.asarray(self.actions, jnp.float32)[self.choose(theta, observation)]


@functools.partial(jax.jit, static_argnums=0)
def fit(policy: LabelRanking, observations: jax.Array, preferred: jax.Array) -> jax.Array:
    """Train the regressions of a policy: theta, float32 [P, inputs + 1].

    Each minimises the sum of its examples' logistic losses plus RIDGE times the squared length of
    its weights, of observations that were centred and scaled to variance 1 over all n states. The
    intercept is penalised too, because preferences that all point one way would send it to
    infinity. A pair without examples gets zeros: the probability 1/2.

    Args:
        policy: What to train.
        observations: States, floating [n, inputs].
        preferred: int8 [n, P], +1 where the first action of the pair is preferred in the state,
            -1 where the second is, 0 where there is no example.

    >>> policy = LabelRanking(inputs=1, actions=(0.0, 1.0))
    >>> states = jnp.array([[0.0], [1.0], [3.0], [4.0]])
    >>> theta = fit(policy, states, jnp.array([[1], [1], [-1], [-1]], jnp.int8))
    >>> jax.vmap(policy.choose, (None, 0))(theta, states).tolist()
    [0, 0, 1, 1]
    """
    if jnp.ndim(observations) != 2 or observations.shape[1] != policy.inputs:
        raise BadArgument(
            "observations", f"shape [n, {policy.inputs}]", f"{list(jnp.shape(observations))}"
        )
    require_shape("preferred", preferred, (len(observations), len(policy.pairs)))
    observations = jnp.asarray(observations, jnp.float32)
    mean, deviation = observations.mean(axis=0), observations.std(axis=0)
    # A component that never changes tells nothing: centred it is 0, and so stays its weight.
    scale = jnp.where(deviation > 0, deviation, jnp.ones_like(deviation))
    ones = jnp.ones((len(observations), 1), jnp.float32)
    inputs = jnp.concatenate([(observations - mean) / scale, ones], axis=1)
    weights = jax.vmap(_fit_pair, (None, 1))(inputs, preferred.astype(jnp.float32))
    slopes = weights[:, :-1] / scale
    intercepts = weights[:, -1] - (slopes * mean).sum(axis=1)
    return jnp.concatenate([slopes, intercepts[:, None]], axis=1)


def _fit_pair(inputs: jax.Array, signs: jax.Array) -> jax.Array:
    """The weights [inputs] of one regression from inputs [n, inputs] and signs [n]."""

    def loss(weights: jax.Array) -> jax.Array:
        losses = jax.nn.softplus(-signs * (inputs * weights).sum(axis=1))
        return (jnp.abs(signs) * losses).sum() + RIDGE * (weights**2).sum()

    solver = optax.lbfgs()
    value_and_grad: Any = optax.value_and_grad_from_state(loss)

    def improve(_: jax.Array, carry: tuple[jax.Array, optax.OptState]) -> Any:
        weights, state = carry
        value, slope = value_and_grad(weights, state=state)
        slope = jnp.where(jnp.abs(slope).max() < _FLAT, jnp.zeros_like(slope), slope)
        updates, state = solver.update(
            slope, state, weights, value=value, grad=slope, value_fn=loss
        )
        return optax.apply_updates(weights, updates), state

    start = jnp.zeros(inputs.shape[1], jnp.float32)
    return lax.fori_loop(0, _ITERATIONS, improve, (start, solver.init(start)))[0]
