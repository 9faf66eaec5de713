"""The three case studies of Thomas et al. 2015 (ICML), section 6. Axes: A actions, p features."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import sweep
from jaxrace.bases import Affine, Cells, Fourier
from jaxrace.envs import Environment, gridworld, marketing, mountain_car
from jaxrace.experiments.workbench import Workbench
from jaxrace.improvement import (
    LinearSoftmax,
    Mixed,
    MixedPolicy,
    MixedWith,
    ReturnRange,
    collect,
    unmixed,
)
from jaxrace.rollout import PolicyInTask

# Of the mountain car: the initial policy leans to where the car is going, so much that its
# performance is the paper's .26.
_LEANING = 0.22

# Rollouts that are simulated at once.
_BATCH = 2_500

Performance = Callable[[jax.Array, MixedWith], jax.Array]


@dataclasses.dataclass(frozen=True)
class Domain:
    """A task, a class of policies, and one of them that is in use.

    Attributes:
        name: As the command has it.
        env: The simulator.
        softmax: The policies.
        returns: Makes the return a number in [0, 1].
        rollouts: Of a policy whose performance is wanted; 0 if it is computed exactly.
        batch_size: beta of Daedalus.
        num_batches: Of a trial.
        trials: At full size.
    """

    name: str
    env: Environment
    softmax: LinearSoftmax
    returns: ReturnRange
    rollouts: int
    batch_size: int
    num_batches: int
    trials: int

    def initial(self) -> np.ndarray:
        """theta of the policy in use, float32 [A, p].

        >>> DOMAINS["mountain-car"].initial().sum(1)
        array([ 0.22,  0.  , -0.22], dtype=float32)
        """
        theta = self.softmax.example()
        if self.name == "gridworld":
            theta[:] = np.log(np.asarray(gridworld.initial_probabilities())).T
        if self.name == "mountain-car":
            # cos(pi v), v in [0, 1], is 1 for full speed back and -1 for full speed ahead.
            basis = self.softmax.basis
            assert isinstance(basis, Fourier)
            speed = int(np.flatnonzero((basis.frequencies == [[0], [1]]).all(0))[0])
            theta[:, speed] = [_LEANING, 0, -_LEANING]
        return theta

    def performance(self, key: jax.Array, policy: MixedWith) -> jax.Array:
        """The mean return in [0, 1]: exact in the gridworld, else of ``rollouts`` episodes.

        >>> gridworld = DOMAINS["gridworld"]
        >>> theta = jnp.asarray(gridworld.initial())
        >>> policy = MixedWith(unmixed(theta), theta)
        >>> f"{gridworld.performance(jax.random.key(0), policy):.3f}"
        '0.238'
        """
        mixture = MixedPolicy(self.softmax)
        if not self.rollouts:
            size = 4
            cells = jnp.stack(jnp.meshgrid(*[jnp.linspace(0, 1, size)] * 2, indexing="ij"), -1)
            chances = mixture.probabilities(policy, cells.reshape(-1, 2))
            expected = gridworld.expected_return(chances, self.env.horizon)
            return self.returns.normalised(expected)

        def add(number: jax.Array, total: jax.Array) -> jax.Array:
            own = jax.random.fold_in(key, number)
            option = PolicyInTask(policy, self.env.default_params)
            data = collect(self.env, mixture, own, option, _BATCH)
            return total + self.returns.returns(data).mean()

        batches = -(-self.rollouts // _BATCH)
        zero = jnp.zeros((), jnp.float32)
        return jax.lax.fori_loop(0, batches, add, zero) / batches


def _domains() -> dict[str, Domain]:
    grid, car, shop = gridworld.Gridworld(), mountain_car.MountainCar(), marketing.Marketing()
    shown = jax.eval_shape(
        lambda: shop.observe(
            shop.reset(jax.random.key(0), shop.default_params), shop.default_params
        )
    ).shape[0]
    listed = (
        Domain(
            "gridworld",
            grid,
            LinearSoftmax(Cells(4, 2), num_actions=4),
            ReturnRange(*gridworld.RETURN_RANGE),
            *(0, 100, 14, 100),
        ),
        Domain(
            "mountain-car",
            car,
            LinearSoftmax(Fourier(3, 2), num_actions=3),
            ReturnRange(*mountain_car.RETURN_RANGE),
            *(10_000, 50, 18, 100),
        ),
        Domain(
            "marketing",
            shop,
            LinearSoftmax(Affine(shown), num_actions=2),
            ReturnRange(*marketing.RETURN_RANGE),
            *(20_000, 250, 12, 10),
        ),
    )
    return {domain.name: domain for domain in listed}


DOMAINS = _domains()


def floor_of(domain: Domain, seed: int) -> float:
    """rho_-: the performance of the initial policy, of 100,000 episodes if it is not exact.

    >>> round(floor_of(DOMAINS["gridworld"], 0), 3)
    0.238
    """
    precise = dataclasses.replace(domain, rollouts=domain.rollouts and 100_000)
    theta = jnp.asarray(domain.initial())
    policy = MixedWith(unmixed(theta), theta)
    key = jax.random.fold_in(jax.random.key(np.uint32(seed)), 2**32 - 1)
    return float(jax.jit(precise.performance)(key, policy))


class PolicyJob(NamedTuple):
    """A policy whose performance is wanted."""

    key: jax.Array
    policy: Mixed


def _performance(domain: Domain, initial: jax.Array, job: PolicyJob) -> jax.Array:
    return domain.performance(job.key, MixedWith(job.policy, initial))


def performances(bench: Workbench, name: str, domain: Domain, policies: Any) -> np.ndarray:
    """The performance of each of many policies, float64 [J].

    Args:
        bench: Where.
        name: Of the stage.
        domain: Of the policies.
        policies: A ``Mixed`` with leaves [J, ...].
    """
    count = len(policies.alpha)
    if not count:
        return np.zeros(0)
    keys = jax.random.split(jax.random.key(np.uint32(bench.seed)), count)
    jobs = sweep.stacked(PolicyJob(keys, policies))
    work = sweep.Once(functools.partial(_performance, domain), jnp.asarray(domain.initial()))
    return np.asarray(bench.sweep(name, work, jobs, width=1).rows.row, np.float64)
