"""Selectors that choose each pair by what all scores so far say. Axes: K options, B pairs."""

import abc
import dataclasses
import functools
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import ArrayLike

from jaxrace import kernels
from jaxrace.core import validation
from jaxrace.core.compilation import is_traced
from jaxrace.core.protocol import pytree, verb
from jaxrace.selection.base import Selector, Standing, check_pairs, check_scores, unless_done
from jaxrace.selection.scores import (
    Moments,
    Scores,
    all_told,
    first_of_fewest,
    no_scores,
    observed_moments,
)

# Values that differ by less are equal, in units of the last place.
_ROUNDING = 4


@pytree
class ScoreParams:
    """When to stop."""

    confidence: jax.Array  # float32 [], ask no more from this estimated confidence on; 1: never

    def is_reached(self, confidence: jax.Array) -> jax.Array:
        """Is nothing more to be asked? bool []."""
        return (confidence >= self.confidence.astype(confidence.dtype)) & (self.confidence < 1)


def score_params(confidence: float) -> ScoreParams:
    """Checked numbers; see ``ScoreSelector.params``."""
    if confidence != 1:
        validation.require_float32_probability("confidence", confidence)
    return ScoreParams(jnp.asarray(confidence, jnp.float32))


@pytree
class ScoreState:
    """Such a selector between two comparisons."""

    time: jax.Array  # int32 [], comparisons told
    scores: Scores
    model: Any  # what a selector fits; None of most


