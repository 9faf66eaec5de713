"""Active ranking (Heckel et al. 2016). Axes: K options."""

import dataclasses
from typing import Any, ClassVar, Literal, get_args

import jax
import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.protocol import verb
from jaxrace.selection.base import Selector, Standing, ranked
from jaxrace.selection.outcomes import OUTCOMES, Outcome, require_max_score, share_of, within
from jaxrace.selection.single_options import random_other
from jaxrace.validation import require_choice, require_float32_probability

Radius = Literal["heckel", "karnin"]
RADII: tuple[str, ...] = get_args(Radius)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ActiveRankingParams:
    """The numbers of active ranking."""

    delta: jax.Array  # float32 [], error probability
    max_score: jax.Array  # float32 [], scores are from its negative to it


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ActiveRankingState:
    """Active ranking between two comparisons."""

    time: jax.Array  # int32 [], comparisons told
    rounds: jax.Array  # int32 [], complete ones
    place: jax.Array  # int32 [], options below it have had their comparison of this round
    counts: jax.Array  # int32 [K], an option's own comparisons
    totals: jax.Array  # float [K], of what they gave
    selected: jax.Array  # bool [K]
    discarded: jax.Array  # bool [K]

    @property
    def active(self) -> jax.Array:
        """Is an option undecided? bool [K]."""
        return ~(self.selected | self.discarded)


