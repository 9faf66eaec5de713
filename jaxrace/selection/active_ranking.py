"""Active ranking (Heckel et al. 2016). Axes: K options."""

import dataclasses
from typing import Any, ClassVar, Literal, get_args

import jax
import jax.numpy as jnp

from jaxrace.core.protocol import pytree, verb
from jaxrace.core.validation import require_choice, require_float32_probability
from jaxrace.selection.base import Standing
from jaxrace.selection.rounds import RoundSelector, require_max_score
from jaxrace.selection.single_options import random_other

Radius = Literal["heckel", "karnin"]
RADII: tuple[str, ...] = get_args(Radius)


@pytree
class ActiveRankingParams:
    """The numbers of active ranking."""

    delta: jax.Array  # float32 [], error probability
    max_score: jax.Array  # float32 [], scores are from its negative to it


@pytree
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
class ActiveRanking(RoundSelector):
    """In every round each undecided option meets a random other one; the clear ones are decided.

    tau_i, the mean of what option i's own comparisons gave, estimates its chance to win (or mean
    score) against a random other option. Option i is selected once tau_i exceeds the (k' + 1)-th
    largest of the undecided by 4 alpha_t, and discarded once it is below the k'-th by as much. The
    other option of a comparison must be the random one that ``ask`` names: ``tell`` checks only
    whose turn it is, and a choice of one's own voids the guarantee.

    Attributes:
        radius: alpha_t, "heckel" sqrt(ln(125 K ln(1.12 t) / delta) / t), or "karnin"
            sqrt(beta / 2t), beta = ln(K / delta) + .75 ln ln(K / delta) + 1.5 ln(1 + ln(t / 2)).

    >>> from jaxrace.selection import run, win
    >>> selector, chances = ActiveRanking(num_options=2, top=1), jnp.array([[0.5, 1], [0, 0.5]])
    >>> log = run(selector, jax.random.key(0), win, chances, 1000, selector.params(delta=0.1))
    >>> log.selected[-1].tolist(), log.done[-1].tolist()
    ([True, False], True)
    """

    radius: Radius = "karnin"

    params_kind: ClassVar[type] = ActiveRankingParams

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("radius", self.radius, RADII)

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

    def draw(self, key: jax.Array) -> jax.Array:
        """A number that picks the other option."""
        return jax.random.uniform(key, (), jnp.float32)

    def choose(self, noise: jax.Array, state: ActiveRankingState, params: Any) -> jax.Array:
        first = self.turn(state)
        return jnp.stack([first, random_other(first, noise, self.num_options)])

    def expects(self, state: ActiveRankingState, pair: jax.Array, params: Any) -> jax.Array:
        return (pair[0] == self.turn(state)) & ~self.done(state, params)

    def waiting(self, state: ActiveRankingState) -> jax.Array:
        numbers = jnp.arange(self.num_options, dtype=jnp.int32)
        return state.active & (numbers >= state.place)

    def counted(
        self, state: ActiveRankingState, pair: jax.Array, share: jax.Array
    ) -> ActiveRankingState:
        return dataclasses.replace(
            state,
            place=pair[0] + 1,
            counts=state.counts.at[pair[0]].add(1),
            totals=state.totals.at[pair[0]].add(share),
        )

    def decided(self, state: ActiveRankingState, params: ActiveRankingParams) -> ActiveRankingState:
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
            state, selected=state.selected | selects, discarded=state.discarded | discards
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
        means = state.totals / jnp.maximum(state.counts, 1).astype(state.totals.dtype)
        return self.standing_by(state, params, means, means)

    def done(self, state: ActiveRankingState, params: ActiveRankingParams) -> jax.Array:
        return ~state.active.any()
