"""What one more sample of a pair of options is worth, for the choice of the k best.

A normal tail ``_FAR`` deviations away is soon below any float32, but ratios of such tails are not:
there the gains of all pairs are given times a common exp(m^2 / 2), m the least distance in
deviations, by the series of Abramowitz and Stegun 26.2.12. So they still say which sample is worth
most. ``means`` are float [K], ``top`` is k. Axes: K options.
"""

import math

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.stats import norm

_FAR = 10.0  # standard deviations
_TERMS = 8  # of the series


def in_top(means: jax.Array, top: int) -> jax.Array:
    """Is an option among the k of the largest means, the first ones of equal means? bool [K].

    >>> print(jax.jit(in_top, static_argnums=1)(jnp.array([1.0, 3.0, 2.0, 2.0]), 2))
    [False  True  True False]
    """
    return _places(means) < top


def selection_threshold(means: jax.Array, deviations: jax.Array, top: int) -> jax.Array:
    """c = (sigma_(k+1) mu_(k) + sigma_(k) mu_(k+1)) / (sigma_(k) + sigma_(k+1)), float [].

    >>> threshold = jax.jit(selection_threshold, static_argnums=2)
    >>> print(threshold(jnp.array([4.0, 1.0]), jnp.array([2.0, 1.0]), 1))
    2.0
    """
    places = _places(means)
    last, next_one = places == top - 1, places == top

    def of(marked: jax.Array, values: jax.Array) -> jax.Array:
        return jnp.where(marked, values, 0).sum()

    # Written so that it lies between the means, whatever is rounded.
    lower, gap = of(next_one, means), of(last, means) - of(next_one, means)
    return lower + gap * of(next_one, deviations) / of(last | next_one, deviations)


def _places(means: jax.Array) -> jax.Array:
    """0 for the best, int32 [K]; sorting takes longer."""
    numbers = jnp.arange(means.shape[-1])
    before = (means[None, :] > means[:, None]) | (
        (means[None, :] == means[:, None]) & (numbers[None, :] < numbers[:, None])
    )
    # Means that are computed twice, in rows and in columns, may be rounded differently.
    before &= numbers[None, :] != numbers[:, None]
    return before.sum(-1, dtype=jnp.int32)


def log_correct_selection(means: jax.Array, variances: jax.Array, top: int) -> jax.Array:
    """ln APCS, float []: how likely are the k options that look best the best?

    Scores are normal, S_i ~ N(mu_i, sigma_i^2), and a threshold c parts the k best from the rest:
    APCS = prod_{i in I} P(S_i > c) prod_{q not in I} P(S_q < c) (Chen et al. 2008; Groves and
    Branke 2019). In logarithms, as products of 100 factors underflow. ``variances`` sigma_i^2 are
    positive, float [K].

    >>> log_probability = jax.jit(log_correct_selection, static_argnums=2)
    >>> f"{log_probability(jnp.zeros(2), jnp.ones(2), 1):.4f}"  # ln 1/4
    '-1.3863'
    """
    distances = _distances(means, variances, top)
    return _log_side(distances / jnp.sqrt(variances)).sum()


def correct_selection_gains(
    means: jax.Array, variances: jax.Array, reductions: jax.Array, top: int
) -> jax.Array:
    """ln AEPCS_ij - ln APCS of one more sample of each pair: symmetric float [K, K].

    By how much it is expected to raise ln APCS; the diagonal means nothing. The means are expected
    to stay, c is that of the present variances, and those of both options fall by ``reductions``,
    float [K, K]. Only two factors change with the pair, so that all pairs cost O(K^2). If every
    option is far on its side of c, ln Phi(z) is -Q(z), Q(z) = phi(z) (1 / z - 1 / z^3), but for
    3e-4 of it.

    >>> scores = jnp.array([40.0, 0.0, -5.0]), jnp.ones(3), jnp.full((3, 3), 0.25)
    >>> gains = correct_selection_gains(*scores, top=1)
    >>> print(bool(gains[0, 1] > gains[0, 2] > 0))
    True
    """
    deviations = jnp.sqrt(variances)
    distances = _distances(means, variances, top)
    standardized = distances / deviations
    expected = _log_side(distances[:, None] / jnp.sqrt(variances[:, None] - reductions))
    near = expected - _log_side(standardized)[:, None]  # of the first option
    nearest = standardized.min()
    z = jnp.maximum(standardized, _FAR)
    tails = jnp.exp((nearest - z) * (nearest + z) / 2) * (1 - z**-2) / z
    # Of what is left of a tail after a sample nothing is subtracted that is nearly as large.
    shares = reductions / variances[:, None]
    roots = jnp.sqrt(1 - shares)
    fall = jnp.square(z)[:, None] * shares / (1 - shares) / 2
    lost = shares / (1 + roots) - roots * shares / jnp.square(z)[:, None]
    far = tails[:, None] * (jnp.exp(-fall) * lost - jnp.expm1(-fall))
    return jnp.where(nearest < _FAR, near + near.T, (far + far.T) / math.sqrt(2 * math.pi))


