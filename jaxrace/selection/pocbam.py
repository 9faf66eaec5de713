"""What Groves and Branke choose by: PKG, POCBAm, and POCBAm with a Thurstone model."""

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.core.protocol import make_params, number, pytree
from jaxrace.core.validation import require_number
from jaxrace.selection.scores import (
    Moments,
    ScoreParams,
    ScoreSelector,
    ScoreState,
    ScoreSums,
    likely_variances,
    observed_moments,
)


@dataclasses.dataclass(frozen=True)
class KnowledgeGradient(ScoreSelector):
    """PKG: the pair whose next score is expected to raise the total of the selected most.

    The next score is taken to be normal, with the variance estimated (Groves and Branke 2019).
    """

    def value(self, moments: Moments) -> jax.Array:
        return kernels.knowledge_gradient(moments.means, moments.deviations, self.top)


@dataclasses.dataclass(frozen=True)
class Pocbam(ScoreSelector):
    """POCBAm: the pair that is expected to raise the probability of a correct selection most.

    Pairs are taken to be independent, so that intransitive ones do no harm (Groves and Branke 2019;
    eqs. 8 to 14 of "Exploiting transitivity").

    >>> selector, key = Pocbam(num_options=3, top=1), jax.random.key(0)
    >>> params = selector.params()
    >>> state = selector.init(params)
    >>> selector.ask(key, state, params).tolist()
    [0, 1]
    """

    def value(self, moments: Moments) -> jax.Array:
        return kernels.correct_selection_gains(
            moments.means, moments.variances, moments.reductions, self.top
        )


@dataclasses.dataclass(frozen=True)
class MlPocbam(Pocbam):
    """ML-POCBAm: the same, on scores that a fitted Thurstone model implies.

    Every comparison says something about all options, as X_ij ~ N(gamma_i - gamma_j,
    sigma_ij^2); where that is wrong, it misleads. The model is fitted by a single step from the
    mean scores: with few samples the likelihood favours models in which a few pairs are nearly
    without noise, and the farther it is climbed, the worse is the selection.
    """

    def first_model(self) -> Any:
        return jnp.zeros(self.num_options, float)

    def refit(self, model: Any, old: ScoreSums, new: ScoreSums, pairs: jax.Array) -> Any:
        variances = likely_variances(new, self.pooled_samples)
        return kernels.swept_qualities(new.counts, new.means, variances)

    def qualities(self, state: ScoreState) -> jax.Array:
        """Gamma of the model, float [K]."""
        return state.model

    def moments(self, state: ScoreState, params: Any) -> Moments:
        return fitted_moments(state.scores, self.qualities(state), self.pooled_samples)


@pytree
class HybridParams(ScoreParams):
    """When to stop, and when to distrust the model."""

    limit: jax.Array = number(require_number, least=0, most=1)  # of the intransitivity index


@dataclasses.dataclass(frozen=True)
class HybridPocbam(MlPocbam):
    """ML-POCBAm while the intransitivity index (eq. 17) is at most a limit, else POCBAm."""

    params_kind: ClassVar[type] = HybridParams

    def params(self, confidence: float = 1.0, limit: float = 0.17) -> HybridParams:
        """``limit`` is of the intransitivity index, from 0 (the model fits) to 1."""
        return make_params(HybridParams, confidence=confidence, limit=limit)

    def moments(self, state: ScoreState, params: Any) -> Moments:
        observed = observed_moments(state.scores, self.pooled_samples)
        fitted = super().moments(state, params)
        index = intransitivity_index(observed, fitted)
        is_transitive = index <= params.limit.astype(index.dtype)
        return jax.tree.map(lambda a, b: jnp.where(is_transitive, a, b), fitted, observed)


def fitted_moments(scores: ScoreSums, qualities: jax.Array, pooled_samples: float = 0.0) -> Moments:
    """What a model of ``qualities`` [K] says of the scores (eq. 9): sum_j (gamma_i - gamma_j).

    >>> from jaxrace.selection.scores import no_scores
    >>> print(fitted_moments(no_scores(2), jnp.array([1.0, -1.0])).means)
    [ 2. -2.]
    """
    means = qualities.shape[-1] * qualities - qualities.sum()
    own = likely_variances(scores, pooled_samples)
    variances = kernels.residual_variances(scores.means, own, qualities)
    return Moments(means, variances, scores.counts)


def intransitivity_index(observed: Moments, fitted: Moments) -> jax.Array:
    """II = 1 - exp(-1/2K sum_i [KL(obs_i || fit_i) + KL(fit_i || obs_i)]) (eqs. 17 and 19).

    Of ``observed_moments`` and ``fitted_moments``: float [], 0 where they agree, up to 1.

    >>> from jaxrace.selection.scores import Moments
    >>> counts, ones = jnp.ones((2, 2), jnp.int32), jnp.ones((2, 2))
    >>> observed = Moments(jnp.array([1.0, -1.0]), ones, counts)
    >>> fitted = Moments(jnp.array([2.0, -2.0]), ones, counts)
    >>> [f"{intransitivity_index(observed, model):.4f}" for model in (observed, fitted)]
    ['0.0000', '0.3935']
    """
    variances, others = observed.variances, fitted.variances
    squares = (observed.means - fitted.means) ** 2
    # The logarithms of both divergences cancel.
    both = (variances + squares) / (2 * others) + (others + squares) / (2 * variances) - 1
    return -jnp.expm1(-both.mean() / 2)
