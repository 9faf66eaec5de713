"""ML-POCBAm as its paper describes it: the Thurstone model by maximum likelihood.

Groves and Branke, "Exploiting transitivity for top-k selection with score-based dueling bandits",
eqs. 3 to 7: X_ij ~ N(gamma_i - gamma_j, sigma_ij^2). With the variances at their best values
sigma_ij^2 = v + r^2, r = m - gamma_i + gamma_j, what is left to maximise is -1/2 sum_pairs
n ln(v + r^2), over the qualities gamma alone, float [K]. ``counts``, ``means`` and ``variances``
are those of ``jaxrace.kernels.swept_qualities``.
Axes: K options, L lanes.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.kernels.thurstone import centered_step, definite_inverse, laplacian, residuals
from jaxrace.selection import MlPocbam
from jaxrace.selection.scores import ScoreState, ScoreSums, likely_variances
from papers.lanes import one_lane

# A fit converges to a gradient below the first times the number of samples, in units of the scores'
# spread. It also ends where a step would gain no more than the second times that number.
_TOLERANCE = {"float32": 1e-5, "float64": 1e-7}
_LEAST_GAIN = {"float32": 2.0**-23, "float64": 1e-20}
_MOST_STEPS = 200
_LEAST_SHRINK = 0.1


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ThurstoneFit:
    """A stationary point of the likelihood, and what helps to find the next one."""

    qualities: jax.Array  # float [K], gamma_i, of mean 0
    inverse: jax.Array  # float [K, K], of the negative Hessian, roughly; 0 of nothing yet
    converged: jax.Array  # bool [], did the search end with a small gradient?


class _Search(NamedTuple):
    """A step of the search, in all lanes."""

    qualities: jax.Array  # [L, K]
    gradient: jax.Array  # [L, K]
    inverse: jax.Array  # [L, K, K]
    ended: jax.Array  # bool [L]
    steps: jax.Array  # int32 []


def thurstone_start(means: jax.Array) -> ThurstoneFit:
    """Where to begin (eq. 6): the mean score of each option against all.

    >>> print(jax.jit(thurstone_start)(jnp.array([[0.0, 2.0], [-2.0, 0.0]])).qualities)
    [ 1. -1.]
    """
    size = means.shape[-1]
    qualities = means.sum(-1) / size
    return ThurstoneFit(qualities, jnp.zeros_like(means), jnp.zeros((), bool))


def fit_thurstone(
    counts: jax.Array, means: jax.Array, variances: jax.Array, start: ThurstoneFit
) -> ThurstoneFit:
    """A stationary point of the likelihood, which is hardly lower there than at the start.

    Steps are the gradient times an inverse Hessian that is kept from fit to fit
    (``with_changed_pair``), as long as each step halves the gradient and the likelihood does not
    fall by more than rounding. Otherwise the inverse is made anew: of the Hessian, where that is
    negative definite and its step a gain; else of the Laplacian of the weights n / sigma^2, whose
    step maximises the likelihood of fixed variances and so never lowers it. The likelihood may have
    several modes: which one is found depends on the start. Batched with ``jax.vmap`` all lanes take
    their steps together.

    The fit has converged if no entry of the gradient, times the spread of the scores, is above 1e-5
    times the number of samples in float32, 1e-7 in float64. In float32 rounding nearly always ends
    the search before. Of what is no number nothing converges.

    >>> means = jnp.array([[0.0, 1.0, 3.0], [-1.0, 0.0, 2.0], [-3.0, -2.0, 0.0]])
    >>> counts, start = 5 * (1 - jnp.eye(3, dtype=jnp.int32)), thurstone_start(means)
    >>> fit = jax.jit(fit_thurstone)(counts, means, jnp.ones((3, 3)), start)
    >>> [f"{quality:.3f}" for quality in fit.qualities.tolist()], bool(fit.converged)
    (['1.333', '0.333', '-1.667'], True)
    """
    return _fit_one(counts.astype(means.dtype), means, variances, start)


def _fit_lanes(
    counts: jax.Array, means: jax.Array, variances: jax.Array, start: ThurstoneFit
) -> ThurstoneFit:
    """Of L lanes at once; every leaf [L, ...]."""
    dtype = means.dtype
    total = counts.sum((-1, -2)) / 2
    spread = jnp.sqrt((counts * (variances + means**2)).sum((-1, -2)) / (2 * total))
    # Where the likelihood is compared, so much is rounding.
    noise = jnp.finfo(dtype).eps * total
    least_gain = _LEAST_GAIN[dtype.name] * total

    def gradient_at(qualities: jax.Array) -> jax.Array:
        rest = residuals(means, qualities)
        return (counts * rest / (variances + rest**2)).sum(-1)

    def gain(old: jax.Array, new: jax.Array) -> jax.Array:
        """Of the likelihood, [L]."""
        before, after = residuals(means, old) ** 2, residuals(means, new) ** 2
        return -(counts * jnp.log1p((after - before) / (variances + before))).sum((-1, -2)) / 4

    def is_small(gradient: jax.Array) -> jax.Array:
        return jnp.abs(gradient).max(-1) * spread <= _TOLERANCE[dtype.name] * total

    def ends(gradient: jax.Array, inverse: jax.Array) -> jax.Array:
        left_to_gain = (gradient * centered_step(inverse, gradient)).sum(-1)
        is_rounding = (left_to_gain >= 0) & (left_to_gain <= least_gain)
        is_rounding &= inverse.any((-1, -2))
        # Nothing can be done about what is no number.
        is_lost = ~jnp.isfinite(gradient).all(-1)
        return is_small(gradient) | is_rounding | is_lost

    def renew(search: _Search) -> tuple[jax.Array, jax.Array]:
        """Qualities after a step with a new inverse, and that inverse."""
        squares = residuals(means, search.qualities) ** 2
        weights = counts / (variances + squares)
        curvatures = weights * (variances - squares) / (variances + squares)
        both, definite = definite_inverse(laplacian(jnp.stack([curvatures, weights])))
        hessian, fixed, is_definite = both[0], both[1], definite[0]
        newton = search.qualities + centered_step(hessian, search.gradient)
        use = is_definite & (gain(search.qualities, newton) >= 0)
        inverse = jnp.where(use[:, None, None], hessian, fixed)
        return search.qualities + centered_step(inverse, search.gradient), inverse

    def step(search: _Search) -> _Search:
        qualities = search.qualities + centered_step(search.inverse, search.gradient)
        gradient = gradient_at(qualities)
        shrinks = jnp.abs(gradient).max(-1) <= jnp.abs(search.gradient).max(-1) / 2
        good = shrinks | ends(gradient, search.inverse)
        good &= gain(search.qualities, qualities) >= -noise
        lost = ~good & ~search.ended
        renewed = lax.cond(lost.any(), renew, lambda kept: (kept[0], kept[2]), search)
        qualities = jnp.where(lost[:, None], renewed[0], qualities)
        qualities = jnp.where(search.ended[:, None], search.qualities, qualities)
        inverse = jnp.where(lost[:, None, None], renewed[1], search.inverse)
        gradient = gradient_at(qualities)
        ended = search.ended | ends(gradient, inverse)
        return _Search(qualities, gradient, inverse, ended, search.steps + 1)

    def goes_on(search: _Search) -> jax.Array:
        return ~search.ended.all() & (search.steps < _MOST_STEPS)

    gradient = gradient_at(start.qualities)
    ended = ends(gradient, start.inverse)
    begun = _Search(start.qualities, gradient, start.inverse, ended, jnp.zeros((), jnp.int32))
    found = lax.while_loop(goes_on, step, begun)
    return ThurstoneFit(found.qualities, found.inverse, is_small(found.gradient))


_fit_one = one_lane(_fit_lanes)


def with_changed_pair(
    fit: ThurstoneFit, pair: jax.Array, old: jax.Array, new: jax.Array
) -> ThurstoneFit:
    """The inverse after one pair's curvature has changed (Sherman and Morrison), in O(K^2).

    ``pair`` is int32 [2]; ``old`` and ``new`` are its ``pair_curvature`` before and after a sample.

    >>> fit = ThurstoneFit(jnp.zeros(2), jnp.array([[0.25, -0.25], [-0.25, 0.25]]), jnp.bool_(True))
    >>> f"{with_changed_pair(fit, jnp.array([0, 1]), 1.0, 3.0).inverse[0, 0]:.4f}"
    '0.0833'
    """
    column = fit.inverse[:, pair[0]] - fit.inverse[:, pair[1]]
    shrink = 1 + (new - old) * (column[pair[0]] - column[pair[1]])
    # Far from a gain the next fit makes the inverse anew.
    factor = jnp.where(shrink > _LEAST_SHRINK, (new - old) / shrink, 0)
    inverse = fit.inverse - factor * column[:, None] * column[None, :]
    return dataclasses.replace(fit, inverse=inverse)


def pair_curvature(
    count: jax.Array, mean: jax.Array, variance: jax.Array, difference: jax.Array
) -> jax.Array:
    """-d^2/dx^2 of -n/2 ln(v + (m - x)^2) at x = gamma_i - gamma_j: n (v - r^2) / (v + r^2)^2.

    >>> print(jax.jit(pair_curvature)(4, 1.0, 2.0, 1.0))
    2.0
    """
    square = (mean - difference) ** 2
    return count * (variance - square) / (variance + square) ** 2


@dataclasses.dataclass(frozen=True)
class StationaryMlPocbam(MlPocbam):
    """``MlPocbam`` with a model fitted to a stationary point of the likelihood.

    Attributes:
        follows: The search begins at the last model; else at the mean scores, as published.

    >>> StationaryMlPocbam(num_options=10, top=4).opening
    135
    """

    follows: bool = False

    def first_model(self) -> ThurstoneFit:
        return thurstone_start(jnp.zeros((self.num_options,) * 2, float))

    def refit(self, model: Any, old: ScoreSums, new: ScoreSums, pairs: jax.Array) -> ThurstoneFit:
        variances = likely_variances(new, self.pooled_samples)
        start = thurstone_start(new.means)
        qualities = start.qualities
        if self.follows:
            qualities = jnp.where(self.is_early(old.counts), qualities, model.qualities)
        inverse = followed_inverse(model, old, new, pairs, self.pooled_samples).inverse
        start = dataclasses.replace(start, qualities=qualities, inverse=inverse)
        return fit_thurstone(new.counts, new.means, variances, start)

    def qualities(self, state: ScoreState) -> jax.Array:
        return state.model.qualities


def followed_inverse(
    model: ThurstoneFit, old: ScoreSums, new: ScoreSums, pairs: jax.Array, pooled_samples: float
) -> ThurstoneFit:
    """The model with an inverse for the pairs that have more samples now."""

    def curvature(scores: ScoreSums, pair: jax.Array) -> jax.Array:
        first, second = pair[0], pair[1]
        variance = likely_variances(scores, pooled_samples)[first, second]
        difference = model.qualities[first] - model.qualities[second]
        count = scores.counts[first, second].astype(variance.dtype)
        return pair_curvature(count, scores.means[first, second], variance, difference)

    def follow(so_far: tuple[ThurstoneFit, ScoreSums], pair: jax.Array) -> tuple[Any, None]:
        fit, before = so_far
        first, second = pair[0], pair[1]

        def replaced(a: jax.Array, b: jax.Array) -> jax.Array:
            return a.at[first, second].set(b[first, second]).at[second, first].set(b[second, first])

        after = jax.tree.map(replaced, before, new)
        change = curvature(before, pair), curvature(after, pair)
        return (with_changed_pair(fit, pair, *change), after), None

    if pairs.shape[0] == 1:
        return follow((model, old), pairs[0])[0][0]
    return lax.scan(follow, (model, old), pairs)[0][0]
