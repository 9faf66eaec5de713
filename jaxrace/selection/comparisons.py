"""Ready-made comparisons: normal scores, wins, and scores that were recorded.

A comparison is ``compare(key, problem, first, second)``: by how much the first option is better
this time, a float []. Axes: K options, N recorded scores.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike as Scalar
from numpy.typing import ArrayLike


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class NormalScores:
    """Pairs whose scores are normal."""

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
    """1 if the first wins, else -1, float32 [].

    Args:
        key: Used once.
        matrix: float32 [K, K], the chance that i beats j.
        first: int32 [].
        second: int32 [].

    >>> print(win(jax.random.key(0), jnp.array([[0.5, 1.0], [0.0, 0.5]]), 1, 0))
    -1.0
    """
    wins = jax.random.uniform(key, (), jnp.float32) < matrix[first, second]
    return jnp.where(wins, 1.0, -1.0)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RecordedScores:
    """Scores of all pairs that were played before; make it with ``recorded``."""

    scores: jax.Array  # float32 [K, K, N], of pairs i < j; NaN after the last one of a pair
    counts: jax.Array  # int32 [K, K], of pairs i < j


def recorded(first: ArrayLike, second: ArrayLike, scores: ArrayLike) -> RecordedScores:
    """A table of comparisons, by pairs.

    Args:
        first: Integers [n], who was compared; K is the largest of all plus 1.
        second: Integers [n], with whom.
        scores: [n], of the first over the second.

    Raises:
        ValueError: A row compares an option with itself or has no finite score, or the lengths
            differ, or a pair has no row at all; the row is named.

    >>> recorded([0, 1, 0], [1, 0, 1], [1.0, 2.0, 3.0]).scores[0, 1].tolist()
    [1.0, -2.0, 3.0]
    """
    rows = np.asarray(first), np.asarray(second), np.asarray(scores, np.float64)
    if len({np.shape(row) for row in rows}) != 1 or rows[0].ndim != 1 or rows[0].size == 0:
        raise ValueError("scores: expected as many rows of first, second and scores, at least one")
    for name, row in zip(("first", "second"), rows, strict=False):
        if not np.issubdtype(row.dtype, np.integer):
            raise ValueError(f"{name}: expected integers, got {row.dtype}")
    wrong = (rows[0] == rows[1]) | (rows[0] < 0) | (rows[1] < 0) | ~np.isfinite(rows[2])
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            "scores: expected two different options and a finite score in each row, got "
            f"{rows[0][row]}, {rows[1][row]}, {rows[2][row]} in row {row + 1}"
        )
    low, high = np.minimum(*rows[:2]), np.maximum(*rows[:2])
    size = int(high.max()) + 1
    signed = np.where(rows[0] < rows[1], rows[2], -rows[2])
    counts = np.zeros((size, size), np.int32)
    np.add.at(counts, (low, high), 1)
    missing = np.argwhere(np.triu(counts == 0, 1))
    if len(missing):
        raise ValueError(
            f"scores: expected rows of every pair, got none of {missing[0][0]} and {missing[0][1]}"
        )
    order = np.lexsort((np.arange(len(low)), high, low))
    pair = (low * size + high)[order]
    begins = np.flatnonzero(np.r_[True, pair[1:] != pair[:-1]])
    place = np.arange(len(pair)) - np.repeat(begins, np.diff(np.r_[begins, len(pair)]))
    table = np.full((size, size, int(counts.max())), np.nan, np.float32)
    table[low[order], high[order], place] = signed[order]
    return RecordedScores(jnp.asarray(table), jnp.asarray(counts))


def recorded_score(
    key: jax.Array, problem: RecordedScores, first: Scalar, second: Scalar
) -> jax.Array:
    """One of the recorded scores of a pair, drawn with replacement, float32 [].

    >>> print(recorded_score(jax.random.key(0), recorded([0], [1], [2.0]), 1, 0))
    -2.0
    """
    low, high = jnp.minimum(first, second), jnp.maximum(first, second)
    place = jax.random.randint(key, (), 0, problem.counts[low, high])
    score = problem.scores[low, high, place]
    return jnp.where(low == first, score, -score)


def check_normal(means: ArrayLike, deviations: ArrayLike) -> NormalScores:
    """Normal scores, checked.

    Args:
        means: [K, K], antisymmetric.
        deviations: [K, K], symmetric, not negative.

    Raises:
        ValueError: They are not; not under a trace.

    >>> check_normal([[0, 1], [1, 0]], [[0, 1], [1, 0]])
    Traceback (most recent call last):
    ValueError: means: expected mu_ij = -mu_ji, got 1.0 and 1.0 for 0 and 1
    """
    if not isinstance(means, Tracer) and not isinstance(deviations, Tracer):
        _check_antisymmetric(np.asarray(means, np.float64))
        spread = np.asarray(deviations, np.float64)
        if spread.shape != np.shape(means) or (spread < 0).any() or (spread != spread.T).any():
            raise ValueError("deviations: expected a symmetric matrix [K, K] without negative ones")
    return NormalScores(jnp.asarray(means, jnp.float32), jnp.asarray(deviations, jnp.float32))


def _check_antisymmetric(means: np.ndarray) -> None:
    if means.ndim != 2 or means.shape[0] != means.shape[1] or len(means) < 2:
        raise ValueError(f"means: expected a square matrix, got {list(means.shape)}")
    wrong = np.argwhere(~(np.abs(means + means.T) <= 1e-6))
    if len(wrong):
        i, j = wrong[0]
        raise ValueError(
            f"means: expected mu_ij = -mu_ji, got {means[i, j]} and {means[j, i]} for {i} and {j}"
        )
