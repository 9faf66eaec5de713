"""The dominance race: a certified top kappa from e-values, by a union over K statements.

By wins it needs a preference between two outcomes, transitive or not; by mean, scores with a known
range. Proofs: docs/theory/dominance_race.md. Axes: B races, K options, N = capacity, r rounds told.
"""

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.core.protocol import make_params, verb
from jaxrace.core.validation import BadArgument, require_choice
from jaxrace.evidence.decision import EXHAUSTED, RUNNING, SLACK, SortKeys
from jaxrace.evidence.levels import Blocks, By, dominance_bets, dominance_weights
from jaxrace.racing import base
from jaxrace.racing.certified.blocks import (
    DominanceParams,
    DominanceResult,
    DominanceState,
    count_blocks,
    decide,
    rounds_to_tell,
    see,
)
from jaxrace.racing.certified.race import CertifiedRace, common, keep_samples, squared, standing
from jaxrace.racing.comparing import Compare

# Primes. With all samples lost a product of b factors is (1 - 1.95 / 2)^b, which float32 holds.
BLOCK_SIZES = (2, 3, 5, 7, 11, 13, 17, 19, 23)
MAX_BET = 1.95

# Verdicts keep so far from the exact level, per block, as float32 rounds logarithms; and per
# sample, where differences of scores are rounded, too.
_ROUNDING = 2e-6
_ROUNDING_OF_SCORES = 1e-6

_MOST_UNITS = 2**24  # of a margin by mean, as many as float32 tells apart


