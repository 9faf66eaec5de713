"""Is the preference of a search one? A few episodes show it before anything is searched.

A search is one program from end to end, which cannot raise an error about the numbers in it.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace.compilation import bounded_jit
from jaxrace.racing.checks import check_compare
from jaxrace.rollout import PolicyInTask, Rollout, evaluate

# Policies around the start of a search, and episodes of each.
_POLICIES, _EPISODES = 8, 8


@functools.lru_cache(maxsize=32)
def check_preference(compare: Callable[[Any, Any], jax.Array], rollout: Rollout) -> None:
    """Raise ValueError unless ``compare`` is an antisymmetric sign on outcomes of random policies.

    They act in the environment with its default params. What has passed once is not tried again.

    >>> from jaxrace.envs import medical
    >>> from jaxrace.policies import Sigmoid
    >>> rollout = Rollout(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome())
    >>> check_preference(lambda a, b: 2 * medical.prefer(a, b), rollout)
    Traceback (most recent call last):
    ValueError: compare: expected -1, 0 or +1, got ...
    """
    if inspect.isfunction(compare) and compare.__module__.startswith("jaxrace.envs."):
        return  # tested with its environment; a program less to compile
    with jax.ensure_compile_time_eval():  # also where a search is set up under jit
        outcomes = _outcomes(rollout, jax.random.key(0))
        check_compare(compare, jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), outcomes))


@bounded_jit(1)
def _outcomes(rollout: Rollout, key: jax.Array) -> Any:
    """Leaves [policies, episodes, ...]."""

    def of_policy(key: jax.Array) -> Any:
        leaves, structure = jax.tree.flatten(rollout.policy.example())
        keys = jax.random.split(key, len(leaves) + 1)
        noisy = [
            x + jax.random.normal(k, x.shape, x.dtype)
            for x, k in zip(map(jnp.asarray, leaves), keys[1:], strict=True)
        ]
        option = PolicyInTask(jax.tree.unflatten(structure, noisy), rollout.env.default_params)
        return evaluate(rollout, keys[0], option, _EPISODES)

    return jax.vmap(of_policy)(jax.random.split(key, _POLICIES))