@dataclasses.dataclass(frozen=True)
class ActiveRanking(Selector):
    """In every round each undecided option meets a random other one; the clear ones are decided.

    tau_i, the mean of what option i's own comparisons gave, estimates its chance to win (or mean
    score) against a random other option. Option i is selected once tau_i exceeds the (k' + 1)-th
    largest of the undecided by 4 alpha_t, and discarded once it is below the k'-th by as much.

    The other option of a comparison must be the random one that ``ask`` names: ``tell`` checks only
    whose turn it is, and a choice of one's own voids the guarantee.

    Attributes:
        radius: alpha_t, "heckel" sqrt(ln(125 K ln(1.12 t) / delta) / t), or "karnin"
            sqrt(beta / 2t), beta = ln(K / delta) + .75 ln ln(K / delta) + 1.5 ln(1 + ln(t / 2)).
        outcome: What counts: "wins", or "scores", which must be bounded.

    >>> from jaxrace.selection import run, win
    >>> selector, chances = ActiveRanking(num_options=2, top=1), jnp.array([[0.5, 1], [0, 0.5]])
    >>> log = run(selector, jax.random.key(0), win, chances, 1000, selector.params(delta=0.1))
    >>> log.selected[-1].tolist(), log.done[-1].tolist()
    ([True, False], True)
    """

    radius: Radius = "karnin"
    outcome: Outcome = "wins"

    is_guaranteed: ClassVar[bool] = True
    params_kind: ClassVar[type] = ActiveRankingParams

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("radius", self.radius, RADII)
        require_choice("outcome", self.outcome, OUTCOMES)

    def params(self, delta: float = 0.05, max_score: float = 1.0) -> ActiveRankingParams:
        """The numbers; ValueError if one is out of its range.

        ``delta`` is the error probability. Scores are from -``max_score`` to ``max_score``; of wins
        it does not matter.
        """
        require_float32_probability("delta", delta)
        require_max_score(max_score)
        return ActiveRankingParams(jnp.float32(delta), jnp.float32(max_score))

    @verb
    def init(self, params: ActiveRankingParams) -> ActiveRankingState:
        zero, nobody = jnp.zeros((), jnp.int32), jnp.zeros(self.num_options, bool)
        counts, totals = jnp.zeros(self.num_options, jnp.int32), jnp.zeros(self.num_options, float)
        return ActiveRankingState(zero, zero, zero, counts, totals, nobody, nobody)

    def accepts(self, score: jax.Array, params: ActiveRankingParams) -> jax.Array:
        """See ``Selector``."""
        return within(score, self.outcome, params.max_score)

    def draw(self, key: jax.Array) -> jax.Array:
        """A number that picks the other option."""
        return jax.random.uniform(key, (), jnp.float32)

    def choose(self, noise: jax.Array, state: ActiveRankingState, params: Any) -> jax.Array:
        """See ``ask``."""
        first = self._next(state)
        return jnp.stack([first, random_other(first, noise, self.num_options)])

    def expects(self, state: ActiveRankingState, pair: jax.Array, params: Any) -> jax.Array:
        """Is its first option the one whose turn it is?"""
        return (pair[0] == self._next(state)) & ~self.done(state, params)

    def _next(self, state: ActiveRankingState) -> jax.Array:
        """Whose turn it is, int32 []."""
        numbers = jnp.arange(self.num_options, dtype=jnp.int32)
        waiting = state.active & (numbers >= state.place)
        return kernels.first_best(waiting.astype(jnp.int32))

    @verb
    def tell(
        self, state: ActiveRankingState, pair: Any, score: Any, params: ActiveRankingParams
    ) -> ActiveRankingState:
        share = share_of(score, self.outcome, params.max_score).astype(state.totals.dtype)
        numbers = jnp.arange(self.num_options, dtype=jnp.int32)
        told = dataclasses.replace(
            state,
            time=state.time + 1,
            place=pair[0] + 1,
            counts=state.counts.at[pair[0]].add(1),
            totals=state.totals.at[pair[0]].add(share),
        )
        is_over = ~(state.active & (numbers > pair[0])).any()
        decided = self._decided(dataclasses.replace(told, rounds=state.rounds + 1), params)
        return jax.tree.map(lambda a, b: jnp.where(is_over, a, b), decided, told)

    def _decided(
        self, state: ActiveRankingState, params: ActiveRankingParams
    ) -> ActiveRankingState:
        """After a round."""
        active = state.active
        means = state.totals / state.rounds.astype(state.totals.dtype)
        places = self.top - state.selected.sum(dtype=jnp.int32)  # k'
        # After the undecided ones, -inf: where all of these are to be selected, nobody is next.
        best = jnp.sort(jnp.where(active, means, -jnp.inf))[::-1]
        last = jnp.where(places > 0, best[places - 1], jnp.inf)
        margin = 4 * self._radius(state.rounds, params.delta).astype(means.dtype)
        selects = active & (means > best[places] + margin)
        discards = active & (means < last - margin)
        return dataclasses.replace(
            state,
            place=jnp.zeros_like(state.place),
            selected=state.selected | selects,
            discarded=state.discarded | discards,
        )

    def _radius(self, rounds: jax.Array, delta: jax.Array) -> jax.Array:
        """alpha_t, infinite where the formula has no value."""
        time = rounds.astype(jnp.float32)
        if self.radius == "heckel":
            inner = 125 * self.num_options * jnp.log(1.12 * time) / delta
            return jnp.where(inner > 1, jnp.sqrt(jnp.log(inner) / time), jnp.inf)
        ratio = jnp.log(self.num_options / delta)
        beta = ratio + 0.75 * jnp.log(ratio) + 1.5 * jnp.log1p(jnp.log(time / 2))
        return jnp.where(time >= 2, jnp.sqrt(beta / (2 * time)), jnp.inf)

    def standing(self, state: ActiveRankingState, params: ActiveRankingParams) -> Standing:
        """See ``result``."""
        means = state.totals / jnp.maximum(state.counts, 1).astype(state.totals.dtype)
        status = state.selected.astype(jnp.int32) - state.discarded.astype(jnp.int32)
        done = self.done(state, params)
        confidence = jnp.where(done, 1 - params.delta, 0)
        return Standing(means, ranked(status, means), confidence)

    def done(self, state: ActiveRankingState, params: ActiveRankingParams) -> jax.Array:
        """See ``Selector``."""
        return ~state.active.any()
