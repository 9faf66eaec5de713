"""By how much one more sample of a pair is expected to raise the total score of the k selected.

Axes: K options.
"""

import jax
import jax.numpy as jnp


def knowledge_gradient(means: jax.Array, deviations: jax.Array, top: int) -> jax.Array:
    """E V(d) - V(0) of each pair, d ~ N(0, deviation^2), after Groves and Branke 2019.

    A sample of the pair moves the scores to S_i + d and S_j - d. V(d), the sum of the k largest,
    is the largest of three lines: with i but not j among the k, slope 1; with j but not i, slope
    -1; with both or neither, slope 0. A convex function with kinks at b gains
    sum_b (jump of the slope) * deviation * f(-|b| / deviation), f(z) = z Phi(z) + phi(z).

    Args:
        means: float [K], S_i.
        deviations: float [K, K], of d; positive.
        top: k, below K.

    Returns:
        float [K, K], symmetric. The diagonal means nothing.

    >>> gains_of = jax.jit(knowledge_gradient, static_argnums=2)
    >>> gains = gains_of(jnp.array([1.0, 1.0, 0.0]), jnp.ones((3, 3)), 1).tolist()
    >>> print(f"{gains[0][1]:.4f}", gains[0][1] > gains[0][2])
    0.7979 True
    """
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
        # Those of the pair that are among the largest give their places to the next ones.
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
    return deviations * (_loss(left / deviations) + _loss(right / deviations))


def _loss(kink: jax.Array) -> jax.Array:
    """f(-|b|), what a kink of jump 1 adds for d ~ N(0, 1)."""
    below = -jnp.abs(kink)
    density = jnp.exp(-(below**2) / 2) / jnp.sqrt(2 * jnp.pi).astype(below.dtype)
    return jnp.maximum(below * jax.scipy.stats.norm.cdf(below) + density, 0)
