"""The dominance race: a certified top kappa from e-values, by a union over K statements.

By wins it needs nothing but a preference between two outcomes, transitive or not; by mean, scores
with a known range. The theorems and their proofs are in docs/dominance_race.md and docs/tables.md.
Axes: K options, N = capacity, L bets, r rounds told at once.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.core import narrowing
from jaxrace.core.protocol import verb
from jaxrace.core.validation import (
    require_choice,
    require_integer,
    require_number,
    require_probability,
)
from jaxrace.evidence.decision import SLACK, perhaps_best, perhaps_tied
from jaxrace.evidence.levels import By, dominance_bets, dominance_weights, levels
from jaxrace.racing import base
from jaxrace.racing.comparing import ComparingRace
from jaxrace.racing.dominance import decision, evidence
from jaxrace.racing.dominance.result import DominanceResult
from jaxrace.racing.dominance.state import (
    COUNTS,
    EXHAUSTED,
    RUNNING,
    Blocks,
    DominanceParams,
    DominanceState,
    require_bets,
)

# Rounding may raise the logarithm of a block's factor, and of their sum, by a few units in the
# last place of a float32: verdicts keep so far, per block, from the exact level; and per sample,
# where differences of scores are rounded, too, which moves a factor by less on average.
_ROUNDING = 2e-6
_ROUNDING_OF_SCORES = 1e-6

_MOST_UNITS = 2**24  # of a margin by mean, as many as float32 tells apart


@dataclasses.dataclass(frozen=True)
class DominanceRace(ComparingRace):
    """Top-kappa from pairwise preferences or by mean, drawing only where the answer is in doubt.

    The samples of an option come in blocks. A race certifies kappa options (a) when each of them
    is shown to be preferred to each of the others, or (b) when counts of certain wins and losses
    settle the Copeland scores. The probability that it certifies a set that is no Copeland
    top-kappa is at most delta, whatever the preferences are. A race that reaches its last block
    first guesses, without a guarantee. ``rounds_to_tell`` rounds in a ``tell`` waste nothing.

    By mean outcomes are scores from ``low`` to ``high``, single numbers, and those are certified
    whose means are at least those of all others, by (a) alone; as float32 has the scores.

    Attributes:
        compare: By wins, as in every ``ComparingRace``; the order of numbers unless given.
        first_block: Samples of each option before the first verdict, a prime up to 23.
        block: Samples of every later block, a prime up to 23.
        by: "wins", to be preferred more often than not, or "mean", to have the higher mean score.
        low: By mean, the lowest score that is possible.
        high: By mean, the highest.

    >>> from jaxrace.kernels import total_order
    >>> race = DominanceRace(num_options=3, top=1, capacity=100, compare=total_order)
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

    compare: Callable[[Any, Any], jax.Array] = kernels.total_order
    first_block: int = 11
    block: int = 5
    by: By = "wins"
    low: float | None = None
    high: float | None = None

    params_kind = DominanceParams
    state_kind = DominanceState
    params_depend_on: ClassVar = (
        *(*ComparingRace.params_depend_on, "top", "first_block", "block"),
        *("by", "low", "high"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("first_block", "block"):
            require_choice(name, getattr(self, name), kernels.BLOCK_SIZES)
        require_choice("by", self.by, ("wins", "mean"))
        base.require_float32_scale(self.by, self.low, self.high)
        if self.by == "mean" and self.compare is not kernels.total_order:
            raise ValueError("compare: expected none for a race by mean")

    @property
    def width(self) -> float:
        """What a tolerance is less than: the range of scores; by wins 1/2, a win probability."""
        return 0.5 if self.low is None or self.high is None else self.high - self.low

    @property
    def blocks(self) -> Blocks:
        """How samples are cut into blocks."""
        unit = (self.first_block * self.block) ** 2
        if self.by == "mean":
            most = Blocks(self.first_block, self.block, 1).num_complete(self.capacity)
            unit = min(2**30 // max(most, 1), _MOST_UNITS)
        return Blocks(self.first_block, self.block, unit)

    @property
    def opening(self) -> int:
        """The first block of every option."""
        return self.first_block

    @property
    def chunk(self) -> int:
        """Samples that a driver draws at once thereafter."""
        return self.block

    def params(
        self,
        delta: float = 0.05,
        max_rounds: int | None = None,
        slack: float = SLACK,
        bets: Sequence[float] | None = None,
        weights: Sequence[float] | None = None,
        give_up: float = math.inf,
        horizon: int | None = None,
        tolerance: float = 0.0,
    ) -> DominanceParams:
        """The numbers of a race; ValueError if one is outside its range.

        Args:
            delta: Probability of a wrong certificate, in (0, 1).
            max_rounds: n_max, the most samples of an option, 1 .. capacity; the capacity unless
                given. With fewer than ``first_block`` nothing is ever certified.
            slack: How far, in log e-values, pairs may be ahead of the most doubtful one and still
                be drawn for. More of it means fewer calls, more samples, and better guesses: with
                less than the default they are worse than those of a ``PreferenceRace``.
            bets: lambda of the e-process, each in (0, 1.95]; chosen for the ``horizon`` unless
                given. A small gap is decided late if at all, and wants a small bet.
            weights: Of the bets, positive; they are scaled to add up to 1.
            give_up: End a race, not certified, when a pair would not be decided by max_rounds
                even if its gap were so many standard errors larger than it looks. Saves samples,
                and makes the guesses worse; the guarantee stays. 3 is a cautious choice.
            horizon: Samples of an option that the bets are chosen for, max_rounds unless given.
                Looks with the same bets are one test: for more samples than were planned make a
                race of larger capacity with the same horizon.
            tolerance: Good enough: nobody else is better by so much or more, in units of the score
                by mean and in win probability, below 0.5, by wins. Ties end, too.
        """
        require_probability("delta", delta)
        max_rounds = self._horizon(max_rounds)
        require_number("slack", slack, least=0)
        if give_up != math.inf:
            require_number("give_up", give_up, least=0)
        require_number("tolerance", tolerance, least=0, below=self.width)
        needed = levels(self.by, self.num_options, self.top, delta, has_tolerance=tolerance > 0)
        horizon = max_rounds if horizon is None else horizon
        require_integer("horizon", horizon, 1)
        bets = dominance_bets(needed.verdict, horizon) if bets is None else bets
        weights = dominance_weights(len(bets)) if weights is None else weights
        require_bets(bets, weights, kernels.MAX_BET)
        rounding = _ROUNDING * self.blocks.num_complete(max_rounds)
        rounding *= 2 if tolerance else 1
        if self.by == "mean":
            rounding += _ROUNDING_OF_SCORES * max_rounds
        return DominanceParams(
            delta=jnp.asarray(delta, jnp.float32),
            max_rounds=jnp.asarray(max_rounds, jnp.int32),
            tolerance=jnp.asarray(tolerance, jnp.float32),
            null=jnp.asarray(-tolerance / self.width, jnp.float32),
            level=jnp.asarray(needed.verdict + rounding, jnp.float32),
            strong_level=jnp.asarray(needed.strong + rounding, jnp.float32),
            # Of races within a tolerance there is no evidence without one.
            possible_level=jnp.asarray(
                math.inf if tolerance else needed.possible + rounding, jnp.float32
            ),
            bets=jnp.asarray(bets, jnp.float32),
            log_weights=jnp.asarray(np.log(weights) - np.log(np.sum(weights)), jnp.float32),
            slack=jnp.asarray(slack, jnp.float32),
            give_up=jnp.asarray(give_up, jnp.float32),
            owner=self.owner,
        )

    def rounds_to_tell(self, state: DominanceState | DominanceResult) -> int:
        """How many samples of each option that asks complete its next block, not under a trace."""
        return self.blocks.rounds_to_tell(state)

    @verb
    def init(self, example_outcome: Any, params: DominanceParams) -> DominanceState:
        num_options = self.num_options
        options, pairs = (num_options,), (num_options, num_options)
        starts = params.max_rounds > 0
        return DominanceState(
            outcomes=self._room(example_outcome),
            simulated=jnp.zeros(options, jnp.int32),
            samples=jnp.zeros(options, jnp.int32),
            first_bad=jnp.zeros(options, jnp.int32),
            log_bets=jnp.zeros((*pairs, params.bets.shape[-1]), jnp.float32),
            highest=jnp.full(pairs, -jnp.inf, jnp.float32),
            margin=jnp.zeros(pairs, jnp.int32),
            asked=jnp.broadcast_to(starts, options),
            certificate=jnp.where(starts, RUNNING, EXHAUSTED).astype(jnp.int32),
            net=jnp.zeros(pairs, jnp.int32),
        )

    @verb
    def ask(self, state: DominanceState, params: DominanceParams) -> jax.Array:
        return state.asked

    @verb
    def tell(self, state: DominanceState, outcomes: Any, params: DominanceParams) -> DominanceState:
        def tell(states: DominanceState, outcomes: Any, params: DominanceParams) -> DominanceState:
            return self.finish_lanes(self._tell(states, outcomes, params), params)

        return base.in_lane(tell, state, outcomes, params)

    def open_lanes(
        self, states: DominanceState, outcomes: Any, params: DominanceParams
    ) -> DominanceState:
        return self._tell(states, outcomes, params, goes_on=False)

    def tell_lanes(
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

        Each option has its own number of samples. Only where first blocks (``opens``) or later ones
        (``goes_on``) may become complete, the program for them is compiled.
        """
        most = self.blocks.complete(params.max_rounds)[:, None]
        before = self._complete(states, most)
        bad = jax.vmap(lambda x: base.bad_outcomes(x, self.low, self.high))(outcomes)
        lacking = jnp.where(states.asked, bad.shape[2], 0)
        states = evidence.keep_samples(states, outcomes, lacking, bad)
        after = self._complete(states, most)
        difference = self.compare if self.by == "wins" else self._difference
        count = functools.partial(evidence.count_blocks, blocks=self.blocks, difference=difference)
        states = count(states, params, before, after, opens=opens, goes_on=goes_on)
        # Samples in whole blocks; where n_max has no room for one, all there are.
        limit = params.max_rounds[:, None]
        few = jnp.minimum(states.simulated, limit)
        samples = jnp.where(limit < self.first_block, few, self.blocks.start(after))
        return self._decide(dataclasses.replace(states, samples=samples), params)

    def _decide(self, states: DominanceState, params: DominanceParams) -> DominanceState:
        """Decide for B races who is asked next: nobody, once a race has ended."""
        most = self.blocks.complete(params.max_rounds)[:, None]
        # An option without a whole block yet is asked again, if n_max leaves room for one.
        told = jnp.minimum(states.simulated.min(-1), params.max_rounds)
        opened = told >= jnp.minimum(params.max_rounds, self.first_block)
        looked_at = states.asked.any(-1) & opened
        seen = states.highest, states.margin, self._complete(states, most)
        decide = functools.partial(decision.decide_blocks, top=self.top, blocks=self.blocks)
        found = jax.vmap(decide)(*seen, params)
        return dataclasses.replace(
            states,
            asked=jnp.where(looked_at[:, None], found.asked, states.asked),
            certificate=jnp.where(looked_at, found.certificate, states.certificate),
        )

    def _complete(self, state: DominanceState, most: jax.Array) -> jax.Array:
        """m_i, int32 [..., K]: blocks of each option, at most ``most``."""
        return jnp.minimum(self.blocks.complete(state.simulated), most)

    def finish_lanes(self, states: DominanceState, params: DominanceParams) -> DominanceState:
        """Count all samples of the races that end without a certificate, for their guess."""
        ended = (states.certificate >= EXHAUSTED) & (states.net == 0).all((1, 2))
        if self.by == "mean":
            net = jax.vmap(self._net_means)(states.outcomes, states.samples)
        else:
            net = kernels.ragged_net(self.compare, states.outcomes, states.samples, ended)
        return dataclasses.replace(states, net=jnp.where(ended[:, None, None], net, states.net))

    @verb
    def result(self, state: DominanceState, params: DominanceParams) -> DominanceResult:
        complete = self._complete(state, self.blocks.complete(params.max_rounds))
        seen = decision.seen_of(state.highest, state.margin, complete, params, self.blocks)
        keys = decision.standing(seen)
        if self.by == "mean":
            above = state.net.astype(jnp.float32) / _MOST_UNITS
            margins = base.fixed_point(above, self.num_options)
        else:
            common = jnp.minimum(state.samples[:, None], state.samples[None, :])
            margins = base.fixed_point_margins(state.net, common)
        guess = decision.Standing(
            (state.net > 0).sum(-1, dtype=jnp.int32), margins.sum(-1, dtype=jnp.int32)
        )
        guessed = state.certificate >= EXHAUSTED
        keys = jax.tree.map(lambda a, b: jnp.where(guessed, a, b), guess, keys)
        ranking = kernels.ranking(*keys)
        certified = (state.certificate != RUNNING) & ~guessed
        in_top = jnp.argsort(ranking) < self.top
        possible, sure = perhaps_best(state.highest >= params.possible_level, self.top)
        certain = certified & (params.tolerance == 0)
        tied = perhaps_tied(seen.strong, in_top) & (state.certificate == COUNTS)
        return DominanceResult(
            ranking=ranking,
            selected=jnp.where(certified, in_top, sure),
            discarded=jnp.where(certified, ~in_top, ~possible),
            possible=jnp.where(certain, in_top | tied, possible),
            tied=tied,
            decided=certified,
            certificate_number=state.certificate,
            wins=keys.wins,
            total=keys.total,
            **self._held(state, params, "log_bets", "highest", "margin", "asked"),
            by=self.by,
            blocks=self.blocks,
            capacity=self.capacity,
        )

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
                raise ValueError(f"example_outcome: expected a single number, got {shapes}")
        return super()._room(example)

    def check_numbers(self, state: Any, outcomes: Any, params: Any) -> None:
        """Raise ValueError unless the state's dtypes hold the numbers, and tell them apart."""
        if self.by == "wins":
            super().check_numbers(state, outcomes, params)
            return
        (scores,), (kept,) = jax.tree.leaves(outcomes), jax.tree.leaves(state.outcomes)
        counted = np.asarray(scores)[np.asarray(self.ask(state, params))]
        narrowing.require_range("outcomes", counted, kept.dtype)

    def raise_if_invalid(self, invalid: jax.Array) -> None:
        """Raise ValueError for the first outcome that is not finite or out of its range."""
        base.raise_if_invalid(invalid, low=self.low, high=self.high)
