"""Returns of 64 policies on CartPole, 16 rollouts each, against evosax's GymnaxProblem."""

import gymnax
import jax
import jax.numpy as jnp
import measuring
import numpy as np
import pytest
from peers import evosax_rollouts

from jaxrace.agents.outcomes import Return
from jaxrace.agents.policies import MLP
from jaxrace.agents.rollout import PolicyInTask, Rollout, evaluate
from jaxrace.envs.gymnax import GymnaxAdapter

MEMBERS, ROLLOUTS, HIDDEN, STEPS = 64, 16, 32, 500


def greedy(logits):
    return jnp.argmax(logits, -1)


@pytest.fixture
def population():
    """evosax's parameters of all members, of a size at which some of them balance the pole."""
    example = evosax_rollouts.make((HIDDEN,), ROLLOUTS)[1]
    leaves, structure = jax.tree.flatten(example)
    keys = jax.random.split(jax.random.key(0), len(leaves))
    drawn = [
        jax.random.normal(key, (MEMBERS, *leaf.shape))
        for key, leaf in zip(keys, leaves, strict=True)
    ]
    return jax.tree.unflatten(structure, drawn)


def our_evaluate():
    env = GymnaxAdapter(gymnax.make("CartPole-v1")[0], horizon=STEPS)
    env_params = env.default_params
    rollout = Rollout(env, MLP((4, HIDDEN, 2), output=greedy), Return())

    def of_member(key, theta):
        return evaluate(rollout, key, PolicyInTask(theta, env_params), ROLLOUTS).mean()

    def returns(key, population):
        layers = [population["params"][name] for name in ("Dense_0", "Dense_1")]
        theta = [(layer["kernel"], layer["bias"]) for layer in layers]
        return jax.vmap(of_member)(jax.random.split(key, len(theta[0][0])), theta)

    return returns


def test_jaxrace(benchmark, population):
    key = jax.random.key(1)
    ours = measuring.record_jax(
        benchmark, "rollouts/jaxrace", our_evaluate(), key, population, rounds=20
    )
    theirs = jax.jit(evosax_rollouts.make((HIDDEN,), ROLLOUTS)[0])(key, population)
    # The same task and policies under other random numbers.
    assert np.corrcoef(ours, theirs)[0, 1] > 0.95
    assert abs(float(ours.mean() / theirs.mean()) - 1) < 0.1


def test_evosax(benchmark, population):
    theirs = evosax_rollouts.make((HIDDEN,), ROLLOUTS)[0]
    key = jax.random.key(1)
    measuring.record_jax(benchmark, "rollouts/evosax", theirs, key, population, rounds=20)
