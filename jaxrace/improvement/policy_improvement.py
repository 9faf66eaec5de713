"""A policy that is certainly no worse than a floor, from trajectories alone.

Axes: n trajectories of T steps.
Source: Thomas et al. 2015 (ICML), section 4, Algorithm 4. Axes of policies: A actions, p features.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from numpy.typing import ArrayLike

from jaxrace.core import validation
from jaxrace.core.compilation import jit
from jaxrace.core.protocol import pytree
from jaxrace.core.validation import BadArgument
from jaxrace.improvement.bounds import Bootstrap, LowerBound, Used, random_order, random_start
from jaxrace.improvement.candidates import (
    CandidateSearch,
    SearchTask,
    StrategyParams,
    find_candidate,
)
from jaxrace.improvement.weights import (
    KnownTrajectories,
    LinearSoftmax,
    Mixed,
    evidence,
    log_weights,
    weighted_estimate,
    weighted_returns,
)
from jaxrace.judging.policies import trajectories
from jaxrace.judging.policies.plausibility import check_actions, check_weights, require_possible
from jaxrace.judging.policies.trajectories import ReturnRange, Trajectories

_PER_STEP = 1e5  # comparisons that take as long as what is done with a step of a trajectory


@pytree
class ImprovementParams:
    """The numbers of a policy improvement."""

    delta: jax.Array  # float32 []
    floor: jax.Array  # rho_-, float32 []
    initial: jax.Array  # theta of pi_0, float32 [A, p]
    strategy: StrategyParams


class Improvement(NamedTuple):
    """What became of a candidate.

    >>> print(Improvement(None, True, 0.61, 0.7, 0.05, is_safe=True))
    no worse than the floor: with confidence 95% the performance is at least 0.610 (estimate 0.700)
    """

    policy: Mixed  # the candidate
    is_found: jax.Array  # bool [], has it passed the test?
    lower_bound: jax.Array  # of its performance, from the test set, float32 []
    estimate: jax.Array  # of its performance, from the training set, float32 []
    delta: jax.Array  # error probability of the test, float32 []
    is_safe: jax.Array  # bool [], is the bound a guarantee without false assumptions?
    is_refuted: bool | jax.Array = False  # are the logged probabilities too small?

    def __str__(self) -> str:
        if self.is_refuted:
            return "nothing can be said: the logged probabilities are too small"
        kind = "confidence" if self.is_safe else "approximate confidence"
        share = f"{kind} {100 * (1 - float(self.delta)):.4g}%"
        numbers = f"{float(self.lower_bound):.3f} (estimate {float(self.estimate):.3f})"
        if self.is_found:
            said = f"with {share} the performance is at least {numbers}"
            return f"{'' if self.is_safe else 'probably '}no worse than the floor: {said}"
        return f"no solution found: the candidate's bound with {share} is {numbers}"


@dataclasses.dataclass(frozen=True)
class PolicyImprovement:
    """Searches a training set for one candidate and tests it on the rest.

    >>> from jaxrace.agents.bases import Fourier
    >>> from jaxrace.improvement import StudentT, trajectories
    >>> done = np.arange(400)[:, None] % 2  # action 1 pays .9, action 0 pays .1
    >>> data = trajectories(np.zeros((400, 1, 1)), done, np.full((400, 1), 0.5), 0.1 + 0.8 * done)
    >>> method = PolicyImprovement(LinearSoftmax(Fourier(1, 1), 2), ReturnRange(0, 1), StudentT())
    >>> params = method.params(floor=0.5)
    >>> result = method.run(jax.random.key(0), data, params)
    >>> bool(result.is_found), bool(result.lower_bound > 0.6)
    (True, True)
    """

    softmax: LinearSoftmax  # the class of policies
    returns: ReturnRange  # what makes returns numbers in [0, 1]
    bound: LowerBound = dataclasses.field(default_factory=Bootstrap)  # of the safety test
    search: CandidateSearch = dataclasses.field(default_factory=CandidateSearch)

    def __post_init__(self) -> None:
        validation.require_kind("softmax", self.softmax, LinearSoftmax)
        validation.require_kind("returns", self.returns, ReturnRange)
        validation.require_kind("bound", self.bound, LowerBound)
        validation.require_kind("search", self.search, CandidateSearch)

    def params(
        self,
        floor: float,
        delta: float = 0.05,
        initial: ArrayLike | None = None,
        sigma0: float = 1.0,
    ) -> ImprovementParams:
        """The numbers; BadArgument if one is out of its range, or of another shape.

        Args:
            floor: rho_- in [0, 1], usually the performance of the policy in use.
            delta: Probability that a policy below it is returned.
            initial: theta of the policy in use, [A, p]; uniform unless given.
            sigma0: Initial step size of the search.
        """
        validation.require_float32_probability("delta", delta)
        validation.require_number("floor", floor, least=0, below=np.nextafter(1, 2))
        example = self.softmax.example()
        theta = example if initial is None else trajectories.as_numbers("initial", initial)
        self.softmax.require_theta("initial", theta)
        return ImprovementParams(
            delta=jnp.asarray(delta, jnp.float32),
            floor=jnp.asarray(floor, jnp.float32),
            initial=jnp.asarray(theta),
            strategy=self.search.strategy_params(example, sigma0),
        )

    def run(
        self,
        key: jax.Array,
        data: Trajectories,
        params: ImprovementParams,
        knows_initial: bool = False,
    ) -> Improvement:
        """Look for a policy that is no worse than ``floor``, in at least 20 trajectories.

        A fifth of them, every behaviour policy's share, is for training. Mixtures (k-fold) are with
        the policy ``params.initial`` if ``knows_initial``; else with the one that generated all
        trajectories, known by its logged probabilities alone. Not under a trace: BadArgument if
        data or key cannot be used (a row is empty, a return is out of its range, probabilities of
        different actions add up to more than 1), and nothing is found if the weights of the
        candidate, or how often actions were taken, say that logged probabilities are too small.
        """
        validation.require_keys("key", key, ndim=0)
        self.check(data)
        trajectories.require_enough(data)
        is_traced = isinstance(data.actions, Tracer)
        if not is_traced:
            require_possible(data, jax.tree.leaves(data.observations))
            count = len(np.unique(np.asarray(data.behaviour)))
            if self.search.kind != "none" and count > 1 and not knows_initial:
                expected = "the trajectories of one behaviour policy, with which candidates of kind"
                expected = f"{expected} {self.search.kind!r} are mixed"
                raise BadArgument("data", expected, f"those of {count}")
        split_key, own_key = jax.random.split(key)
        initial = params.initial if knows_initial else None
        found, weights, order = _run(self, split_key, own_key, data, params, initial)
        if is_traced or isinstance(found.is_found, Tracer):
            return found
        data = dataclasses.replace(data, observations=jax.tree.leaves(data.observations))
        known, unseen = (
            jax.tree.map(lambda x, part=part: np.asarray(x)[part], data)
            for part in np.split(np.asarray(order), [len(order) - len(weights)])
        )
        is_refuted = check_weights(np.asarray(weights)).is_refuted
        is_refuted |= check_actions(known, unseen)["is_refuted"]
        return found._replace(is_found=found.is_found & (not is_refuted), is_refuted=is_refuted)

    def check(self, data: Trajectories) -> None:
        """Raise BadArgument unless bounds mean something for these data; not under a trace."""
        if isinstance(data.actions, Tracer):
            return
        if not np.asarray(data.present).all():
            raise BadArgument("data", "a trajectory in every row", "empty rows")
        trajectories.require_returns("data[{}]".format, data, self.returns)
        trajectories.require_actions("data", data, self.softmax.num_actions)

    def attempt(
        self,
        key: jax.Array,
        train: KnownTrajectories,
        test: KnownTrajectories,
        params: ImprovementParams,
        delta: jax.Array,
        is_cold: jax.Array,
    ) -> Improvement:
        """Algorithm 4 in compiled code; the search sees of the test set nothing but its size."""
        search_key, test_key = jax.random.split(key)
        needs = delta, params.floor, test.rows.total, params.initial, is_cold
        task = SearchTask(self.bound, train, *needs)
        policy = find_candidate(self.search, params.strategy, search_key, task)
        values = weighted_returns(jnp.exp(log_weights(policy, test)), test)
        lower = self.bound.bound_of_one(test_key, values, test.rows, delta)
        weights = jnp.exp(log_weights(policy, train))
        # A bound that cannot be told, for want of data or of digits, certifies nothing.
        is_found = jnp.isfinite(lower) & (lower >= params.floor)
        estimate, is_safe = weighted_estimate(weights, train), jnp.asarray(self.bound.is_safe)
        return Improvement(policy, is_found, lower, estimate, delta, is_safe)


def split(key: jax.Array, rows: Used, number: int) -> jax.Array:
    """All rows, first a random ``number`` of them, every policy's share: int32 [n]."""
    order_key, start_key = jax.random.split(key)
    order, size = random_order(order_key, rows), rows.present.shape[0]
    start = random_start(start_key, rows.total)
    chosen = trajectories.every_so_many(start, order, rows.total, jnp.int32(number), size)
    is_chosen = jnp.zeros(size, bool).at[chosen].set(True, mode="drop")
    return jnp.argsort(~is_chosen, stable=True)


def _work(*args: Any) -> float:
    return _PER_STEP * sum(x.rewards.size for x in args if isinstance(x, Trajectories))


@jit(1, work=_work)
def _run(
    method: PolicyImprovement,
    split_key: jax.Array,
    own_key: jax.Array,
    data: Trajectories,
    params: ImprovementParams,
    initial: jax.Array | None,
) -> tuple[Improvement, jax.Array, jax.Array]:
    """What is found, its weights in the test set, and the rows, the training set first."""
    # The sizes of both parts are known, and what is computed of each is as large as it.
    size = len(data.behaviour) // trajectories.TRAIN_ONE_IN
    order = split(split_key, Used(data.present, data.behaviour), size)
    known, unseen = (
        evidence(method.softmax, jax.tree.map(lambda x, i=i: x[i], data), method.returns, initial)
        for i in (order[:size], order[size:])
    )
    found = method.attempt(own_key, known, unseen, params, params.delta, jnp.ones((), bool))
    return found, jnp.exp(log_weights(found.policy, unseen)), order