def _distances(means: jax.Array, variances: jax.Array, top: int) -> jax.Array:
    """How far an option is on its side of c, float [K]."""
    threshold = selection_threshold(means, jnp.sqrt(variances), top)
    return jnp.where(in_top(means, top), means - threshold, threshold - means)


def _log_side(standardized: jax.Array) -> jax.Array:
    """ln P(Z < z) for z >= 0; ``norm.logcdf`` loses digits near P = 1, and takes longer."""
    return jnp.log1p(-lax.erfc(standardized * math.sqrt(0.5)) / 2)


def knowledge_gradient(means: jax.Array, deviations: jax.Array, top: int) -> jax.Array:
    """E V(d) - V(0), symmetric float [K, K], not all 0; the diagonal means nothing.

    By how much one more sample of a pair is expected to raise the total score of the k selected
    (Groves and Branke 2019). It moves the scores to S_i + d and S_j - d, d ~ N(0, deviation^2);
    ``deviations`` are positive, float [K, K]. V(d), the sum of the k largest, is the largest of
    three lines: with i but not j among the k, slope 1; with j but not i, slope -1; with both or
    neither, slope 0. A convex function with kinks at b gains sum_b (jump of the slope) * deviation
    * f(-|b| / deviation), f(z) = z Phi(z) + phi(z). If all kinks are far, f(-b) is phi(b) / b^2
    times 1 - 3 / b^2 + 15 / b^4 - ..., but for 2e-9 of it.

    >>> gains_of = jax.jit(knowledge_gradient, static_argnums=2)
    >>> gains = gains_of(jnp.array([1.0, 1.0, 0.0]), jnp.ones((3, 3)), 1).tolist()
    >>> print(f"{gains[0][1]:.4f}", gains[0][1] > gains[0][2])
    0.7979 True
    """
    left, right = (jnp.abs(kink) / deviations for kink in _kinks(means, top))
    itself = jnp.eye(means.shape[-1], dtype=bool)
    nearest = jnp.where(itself, jnp.inf, jnp.minimum(left, right)).min()
    far = _far_loss(left, nearest) + _far_loss(right, nearest)
    return deviations * jnp.where(nearest < _FAR, _loss(left) + _loss(right), far)


def _kinks(means: jax.Array, top: int) -> tuple[jax.Array, jax.Array]:
    """Where V(d) of each pair has its kinks, perhaps in one place: float [K, K] each."""
    num_options = means.shape[-1]
    best = jnp.sort(means)[::-1]
    totals = jnp.concatenate([jnp.zeros_like(best, shape=1), jnp.cumsum(best)])
    places = (best[None, :] > means[:, None]).sum(-1)
    first, second = means[:, None], means[None, :]
    higher = jnp.minimum(places[:, None], places[None, :])
    lower = jnp.maximum(places[:, None], places[None, :])
    # Equal scores share a place: a pair of them takes this and the next one.
    lower = jnp.where(first == second, higher + 1, lower)

    def best_others(count: int) -> jax.Array:
        """Sum of the largest scores without those of the pair, [K, K]."""
        taken = jnp.where(higher < count, 1, 0)
        taken = taken + jnp.where(lower < count + taken, 1, 0)
        length = jnp.minimum(count + taken, num_options)
        highest, lowest = jnp.maximum(first, second), jnp.minimum(first, second)
        own = jnp.where(taken > 0, highest, 0) + jnp.where(taken > 1, lowest, 0)
        return totals[length] - own

    with_one = best_others(top - 1)
    first_line, second_line = first + with_one, second + with_one
    level = jnp.full_like(with_one, -jnp.inf)
    if top >= 2:
        level = first + second + best_others(top - 2)
    if num_options - 2 >= top:
        level = jnp.maximum(level, best_others(top))
    meeting = (second_line - first_line) / 2  # d at which the two sloping lines cross
    is_flat = level > (first_line + second_line) / 2
    left = jnp.where(is_flat, second_line - level, meeting)
    right = jnp.where(is_flat, level - first_line, meeting)
    return left, right


def _loss(kink: jax.Array) -> jax.Array:
    """f(-|b|), what a kink of jump 1 adds for d ~ N(0, 1)."""
    below = -jnp.abs(kink)
    density = jnp.exp(-(below**2) / 2) / jnp.sqrt(2 * jnp.pi).astype(below.dtype)
    return jnp.maximum(below * norm.cdf(below) + density, 0)


def _far_loss(kink: jax.Array, nearest: jax.Array) -> jax.Array:
    """f(-b) exp(m^2 / 2) for b >= m >= 10."""
    kink = jnp.maximum(kink, _FAR)
    step, series = kink**-2, jnp.zeros_like(kink)
    for number in range(_TERMS, 0, -1):
        series = -(2 * number + 1) * step * (1 + series)
    density = jnp.exp((nearest - kink) * (nearest + kink) / 2)
    return density * step * (1 + series) / jnp.sqrt(2 * jnp.pi).astype(kink.dtype)
