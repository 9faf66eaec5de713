"""Returns of a population on gymnax CartPole by evosax's GymnaxProblem, 16 rollouts per member."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from evosax.problems import GymnaxProblem
from evosax.problems.networks import MLP

Evaluate = Callable[[jax.Array, Any], jax.Array]


def make(hidden: tuple[int, ...], rollouts: int) -> tuple[Evaluate, Any]:
    """``evaluate(key, population) -> mean returns [lambda]``, and one member as an example.

    Observations are not normalised, so that nothing but the rollouts is measured; under jit the
    histories, which GymnaxProblem returns too, are dropped by the compiler.
    """
    policy = MLP(layer_sizes=(*hidden, 2), output_fn=_greedy)
    problem = GymnaxProblem("CartPole-v1", policy, num_rollouts=rollouts, use_normalize_obs=False)
    state = problem.init(jax.random.key(0))

    def evaluate(key: jax.Array, population: Any) -> jax.Array:
        return problem.eval(key, population, state)[0]

    return evaluate, problem.sample(jax.random.key(0))


def _greedy(logits: jax.Array, key: jax.Array | None = None) -> jax.Array:
    del key
    return jnp.argmax(logits, -1)
