"""Ready-made comparisons and problems: normal scores, wins, and scores that were recorded.

``compare(key, problem, first, second)``, a float [], is by how much the first option is better this
time. Axes: K options, N recorded scores.
"""

import math
from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike as Scalar
from numpy.typing import ArrayLike

from jaxrace import kernels
from jaxrace.core import inputs, validation
from jaxrace.core.compilation import is_traced
from jaxrace.core.protocol import pytree
from jaxrace.core.validation import BadArgument


@pytree
class NormalScores:
    """Pairs whose scores are normal; see ``normal_score``."""

    means: jax.Array  # float32 [K, K], mu_ij = -mu_ji
    deviations: jax.Array  # float32 [K, K], symmetric


def normal_score(key: jax.Array, problem: NormalScores, first: Scalar, second: Scalar) -> jax.Array:
    """A score of the first over the second, float32 [].

    >>> problem = NormalScores(jnp.array([[0.0, 3.0], [-3.0, 0.0]]), jnp.zeros((2, 2)))
    >>> print(normal_score(jax.random.key(0), problem, 1, 0))
    -3.0
    """
    noise = jax.random.normal(key, (), jnp.float32)
    return problem.means[first, second] + problem.deviations[first, second] * noise


def win(key: jax.Array, matrix: jax.Array, first: Scalar, second: Scalar) -> jax.Array:
    """1 if the first wins, else -1, float32 []; the matrix [K, K] has the chance that i beats j.

    >>> print(win(jax.random.key(0), jnp.array([[0.5, 1.0], [0.0, 0.5]]), 1, 0))
    -1.0
    """
    wins = jax.random.uniform(key, (), jnp.float32) < matrix[first, second]
    return jnp.where(wins, 1.0, -1.0)


@pytree
class RecordedScores:
    """Recorded scores of all pairs; make it with ``recorded``."""

    scores: jax.Array  # float [K, K, N], of pairs i < j; 0 after the last one of a pair
    counts: jax.Array  # int32 [K, K], of pairs i < j


# Sums of thousands of squares must have 32 bits, too: about 2.6e15, also with jax_enable_x64.
LARGEST_SCORE = float(np.finfo(np.float32).max) ** 0.4


def is_usable(scores: np.ndarray) -> np.ndarray:
    """Are scores numbers, and no larger than ``LARGEST_SCORE``? bool, any shape."""
    return np.abs(scores.astype(np.float64)) <= LARGEST_SCORE


def recorded(first: ArrayLike, second: ArrayLike, scores: ArrayLike) -> RecordedScores:
    """Comparisons by pairs: of ``first`` and ``second``, integers [n] from 0 to K - 1.

    ``scores`` [n] are of the first over the second. ValueError where one cannot be used, or a pair
    has no row.

    >>> recorded([0, 1, 0], [1, 0, 1], [1.0, 2.0, 3.0]).scores[0, 1].tolist()
    [1.0, -2.0, 3.0]
    """
    given = np.asarray(scores)
    if given.dtype.kind not in "fiu":
        hint = "; 1 for won, -1 for lost"
        raise BadArgument("scores", "numbers", str(given.dtype), hint)
    one, other, told = rows = np.asarray(first), np.asarray(second), given.astype(np.float64)
    if len({np.shape(row) for row in rows}) != 1 or one.ndim != 1 or one.size == 0:
        expected = "as many rows of first, second and scores, at least one"
        raise BadArgument("scores", expected, str([np.shape(row) for row in rows]))
    for name, row in (("first", one), ("second", other)):
        if not np.issubdtype(row.dtype, np.integer):
            raise BadArgument(name, "integers", str(row.dtype))
    wrong = (one == other) | (one < 0) | (other < 0) | ~is_usable(told)
    for row in np.flatnonzero(wrong)[:1]:
        expected = "two different options and a finite score in each row"
        got = f"{one[row]}, {other[row]}, {told[row]} in row {row + 1}"
        raise BadArgument("scores", expected, got)
    low, high = np.minimum(one, other), np.maximum(one, other)
    size = int(high.max()) + 1
    counts = np.zeros((size, size), np.int32)
    np.add.at(counts, (low, high), 1)
    for i, j in np.argwhere(np.triu(counts == 0, 1))[:1]:
        raise BadArgument("scores", "rows of every pair", f"none of {i} and {j}")
    pair = low * size + high
    order = np.argsort(pair, kind="stable")
    pair = pair[order]
    number = np.arange(len(pair)) - np.searchsorted(pair, pair)  # among the scores of the pair
    table = np.zeros((size, size, int(counts.max())), jax.dtypes.canonicalize_dtype(float))
    table[low[order], high[order], number] = np.where(one < other, told, -told)[order]
    return RecordedScores(jnp.asarray(table), jnp.asarray(counts))


