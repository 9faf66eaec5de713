"""Selectors that choose each pair by the scores of all pairs. Axes: K options, B pairs."""

import abc
import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace import kernels
from jaxrace.core import validation
from jaxrace.core.protocol import make_params, number, pytree, verb
from jaxrace.selection.base import BatchSelector, Standing

# Variances are at least this part of the pooled one: equal scores do not make a pair certain.
LEAST_VARIANCE = 1e-6
# Values that differ by less are equal, in units of the last place.
_ROUNDING = 4


@pytree
class ScoreSums:
    """Sufficient statistics of all pairs; floats have 64 bits under ``jax.enable_x64``."""

    counts: jax.Array  # int32 [K, K], n_ij, symmetric
    means: jax.Array  # float [K, K], m_ij = -m_ji
    variances: jax.Array  # float [K, K], v_ij = sum (x - m)^2 / n, symmetric


@pytree
class Moments:
    """Normal beliefs of the scores, S_i ~ N(means_i, sum_j pair_variances_ij / counts_ij)."""

    means: jax.Array  # float [K], of S_i
    pair_variances: jax.Array  # float [K, K], of one comparison, symmetric
    counts: jax.Array  # int32 [K, K], symmetric

    @property
    def variances(self) -> jax.Array:
        """Of S_i, float [K]."""
        # A pair without scores, in the warm-up or on the diagonal, decides nothing.
        counts = jnp.maximum(self.counts, 1).astype(self.pair_variances.dtype)
        return _apart(self.pair_variances / counts).sum(-1)

    @property
    def reductions(self) -> jax.Array:
        """By how much a further sample of a pair makes the variance of either smaller, [K, K]."""
        products = self.counts * (self.counts + 1)
        return _apart(self.pair_variances / products.astype(self.pair_variances.dtype))

    @property
    def deviations(self) -> jax.Array:
        """Of what a further sample of a pair adds to S_i, and takes from S_j, [K, K]; positive."""
        itself = jnp.eye(self.counts.shape[-1], dtype=bool)
        return jnp.sqrt(jnp.where(itself, 1, self.reductions))


def no_scores(num_options: int) -> ScoreSums:
    """Nothing yet."""
    zeros = jnp.zeros((num_options, num_options), float)
    return ScoreSums(zeros.astype(jnp.int32), zeros, zeros)


def counted(scores: ScoreSums, pair: jax.Array, score: jax.Array) -> ScoreSums:
    """With one more score of the first over the second (Welford 1962)."""
    first, second = pair[0], pair[1]
    row = scores.counts[first, second], scores.means[first, second]
    _, mean, variance = welford(*row, scores.variances[first, second], score)
    means = scores.means.at[first, second].set(mean).at[second, first].set(-mean)
    variances = scores.variances.at[first, second].set(variance).at[second, first].set(variance)
    return ScoreSums(_with_one_more(scores.counts, pair), means, variances)


def all_told(scores: ScoreSums, pairs: jax.Array, told: jax.Array) -> ScoreSums:
    """With the scores [B] of pairs, int32 [B, 2], one after the other; a pair may come twice."""
    if pairs.shape[0] == 1:
        return counted(scores, pairs[0], told[0])
    # A loop, not B copies of its body, which would take B times as long to compile.
    return lax.scan(lambda so_far, one: (counted(so_far, *one), None), scores, (pairs, told))[0]


def all_counted(scores: ScoreSums, told: jax.Array) -> ScoreSums:
    """With one more score of every pair, float [K, K], antisymmetric."""
    counts, means, variances = welford(scores.counts, scores.means, scores.variances, told)
    return ScoreSums(_apart(counts), means, variances)


