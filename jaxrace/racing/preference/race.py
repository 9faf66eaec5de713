"""The preference-based race (Busa-Fekete et al. 2014, Algorithm 2; 2013, Procedures 1 to 4).

Needs nothing but a preference between two outcomes. Axes: K options, N = capacity,
r rounds told at once.
"""

import dataclasses
import functools
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace import kernels
from jaxrace.core.protocol import verb
from jaxrace.core.validation import (
    require_choice,
    require_kind,
    require_number,
    require_probability,
)
from jaxrace.racing import base
from jaxrace.racing.comparing import ComparingRace
from jaxrace.racing.preference import rounds, surrogates
from jaxrace.racing.preference.result import PreferenceResult, by_copeland, by_surrogate
from jaxrace.racing.preference.state import (
    RACE_AXES,
    PreferenceParams,
    PreferenceState,
    Told,
    keep_samples,
)

# Rounds that are counted at once, at most 126: [K, K, rounds] sums, 34 MB for 512 options.
PIECE = 32


@dataclasses.dataclass(frozen=True)
class PreferenceRace(ComparingRace):
    """Top-kappa by Copeland score, or another ranking, from preferences between outcomes.

    Every active option is sampled once per round; pairs whose confidence interval excludes 1/2
    are decided and dropped. With probability at least 1 - delta all verdicts are right, and a
    decided race returns an optimal kappa-subset. By Borda's score *options* are dropped, once they
    are decided; by the random walk none until it stops.

    Attributes:
        bound: A key of ``kernels.BOUNDS``. To reproduce a paper name "published".
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

    params_kind = PreferenceParams
    state_kind = PreferenceState
    params_depend_on: ClassVar = (*ComparingRace.params_depend_on, "bound")

    def __post_init__(self) -> None:
        super().__post_init__()
        kernels.bound_named(self.bound)
        require_choice("rule", self.rule, kernels.RULES)
        require_kind("intersect", self.intersect, bool)
        require_kind("dynamic_delta", self.dynamic_delta, bool)
        if self.dynamic_delta and self.bound != "published":
            raise ValueError(f"bound: expected 'published' with dynamic_delta, got {self.bound!r}")
        require_choice("ranking", self.ranking, surrogates.RANKINGS)
        has_intervals = kernels.bound_named(self.bound).sides == 2
        if self.ranking != "copeland" and not has_intervals:
            raise ValueError(
                f"bound: expected intervals with ranking {self.ranking!r}, "
                f"got {self.bound!r} for verdicts only"
            )
        if self.ranking != "copeland" and self.dynamic_delta:
            raise ValueError(
                f"dynamic_delta: expected False with ranking {self.ranking!r}, got True"
            )

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
        require_probability("delta", delta)
        max_rounds = self._horizon(max_rounds)
        require_number("epsilon", epsilon, least=0, below=0.5)
        if epsilon and (self.dynamic_delta or self.ranking != "copeland"):
            why = "dynamic_delta" if self.dynamic_delta else f"ranking {self.ranking!r}"
            raise ValueError(f"epsilon: expected 0 with {why}, got {epsilon!r}")
        bound = kernels.bound_named(self.bound)
        table = kernels.thresholds(bound, self.num_options, max_rounds, delta, epsilon)
        padding = (0, self.capacity - max_rounds)
        table = np.pad(table, padding, constant_values=kernels.NEVER)
        allowed = None
        if self.ranking != "copeland":
            about = self.bound, self.num_options, max_rounds, self.capacity, delta
            allowed = jnp.asarray(surrogates.allowed_rounds(*about))
        return PreferenceParams(
            delta=jax.device_put(np.float32(delta)),
            max_rounds=jax.device_put(np.int32(max_rounds)),
            epsilon=jax.device_put(np.float32(epsilon)),
            thresholds=jax.device_put(table),
            allowed=allowed,
            owner=self.owner,
        )

    def table(self, delta: float, epsilon: float = 0.0, **others: Any) -> PreferenceParams:
        """Params with ``thresholds`` [N, N] that serve every n_max up to the capacity."""
        params = self.params(delta, self.capacity, epsilon, **others)
        bound = kernels.bound_named(self.bound)
        table = kernels.threshold_table(bound, self.num_options, self.capacity, delta, epsilon)
        params = dataclasses.replace(params, thresholds=jax.device_put(table))
        if params.allowed is None:
            return params
        allowed = surrogates.allowed_table(self.bound, self.num_options, self.capacity, delta)
        return dataclasses.replace(params, allowed=jnp.asarray(allowed))

    def params_at(self, table: PreferenceParams, max_rounds: jax.Array) -> PreferenceParams:
        """The params of a race of ``max_rounds`` rounds, a traced int32 of at most N."""
        row = jnp.maximum(max_rounds, 1) - 1
        params = super().params_at(table, max_rounds)
        params = dataclasses.replace(params, thresholds=table.thresholds[row])
        if table.allowed is None:
            return params
        return dataclasses.replace(params, allowed=table.allowed[row])

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
        )

    @verb
    def ask(self, state: PreferenceState, params: PreferenceParams) -> jax.Array:
        return state.active.any(-1) & (state.round < params.max_rounds)

    @verb
    def tell(
        self, state: PreferenceState, outcomes: Any, params: PreferenceParams
    ) -> PreferenceState:
        def tell(states: Any, outcomes: Any, params: Any) -> Any:
            return self.tell_lanes(states, outcomes, params, state.round)

        return base.in_lane(tell, state, outcomes, params)

    def tell_lanes(
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
        gains = kernels.open_round_gains(
            self.compare, states.outcomes, outcomes, first_round, still_open
        )
        told = Told(gains, jax.vmap(base.finite_rounds)(outcomes), first_round)
        return self.decide_lanes(states, told, params)

    def decide_lanes(
        self, states: PreferenceState, told: Told, params: PreferenceParams
    ) -> PreferenceState:
        """Play the rounds that B races were ``told``, whose samples are kept."""
        # The sample buffer stays out of the loops' carries.
        counted = dataclasses.replace(states, outcomes=None)
        play = functools.partial(rounds.play_rounds, is_dynamic=self.dynamic_delta)
        if self.ranking != "copeland":
            divergence = kernels.bound_named(self.bound).divergence
            play = functools.partial(
                surrogates.play_rounds, ranking=self.ranking, divergence=divergence
            )
        play = functools.partial(play, top=self.top, rule=self.rule)
        played = jax.vmap(play, (0, 0, RACE_AXES))(counted, params, told)
        return dataclasses.replace(played, outcomes=states.outcomes)

    @verb
    def result(self, state: PreferenceState, params: PreferenceParams) -> PreferenceResult:
        conclude = by_copeland if self.ranking == "copeland" else by_surrogate
        return conclude(
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
        )

    def check_params(self, params: PreferenceParams) -> None:
        """Raise ValueError unless ``params`` comes from such a race."""
        super().check_params(params)
        if (params.allowed is None) != (self.ranking == "copeland"):
            raise ValueError(f"params: expected those of ranking {self.ranking!r}, got another's")
        if jnp.shape(params.thresholds) != (self.capacity,):
            raise ValueError(
                f"params: expected those of one race with capacity {self.capacity}, "
                f"got thresholds of shape {list(jnp.shape(params.thresholds))}"
            )