@dataclasses.dataclass(frozen=True)
class ScoreSelector(Selector):
    """First some comparisons of every pair, then always the pair of the largest value.

    Subclasses implement ``value``, and ``moments`` and ``refit`` if they have a model.

    Attributes:
        warm_up: Comparisons of each pair that come first, round by round; at least 2, from which
            a variance can be estimated.
        pooled_samples: The estimated variance of a pair is mixed with so many samples of the
            variance within all pairs; 0 as published. Scores that are often equal, as those of
            wins, need 1 or more: a pair with three equal scores would pass for certain, and
            hardly ever be compared again.

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
        """The numbers: it stops once the estimated probability of a correct selection is as large.

        The estimate is no guarantee; 1: never. ValueError if ``confidence`` is no probability.
        """
        return score_params(confidence)

    @abc.abstractmethod
    def value(self, moments: Moments) -> jax.Array:
        """What a further sample of each pair is worth, up to a common factor: float [K, K]."""

    def moments(self, state: ScoreState, params: Any) -> Moments:
        """What is believed of the scores, once the warm-up is over."""
        return observed_moments(state.scores, self.pooled_samples)

    def first_model(self) -> Any:
        """Before anything has been told."""

    def refit(self, model: Any, old: Scores, new: Scores, pairs: jax.Array) -> Any:
        """The model of ``new`` scores; ``old``, perhaps of the warm-up, lack some of the pairs."""
        return model

    @verb
    def init(self, params: ScoreParams) -> ScoreState:
        scores = no_scores(self.num_options)
        return ScoreState(jnp.zeros((), jnp.int32), scores, self.first_model())

    def choose(self, noise: None, state: ScoreState, params: ScoreParams) -> jax.Array:
        return self.choose_many(state, params, 1)[0]

    def choose_many(self, state: ScoreState, params: ScoreParams, number: int) -> jax.Array:
        """The pairs of ``ask_many``, done or not."""
        moments = dataclasses.replace(self.moments(state, params), counts=state.scores.counts)
        # What was expected of pairs without scores is no ground to choose by.
        early = self._is_early(state.scores.counts)
        upper = jnp.triu(jnp.ones((self.num_options,) * 2, bool), 1)

        def choose_one(moments: Moments, _: None) -> tuple[Moments, jax.Array]:
            value = self.value(moments)
            # What is no number, of scores at the edge of what numbers hold, is worth nothing.
            value = jnp.where(upper & ~jnp.isnan(value), value, -jnp.inf)
            # Of equal ones that of the fewest samples; in the warm-up all are equal. What is
            # computed twice may be rounded differently.
            most = value.max()
            equal = value >= most - _ROUNDING * jnp.finfo(value.dtype).eps * jnp.abs(most)
            best = upper & (early | equal)
            place = first_of_fewest(best, moments.counts)
            pair = jnp.stack(jnp.divmod(place, self.num_options)).astype(jnp.int32)
            return moments.expecting(pair), pair

        if number == 1:
            return choose_one(moments, None)[1][None]
        return lax.scan(choose_one, moments, None, number)[1]

    @verb
    def tell(self, state: ScoreState, pair: Any, score: Any, params: ScoreParams) -> ScoreState:
        return self.tell_many(state, pair[None], score[None], params)

    def with_scores(self, state: ScoreState, new: Scores, pairs: jax.Array) -> ScoreState:
        """With so many more scores, and the model that fits them."""

        def refit(model: Any) -> Any:
            return self.refit(model, state.scores, new, pairs)

        early = self._is_early(new.counts)
        model = lax.cond(early, lambda model: model, refit, state.model)
        return ScoreState(new.counts.sum(dtype=jnp.int32) // 2, new, model)

    def standing(self, state: ScoreState, params: ScoreParams) -> Standing:
        early = self._is_early(state.scores.counts)
        moments = self.moments(state, params)
        means = jnp.where(early, state.scores.means.sum(-1), moments.means)
        confidence = jnp.where(early, 0, self._confidence(moments))
        return Standing(means, kernels.ranking(means), confidence)

    def done(self, state: ScoreState, params: ScoreParams) -> jax.Array:
        confidence = self._confidence(self.moments(state, params))
        return params.is_reached(confidence) & ~self._is_early(state.scores.counts)

    def _confidence(self, moments: Moments) -> jax.Array:
        """APCS of the believed scores."""
        return jnp.exp(kernels.log_correct_selection(moments.means, moments.variances, self.top))

    def _is_early(self, counts: jax.Array) -> jax.Array:
        """Is the warm-up not over?"""
        itself = jnp.eye(self.num_options, dtype=bool)
        return jnp.where(itself, self.warm_up, counts).min() < self.warm_up

    def ask_many(
        self, key: jax.Array, state: ScoreState, params: ScoreParams, number: int
    ) -> jax.Array:
        """The next pairs to compare side by side, int32 [B, 2]; a pair may come more than once.

        They are chosen one after the other, as if each left mean and variance of its pair as they
        are; all are [-1, -1] once it is done. ValueError if ``number``, B, is not positive.

        >>> selector = Uniform(num_options=3, top=1)
        >>> params = selector.params()
        >>> selector.ask_many(jax.random.key(0), selector.init(params), params, 2).tolist()
        [[0, 1], [0, 2]]
        """
        validation.require_keys("key", key, ndim=0)
        validation.require_integer("number", number, 1)
        self.require_params(params)
        return _choose_many(self, state, params, number)

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

    def checked_tell_many(
        self, state: ScoreState, pairs: ArrayLike, scores: ArrayLike, params: ScoreParams
    ) -> tuple:
        """What ``tell_many`` is given."""
        self.require_params(params)
        shape = np.shape(pairs)
        if len(shape) != 2 or shape[1] != 2 or shape[0] < 1:
            raise ValueError(f"pairs: expected at least one, [B, 2], got {list(shape)}")
        if np.shape(scores) != shape[:1]:
            raise ValueError(
                f"scores: expected one of each of the {shape[0]} pairs, [{shape[0]}], "
                f"got {list(np.shape(scores))}"
            )
        if not is_traced((state.time, pairs, scores)):
            check_pairs(np.asarray(pairs), self.num_options)
            check_scores(np.asarray(scores))
        return state, jnp.asarray(pairs, jnp.int32), jnp.asarray(scores, float), params


@dataclasses.dataclass(frozen=True)
class Uniform(ScoreSelector):
    """All pairs in turn."""

    def value(self, moments: Moments) -> jax.Array:
        return jnp.zeros(moments.counts.shape, float)


@dataclasses.dataclass(frozen=True)
class KnowledgeGradient(ScoreSelector):
    """PKG: the pair whose next score is expected to raise the total of the selected most.

    Where no single score is likely to change the selection, the one that is the likeliest to is
    still found, though all gains are below any float. After Groves and Branke 2019; the next score
    is taken to be normal, with the variance estimated.

    >>> KnowledgeGradient(num_options=4, top=2, warm_up=2).opening
    12
    """

    def value(self, moments: Moments) -> jax.Array:
        return kernels.knowledge_gradient(moments.means, moments.deviations, self.top)


@functools.partial(jax.jit, static_argnums=(0, 3))
def _choose_many(
    selector: ScoreSelector, state: ScoreState, params: ScoreParams, number: int
) -> jax.Array:
    pairs = selector.choose_many(state, params, number)
    return unless_done(selector, pairs, state, params)