def welford(
    count: jax.Array, mean: jax.Array, variance: jax.Array, score: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Count, mean and biased variance with one more score, any shape."""
    before, after = count.astype(mean.dtype), (count + 1).astype(mean.dtype)
    change = score - mean
    new_mean = mean + change / after
    return count + 1, new_mean, (variance * before + change * (score - new_mean)) / after


def first_of_fewest(marked: jax.Array, counts: jax.Array) -> jax.Array:
    """The place, in one list of all, of the fewest samples among those marked: int32 []."""
    fewness = jnp.where(marked, (-counts).astype(float), -jnp.inf)
    return kernels.first_best(fewness.reshape(-1))


def or_square(variance: jax.Array, means: jax.Array) -> jax.Array:
    """A variance; of scores without noise the mean square of some means, or else 1: float []."""
    square = (means**2).mean()
    return jnp.where(variance > 0, variance, jnp.where(square > 0, square, 1))


def observed_moments(scores: ScoreSums, pooled_samples: float = 0.0) -> Moments:
    """Each pair by itself: unbiased variances (Groves and Branke 2019)."""
    degrees = jnp.maximum(scores.counts - 1, 1)
    variances = _mixed_variances(scores, degrees, pooled_samples)
    return Moments(scores.means.sum(-1), variances, scores.counts)


def likely_variances(scores: ScoreSums, pooled_samples: float = 0.0) -> jax.Array:
    """v_ij for a fit by maximum likelihood, which are biased: float [K, K]."""
    return _mixed_variances(scores, jnp.maximum(scores.counts, 1), pooled_samples)


def _mixed_variances(scores: ScoreSums, degrees: jax.Array, pooled_samples: float) -> jax.Array:
    """Squares of a pair and of all others, so many of these: float [K, K]."""
    all_squares = (scores.counts.astype(scores.variances.dtype) * scores.variances).sum()
    all_degrees = jnp.maximum(jnp.maximum(scores.counts - 1, 0).sum(), 1)
    pooled = or_square(all_squares / all_degrees.astype(all_squares.dtype), scores.means)
    counts, degrees = scores.counts.astype(pooled.dtype), degrees.astype(pooled.dtype)
    squares = scores.variances * counts + pooled_samples * pooled
    return jnp.maximum(squares / (degrees + pooled_samples), LEAST_VARIANCE * pooled)


def _apart(numbers: jax.Array) -> jax.Array:
    """Without the diagonal."""
    return jnp.where(jnp.eye(numbers.shape[-1], dtype=bool), 0, numbers)


def _with_one_more(counts: jax.Array, pair: jax.Array) -> jax.Array:
    first, second = pair[0], pair[1]
    return counts.at[first, second].add(1).at[second, first].add(1)


def _require_confidence(name: str, value: float) -> None:
    if value != 1:
        validation.require_float32_probability(name, value)


@pytree
class ScoreParams:
    """When to stop."""

    # Ask no more from this estimated confidence on; 1: never.
    confidence: jax.Array = number(_require_confidence)

    def is_reached(self, confidence: jax.Array) -> jax.Array:
        """Is nothing more to be asked? bool []."""
        return (confidence >= self.confidence.astype(confidence.dtype)) & (self.confidence < 1)


@pytree
class ScoreState:
    """Such a selector between two comparisons."""

    time: jax.Array  # int32 [], comparisons told
    scores: ScoreSums
    model: Any  # what a selector fits; None of most


@dataclasses.dataclass(frozen=True)
class ScoreSelector(BatchSelector):
    """First some comparisons of every pair, then always the pair of the largest value.

    Subclasses implement ``value``, and ``moments`` and ``refit`` if they have a model.

    Attributes:
        warm_up: Comparisons of each pair that come first, round by round; at least 2.
        pooled_samples: The estimated variance of a pair is mixed with so many samples of the
            variance within all pairs; 0 as published. Scores that are often equal, as of wins, need
            1 or more: else a pair with three equal scores passes for certain.

    >>> class MostVaried(ScoreSelector):
    ...     def value(self, moments):
    ...         return moments.pair_variances / moments.counts.astype(float)
    >>> selector = MostVaried(num_options=3, top=1, warm_up=2)
    >>> params = selector.params()
    >>> state, pairs = selector.init(params), [[0, 1], [0, 2], [1, 2]] * 2
    >>> state = selector.tell_many(state, pairs, [1, 5, 2, 1, 9, 2], params)
    >>> selector.ask(jax.random.key(0), state, params).tolist()
    [0, 2]
    """

    warm_up: int = 3
    pooled_samples: float = 0.0

    params_kind: ClassVar[type] = ScoreParams

    def __post_init__(self) -> None:
        super().__post_init__()
        validation.require_integer("warm_up", self.warm_up, 2, jnp.iinfo(jnp.int32).max)
        validation.require_number("pooled_samples", self.pooled_samples, 0)

    @property
    def opening(self) -> int:
        return self.warm_up * self.num_options * (self.num_options - 1) // 2

    def params(self, confidence: float = 1.0) -> ScoreParams:
        """It stops at this estimated probability of a correct selection, no guarantee; 1: never."""
        return make_params(ScoreParams, confidence=confidence)

    @abc.abstractmethod
    def value(self, moments: Moments) -> jax.Array:
        """What a further sample of each pair is worth, up to a common factor: float [K, K]."""

    def moments(self, state: ScoreState, params: Any) -> Moments:
        """What is believed of the scores, once the warm-up is over."""
        return observed_moments(state.scores, self.pooled_samples)

    def first_model(self) -> Any:
        """Before anything has been told."""

    def refit(self, model: Any, old: ScoreSums, new: ScoreSums, pairs: jax.Array) -> Any:
        """The model of ``new`` scores; ``old``, perhaps of the warm-up, lack some of the pairs."""
        return model

    @verb
    def init(self, params: ScoreParams) -> ScoreState:
        scores = no_scores(self.num_options)
        return ScoreState(jnp.zeros((), jnp.int32), scores, self.first_model())

    def choose_many(self, state: ScoreState, params: ScoreParams, number: int) -> jax.Array:
        """The pairs of ``ask_many``, done or not."""
        moments = dataclasses.replace(self.moments(state, params), counts=state.scores.counts)
        # In the warm-up only the counts matter.
        early = self.is_early(state.scores.counts)
        upper = jnp.triu(jnp.ones((self.num_options,) * 2, bool), 1)

        def choose_one(moments: Moments, _: None) -> tuple[Moments, jax.Array]:
            value = self.value(moments)
            # NaN, of scores at the edge of what numbers hold, is worth nothing.
            value = jnp.where(upper & ~jnp.isnan(value), value, -jnp.inf)
            # Of equal ones that of the fewest samples; what is computed twice may be rounded
            # differently.
            most = value.max()
            equal = value >= most - _ROUNDING * jnp.finfo(value.dtype).eps * jnp.abs(most)
            place = first_of_fewest(upper & (early | equal), moments.counts)
            pair = jnp.stack(jnp.divmod(place, self.num_options)).astype(jnp.int32)
            # As if a sample of it left its mean and variance as they are.
            counts = _with_one_more(moments.counts, pair)
            return dataclasses.replace(moments, counts=counts), pair

        if number == 1:
            return choose_one(moments, None)[1][None]
        return lax.scan(choose_one, moments, None, number)[1]

    def with_scores(self, state: ScoreState, new: ScoreSums, pairs: jax.Array) -> ScoreState:
        """With so many more scores, and the model that fits them."""

        def refit(model: Any) -> Any:
            return self.refit(model, state.scores, new, pairs)

        early = self.is_early(new.counts)
        model = lax.cond(early, lambda model: model, refit, state.model)
        return ScoreState(new.counts.sum(dtype=jnp.int32) // 2, new, model)

    def standing(self, state: ScoreState, params: ScoreParams) -> Standing:
        early = self.is_early(state.scores.counts)
        moments = self.moments(state, params)
        means = jnp.where(early, state.scores.means.sum(-1), moments.means)
        confidence = jnp.where(early, 0, self._confidence(moments))
        return Standing(means, kernels.ranking(means), confidence)

    def done(self, state: ScoreState, params: ScoreParams) -> jax.Array:
        confidence = self._confidence(self.moments(state, params))
        return params.is_reached(confidence) & ~self.is_early(state.scores.counts)

    def _confidence(self, moments: Moments) -> jax.Array:
        """APCS of the believed scores."""
        return jnp.exp(kernels.log_correct_selection(moments.means, moments.variances, self.top))

    def is_early(self, counts: jax.Array) -> jax.Array:
        """Is the warm-up not over?"""
        itself = jnp.eye(self.num_options, dtype=bool)
        return jnp.where(itself, self.warm_up, counts).min() < self.warm_up

    @verb
    def tell_many(self, state: ScoreState, pairs: Any, scores: Any, params: Any) -> ScoreState:
        """Count the scores [B] of pairs [B, 2] that were compared side by side; see ``tell``.

        >>> selector = Uniform(num_options=3, top=1)
        >>> params = selector.params()
        >>> state = selector.tell_many(selector.init(params), [[0, 1], [2, 1]], [1, 4], params)
        >>> state.scores.means[1].tolist()
        [-1.0, 0.0, -4.0]
        """
        return self.with_scores(state, all_told(state.scores, pairs, scores), pairs)


@dataclasses.dataclass(frozen=True)
class Uniform(ScoreSelector):
    """All pairs in turn."""

    def value(self, moments: Moments) -> jax.Array:
        return jnp.zeros(moments.counts.shape, float)
