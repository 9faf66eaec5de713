"""Tasks that are simulated, how good their policies are, and trials of Daedalus on them.

Axes: A actions, p features, T steps, J trials, B batches of a trial.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import improvement, sweep
from jaxrace.agents.bases import Affine, Cells, Fourier
from jaxrace.agents.rollout import PolicyInTask, history
from jaxrace.core.protocol import pytree
from jaxrace.envs import Environment, gridworld, mountain_car
from jaxrace.improvement import (
    BOUNDS,
    CandidateSearch,
    Daedalus,
    DaedalusRow,
    DaedalusState,
    ImprovementParams,
    MixedPolicy,
    MixedWith,
    PolicyImprovement,
    Trajectories,
)
from papers.improvements import grid, marketing
from papers.improvements.config import BATCHES
from papers.workbench import Workbench

Chances = Callable[[Any], jax.Array]  # of observations [m, ...]: float32 [m, A]
_BATCH = 2_500  # rollouts that are simulated at once
_ROUNDING = 1e-6  # a difference of two performances that is rounding


class Worth(NamedTuple):
    """Performance in [0, 1], and how far off it may be; float32 [] each, or arrays of one shape."""

    mean: Any
    stderr: Any  # 0 if the mean is exact


def is_worse(found: Worth, floor: Worth) -> np.ndarray:
    """Is a policy worse than the floor, by more than three standard errors of the difference?"""
    error = np.hypot(found.stderr, floor.stderr)
    return np.asarray(found.mean) < floor.mean - 3 * error - _ROUNDING


def of_gridworld(chances: Chances) -> jax.Array:
    """The expected return in the default gridworld, float32 []."""
    env = gridworld.Gridworld()
    axis = jnp.linspace(0, 1, env.size, dtype=jnp.float32)
    cells = jnp.stack(jnp.meshgrid(axis, axis, indexing="ij"), -1)
    return grid.expected_return(chances(cells.reshape(-1, 2)), env.horizon)


def without_chance(env: Environment, num_actions: int, chances: Chances) -> jax.Array:
    """The expected return over all sequences of actions, where nothing is random: float32 []."""
    levels = _levels(env, num_actions)
    ahead = jnp.zeros(num_actions ** len(levels), jnp.float32)
    for observations, rewards in reversed(levels):
        listed = rewards + ahead.reshape(-1, num_actions)
        ahead = (chances(jnp.asarray(observations)) * listed).sum(1)
    return ahead[0]


@functools.cache
def _levels(env: Environment, num_actions: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """What may be observed in step t, float32 [A^t, d], and the rewards then, float32 [A^t, A].

    As NumPy arrays, so that no trace is kept.
    """
    # Also when a program is being traced that asks for it.
    with jax.ensure_compile_time_eval():
        params, key = env.default_params, jax.random.key(0)
        actions = jnp.arange(num_actions, dtype=jnp.int32)

        @jax.jit
        @jax.vmap
        def ahead(state: Any) -> tuple[Any, Any, jax.Array]:
            after, rewards, _ = jax.vmap(lambda one: env.step(key, state, one, params))(actions)
            return env.observe(state, params), after, rewards

        states, found = jax.tree.map(lambda x: x[None], env.reset(key, params)), []
        for _ in range(env.horizon):
            seen, after, rewards = ahead(states)
            found.append((np.asarray(seen), np.asarray(rewards)))
            states = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), after)
    return found


def collect(
    env: Environment,
    policy: improvement.MixedPolicy,
    key: jax.Array,
    option: PolicyInTask,
    count: int,
) -> Trajectories:
    """Simulate n = ``count`` trajectories of a policy; trajectory i has the key fold_in(key, i).

    Actions are int32 []; the option is a ``MixedWith``, and the parameters of the environment.

    >>> from jaxrace.improvement import LinearSoftmax
    >>> env, policy = gridworld.Gridworld(), MixedPolicy(LinearSoftmax(Cells(4, 2), num_actions=4))
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