def recorded_score(
    key: jax.Array, problem: RecordedScores, first: Scalar, second: Scalar
) -> jax.Array:
    """One of the recorded scores of a pair, drawn with replacement, float [].

    >>> print(recorded_score(jax.random.key(0), recorded([0], [1], [2.0]), 1, 0))
    -2.0
    """
    low, high = jnp.minimum(first, second), jnp.maximum(first, second)
    place = jax.random.randint(key, (), 0, problem.counts[low, high], jnp.int32)
    score = problem.scores[low, high, place]
    return jnp.where(low == first, score, -score)


def require_problem(compare: Callable[..., Any], problem: Any, num_options: int) -> None:
    """Raise ValueError unless a ready-made comparison can use this problem of K options.

    JAX clamps indices: the last option would stand for others. Traced ones: only shapes.
    """
    if compare is normal_score:
        matrices = problem.means, problem.deviations
    elif compare is win:
        matrices = (problem,)
    elif compare is recorded_score:
        matrices = (problem.counts,)
    else:
        return
    for matrix in matrices:
        validation.require_shape("problem", matrix, (num_options, num_options))
    if is_traced(matrices):
        return
    if compare is win:
        inputs.require_preferences("problem", problem)
    elif compare is normal_score:
        means, spread = (np.asarray(x, np.float64) for x in matrices)
        are_opposite = np.abs(means + means.T) <= 1e-6 * (1 + np.abs(means))
        are_equal = (spread >= 0) & (spread == spread.T)
        for numbers, is_right, expected in (
            (means, are_opposite, "means mu_ij = -mu_ji"),
            (spread, are_equal, "symmetric deviations without negative ones"),
        ):
            for i, j in np.argwhere(~is_right)[:1]:
                got = f"{numbers[i, j]} and {numbers[j, i]} for {i} and {j}"
                raise BadArgument("problem", expected, got)


def thurstone(
    key: jax.Array,
    num_options: int,
    noise: float | jax.Array = 0.0,
    first: float | None = None,
    uniform: Literal["variance", "deviation"] = "variance",
) -> NormalScores:
    """mu_ij = gamma_i - gamma_j + epsilon_ij with gamma, sigma_ij^2 ~ U[0, 1], section 5.1 and 6.

    The section prints sigma_ij^2 ~ U[0, 1], where E sigma_ij = 2/3, and then counts with the
    expected sigma_ij = .5 (equation 16), which is so where sigma_ij ~ U[0, 1]. Both can be had.

    Args:
        key: Used once; the same one draws the same, whatever ``noise``, ``first`` and ``uniform``.
        num_options: K, at least 2.
        noise: d, the standard deviation of epsilon_ij = -epsilon_ji; 0: transitive.
        first: gamma_0, unless it is random (section 5.1.1 has 1.2).
        uniform: Which is uniform in [0, 1]: the variance sigma_ij^2, or the deviation sigma_ij.

    BadArgument if one is out of its range.

    >>> key = jax.random.key(0)
    >>> variance, deviation = (thurstone(key, 2, uniform=x) for x in ("variance", "deviation"))
    >>> bool(jnp.allclose(variance.deviations ** 2, deviation.deviations))
    True
    """
    validation.require_keys("key", key, ndim=0)
    validation.require_integer("num_options", num_options, 2)
    if first is not None:
        validation.require_number("first", first, -math.inf)
    if not is_traced(noise):
        validation.require_number("noise", noise, 0)
    validation.require_choice("uniform", uniform, ("variance", "deviation"))
    keys = jax.random.split(key, 3)
    upper = jnp.triu(jnp.ones((num_options, num_options), bool), 1)
    qualities = jax.random.uniform(keys[0], (num_options,), jnp.float32)
    if first is not None:
        qualities = qualities.at[0].set(first)
    spread = jax.random.uniform(keys[1], upper.shape, jnp.float32)
    spread = jnp.where(upper, spread, 0)
    spread = spread + spread.T
    errors = jnp.where(upper, noise * jax.random.normal(keys[2], upper.shape, jnp.float32), 0)
    means = qualities[:, None] - qualities[None, :] + errors - errors.T
    return NormalScores(means, spread if uniform == "deviation" else jnp.sqrt(spread))


def borda_top(means: ArrayLike, top: int) -> jax.Array:
    """The k options of the largest S_i = sum_j mu_ij, bool [K]; of wins mu_ij are the chances.

    ValueError if the means are not float [K, K], or ``top`` is out of its range.

    >>> print(borda_top(jnp.array([[0.0, 1.0], [-1.0, 0.0]]), 1))
    [ True False]
    """
    given: Any = means if is_traced(means) else inputs.as_reals("means", means, "[K, K]")
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise BadArgument("means", "a matrix [K, K]", str(list(given.shape)))
    validation.require_top(top, len(given))
    apart = ~np.eye(len(given), dtype=bool)
    if is_traced(given):
        return kernels.in_top(jnp.where(apart, given, 0).sum(-1), top)
    totals = np.where(apart, given, 0).sum(-1)
    if np.isnan(totals).any():
        raise BadArgument("means", "numbers", "nan")
    # The places of sums in float64, which JAX might not tell apart.
    places = np.unique(totals, return_inverse=True)[1]
    return kernels.in_top(jnp.asarray(places, jnp.int32), top)
