"""POCBAm and what Groves and Branke make of it with a Thurstone model. Axes: K options."""

import dataclasses
from typing import Any, ClassVar, Literal, get_args

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace import kernels
from jaxrace.core.protocol import pytree
from jaxrace.core.validation import require_choice, require_number
from jaxrace.kernels import ThurstoneFit
from jaxrace.selection.score_selector import ScoreParams, ScoreSelector, ScoreState
from jaxrace.selection.scores import Moments, Scores, likely_variances, observed_moments

Fit = Literal["restarted", "followed", "swept"]
FITS: tuple[str, ...] = get_args(Fit)


@dataclasses.dataclass(frozen=True)
class Pocbam(ScoreSelector):
    """POCBAm: the pair that is expected to raise the probability of a correct selection most.

    Pairs are taken to be independent of each other, so that intransitive ones do no harm (Groves
    and Branke 2019; eqs. 8 to 14 of "Exploiting transitivity").

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
    sigma_ij^2); where that is wrong, it misleads. The model is fitted after every comparison.
    Its likelihood has several modes and, with few samples of a pair, favours models in which a
    few pairs are nearly without noise: the farther it is climbed, the worse is the selection.

    Attributes:
        fit: "swept", a single step from the mean scores, variances and then qualities: the best
            selections, and the only fit that has what the paper reports; "restarted", from the mean
            scores to a stationary point, as the paper describes; or "followed", from the last fit.

    >>> MlPocbam(num_options=10, top=4).opening
    135
    """

    fit: Fit = "swept"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("fit", self.fit, FITS)

    def first_model(self) -> ThurstoneFit:
        return kernels.thurstone_start(jnp.zeros((self.num_options,) * 2, float))

    def refit(self, model: Any, old: Scores, new: Scores, pairs: jax.Array) -> ThurstoneFit:
        variances = likely_variances(new, self.pooled_samples)
        start = kernels.thurstone_start(new.means)
        if self.fit == "swept":
            qualities = kernels.swept_qualities(new.counts, new.means, variances, start.qualities)
            return dataclasses.replace(start, qualities=qualities)
        qualities = start.qualities
        if self.fit == "followed":
            qualities = jnp.where(self._is_early(old.counts), qualities, model.qualities)
        inverse = _following(model, old, new, pairs, self.pooled_samples).inverse
        start = dataclasses.replace(start, qualities=qualities, inverse=inverse)
        return kernels.fit_thurstone(new.counts, new.means, variances, start)

    def moments(self, state: ScoreState, params: Any) -> Moments:
        return fitted_moments(state.scores, state.model, self.pooled_samples)


@pytree
class HybridParams(ScoreParams):
    """When to stop, and when to distrust the model."""

    limit: jax.Array  # float32 [], of the intransitivity index


@dataclasses.dataclass(frozen=True)
class HybridPocbam(MlPocbam):
    """ML-POCBAm while the intransitivity index (eq. 17) is at most a limit, else POCBAm.

    Both what to compare and what to select go by it.

    >>> HybridPocbam(num_options=10, top=4).params().limit.round(2).tolist()
    0.17...
    """

    params_kind: ClassVar[type] = HybridParams

    def params(self, confidence: float = 1.0, limit: float = 0.17) -> HybridParams:
        """The numbers.

        ``limit`` is of the intransitivity index, from 0 (the model fits) to 1; of ``confidence``
        see ``ScoreSelector``. ValueError if one is out of its range.
        """
        require_number("limit", limit, 0)
        if limit > 1:
            raise ValueError(f"limit: expected at most 1, as every index is, got {limit}")
        stop = super().params(confidence).confidence
        return HybridParams(stop, jnp.asarray(limit, jnp.float32))

    def moments(self, state: ScoreState, params: Any) -> Moments:
        observed = observed_moments(state.scores, self.pooled_samples)
        fitted = fitted_moments(state.scores, state.model, self.pooled_samples)
        index = intransitivity_index(observed, fitted)
        is_transitive = index <= params.limit.astype(index.dtype)
        return jax.tree.map(lambda a, b: jnp.where(is_transitive, a, b), fitted, observed)


def fitted_moments(scores: Scores, fit: ThurstoneFit, pooled_samples: float = 0.0) -> Moments:
    """What a fitted model says of the scores (eq. 9): means sum_j (gamma_i - gamma_j).

    ``pooled_samples`` is that of ``ScoreSelector``.

    >>> from jaxrace.selection.scores import no_scores
    >>> fit = kernels.ThurstoneFit(jnp.array([1.0, -1.0]), jnp.zeros((2, 2)), jnp.bool_(True))
    >>> print(fitted_moments(no_scores(2), fit).means)
    [ 2. -2.]
    """
    qualities = fit.qualities
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


def _following(
    model: ThurstoneFit, old: Scores, new: Scores, pairs: jax.Array, pooled_samples: float
) -> ThurstoneFit:
    """The model with an inverse for the pairs that have more samples now."""

    def curvature(scores: Scores, pair: jax.Array) -> jax.Array:
        first, second = pair[0], pair[1]
        variance = likely_variances(scores, pooled_samples)[first, second]
        difference = model.qualities[first] - model.qualities[second]
        count = scores.counts[first, second].astype(variance.dtype)
        return kernels.pair_curvature(count, scores.means[first, second], variance, difference)

    def follow(so_far: tuple[ThurstoneFit, Scores], pair: jax.Array) -> tuple[Any, None]:
        fit, before = so_far
        first, second = pair[0], pair[1]

        def replaced(a: jax.Array, b: jax.Array) -> jax.Array:
            return a.at[first, second].set(b[first, second]).at[second, first].set(b[second, first])

        after = jax.tree.map(replaced, before, new)
        change = curvature(before, pair), curvature(after, pair)
        return (kernels.with_changed_pair(fit, pair, *change), after), None

    if pairs.shape[0] == 1:
        return follow((model, old), pairs[0])[0][0]
    return lax.scan(follow, (model, old), pairs)[0][0]
