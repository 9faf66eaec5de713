"""The race of Busa-Fekete et al. 2013 in which pairs are sampled directly. Axes: K options."""

import dataclasses
import math
from typing import ClassVar, Literal, get_args

import jax
import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.core.protocol import pytree, verb
from jaxrace.core.validation import require_choice, require_float32_probability, require_integer
from jaxrace.selection.base import Standing
from jaxrace.selection.rounds import RoundSelector, require_max_score

Ranking = Literal["copeland", "borda", "random_walk"]
RANKINGS: tuple[str, ...] = get_args(Ranking)

Width = Literal["options", "pairs"]
WIDTHS: tuple[str, ...] = get_args(Width)

# Ratios that differ by less are equal but for rounding: no pair is put off because of it.
_EQUAL = 1e-5


@pytree
class RaceParams:
    """The numbers of a race."""

    delta: jax.Array  # float32 [], error probability
    max_rounds: jax.Array  # int32 [], most comparisons of a pair
    pair_level: jax.Array  # float32 [], ln(K (K - 1) max_rounds / delta)
    option_level: jax.Array  # float32 [], ln(2 K max_rounds / delta)
    max_score: jax.Array  # float32 [], scores are from its negative to it


@pytree
class RaceState:
    """A race between two comparisons."""

    time: jax.Array  # int32 [], comparisons told
    rounds: jax.Array  # int32 [], complete ones
    place: jax.Array  # int32 [], pairs below it had their comparison of this round
    counts: jax.Array  # int32 [K, K], n_ij, symmetric
    totals: jax.Array  # float [K, K], sums of Y_ij; n_ij in all with its mirror image
    active: jax.Array  # bool [K, K], pairs of this round, symmetric
    selected: jax.Array  # bool [K]
    discarded: jax.Array  # bool [K]


