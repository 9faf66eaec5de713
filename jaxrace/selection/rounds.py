"""Selectors by rounds, with a guarantee: active ranking, and the race of pairs. Axes: K options."""

import abc
import dataclasses
import math
from typing import Any, ClassVar, Literal, get_args

import jax
import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.core import validation
from jaxrace.core.protocol import make_params, number, pytree, verb
from jaxrace.core.validation import BadArgument, require_choice
from jaxrace.selection.base import Selector, Standing
from jaxrace.selection.comparisons import LARGEST_SCORE

# Ratios that differ by less are equal but for rounding: both pairs are compared.
_EQUAL = 1e-5


def _require_max_score(name: str, value: float) -> None:
    """Raise ValueError unless float32 holds scores up to this one, and their shares of it."""
    validation.require_positive(name, value)
    if value > LARGEST_SCORE:
        raise BadArgument(name, f"a number of at most {LARGEST_SCORE:.2g}", str(value))


@pytree
class RoundParams:
    """The numbers of a selector by rounds."""

    delta: jax.Array = number(validation.require_float32_probability)  # error probability
    max_score: jax.Array = number(_require_max_score)  # scores are from its negative to it


@pytree
class RoundState:
    """A selector by rounds between two comparisons."""

    time: jax.Array  # int32 [], comparisons told
    rounds: jax.Array  # int32 [], complete ones
    place: jax.Array  # int32 [], what lies before it has had its turn of this round
    counts: jax.Array  # int32 [K], an option's own comparisons; or [K, K], of pairs, symmetric
    totals: jax.Array  # float, of the same shape: the sums of Y
    selected: jax.Array  # bool [K]
    discarded: jax.Array  # bool [K]

    @property
    def undecided(self) -> jax.Array:
        """Is an option neither selected nor discarded? bool [K]."""
        return ~(self.selected | self.discarded)


@dataclasses.dataclass(frozen=True)
class RoundSelector(Selector):
    """Each round compares what is undecided; after it what is clear is decided for good.

    Bounds hold for Y in [0, 1]: 1, 1/2 and 0 of a win, a tie and a loss, or the rescaled score.
    """

    outcome: Literal["wins", "scores"] = "wins"  # what counts; scores must be bounded

    is_guaranteed: ClassVar[bool] = True
    params_kind: ClassVar[type] = RoundParams

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in dataclasses.fields(self):
            if choices := get_args(field.type):
                require_choice(field.name, getattr(self, field.name), choices)

    @abc.abstractmethod
    def waiting(self, state: Any) -> jax.Array:
        """What has not had its turn in this round: options [K], or pairs [K K], bool."""

    @abc.abstractmethod
    def counted(self, state: Any, pair: jax.Array, share: jax.Array) -> Any:
        """The state with Y of the first over the second, and the place behind them."""

    @abc.abstractmethod
    def decided(self, state: Any, params: Any) -> Any:
        """The state after a round."""

    def begun(self, kind: type, shape: tuple[int, ...], **more: jax.Array) -> Any:
        """A state before the first comparison, with counts of this shape."""
        zero, nobody = jnp.zeros((), jnp.int32), jnp.zeros(self.num_options, bool)
        counts = jnp.zeros(shape, jnp.int32), jnp.zeros(shape, float)
        return kind(zero, zero, zero, *counts, nobody, nobody, **more)

    def accepts(self, score: jax.Array, params: Any) -> jax.Array:
        score, most = _alike(score, params.max_score)
        finite = jnp.isfinite(score)
        return finite if self.outcome == "wins" else finite & (jnp.abs(score) <= most)

    def done(self, state: Any, params: Any) -> jax.Array:
        return ~state.undecided.any()

    def turn(self, state: Any) -> jax.Array:
        """The number of the first that waits, int32 []."""
        return kernels.first_best(self.waiting(state).astype(jnp.int32))

    @verb
    def tell(self, state: Any, pair: Any, score: Any, params: Any) -> Any:
        if self.outcome == "wins":
            share = (1 + jnp.sign(score)) / 2
        else:
            score, most = _alike(score, params.max_score)
            share = (score / most + 1) / 2
        told = self.counted(state, pair, share.astype(state.totals.dtype))
        told = dataclasses.replace(told, time=state.time + 1)
        over = dataclasses.replace(told, rounds=told.rounds + 1, place=jnp.zeros_like(told.place))
        is_over = ~self.waiting(told).any()
        decided = self.decided(over, params)
        return jax.tree.map(lambda a, b: jnp.where(is_over, a, b), decided, told)

    def standing_by(self, state: Any, params: Any, scores: jax.Array, *keys: jax.Array) -> Standing:
        """By what has been decided, then by keys [K]."""
        status = state.selected.astype(jnp.int32) - state.discarded.astype(jnp.int32)
        confidence = jnp.where(state.undecided.any(), 0, 1 - params.delta)
        return Standing(scores, kernels.ranking(status, *keys), confidence)


