"""Tasks that are simulated, and the policies in use. Axes: A actions, p features."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import improvement, sweep
from jaxrace.bases import Affine, Cells, Fourier
from jaxrace.commands.improve.performance import Worth, of_gridworld, without_chance
from jaxrace.commands.workbench import Workbench
from jaxrace.envs import Environment, gridworld, marketing, mountain_car
from jaxrace.rollout import PolicyInTask

# The paper does not say how long a decision of the car holds, nor how many there are. With these
# numbers the uniform policy performs as the initial one of figures 3 and 4; three decisions are the
# fewest that lead to the goal.
_CAR = mountain_car.MountainCar(horizon=10, hold=50)
_CAR_RETURNS = improvement.ReturnRange(-10.0, -3.0)
_BATCH = 2_500  # rollouts that are simulated at once


@dataclasses.dataclass(frozen=True)
class Domain:
    """A task, a class of policies, and one of them that is in use."""

    name: str  # as the command has it
    env: Environment  # the simulator
    softmax: improvement.LinearSoftmax  # the policies
    returns: improvement.ReturnRange  # makes the return a number in [0, 1]
    rollouts: int  # of a policy whose performance is wanted; 0 if it is computed exactly
    batch_size: int  # beta of Daedalus

    def initial(self) -> np.ndarray:
        """theta of the policy in use, float32 [A, p]: uniform except in the gridworld."""
        theta = self.softmax.example()
        if self.name == "gridworld":
            theta[:] = np.log(np.asarray(gridworld.initial_probabilities())).T
        return theta

    def performance(self, key: jax.Array, policy: improvement.MixedWith) -> Worth:
        """The mean return in [0, 1]: exact if ``rollouts`` is 0, else of so many episodes."""
        mixture = improvement.MixedPolicy(self.softmax)
        if not self.rollouts:
            chances = functools.partial(mixture.probabilities, policy)
            expected = (
                of_gridworld(chances)
                if self.name == "gridworld"
                else without_chance(self.env, self.softmax.num_actions, chances)
            )
            return Worth(self.returns.normalised(expected), jnp.zeros((), jnp.float32))

        def add(number: jax.Array, totals: jax.Array) -> jax.Array:
            own = jax.random.fold_in(key, number)
            option = PolicyInTask(policy, self.env.default_params)
            returns = self.returns.returns(
                improvement.collect(self.env, mixture, own, option, _BATCH)
            )
            return totals + jnp.stack([returns.mean(), (returns**2).mean()])

        batches = -(-self.rollouts // _BATCH)
        zeros = jnp.zeros(2, jnp.float32)
        mean, square = jax.lax.fori_loop(0, batches, add, zeros) / batches
        return Worth(mean, jnp.sqrt(jnp.maximum(square - mean**2, 0) / (batches * _BATCH)))


def _domains() -> dict[str, Domain]:
    shop = marketing.Marketing()
    shown = jax.eval_shape(
        lambda: shop.observe(
            shop.reset(jax.random.key(0), shop.default_params), shop.default_params
        )
    ).shape[0]
    listed = (
        Domain(
            "gridworld",
            gridworld.Gridworld(),
            improvement.LinearSoftmax(Cells(4, 2), num_actions=4),
            improvement.ReturnRange(*gridworld.RETURN_RANGE),
            rollouts=0,
            batch_size=100,
        ),
        Domain(
            "mountain-car",
            _CAR,
            improvement.LinearSoftmax(Fourier(3, 2), num_actions=3),
            _CAR_RETURNS,
            rollouts=0,
            batch_size=50,
        ),
        Domain(
            "marketing",
            shop,
            improvement.LinearSoftmax(Affine(shown), num_actions=2),
            improvement.ReturnRange(*marketing.RETURN_RANGE),
            rollouts=20_000,
            batch_size=250,
        ),
    )
    return {domain.name: domain for domain in listed}


DOMAINS = _domains()


def floor_of(domain: Domain, seed: int) -> Worth:
    """rho_-: the performance of the initial policy, of 100,000 episodes if it is not exact."""
    precise = dataclasses.replace(domain, rollouts=domain.rollouts and 100_000)
    theta = jnp.asarray(domain.initial())
    policy = improvement.MixedWith(improvement.unmixed(theta), theta)
    key = jax.random.fold_in(jax.random.key(np.uint32(seed)), 2**32 - 1)
    return Worth(*map(float, jax.jit(precise.performance)(key, policy)))


class PolicyJob(NamedTuple):
    """A policy whose performance is wanted."""

    key: jax.Array
    policy: improvement.Mixed


def _performance(domain: Domain, initial: jax.Array, job: PolicyJob) -> Worth:
    return domain.performance(job.key, improvement.MixedWith(job.policy, initial))


def performances(bench: Workbench, name: str, domain: Domain, policies: Any) -> Worth:
    """The performance of each of many policies, a ``Mixed`` with leaves [J, ...]: float64 [J]."""
    count = len(policies.alpha)
    if not count:
        return Worth(np.zeros(0), np.zeros(0))
    keys = jax.random.split(jax.random.key(np.uint32(bench.seed)), count)
    jobs = sweep.stacked(PolicyJob(keys, policies))
    work = sweep.Once(functools.partial(_performance, domain), jnp.asarray(domain.initial()))
    found = bench.sweep(name, work, jobs, width=1).rows.row
    return Worth(*(np.asarray(numbers, np.float64) for numbers in found))
