"""A policy that is certainly no worse, from trajectories alone. Axes: n trajectories of T steps.

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
from jaxrace.improvement.bounds import Bootstrap, LowerBound
from jaxrace.improvement.candidates import CandidateSearch, StrategyParams, Task, find_candidate
from jaxrace.improvement.policies import LinearSoftmax, Mixed
from jaxrace.improvement.splits import split
from jaxrace.improvement.weights import (
    Evidence,
    evidence,
    log_weights,
    weighted_estimate,
    weighted_returns,
)
from jaxrace.judging.policies.trajectories import (
    ReturnRange,
    Trajectories,
    as_numbers,
    require_actions,
    require_enough,
    require_returns,
)

TRAIN_ONE_IN = 5  # one in so many trajectories is for training (section 4)
_PER_STEP = 1e5  # comparisons that take as long as what is done with a step of a trajectory


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ImprovementParams:
    """The numbers of a policy improvement."""

    delta: jax.Array  # float32 []
    floor: jax.Array  # rho_-, float32 []
    initial: jax.Array  # theta of pi_0, float32 [A, p]
    strategy: StrategyParams


class Improvement(NamedTuple):
    """What became of a candidate.

    >>> print(Improvement(None, True, 0.61, 0.7, 0.05, is_safe=True))
    no worse: with confidence 95% the performance is at least 0.610 (estimate 0.700)
    """

    policy: Mixed  # the candidate
    is_found: jax.Array  # bool [], has it passed the test?
    lower_bound: jax.Array  # of its performance, from the test set, float32 []
    estimate: jax.Array  # of its performance, from the training set, float32 []
    delta: jax.Array  # error probability of the test, float32 []
    is_safe: jax.Array  # bool [], is the bound a guarantee without false assumptions?

    def __str__(self) -> str:
        confidence = f"{1 - float(self.delta):.4g}"
        percent = f"{100 * float(confidence):.4g}%"
        numbers = f"{float(self.lower_bound):.3f} (estimate {float(self.estimate):.3f})"
        if self.is_found:
            said = f"with confidence {percent} the performance is at least {numbers}"
            return f"no worse: {said}" if self.is_safe else f"probably no worse: {said}; semi-safe"
        return f"no solution found: the candidate's bound with confidence {percent} is {numbers}"


@dataclasses.dataclass(frozen=True)
class PolicyImprovement:
    """Searches a training set for one candidate and tests it on the rest.

    Attributes:
        softmax: The class of policies.
        returns: What makes returns numbers in [0, 1].
        bound: Of the safety test: if it is safe, so is the result.
        search: How the candidate is found.

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

    softmax: LinearSoftmax
    returns: ReturnRange
    bound: LowerBound = dataclasses.field(default_factory=Bootstrap)
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
        """The numbers; ValueError if one is out of its range, or of another shape.

        Args:
            floor: rho_- in [0, 1], usually the performance of the policy in use.
            delta: Probability that a policy below it is returned.
            initial: theta of the policy in use, [A, p]; uniform unless given.
            sigma0: Initial step size of the search.
        """
        validation.require_float32_probability("delta", delta)
        validation.require_number("floor", floor, least=0, below=np.nextafter(1, 2))
        example = self.softmax.example()
        theta = example if initial is None else as_numbers("initial", initial)
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
        trajectories, known by its logged probabilities alone. ValueError (not under a trace) if
        data or key cannot be used: rows are empty, say, or a return is out of its range.
        """
        validation.require_keys("key", key, ndim=0)
        self.check(data)
        require_enough(data)
        if not knows_initial:
            self._require_one_policy(data)
        split_key, own_key = jax.random.split(key)
        # The sizes of both parts are known, and what is computed of each is as large as it.
        initial = params.initial if knows_initial else None
        return _run(self, split_key, own_key, data, params, initial)

    def check(self, data: Trajectories) -> None:
        """Raise ValueError unless bounds mean something for these data; not under a trace."""
        if isinstance(data.actions, Tracer):
            return
        self._check_rows(data)
        require_actions("data", data, self.softmax.num_actions)

    def _require_one_policy(self, data: Trajectories) -> None:
        """Raise if mixtures would be with several policies: their returns are no policy's."""
        if self.search.kind == "none" or isinstance(data.behaviour, Tracer):
            return
        found = np.unique(np.asarray(data.behaviour))
        if len(found) > 1:
            raise ValueError(
                "data: expected the trajectories of one behaviour policy, with which candidates of "
                f"kind {self.search.kind!r} are mixed, got those of {len(found)}"
            )

    def _check_rows(self, data: Trajectories) -> None:
        if isinstance(data.actions, Tracer):
            return
        if not np.asarray(data.present).all():
            raise ValueError("data: expected a trajectory in every row, got empty rows")
        require_returns("data", data, self.returns)

    def attempt(
        self,
        key: jax.Array,
        train: Evidence,
        test: Evidence,
        params: ImprovementParams,
        delta: jax.Array,
        is_cold: jax.Array,
    ) -> Improvement:
        """Algorithm 4 in compiled code; the search sees of the test set nothing but its size."""
        search_key, test_key = jax.random.split(key)
        needs = delta, params.floor, test.rows.total, params.initial, is_cold
        task = Task(self.bound, train, train.rows, *needs)
        policy = find_candidate(self.search, params.strategy, search_key, task)
        values = weighted_returns(jnp.exp(log_weights(policy, test)), test)
        lower = self.bound.bound_of_one(test_key, values, test.rows, delta)
        weights = jnp.exp(log_weights(policy, train))
        # A bound that cannot be told, for want of data or of digits, certifies nothing.
        is_found = jnp.isfinite(lower) & (lower >= params.floor)
        estimate, is_safe = weighted_estimate(weights, train), jnp.asarray(self.bound.is_safe)
        return Improvement(policy, is_found, lower, estimate, delta, is_safe)


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
) -> Improvement:
    size = len(data.behaviour) // TRAIN_ONE_IN
    is_train = split(split_key, data.behaviour, data.present, jnp.int32(size))
    order = jnp.argsort(~is_train, stable=True)
    known, unseen = (
        evidence(method.softmax, jax.tree.map(lambda x, i=i: x[i], data), method.returns, initial)
        for i in (order[:size], order[size:])
    )
    return method.attempt(own_key, known, unseen, params, params.delta, jnp.ones((), bool))