def _alike(score: jax.Array, max_score: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Both in the wider dtype; scores may have 64 bits, or be whole numbers."""
    dtype = score.dtype if score.dtype == jnp.float64 else max_score.dtype
    return score.astype(dtype), max_score.astype(dtype)


@dataclasses.dataclass(frozen=True)
class ActiveRanking(RoundSelector):
    """In every round each undecided option meets a random other one (Heckel et al. 2016).

    Option i is selected once tau_i, the mean of its own comparisons, exceeds the (k' + 1)-th
    largest of the undecided by 4 alpha_t, and discarded once it is below the k'-th by as much. The
    other option must be the random one that ``ask`` names: ``tell`` checks only whose turn it is.

    Attributes:
        radius: alpha_t, "heckel" sqrt(ln(125 K ln(1.12 t) / delta) / t), or "karnin"
            sqrt(beta / 2t), beta = ln(K / delta) + .75 ln ln(K / delta) + 1.5 ln(1 + ln(t / 2)).

    >>> from jaxrace.selection import run, win
    >>> selector, chances = ActiveRanking(num_options=2, top=1), jnp.array([[0.5, 1], [0, 0.5]])
    >>> log = run(selector, jax.random.key(0), win, chances, 1000, selector.params(delta=0.1))
    >>> log.selected[-1].tolist(), log.done[-1].tolist()
    ([True, False], True)
    """

    radius: Literal["heckel", "karnin"] = "karnin"

    def params(self, delta: float = 0.05, max_score: float = 1.0) -> RoundParams:
        """The error probability; scores are from -``max_score`` to it, which wins do not need."""
        return make_params(RoundParams, delta=delta, max_score=max_score)

    @verb
    def init(self, params: RoundParams) -> RoundState:
        return self.begun(RoundState, (self.num_options,))

    def draw(self, key: jax.Array) -> jax.Array:
        """A number that picks the other option."""
        return jax.random.uniform(key, (), jnp.float32)

    def choose(self, noise: jax.Array, state: RoundState, params: RoundParams) -> jax.Array:
        first = self.turn(state)
        return jnp.stack([first, random_other(first, noise, self.num_options)])

    def expects(self, state: RoundState, pair: jax.Array, params: RoundParams) -> jax.Array:
        return (pair[0] == self.turn(state)) & ~self.done(state, params)

    def waiting(self, state: RoundState) -> jax.Array:
        return state.undecided & (jnp.arange(self.num_options, dtype=jnp.int32) >= state.place)

    def counted(self, state: RoundState, pair: jax.Array, share: jax.Array) -> RoundState:
        return dataclasses.replace(
            state,
            place=pair[0] + 1,
            counts=state.counts.at[pair[0]].add(1),
            totals=state.totals.at[pair[0]].add(share),
        )

    def decided(self, state: RoundState, params: RoundParams) -> RoundState:
        active = state.undecided
        means = state.totals / state.rounds.astype(state.totals.dtype)
        places = self.top - state.selected.sum(dtype=jnp.int32)  # k'
        # Behind the undecided stands -inf: where all of them are to be selected, it comes next.
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

    def standing(self, state: RoundState, params: RoundParams) -> Standing:
        means = state.totals / jnp.maximum(state.counts, 1).astype(state.totals.dtype)
        return self.standing_by(state, params, means, means)


def random_other(option: jax.Array, uniform: jax.Array, num_options: int) -> jax.Array:
    """Another option, each with the same probability, int32 []."""
    step = jnp.minimum((uniform * (num_options - 1)).astype(jnp.int32), num_options - 2)
    return (option + 1 + step) % num_options


@pytree
class RaceParams(RoundParams):
    """The numbers of a race of pairs."""

    # Most comparisons of a pair.
    max_rounds: jax.Array = number(validation.require_integer, jnp.int32, least=1, most=2**31 - 1)
    pair_level: jax.Array = number()  # ln(K (K - 1) max_rounds / delta)
    option_level: jax.Array = number()  # ln(2 K max_rounds / delta)


@pytree
class RaceState(RoundState):
    """A race of pairs between two comparisons."""

    active: jax.Array  # bool [K, K], pairs of this round, symmetric


@dataclasses.dataclass(frozen=True)
class PairwiseRace(RoundSelector):
    """In every round the pairs that matter are compared once (Busa-Fekete et al. 2013).

    A comparison counts for both of its options. Intervals of y_ij = E Y_ij are Hoeffding's, valid
    for all pairs and rounds together. By "copeland" and "borda" all pairs matter that have an
    undecided option; by "random_walk" those of the largest c_ij / r_i, the radius of y_ij over how
    often the option is beaten.

    The race ends undecided when every pair that matters has had ``max_rounds`` comparisons; by
    Copeland also once all of these pairs are clear and their options beat equally many others.

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

    ranking: Literal["copeland", "borda", "random_walk"] = "borda"
    width: Literal["options", "pairs"] = "options"

    params_kind: ClassVar[type] = RaceParams

    def params(
        self, delta: float = 0.05, max_rounds: int = 1000, max_score: float = 1.0
    ) -> RaceParams:
        """The numbers of ``ActiveRanking``, and ``max_rounds``, the most comparisons of a pair."""
        size = self.num_options
        return make_params(
            RaceParams,
            delta=delta,
            max_score=max_score,
            max_rounds=max_rounds,
            pair_level=lambda: math.log(size * (size - 1) * max_rounds / delta),
            option_level=lambda: math.log(2 * size * max_rounds / delta),
        )

    @verb
    def init(self, params: RaceParams) -> RaceState:
        return self.begun(RaceState, (self.num_options,) * 2, active=self._apart())

    def choose(self, noise: None, state: RaceState, params: RaceParams) -> jax.Array:
        return jnp.stack(jnp.divmod(self.turn(state), self.num_options)).astype(jnp.int32)

    def expects(self, state: RaceState, pair: jax.Array, params: RaceParams) -> jax.Array:
        return (pair == self.choose(None, state, params)).all() & ~self.done(state, params)

    def waiting(self, state: RaceState) -> jax.Array:
        """Pairs (i, j), i < j, row after row: bool [K K]."""
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
        selected, discarded, matters = getattr(self, f"_by_{self.ranking}")(state, params)
        active = matters & (state.counts < params.max_rounds)
        return dataclasses.replace(state, active=active, selected=selected, discarded=discarded)

    def _by_copeland(self, state: RaceState, params: RaceParams) -> tuple[jax.Array, ...]:
        # y_ij - 1/2 > sqrt(L / 2n), with whole numbers on the left.
        counts = state.counts.astype(state.totals.dtype)
        level = params.pair_level.astype(counts.dtype)
        beats = (2 * state.totals - counts > jnp.sqrt(2 * level * counts)) & self._apart()
        selected, discarded = kernels.select_and_discard(beats, self.top)
        undecided = ~(selected | discarded)
        matters = (undecided[:, None] | undecided[None, :]) & ~(beats | beats.T)
        return selected, discarded, state.active & matters

    def _by_borda(self, state: RaceState, params: RaceParams) -> tuple[jax.Array, ...]:
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

    def _by_random_walk(self, state: RaceState, params: RaceParams) -> tuple[jax.Array, ...]:
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
        doubled = (2 * jnp.maximum(state.counts, 1)).astype(jnp.float32)
        return jnp.where(self._apart(), jnp.sqrt(params.pair_level / doubled), 0)

    def _borda(self, means: jax.Array) -> jax.Array:
        return jnp.where(self._apart(), means, 0).sum(-1) / (self.num_options - 1)

    def _apart(self) -> jax.Array:
        return ~jnp.eye(self.num_options, dtype=bool)

    def standing(self, state: RaceState, params: RaceParams) -> Standing:
        means = _means(state)
        scores = self._borda(means)
        keys = [scores]
        if self.ranking == "copeland":
            scores = jnp.where(self._apart(), (1 + jnp.sign(means - 0.5)) / 2, 0).sum(-1)
            keys = [scores, *keys]
        elif self.ranking == "random_walk":
            walk = kernels.transition_matrix(means.astype(jnp.float32))
            scores = kernels.long_run(walk)[0]
            keys = [kernels.visits_key(scores)]
        return self.standing_by(state, params, scores, *keys)

    def done(self, state: RaceState, params: RaceParams) -> jax.Array:
        return super().done(state, params) | ~state.active.any()


def _means(state: RaceState) -> jax.Array:
    """y_ij, [K, K]; 1/2 where nothing is known."""
    means = state.totals / jnp.maximum(state.counts, 1).astype(state.totals.dtype)
    return jnp.where(state.counts > 0, means, 0.5)