@dataclasses.dataclass(frozen=True)
class Domain:
    """A task, a class of policies, and one of them that is in use."""

    name: str  # as the command has it
    env: Environment  # the simulator
    softmax: improvement.LinearSoftmax  # the policies
    returns: improvement.ReturnRange  # makes the return a number in [0, 1]
    rollouts: int = 0  # of a policy whose performance is wanted; 0 if it is computed exactly

    @property
    def batch_size(self) -> int:
        """beta of Daedalus."""
        return BATCHES[self.name]

    def initial(self) -> np.ndarray:
        """theta of the policy in use, float32 [A, p]: uniform except in the gridworld."""
        theta = self.softmax.example()
        if self.name == "gridworld":
            theta[:] = np.log(np.asarray(grid.initial_probabilities())).T
        return theta

    def performance(self, key: jax.Array, policy: improvement.MixedWith) -> Worth:
        """The mean return in [0, 1], exact or of ``rollouts`` episodes."""
        mixture = MixedPolicy(self.softmax)
        if not self.rollouts:
            chances = functools.partial(mixture.probabilities, policy)
            if self.name == "gridworld":
                expected = of_gridworld(chances)
            else:
                expected = without_chance(self.env, self.softmax.num_actions, chances)
            return Worth(self.returns.normalised(expected), jnp.zeros((), jnp.float32))

        def add(number: jax.Array, totals: jax.Array) -> jax.Array:
            own = jax.random.fold_in(key, number)
            option = PolicyInTask(policy, self.env.default_params)
            returns = self.returns.returns(collect(self.env, mixture, own, option, _BATCH))
            return totals + jnp.stack([returns.mean(), (returns**2).mean()])

        batches = -(-self.rollouts // _BATCH)
        zeros = jnp.zeros(2, jnp.float32)
        mean, square = jax.lax.fori_loop(0, batches, add, zeros) / batches
        return Worth(mean, jnp.sqrt(jnp.maximum(square - mean**2, 0) / (batches * _BATCH)))


def _marketing() -> Domain:
    shop = marketing.Marketing()

    def see() -> jax.Array:
        params = shop.default_params
        return shop.observe(shop.reset(jax.random.key(0), params), params)

    num_seen = jax.eval_shape(see).shape[0]
    softmax = improvement.LinearSoftmax(Affine(num_seen), num_actions=2)
    returns = improvement.ReturnRange(*marketing.RETURN_RANGE)
    return Domain("marketing", shop, softmax, returns, 20_000)


DOMAINS = {
    "gridworld": Domain(
        "gridworld",
        gridworld.Gridworld(),
        improvement.LinearSoftmax(Cells(4, 2), num_actions=4),
        improvement.ReturnRange(*gridworld.RETURN_RANGE),
    ),
    # The paper does not say how long a decision holds, nor how many there are. With these numbers
    # the uniform policy performs as the initial one of figures 3 and 4; three decisions are the
    # fewest that lead to the goal.
    "mountain-car": Domain(
        "mountain-car",
        mountain_car.MountainCar(horizon=10, hold=50),
        improvement.LinearSoftmax(Fourier(3, 2), num_actions=3),
        improvement.ReturnRange(-10.0, -3.0),
    ),
    "marketing": _marketing(),
}


def floor_of(domain: Domain, seed: int) -> Worth:
    """rho_-: the performance of the initial policy, of 100,000 episodes if it is not exact."""
    precise = dataclasses.replace(domain, rollouts=domain.rollouts and 100_000)
    theta = jnp.asarray(domain.initial())
    policy = improvement.MixedWith(improvement.unmixed(theta), theta)
    key = jax.random.fold_in(jax.random.key(np.uint32(seed)), 2**32 - 1)
    return Worth(*map(float, jax.jit(precise.performance)(key, policy)))


def performances(bench: Workbench, name: str, domain: Domain, policies: Any) -> Worth:
    """The performance of each of many policies, a ``Mixed`` with leaves [J, ...]: float64 [J]."""
    count = len(policies.alpha)
    if not count:
        return Worth(np.zeros(0), np.zeros(0))

    def performance(initial: jax.Array, job: tuple[jax.Array, improvement.Mixed]) -> Worth:
        key, policy = job
        return domain.performance(key, improvement.MixedWith(policy, initial))

    keys = jax.random.split(jax.random.key(np.uint32(bench.seed)), count)
    work = sweep.Once(performance, jnp.asarray(domain.initial()))
    found = bench.sweep(name, work, sweep.stacked((keys, policies)), width=1).rows.row
    return Worth(*(np.asarray(numbers, np.float64) for numbers in found))


@pytree
class DaedalusWork:
    """What ``sweep.run`` does with the key of a trial: all of its batches, in a simulator.

    Batch number b has the keys fold_in(fold_in(key, b), 0) for the simulator and
    fold_in(fold_in(key, b), 1) for ``Daedalus.tell``.

    >>> from jaxrace.improvement import LinearSoftmax, ReturnRange, StudentT
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
        own, row = self.daedalus.tell(own, data, self.params, jax.random.fold_in(key, 1))
        return (own, job), row

    def done(self, state: tuple[DaedalusState, jax.Array]) -> jax.Array:
        """Is there no room for more?"""
        return state[0].num_tests >= self.daedalus.num_batches

    def failed(self, row: DaedalusRow) -> jax.Array:
        """A return was out of its range, or NaN."""
        return jnp.isnan(row.estimate)

    def _collect(self, key: jax.Array, policy: MixedWith) -> Trajectories:
        option = PolicyInTask(policy, self.env_params)
        return collect(self.env, self.daedalus.policy, key, option, self.daedalus.batch_size)


class Trials(NamedTuple):
    """What the trials of a variant have come to."""

    trajectories: np.ndarray  # int64 [B], so far
    performance: np.ndarray  # float64 [J, B], of the policy that is then in use
    is_worse: np.ndarray  # bool [J, B], is that policy worse than the floor?
    is_error: np.ndarray  # bool [J, B], is the candidate declared safe, and worse than the floor?
    row: DaedalusRow  # leaves [J, B, ...]


def daedalus_of(domain: Domain, kind: str, bound: str, num_batches: int, quick: bool) -> Daedalus:
    """The algorithm of a variant."""
    search = CandidateSearch(kind, evaluations=64, fold_evaluations=32) if quick else None
    method = PolicyImprovement(
        domain.softmax, domain.returns, BOUNDS[bound], search or CandidateSearch(kind)
    )
    return Daedalus(method, domain.batch_size, num_batches)


def run_trials(
    bench: Workbench,
    name: str,
    domain: Domain,
    daedalus: Daedalus,
    delta: float,
    floor: Worth,
    start: Worth,
    trials: int,
) -> Trials:
    """Run Daedalus J times from the domain's initial policy, whose performance is ``start``."""
    batches = daedalus.num_batches
    params = daedalus.improvement.params(floor.mean, delta, domain.initial())
    work = DaedalusWork(daedalus, domain.env, domain.env.default_params, params)
    keys = jax.random.split(jax.random.key(np.uint32(bench.seed)), trials)
    log = bench.sweep(name, work, sweep.stacked(keys), 1, batches)
    shape = trials, batches
    row = jax.tree.map(lambda x: np.asarray(x).reshape(*shape, *x.shape[1:]), log.rows.row)
    found = jax.tree.map(lambda x: x[row.is_found], row.candidate)
    worth = performances(bench, f"{name}, performance", domain, found)
    is_error = np.zeros(shape, bool)
    is_error[row.is_found] = is_worse(worth, floor)
    # The policy in use is the initial one, or that which was added as number so many.
    trial, batch = np.nonzero(row.is_added)
    places = trial, row.is_added.cumsum(1)[trial, batch]

    def of_current(first: float, added: np.ndarray) -> np.ndarray:
        of_number = np.full((trials, batches + 1), first)
        of_number[places] = added[row.is_added]
        return np.take_along_axis(of_number, np.asarray(row.current_number), 1)

    performance = np.zeros(shape)
    performance[row.is_found] = worth.mean
    return Trials(
        np.asarray(row.trajectories[0], np.int64),
        of_current(start.mean, performance),
        of_current(float(is_worse(start, floor)), is_error).astype(bool),
        is_error,
        row,
    )
