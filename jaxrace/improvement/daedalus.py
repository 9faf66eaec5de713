"""Improvement again and again: run the best policy so far, collect, test the next candidate.

Source: Thomas et al. 2015 (ICML), section 5, Algorithm 8. Axes: M policies, n trajectories of T
steps, A actions, p features.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import Tracer

from jaxrace.core.protocol import pytree, verb
from jaxrace.core.validation import BadArgument, require_integer, require_keys
from jaxrace.improvement.policy_improvement import ImprovementParams, PolicyImprovement
from jaxrace.improvement.weights import (
    KnownTrajectories,
    Mixed,
    MixedPolicy,
    MixedWith,
    empty_rows,
    evidence,
    joined,
    log_weights,
    unmixed,
    weighted_estimate,
)
from jaxrace.judging.policies.trajectories import NOBODY, TRAIN_ONE_IN, Trajectories

_LEAST_BATCH = 20
_ROUNDING = 1e-6  # of estimates in [0, 1]


@pytree
class DaedalusState:
    """Daedalus between two batches of trajectories."""

    train: Trajectories
    test: Trajectories
    num_train: jax.Array  # int32 [], rows that are filled
    num_test: jax.Array  # int32 []
    policies: Mixed  # leaves [M, ...], C; the first is pi_0
    num_policies: jax.Array  # int32 []
    current: jax.Array  # int32 [], the policy to run
    num_tests: jax.Array  # int32 []


class DaedalusRow(NamedTuple):
    """What a batch of trajectories has led to."""

    trajectories: jax.Array  # int32 [], so far
    is_found: jax.Array  # bool [], has the candidate passed its test?
    is_added: jax.Array  # bool [], and is it predicted to be the best?
    lower_bound: jax.Array  # of the candidate's performance, float32 []
    estimate: jax.Array  # of the candidate's performance, g, float32 []
    delta: jax.Array  # error probability of the test, float32 []
    candidate: Mixed
    current: Mixed  # the policy that will be run now
    current_number: jax.Array  # int32 []


@dataclasses.dataclass(frozen=True)
class Daedalus:
    """Repeated policy improvement, as ask and tell; with a semi-safe bound deltas are approximate.

    With ``keeps_test`` (Daedalus2) the test set is kept when a policy is added and helps to predict
    which is best: candidates depend a little on the data that they are tested on, and no bound is
    safe beyond the first change. With ``spends`` test number k has the error probability
    delta / (k (k + 1)), so that a safe bound adds any policy below the floor with probability at
    most delta; else delta holds for each test, as in the paper.

    >>> from jaxrace.agents.bases import Fourier
    >>> from jaxrace.improvement import LinearSoftmax, ReturnRange, StudentT, trajectories
    >>> method = PolicyImprovement(LinearSoftmax(Fourier(1, 1), 2), ReturnRange(0, 1), StudentT())
    >>> daedalus, params = Daedalus(method, batch_size=100, num_batches=3), method.params(floor=0.5)
    >>> policy = daedalus.ask(None, params)  # run it on your system, where action 1 pays more
    >>> done, shape = jnp.arange(100)[:, None] % 2, (100, 1)
    >>> data = trajectories(jnp.zeros((*shape, 1)), done, jnp.full(shape, 0.5), 0.1 + 0.8 * done)
    >>> state, row = daedalus.tell(None, data, params, jax.random.key(0))
    >>> bool(row.is_added)
    True
    """

    improvement: PolicyImprovement  # if its search is k-fold, then until the first one is added
    batch_size: int  # beta, at least 20; trajectories per ``tell``, a fifth of them for training
    num_batches: int  # at most
    keeps_test: bool = True
    spends: bool = False

    def __post_init__(self) -> None:
        require_integer("batch_size", self.batch_size, _LEAST_BATCH)
        require_integer("num_batches", self.num_batches, 1)
        if self.spends and self.keeps_test:
            expected = "False with keeps_test (Daedalus2), whose tests depend on their data"
            raise BadArgument("spends", expected, "True")

    @property
    def policy(self) -> MixedPolicy:
        """What ``ask`` returns is a ``theta`` of this policy."""
        return MixedPolicy(self.improvement.softmax)

    @property
    def batch_for_training(self) -> int:
        """ceil(beta / 5)."""
        return -(-self.batch_size // TRAIN_ONE_IN)

    def ask(self, state: DaedalusState | None, params: ImprovementParams) -> MixedWith:
        """The policy to run next: pi_0 at first (state None), then the best one found safe."""
        if state is None:
            return MixedWith(unmixed(params.initial), params.initial)
        return MixedWith(jax.tree.map(lambda x: x[state.current], state.policies), params.initial)

    def init(self, example: Trajectories, params: ImprovementParams) -> DaedalusState:
        """The state before the first batch, given an example of the right shapes."""
        room_train = self.num_batches * self.batch_for_training
        room_test = self.num_batches * self.batch_size - room_train
        nothing = jnp.zeros((), jnp.int32)

        def room(first: jax.Array) -> jax.Array:
            rest = jnp.zeros((self.num_batches + 1, *first.shape), first.dtype)
            return rest.at[0].set(first)

        return DaedalusState(
            train=empty_rows(example, room_train),
            test=empty_rows(example, room_test),
            num_train=nothing,
            num_test=nothing,
            policies=jax.tree.map(room, unmixed(params.initial)),
            num_policies=nothing + 1,
            current=nothing,
            num_tests=nothing,
        )

    @verb
    def tell(
        self,
        state: DaedalusState | None,
        data: Trajectories,
        params: ImprovementParams,
        key: jax.Array,
    ) -> tuple[DaedalusState, DaedalusRow]:
        """Count a batch of trajectories of the policy asked for, and look for a better one.

        The state is None at first. The batch has ``batch_size`` trajectories in any order, with as
        many steps T as those before; its ``behaviour`` does not matter. BadArgument if it cannot be
        used, or there is no room left.
        """
        assert state is not None  # see ``checked_tell``
        order_key, key = jax.random.split(key)
        state = self._with(state, data, order_key)
        method = self.improvement
        train, test = (
            evidence(method.softmax, part, method.returns, params.initial)
            for part in (state.train, state.test)
        )
        delta = params.delta
        if self.spends:
            tests = (state.num_tests + 1).astype(jnp.float32)
            delta = delta / (tests * (tests + 1))
        found = method.attempt(key, train, test, params, delta, state.num_policies == 1)
        # D^: what is predicted from.
        seen = joined(train, test) if self.keeps_test else train
        listed = jax.tree.map(
            lambda known, new: jnp.concatenate([known, new[None]]), state.policies, found.policy
        )
        worth = self._worth(seen, listed)
        numbers = jnp.arange(self.num_batches + 1, dtype=jnp.int32)
        best, mine = jnp.where(numbers < state.num_policies, worth[:-1], -jnp.inf), worth[-1]
        # Equal but for rounding is not better.
        is_added = found.is_found & (mine > best.max() + _ROUNDING)
        place = jnp.where(is_added, state.num_policies, self.num_batches + 1)
        policies = jax.tree.map(
            lambda listed, one: listed.at[place].set(one, mode="drop"), state.policies, found.policy
        )
        best = best.at[place].set(mine, mode="drop")
        is_emptied = is_added & (not self.keeps_test)
        behaviour = jnp.where(is_emptied, NOBODY, state.test.behaviour)
        current = jnp.argmax(best).astype(jnp.int32)
        state = dataclasses.replace(
            state,
            test=dataclasses.replace(state.test, behaviour=behaviour),
            num_test=jnp.where(is_emptied, 0, state.num_test),
            policies=policies,
            num_policies=state.num_policies + is_added.astype(jnp.int32),
            current=current,
            num_tests=state.num_tests + 1,
        )
        row = DaedalusRow(
            trajectories=state.num_tests * self.batch_size,
            is_found=found.is_found,
            is_added=is_added,
            lower_bound=found.lower_bound,
            estimate=mine,
            delta=delta,
            candidate=found.policy,
            current=jax.tree.map(lambda x: x[current], policies),
            current_number=current,
        )
        return state, row

    def checked_tell(
        self,
        state: DaedalusState | None,
        data: Trajectories,
        params: ImprovementParams,
        key: jax.Array,
    ) -> tuple[DaedalusState, Trajectories, ImprovementParams, jax.Array]:
        """What ``tell`` is given, see ``verb``."""
        require_keys("key", key, ndim=0)
        count = len(data.behaviour)
        if count != self.batch_size:
            raise BadArgument("data", f"{self.batch_size} trajectories", f"{count}")
        self.improvement.check(data)
        if state is None:
            state = self.init(data, params)
        # Unseen, trajectories of other shapes would be mixed up with those before.
        steps, horizon = data.actions.shape[1], state.train.actions.shape[1]
        if steps != horizon:
            hint = f": pad to T = {horizon}, and say with lengths where they end"
            expected = f"trajectories of {horizon} steps, as before"
            raise BadArgument("data", expected, f"{steps}", hint)
        found, shapes = (jax.tree.map(lambda x: x.shape[1:], one) for one in (data, state.train))
        if found != shapes:
            expected = f"observations of the shapes before, {shapes.observations}"
            raise BadArgument("data", expected, f"{found.observations}")
        is_full = state.num_train >= self.num_batches * self.batch_for_training
        if not isinstance(is_full, Tracer) and is_full:
            raise BadArgument("data", f"at most {self.num_batches} batches", "another one")
        return state, data, params, key

    def _with(self, state: DaedalusState, data: Trajectories, key: jax.Array) -> DaedalusState:
        """The state with a batch added: a random fifth to the training set."""
        data = dataclasses.replace(data, behaviour=jnp.full_like(data.behaviour, state.current))
        # A batch may be sorted, by its returns even.
        order = jax.random.permutation(key, self.batch_size)
        data = jax.tree.map(lambda x: x[order], data)
        cut = self.batch_for_training

        def written(held: Trajectories, rows: slice, start: jax.Array) -> Trajectories:
            return jax.tree.map(
                lambda x, new: lax.dynamic_update_slice_in_dim(x, new[rows], start, 0), held, data
            )

        return dataclasses.replace(
            state,
            train=written(state.train, slice(cut), state.num_train),
            test=written(state.test, slice(cut, None), state.num_test),
            num_train=state.num_train + cut,
            num_test=state.num_test + self.batch_size - cut,
        )

    def _worth(self, known: KnownTrajectories, policies: Mixed) -> jax.Array:
        """g of every policy; NaN if a return is out of its range, where nothing can be said."""
        is_valid = (self.improvement.returns.includes(known.returns) | ~known.rows.present).all()
        found = jax.vmap(lambda one: weighted_estimate(jnp.exp(log_weights(one, known)), known))
        return jnp.where(is_valid, found(policies), jnp.nan)
