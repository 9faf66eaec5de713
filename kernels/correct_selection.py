"""How likely are the k options which look best the best, and which sample helps most?

Scores are normal, S_i ~ N(mu_i, sigma_i^2), and a threshold c parts the k best from the rest: APCS
= prod_{i in I} P(S_i > c) prod_{q not in I} P(S_q < c) (Chen et al. 2008; Groves and Branke 2019).
Everything is in logarithms: products of 100 factors underflow. ``means`` mu_i and the positive
``variances`` sigma_i^2 or ``deviations`` sigma_i are float [K]; ``reductions`` float [K, K] tell by
how much a sample of the pair makes sigma_i^2 smaller; ``top`` is k. Axes: K options.
"""

import math

import jax
import jax.numpy as jnp
from jax import lax

# Standard deviations from which on normal tails are those of a series: as far away they are soon
# below any float32, and their ratios are not.
_FAR = 10.0


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
    # Nobody is before himself: means that are computed twice, in rows and in columns, may be
    # rounded differently.
    before &= numbers[None, :] != numbers[:, None]
    return before.sum(-1, dtype=jnp.int32)


def log_correct_selection(means: jax.Array, variances: jax.Array, top: int) -> jax.Array:
    """ln APCS, float [].

    >>> log_probability = jax.jit(log_correct_selection, static_argnums=2)
    >>> f"{log_probability(jnp.zeros(2), jnp.ones(2), 1):.4f}"  # ln 1/4
    '-1.3863'
    """
    distances = _distances(means, variances, top)
    return _log_side(distances / jnp.sqrt(variances)).sum()


def correct_selection_gains(
    means: jax.Array, variances: jax.Array, reductions: jax.Array, top: int
) -> jax.Array:
    """ln AEPCS_ij - ln APCS of one more sample of each pair, times a number common to all pairs.

    By how much it is expected to raise ln APCS: symmetric float [K, K], whose diagonal means
    nothing. The means are expected to stay, and the variances of both options fall; c is that of
    the present variances. Only two factors change with the pair, so that all pairs cost O(K^2). The
    number is 1 unless every option is z = 10 deviations or more on its side of c, m in the nearest
    case. Then it is exp(m^2 / 2): all gains are below any float there, but their ratios still say
    which sample is worth most. ln Phi(z) is -Q(z) there, and Q(z) = phi(z) (1 / z - 1 / z^3), but
    for 3e-4 of it (Abramowitz and Stegun 26.2.12).

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