@dataclasses.dataclass(frozen=True)
class DominanceRace(CertifiedRace):
    """Top-kappa from pairwise preferences or by mean, drawing only where the answer is in doubt.

    Samples come in blocks. A race certifies kappa options (a) when each of them is shown to be
    preferred to each of the others, or (b) when counts of certain wins and losses settle the
    Copeland scores; with a probability of at most delta that set is no Copeland top-kappa. A race
    that reaches its last block without a certificate guesses. A ``tell`` of ``rounds_to_tell``
    rounds wastes no sample.

    By mean outcomes are scores from ``low`` to ``high``, single numbers, and those are certified
    whose means are at least those of all others, by (a) alone.

    Attributes:
        compare: By wins, as in every ``ComparingRace``; the order of numbers unless given.
        first_block, block: Samples of the first block, and of every later one: primes up to 23.
        by: "wins", to be preferred more often than not, or "mean", to have the higher mean score.
        low: By mean, the lowest score that is possible.
        high: By mean, the highest.

    >>> race = DominanceRace(num_options=3, top=1, capacity=100)
    >>> params = race.params(delta=0.1)
    >>> state = race.init(jnp.float32(0), params)
    >>> while race.ask(state, params).any():
    ...     rounds = race.rounds_to_tell(state)
    ...     samples = jnp.tile(jnp.array([[3.0], [1.0], [2.0]]), rounds)
    ...     state = race.tell(state, samples, params)
    >>> result = race.result(state, params)
    >>> result.best.tolist(), result.certificate
    ([0], 'dominance')
    """

    compare: Compare = kernels.total_order
    first_block: int = 11
    block: int = 5
    by: By = "wins"
    low: float | None = None
    high: float | None = None

    _params_kind = DominanceParams
    _state_kind = DominanceState
    _weights: ClassVar = staticmethod(dominance_weights)
    _params_depend_on: ClassVar = (
        *("num_options", "capacity", "top", "first_block", "block"),
        *("by", "low", "high"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("first_block", "block"):
            require_choice(name, getattr(self, name), BLOCK_SIZES)
        if self.by == "mean" and self.compare is not kernels.total_order:
            raise BadArgument("compare", "none for a race by mean", f"{self.compare!r}")

    @property
    def blocks(self) -> Blocks:
        blocks = Blocks(self.first_block, self.block)
        if self.by == "wins":
            return blocks
        most = max(int(blocks.complete(self.capacity)), 1)
        return dataclasses.replace(blocks, scale=min(2**30 // most, _MOST_UNITS))

    @property
    def _opening(self) -> int:
        return self.first_block

    @property
    def chunk(self) -> int:
        return self.block

    def params(
        self,
        delta: float = 0.05,
        max_rounds: int | None = None,
        slack: float = SLACK,
        bets: Sequence[float] | None = None,
        weights: Sequence[float] | None = None,
        horizon: int | None = None,
        tolerance: float = 0.0,
    ) -> DominanceParams:
        """The numbers of a race; ValueError if one is outside its range.

        Args:
            delta: Probability of a wrong certificate, in (0, 1).
            max_rounds: n_max, the most samples of an option, 1 .. capacity; the capacity unless
                given. With fewer than ``first_block`` nothing is ever certified.
            slack: How far, in log e-values, pairs may be ahead of the most doubtful one and still
                be drawn for: more of it means more samples, and better guesses.
            bets: lambda of the e-process, each in (0, 1.95]; chosen for the ``horizon`` unless
                given. A small gap wants a small bet.
            weights: Of the bets, positive; they are scaled to add up to 1.
            horizon: Samples of an option that the bets are chosen for, max_rounds unless given.
                Looks with the same bets are one test: a race that goes on keeps its horizon.
            tolerance: Good enough: no other option is better by so much. By mean in units of the
                score, by wins in win probability (below 0.5). Ties then end, too.
        """
        max_rounds = self._horizon(max_rounds)
        horizon = max_rounds if horizon is None else horizon
        about = delta, tolerance, horizon, bets, weights
        needed, bets, shares = self._mixture(*about, MAX_BET, dominance_bets)
        rounding = _ROUNDING * int(self.blocks.complete(max_rounds)) * (2 if tolerance else 1)
        if self.by == "mean":
            rounding += _ROUNDING_OF_SCORES * max_rounds
        return make_params(
            DominanceParams,
            delta=delta,
            max_rounds=max_rounds,
            tolerance=tolerance,
            null=-tolerance / self.width,
            level=needed.verdict + rounding,
            strong_level=needed.strong + rounding,
            possible_level=math.inf if tolerance else needed.possible + rounding,
            bets=bets,
            log_weights=np.log(shares),
            slack=slack,
            owner=self._owner,
        )

    def rounds_to_tell(self, state: DominanceState | DominanceResult) -> int:
        """How many samples of each option that asks complete its next block, not under a trace."""
        return rounds_to_tell(self.blocks, state)

    @verb
    def init(self, example_outcome: Any, params: DominanceParams) -> DominanceState:
        options, count = (self.num_options,), self.num_options * (self.num_options - 1) // 2
        starts = params.max_rounds > 0
        first = jnp.arange(self.num_options, dtype=jnp.int32) < self.top
        return DominanceState(
            outcomes=self._room(example_outcome),
            simulated=jnp.zeros(options, jnp.int32),
            samples=jnp.zeros(options, jnp.int32),
            first_bad=jnp.zeros(options, jnp.int32),
            log_bets=jnp.zeros((count, params.bets.shape[-1], 2), jnp.float32),
            highest=jnp.full((count, 2), -jnp.inf, jnp.float32),
            margin=jnp.zeros(count, jnp.int32),
            doubtful=first[:, None] & ~first[None, :],
            asked=jnp.broadcast_to(starts, options),
            certificate=jnp.where(starts, RUNNING, EXHAUSTED).astype(jnp.int32),
            net=jnp.zeros(options * 2, jnp.int32),
            owner=self._state_owner,
        )

    @verb
    def ask(self, state: DominanceState, params: DominanceParams) -> jax.Array:
        return state.asked

    @verb
    def tell(self, state: DominanceState, outcomes: Any, params: DominanceParams) -> DominanceState:
        def tell(states: DominanceState, outcomes: Any, params: DominanceParams) -> DominanceState:
            return self._finish_batch(self._tell(states, outcomes, params), params)

        return base.in_batch(tell, state, outcomes, params)

    def _open_batch(
        self, states: DominanceState, outcomes: Any, params: DominanceParams
    ) -> DominanceState:
        return self._tell(states, outcomes, params, goes_on=False)

    def tell_batch(
        self, states: DominanceState, outcomes: Any, params: DominanceParams, first_round: jax.Array
    ) -> DominanceState:
        return self._tell(states, outcomes, params, opens=False)

    def _tell(
        self,
        states: DominanceState,
        outcomes: Any,
        params: DominanceParams,
        opens: bool = True,
        goes_on: bool = True,
    ) -> DominanceState:
        """Keep the samples [B, K, r, ...], play the blocks that become complete, and decide.

        Programs for first blocks (``opens``) and later ones (``goes_on``) are compiled if wanted.
        """
        limit = params.max_rounds[:, None]
        before = self._complete(states, limit)
        bad = jax.vmap(self._bad)(outcomes)
        lacking = jnp.where(states.asked, bad.shape[2], 0)
        states = keep_samples(states, outcomes, lacking, bad)
        after = self._complete(states, limit)
        difference = self.compare if self.by == "wins" else self._difference
        count = functools.partial(count_blocks, blocks=self.blocks, difference=difference)
        states = count(states, params, before, after, bad.shape[2], opens=opens, goes_on=goes_on)
        # Samples in whole blocks, or all there are if n_max has no room for one.
        few = jnp.minimum(states.simulated, limit)
        samples = jnp.where(limit < self.first_block, few, self.blocks.start(after, jnp))
        # An option without a whole block yet is asked again, if n_max leaves room for one.
        opened = few.min(-1) >= jnp.minimum(params.max_rounds, self.first_block)
        looks = states.asked.any(-1) & opened
        of_race = functools.partial(decide, top=self.top, blocks=self.blocks)
        found = kernels.with_operands_kept(
            jax.vmap(of_race), looks.any(), *jax.vmap(self._evidence)(states), after, params
        )
        return dataclasses.replace(
            states,
            samples=samples,
            doubtful=jnp.where(looks[:, None, None], found.doubtful, states.doubtful),
            asked=jnp.where(looks[:, None], found.asked, states.asked),
            certificate=jnp.where(looks, found.certificate, states.certificate),
        )

    def _evidence(self, state: DominanceState) -> tuple[jax.Array, jax.Array]:
        """``highest`` and ``margin`` in both orders, [K, K]."""
        margin = jnp.stack([state.margin, -state.margin], -1)
        return squared(state.highest, self.num_options, -jnp.inf), squared(margin, self.num_options)

    def _complete(self, state: DominanceState, max_rounds: jax.Array) -> jax.Array:
        """m_i, int32 [..., K]: blocks of each option, at most those of n_max."""
        return self.blocks.complete(jnp.minimum(state.simulated, max_rounds), jnp)

    def _finish_batch(self, states: DominanceState, params: DominanceParams) -> DominanceState:
        """Count all samples of the races that end without a certificate, for their guess."""
        ended = (states.certificate >= EXHAUSTED) & (states.net == 0).all((1, 2))
        if self.by == "mean":
            net = jax.vmap(self._net_means)(states.outcomes, states.samples)
        else:
            net = kernels.ragged_net(self.compare, states.outcomes, states.samples, ended)
        return dataclasses.replace(states, net=jnp.where(ended[:, None, None], net, states.net))

    @verb
    def result(self, state: DominanceState, params: DominanceParams) -> DominanceResult:
        complete = self._complete(state, params.max_rounds)
        highest, margin = self._evidence(state)
        seen = see(highest, margin, complete, params, self.blocks)
        keys = standing(seen)
        if self.by == "mean":
            above = state.net.astype(jnp.float32) / _MOST_UNITS
            margins = base.fixed_point(above, self.num_options)
        else:
            margins = base.fixed_point_margins(state.net, common(state.samples))
        guess = SortKeys((state.net > 0).sum(-1, dtype=jnp.int32), margins.sum(-1, dtype=jnp.int32))
        guessed = state.certificate >= EXHAUSTED
        keys = jax.tree.map(lambda a, b: jnp.where(guessed, a, b), guess, keys)
        certified = (state.certificate != RUNNING) & ~guessed
        beats = highest >= params.possible_level
        return DominanceResult(
            **self._certain(state, params, seen, keys, certified, beats),
            **self._held(state, params, "asked"),
            log_bets=jnp.moveaxis(squared(state.log_bets, self.num_options), 0, -1),
            highest=highest,
            margin=margin,
            doubtful=state.doubtful & ~certified,
            blocks=self.blocks,
            capacity=self.capacity,
        )._if_valid()

    def _difference(self, first: jax.Array, second: jax.Array) -> jax.Array:
        """Of two scores, in [-1, 1]: float32 []."""
        (x,), (y,) = jax.tree.leaves(first), jax.tree.leaves(second)
        return (x.astype(jnp.float32) - y.astype(jnp.float32)) / self.width

    def _net_means(self, outcomes: Any, samples: jax.Array) -> jax.Array:
        """By how much the mean of each option's samples is above each other's: int32 [K, K]."""
        assert self.low is not None
        (scores,) = jax.tree.leaves(outcomes)
        counts = jnp.arange(scores.shape[1], dtype=jnp.int32) < samples[:, None]
        scaled = self._difference(scores, jnp.full_like(scores, self.low))
        means = jnp.where(counts, scaled, 0.0).sum(1) / jnp.maximum(samples, 1).astype(jnp.float32)
        return jnp.rint(_MOST_UNITS * (means[:, None] - means[None, :])).astype(jnp.int32)

    def _room(self, example: Any) -> Any:
        if self.by == "mean":
            shapes = [list(leaf.shape) for leaf in jax.tree.leaves(example)]
            if shapes != [[]]:
                raise BadArgument("example_outcome", "a single number", f"{shapes}")
        return super()._room(example)
