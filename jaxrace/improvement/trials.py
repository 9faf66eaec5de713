"""Daedalus in a simulator, as jobs of a sweep. Axes: n trajectories of T steps."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace.agents.rollout import PolicyInTask, history
from jaxrace.envs import Environment
from jaxrace.improvement.daedalus import Daedalus, DaedalusRow, DaedalusState
from jaxrace.improvement.policies import MixedPolicy, MixedWith
from jaxrace.improvement.policy_improvement import ImprovementParams
from jaxrace.judging.policies.trajectories import Trajectories


def collect(
    env: Environment, policy: MixedPolicy, key: jax.Array, option: PolicyInTask, count: int
) -> Trajectories:
    """Simulate n = ``count`` trajectories of a policy; trajectory i has the key fold_in(key, i).

    Actions are int32 []; the option is a ``MixedWith``, and the parameters of the environment.

    >>> from jaxrace.agents.bases import Cells
    >>> from jaxrace.envs.gridworld import Gridworld
    >>> from jaxrace.improvement import LinearSoftmax
    >>> env, policy = Gridworld(), MixedPolicy(LinearSoftmax(Cells(4, 2), num_actions=4))
    >>> option = PolicyInTask(policy.example(), env.default_params)
    >>> collect(env, policy, jax.random.key(0), option, count=5).rewards.shape
    (5, 10)
    """
    keys = jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(count, dtype=jnp.uint32))
    seen = jax.vmap(lambda key: history(env, policy, key, option))(keys)
    observe = jax.vmap(jax.vmap(lambda state: env.observe(state, option.env_params)))
    observations = observe(seen.state)
    chances = policy.probabilities(option.theta, observations)
    first = jnp.ones((count, 1), bool)
    return Trajectories(
        observations=observations,
        actions=seen.action,
        probabilities=jnp.take_along_axis(chances, seen.action[..., None], -1)[..., 0],
        rewards=seen.reward.astype(jnp.float32),
        taken=jnp.concatenate([first, ~seen.terminal[:, :-1]], 1),
        behaviour=jnp.zeros(count, jnp.int32),
    )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class DaedalusWork:
    """What ``sweep.run`` does with the key of a trial: all of its batches.

    Batch number b has the keys fold_in(fold_in(key, b), 0) for the simulator and
    fold_in(fold_in(key, b), 1) for ``Daedalus.tell``.

    >>> from jaxrace import sweep
    >>> from jaxrace.agents.bases import Cells
    >>> from jaxrace.envs import gridworld
    >>> from jaxrace.improvement import LinearSoftmax, PolicyImprovement, ReturnRange, StudentT
    >>> softmax, returns = LinearSoftmax(Cells(4, 2), 4), ReturnRange(*gridworld.RETURN_RANGE)
    >>> method = PolicyImprovement(softmax, returns, StudentT())
    >>> env = gridworld.Gridworld()
    >>> work = DaedalusWork(Daedalus(method, 100, 2), env, env.default_params, method.params(0.0))
    >>> jobs = sweep.stacked(jax.random.split(jax.random.key(0), 2))
    >>> sweep.run(work, jobs, width=1).rows.row.trajectories.tolist()
    [100, 200, 100, 200]
    """

    daedalus: Daedalus = dataclasses.field(metadata={"static": True})
    env: Environment = dataclasses.field(metadata={"static": True})
    env_params: Any
    params: ImprovementParams

    def init(self, job: jax.Array) -> tuple[DaedalusState, jax.Array]:
        """The state before the first batch."""
        first = self.daedalus.ask(None, self.params)
        shapes = jax.eval_shape(lambda: self._collect(job, first))
        example = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
        return self.daedalus.init(example, self.params), job

    def step(
        self, state: tuple[DaedalusState, jax.Array]
    ) -> tuple[tuple[DaedalusState, jax.Array], DaedalusRow]:
        """One batch."""
        own, job = state
        key = jax.random.fold_in(job, own.num_tests)
        data = self._collect(jax.random.fold_in(key, 0), self.daedalus.ask(own, self.params))
        own, row = self.daedalus.tell(jax.random.fold_in(key, 1), own, data, self.params)
        return (own, job), row

    def done(self, state: tuple[DaedalusState, jax.Array]) -> jax.Array:
        """Is there no room for more?"""
        return state[0].num_tests >= self.daedalus.num_batches

    def failed(self, row: DaedalusRow) -> jax.Array:
        """A return out of its range, or none."""
        return jnp.isnan(row.estimate)

    def _collect(self, key: jax.Array, policy: MixedWith) -> Trajectories:
        option = PolicyInTask(policy, self.env_params)
        return collect(self.env, self.daedalus.policy, key, option, self.daedalus.batch_size)
