"""What is known of all pairs from their scores. Axes: K options."""

import dataclasses

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace import kernels
from jaxrace.core.protocol import pytree

# Variances are at least this part of the pooled one: the choices do not depend on the scale of
# the scores, and a pair whose scores were all equal so far is not taken to be certain.
LEAST_VARIANCE = 1e-6


@pytree
class Scores:
    """Sufficient statistics of all pairs; floats have 64 bits under ``jax.enable_x64``."""

    counts: jax.Array  # int32 [K, K], n_ij, symmetric
    means: jax.Array  # float [K, K], m_ij = -m_ji
    variances: jax.Array  # float [K, K], v_ij = sum (x - m)^2 / n, symmetric


@pytree
class Moments:
    """Normal beliefs of the scores, S_i ~ N(means_i, sum_j pair_variances_ij / counts_ij).

    >>> counts = jnp.full((2, 2), 4, jnp.int32)
    >>> moments = Moments(jnp.array([1.0, -1.0]), jnp.ones((2, 2)), counts)
    >>> moments.variances.tolist()
    [0.25, 0.25]
    """

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

    def expecting(self, pair: jax.Array) -> "Moments":
        """With one more sample of a pair that leaves its mean and variance as they are."""
        return dataclasses.replace(self, counts=_with_one_more(self.counts, pair))


def no_scores(num_options: int) -> Scores:
    """Nothing yet."""
    shape = (num_options, num_options)
    zeros = jnp.zeros(shape, float)
    return Scores(jnp.zeros(shape, jnp.int32), zeros, zeros)


def counted(scores: Scores, pair: jax.Array, score: jax.Array) -> Scores:
    """With one more score of the first over the second (Welford 1962)."""
    first, second = pair[0], pair[1]
    row = scores.counts[first, second], scores.means[first, second]
    _, mean, variance = welford(*row, scores.variances[first, second], score)
    means = scores.means.at[first, second].set(mean).at[second, first].set(-mean)
    variances = scores.variances.at[first, second].set(variance).at[second, first].set(variance)
    return Scores(_with_one_more(scores.counts, pair), means, variances)


def all_told(scores: Scores, pairs: jax.Array, told: jax.Array) -> Scores:
    """With the scores [B] of pairs, int32 [B, 2], one after the other; a pair may come twice."""
    if pairs.shape[0] == 1:
        return counted(scores, pairs[0], told[0])
    # A loop, not B copies of its body, which would take B times as long to compile.
    return lax.scan(lambda so_far, one: (counted(so_far, *one), None), scores, (pairs, told))[0]


def all_counted(scores: Scores, told: jax.Array) -> Scores:
    """With one more score of every pair, float [K, K], antisymmetric."""
    counts, means, variances = welford(scores.counts, scores.means, scores.variances, told)
    counts = jnp.where(jnp.eye(told.shape[-1], dtype=bool), 0, counts)
    return Scores(counts, means, variances)


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


def observed_moments(scores: Scores, pooled_samples: float = 0.0) -> Moments:
    """Each pair by itself: unbiased variances (Groves and Branke 2019).

    ``pooled_samples`` is that of ``ScoreSelector``.
    """
    degrees = jnp.maximum(scores.counts - 1, 1)
    variances = _mixed_variances(scores, degrees, pooled_samples)
    return Moments(scores.means.sum(-1), variances, scores.counts)


def likely_variances(scores: Scores, pooled_samples: float = 0.0) -> jax.Array:
    """v_ij for a fit by maximum likelihood, which are biased: float [K, K].

    ``pooled_samples`` is that of ``ScoreSelector``.
    """
    return _mixed_variances(scores, jnp.maximum(scores.counts, 1), pooled_samples)


def _mixed_variances(scores: Scores, degrees: jax.Array, pooled_samples: float) -> jax.Array:
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
