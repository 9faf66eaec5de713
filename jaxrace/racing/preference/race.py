"""The preference-based race (Busa-Fekete et al. 2014, Algorithm 2; 2013, Procedures 1 to 4).

Needs nothing but a preference between two outcomes. Axes: K options, N = capacity,
r rounds told at once.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace import kernels
from jaxrace.core.protocol import make_params, verb
from jaxrace.core.validation import BadArgument, require_choice, require_kind
from jaxrace.racing import base
from jaxrace.racing.comparing import ComparingRace
from jaxrace.racing.preference.result import PreferenceResult, by_copeland
from jaxrace.racing.preference.rounds import (
    RACE_AXES,
    PreferenceParams,
    PreferenceState,
    Told,
    keep_samples,
    play_rounds,
)

# Rounds that are counted at once, at most 126: [K, K, rounds] sums, 34 MB for 512 options.
PIECE = 32


class RankingRule(NamedTuple):
    """What "best" is in a race."""

    play: Callable[..., PreferenceState]  # rounds of one race
    conclude: Callable[..., PreferenceResult]
    allowed: Callable[..., Any] | None = None  # ``PreferenceParams.allowed``, if it needs intervals
    allowed_table: Callable[..., Any] | None = None  # the same for every n_max


# ``surrogates`` adds those that need intervals.
RANKINGS = {"copeland": RankingRule(play_rounds, by_copeland)}


@dataclasses.dataclass(frozen=True)
class PreferenceRace(ComparingRace):
    """Top-kappa by Copeland score, or another ranking, from preferences between outcomes.

    Every active option is sampled once per round; pairs whose confidence interval excludes 1/2
    are decided and dropped. With probability at least 1 - delta all verdicts are right, and a
    decided race returns an optimal kappa-subset. By Borda's score *options* are dropped, once they
    are decided; by the random walk none until it stops.

    Attributes:
        bound: A key of ``kernels.RACE_BOUNDS``. To reproduce a paper name "published".
        rule: "sharp", or "printed" as in the paper (``kernels.select_and_discard``).
        intersect: Report the intersection of each pair's intervals over all rounds. It
            changes no verdict: a Copeland race drops a pair once 1/2 is excluded.
        dynamic_delta: The paper's correction (eq. 8), which counts undecided options only.
            A heuristic without proof. Needs bound "published".
        ranking: What "best" is: "copeland", the number of options that are beaten; "borda",
            the mean of s_ij over all others; or "random_walk", the visits of a walk that moves
            to options which beat the present one. The last two need intervals, and take neither
            ``dynamic_delta`` nor epsilon.

    >>> from jaxrace.kernels import total_order
    >>> race = PreferenceRace(num_options=3, top=1, capacity=40, compare=total_order)
    >>> params = race.params(delta=0.1, max_rounds=40)
    >>> state = race.init(jnp.float32(0), params)
    >>> while race.ask(state, params).any():
    ...     state = race.tell(state, jnp.array([[3.0], [2.0], [1.0]]), params)
    >>> race.result(state, params).ranking.tolist()
    [0, 1, 2]
    """

    bound: str = "stitched-kl"
    rule: str = "sharp"
    intersect: bool = False
    dynamic_delta: bool = False
    ranking: str = "copeland"

    _params_kind = PreferenceParams
    _state_kind = PreferenceState
    _params_depend_on: ClassVar = ("num_options", "capacity", "bound")

    def __post_init__(self) -> None:
        super().__post_init__()
        kernels.bound_named(self.bound)
        require_choice("rule", self.rule, kernels.RULES)
        require_kind("intersect", self.intersect, bool)
        require_kind("dynamic_delta", self.dynamic_delta, bool)
        if self.dynamic_delta and self.bound != "published":
            raise BadArgument("bound", "'published' with dynamic_delta", f"{self.bound!r}")
        require_choice("ranking", self.ranking, tuple(RANKINGS))
        if self._rule.allowed is not None:
            which = f"with ranking {self.ranking!r}"
            if kernels.bound_named(self.bound).sides != 2:
                raise BadArgument(
                    "bound", f"intervals {which}", f"{self.bound!r} for verdicts only"
                )
            if self.dynamic_delta:
                raise BadArgument("dynamic_delta", f"False {which}", "True")

    @property
    def _rule(self) -> RankingRule:
        return RANKINGS[self.ranking]

    def params(
        self, delta: float = 0.05, max_rounds: int | None = None, epsilon: float = 0.0
    ) -> PreferenceParams:
        """The numbers of a race, and its table of verdict thresholds; ValueError if one is bad.

        Args:
            delta: Error probability of the race, in (0, 1).
            max_rounds: n_max, 1 .. capacity; the capacity unless given.
            epsilon: In [0, 1/2): a pair is decided once l_ij >= 1/2 - epsilon, and the answer is
                a Copeland top-kappa of some matrix within epsilon of s.
        """
        max_rounds = self._horizon(max_rounds)
        by_intervals = self._rule.allowed
        if epsilon and (self.dynamic_delta or by_intervals):
            why = "dynamic_delta" if self.dynamic_delta else f"ranking {self.ranking!r}"
            raise BadArgument("epsilon", f"0 with {why}", f"{epsilon!r}")

        def thresholds() -> np.ndarray:
            bound = kernels.bound_named(self.bound)
            found = kernels.thresholds(bound, self.num_options, max_rounds, delta, epsilon)
            padding = (0, self.capacity - max_rounds)
            return np.pad(found, padding, constant_values=kernels.NEVER)

        params = make_params(
            PreferenceParams,
            delta=delta,
            max_rounds=max_rounds,
            epsilon=epsilon,
            thresholds=thresholds,
            owner=self._owner,
        )
        if by_intervals is None:
            return params
        about = self.bound, self.num_options, max_rounds, self.capacity, delta
        return dataclasses.replace(params, allowed=jnp.asarray(by_intervals(*about)))

    def table(self, delta: float, epsilon: float = 0.0, **others: Any) -> PreferenceParams:
        """Params with ``thresholds`` [N, N] that serve every n_max up to the capacity."""
        params = self.params(delta, self.capacity, epsilon, **others)
        bound = kernels.bound_named(self.bound)
        table = kernels.threshold_table(bound, self.num_options, self.capacity, delta, epsilon)
        params = dataclasses.replace(params, thresholds=jax.device_put(table))
        if self._rule.allowed_table is None:
            return params
        allowed = self._rule.allowed_table(self.bound, self.num_options, self.capacity, delta)
        return dataclasses.replace(params, allowed=jnp.asarray(allowed))

    def params_at(self, table: PreferenceParams, max_rounds: jax.Array) -> PreferenceParams:
        """The params of a race of ``max_rounds`` rounds, a traced int32 of at most N."""
        row = jnp.maximum(max_rounds, 1) - 1
        params = super().params_at(table, max_rounds)
        params = dataclasses.replace(params, thresholds=table.thresholds[row])
        if table.allowed is None:
            return params
        return dataclasses.replace(params, allowed=table.allowed[row])

    def _drawn(self, draw: Any, *example: Any) -> tuple[Any, Any]:
        return kernels.drawn_quickly(draw, *example)

    @verb
    def init(self, example_outcome: Any, params: PreferenceParams) -> PreferenceState:
        num_options = self.num_options
        options, pairs = (num_options,), (num_options, num_options)
        apart = ~jnp.eye(num_options, dtype=bool)
        return PreferenceState(
            outcomes=self._room(example_outcome),
            round=jnp.zeros((), jnp.int32),
            samples=jnp.zeros(options, jnp.int32),
            simulated=jnp.zeros(options, jnp.int32),
            net=jnp.zeros(pairs, jnp.int32),
            rounds=jnp.zeros(pairs, jnp.int32),
            active=apart & (params.max_rounds > 0),
            beats=jnp.zeros(pairs, bool),
            selected=jnp.zeros(options, bool),
            discarded=jnp.zeros(options, bool),
            undecided_sum=jnp.zeros((), jnp.int32),
            invalid=jnp.zeros(options, jnp.int32),
            owner=self._state_owner,
        )

    def rounds_to_tell(self, state: PreferenceState) -> int:
        """One, after which the race may ask others; more are counted as if told one by one."""
        return 1

    @verb
    def ask(self, state: PreferenceState, params: PreferenceParams) -> jax.Array:
        return state.active.any(-1) & (state.round < params.max_rounds)

    @verb
    def tell(
        self, state: PreferenceState, outcomes: Any, params: PreferenceParams
    ) -> PreferenceState:
        def tell(states: Any, outcomes: Any, params: Any) -> Any:
            return self.tell_batch(states, outcomes, params, state.round)

        return base.in_batch(tell, state, outcomes, params)

    def tell_batch(
        self,
        states: PreferenceState,
        outcomes: Any,
        params: PreferenceParams,
        first_round: jax.Array,
    ) -> PreferenceState:
        """Many rounds are counted and decided piece by piece."""
        num_told = jax.tree.leaves(outcomes)[0].shape[2]
        asked = jax.vmap(self.ask)(states, params)
        last = (num_told - 1) // PIECE

        def tell_piece(index: jax.Array, states: PreferenceState) -> PreferenceState:
            start = index * PIECE
            part = jax.tree.map(
                lambda x: lax.dynamic_slice_in_dim(x, start, PIECE, axis=2), outcomes
            )
            return self._tell_piece(states, part, params, first_round + start)

        if last:
            states = lax.fori_loop(0, last, tell_piece, states)
        rest = jax.tree.map(lambda x: x[:, :, last * PIECE :], outcomes) if last else outcomes
        states = self._tell_piece(states, rest, params, first_round + last * PIECE)
        simulated = states.simulated + jnp.where(asked, num_told, 0)
        return dataclasses.replace(states, simulated=simulated)

    def _tell_piece(
        self,
        states: PreferenceState,
        outcomes: Any,
        params: PreferenceParams,
        first_round: jax.Array,
    ) -> PreferenceState:
        """Keep the samples, count the open pairs, and decide."""
        # New samples are compared with kept ones: both must have been rounded alike.
        outcomes = jax.tree.map(lambda x, old: x.astype(old.dtype), outcomes, states.outcomes)
        # Kept before they are counted, which spares the buffer a copy.
        states = jax.vmap(keep_samples, (0, 0, None))(states, outcomes, first_round)
        still_open = states.active & (first_round < params.max_rounds)[:, None, None]
        nets = kernels.open_round_nets(
            self.compare, states.outcomes, outcomes, first_round, states.net, still_open
        )
        told = Told(nets, jax.vmap(base.finite_rounds)(outcomes), first_round)
        return self.decide_batch(states, told, params)

    def decide_batch(
        self, states: PreferenceState, told: Told, params: PreferenceParams
    ) -> PreferenceState:
        """Play the rounds that B races were ``told``, whose samples are kept."""
        # The sample buffer stays out of the loops' carries.
        counted = dataclasses.replace(states, outcomes=None)
        play = functools.partial(self._rule.play, self)
        played = jax.vmap(play, (0, 0, RACE_AXES))(counted, params, told)
        return dataclasses.replace(played, outcomes=states.outcomes)

    @verb
    def result(self, state: PreferenceState, params: PreferenceParams) -> PreferenceResult:
        return self._rule.conclude(
            state,
            borda=base.fixed_point_margins(state.net, state.rounds).sum(-1, dtype=jnp.int32),
            net=state.net,
            rounds=state.rounds,
            **self._held(state, params),
            outcomes=state.outcomes if self.intersect else None,
            compare=self.compare,
            bound=self.bound,
            rule=self.rule,
            dynamic_delta=self.dynamic_delta,
            ranked_by=self.ranking,
        )._if_valid()

    def _check_params(self, params: PreferenceParams) -> None:
        super()._check_params(params)
        if (params.allowed is None) != (self._rule.allowed is None):
            raise BadArgument("params", f"those of ranking {self.ranking!r}", "another's")
        if (shape := jnp.shape(params.thresholds)) != (self.capacity,):
            expected = f"those of one race with capacity {self.capacity}"
            raise BadArgument("params", expected, f"thresholds of shape {list(shape)}")
