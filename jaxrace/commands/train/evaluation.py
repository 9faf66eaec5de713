"""Policies on fresh episodes. Axes: B policies (one per repeat), n test episodes."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.commands.train.tasks import Task
from jaxrace.compilation import compile_ahead
from jaxrace.outcomes import Both, Return
from jaxrace.policies import Policy
from jaxrace.rollout import PolicyInTask, Rollout, evaluate


class Evaluator:
    """Evaluates B policies at once, each on n episodes of its own; compiled when it is made.

    The episodes depend on the key, the generation and the number of the policy, nothing else:
    policies of two classes meet the same patients under one key and generation.

    >>> from jaxrace.commands.train.config import TrainConfig
    >>> from jaxrace.commands.train.tasks import medical_task
    >>> from jaxrace.policies import Constant
    >>> task = medical_task(TrainConfig())
    >>> evaluator = Evaluator(task, Constant(), jax.random.key(0), num_policies=3, episodes=10)
    >>> metrics = evaluator(0, np.array([0.0, 0.5, 1.0], np.float32))
    >>> metrics["death_rate"].shape
    (3,)
    """

    def __init__(
        self, task: Task, policy: Policy, key: jax.Array, num_policies: int, episodes: int
    ) -> None:
        self._key = key
        self._env_params = task.env_params
        thetas = jax.tree.map(
            lambda x: jax.ShapeDtypeStruct((num_policies, *x.shape), x.dtype), policy.example()
        )
        rollout = Rollout(task.env, policy, Both(task.fold, Return()))
        generation = np.uint32(0)
        self._program = compile_ahead(
            _evaluate, rollout, task.measure, episodes, key, generation, thetas, task.env_params
        )

    def __call__(self, generation: int, thetas: Any) -> dict[str, jax.Array]:
        """Metrics of policies, leaves [B, ...]: averages over n episodes, float32 [B], by name."""
        return self._program(self._key, np.uint32(generation), thetas, self._env_params)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _evaluate(
    rollout: Rollout,
    measure: Any,
    episodes: int,
    key: jax.Array,
    generation: jax.Array,
    thetas: Any,
    env_params: Any,
) -> dict[str, jax.Array]:
    def evaluate_one(number: jax.Array, theta: Any) -> dict[str, jax.Array]:
        own_key = jax.random.fold_in(jax.random.fold_in(key, generation), number)
        return measure(*evaluate(rollout, own_key, PolicyInTask(theta, env_params), episodes))

    num_policies = jax.tree.leaves(thetas)[0].shape[0]
    return jax.vmap(evaluate_one)(jnp.arange(num_policies, dtype=jnp.uint32), thetas)