@dataclasses.dataclass(frozen=True)
class PairwiseRace(RoundSelector):
    """In every round the pairs that matter are compared once; who is clear is decided.

    A pair is sampled once for both of its options. Intervals of y_ij = E Y_ij are Hoeffding's,
    valid for all pairs and rounds together. By "copeland" and "borda" all pairs matter that have
    an undecided option; by "random_walk" those of the largest c_ij / r_i, of the radius of y_ij to
    how often the option is beaten, as the paper allocates; all of them before there is any.

    The race ends undecided when every pair that matters has had ``max_rounds`` comparisons; by
    Copeland also once all of these pairs are clear and their options beat equally many others.
    By "random_walk" it hardly ever decides: each pair of 3 options takes some 6,000 comparisons
    even if the better one always wins.

    Attributes:
        ranking: The target: "borda", the mean of y_ij over all others; "copeland", the number
            of others with y_ij > 1/2; or "random_walk", see ``kernels.transition_matrix``.
        width: Of Borda's intervals: "options", of K - 1 independent means at once, or "pairs",
            the mean of the widths of all pairs, as published.

    >>> from jaxrace.selection import run, win
    >>> race, chances = PairwiseRace(num_options=2, top=1), jnp.array([[0.5, 1], [0, 0.5]])
    >>> log = run(race, jax.random.key(0), win, chances, 100, race.params(delta=0.1))
    >>> log.selected[-1].tolist(), log.done[-1].tolist()
    ([True, False], True)
    """

    ranking: Ranking = "borda"
    width: Width = "options"

    params_kind: ClassVar[type] = RaceParams

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("ranking", self.ranking, RANKINGS)
        require_choice("width", self.width, WIDTHS)

    def params(
        self, delta: float = 0.05, max_rounds: int = 1000, max_score: float = 1.0
    ) -> RaceParams:
        """The numbers; ValueError if one is out of its range.

        ``delta`` is the error probability, ``max_rounds`` the most comparisons of a pair. Scores
        are from -``max_score`` to ``max_score``; of wins it does not matter.
        """
        require_float32_probability("delta", delta)
        require_integer("max_rounds", max_rounds, 1, jnp.iinfo(jnp.int32).max)
        require_max_score(max_score)
        size = self.num_options
        return RaceParams(
            delta=jnp.asarray(delta, jnp.float32),
            max_rounds=jnp.asarray(max_rounds, jnp.int32),
            pair_level=jnp.float32(math.log(size * (size - 1) * max_rounds / delta)),
            option_level=jnp.float32(math.log(2 * size * max_rounds / delta)),
            max_score=jnp.asarray(max_score, jnp.float32),
        )

    @verb
    def init(self, params: RaceParams) -> RaceState:
        shape = (self.num_options, self.num_options)
        zero, nobody = jnp.zeros((), jnp.int32), jnp.zeros(self.num_options, bool)
        counts, totals = jnp.zeros(shape, jnp.int32), jnp.zeros(shape, float)
        return RaceState(zero, zero, zero, counts, totals, self._apart(), nobody, nobody)

    def choose(self, noise: None, state: RaceState, params: RaceParams) -> jax.Array:
        return jnp.stack(jnp.divmod(self.turn(state), self.num_options)).astype(jnp.int32)

    def expects(self, state: RaceState, pair: jax.Array, params: RaceParams) -> jax.Array:
        return (pair == self.choose(None, state, params)).all() & ~self.done(state, params)

    def waiting(self, state: RaceState) -> jax.Array:
        """Of the pairs (i, j), i < j, row after row: bool [K K]."""
        upper = jnp.triu(state.active, 1).reshape(-1)
        return upper & (jnp.arange(upper.size, dtype=jnp.int32) >= state.place)

    def counted(self, state: RaceState, pair: jax.Array, share: jax.Array) -> RaceState:
        first, second = pair[0], pair[1]
        return dataclasses.replace(
            state,
            place=first * self.num_options + second + 1,
            counts=state.counts.at[first, second].add(1).at[second, first].add(1),
            totals=state.totals.at[first, second].add(share).at[second, first].add(1 - share),
        )

    def decided(self, state: RaceState, params: RaceParams) -> RaceState:
        rules = (self._settle_copeland, self._settle_borda, self._settle_walk)
        settle = dict(zip(RANKINGS, rules, strict=True))[self.ranking]
        selected, discarded, matters = settle(state, params)
        active = matters & (state.counts < params.max_rounds)
        return dataclasses.replace(state, active=active, selected=selected, discarded=discarded)

    def _settle_copeland(self, state: RaceState, params: RaceParams) -> tuple[jax.Array, ...]:
        # y_ij - 1/2 > sqrt(L / 2n), with whole numbers on the left.
        counts = state.counts.astype(state.totals.dtype)
        level = params.pair_level.astype(counts.dtype)
        beats = 2 * state.totals - counts > jnp.sqrt(2 * level * counts)
        beats &= self._apart()
        selected, discarded = kernels.select_and_discard(beats, self.top)
        undecided = ~(selected | discarded)
        matters = (undecided[:, None] | undecided[None, :]) & ~(beats | beats.T)
        return selected, discarded, state.active & matters

    def _settle_borda(self, state: RaceState, params: RaceParams) -> tuple[jax.Array, ...]:
        means, others = _means(state), self.num_options - 1
        score = self._borda(means)
        if self.width == "pairs":
            radius = self._radii(state, params).sum(-1) / others
        else:
            inverses = jnp.where(self._apart(), 1 / jnp.maximum(state.counts, 1), 0).sum(-1)
            radius = jnp.sqrt(params.option_level * inverses / 2) / others
        radius = radius.astype(score.dtype)
        better = (score - radius)[:, None] > (score + radius)[None, :]
        found = kernels.settle_reduced(better, state.selected, state.discarded, self.top)
        undecided = ~(found[0] | found[1])
        return *found, state.active & (undecided[:, None] | undecided[None, :])

    def _settle_walk(self, state: RaceState, params: RaceParams) -> tuple[jax.Array, ...]:
        means = _means(state).astype(jnp.float32)
        radii = self._radii(state, params).astype(jnp.float32)
        selected, discarded = kernels.settle_walk(means, radii, self.top, "sharp")
        beaten = means.sum(-2)  # r_i
        width = radii / jnp.minimum(beaten[:, None], beaten[None, :])
        width = jnp.where(state.counts < params.max_rounds, width, 0)
        widest = (width > 0) & (width >= (1 - _EQUAL) * width.max())
        return selected, discarded, ~selected.any() & widest

    def _radii(self, state: RaceState, params: RaceParams) -> jax.Array:
        """c_ij = sqrt(L / 2n), [K, K], 0 on the diagonal."""
        doubled = 2 * jnp.maximum(state.counts, 1)
        radii = jnp.sqrt(params.pair_level / doubled.astype(jnp.float32))
        return jnp.where(self._apart(), radii, 0)

    def _borda(self, means: jax.Array) -> jax.Array:
        return jnp.where(self._apart(), means, 0).sum(-1) / (self.num_options - 1)

    def _apart(self) -> jax.Array:
        return ~jnp.eye(self.num_options, dtype=bool)

    def standing(self, state: RaceState, params: RaceParams) -> Standing:
        means = _means(state)
        scores, keys = self._borda(means), [self._borda(means)]
        if self.ranking == "copeland":
            scores = jnp.where(self._apart(), (1 + jnp.sign(means - 0.5)) / 2, 0).sum(-1)
            keys = [scores, *keys]
        elif self.ranking == "random_walk":
            scores = kernels.walk_visits(means.astype(jnp.float32))
            keys = [kernels.visits_key(scores)]
        return self.standing_by(state, params, scores, *keys)

    def done(self, state: RaceState, params: RaceParams) -> jax.Array:
        return (state.selected | state.discarded).all() | ~state.active.any()


def _means(state: RaceState) -> jax.Array:
    """y_ij, [K, K]; 1/2 where nothing is known."""
    means = state.totals / jnp.maximum(state.counts, 1).astype(state.totals.dtype)
    return jnp.where(state.counts > 0, means, 0.5)
