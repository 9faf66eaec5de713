"""Comparisons that have been made, by name. Axes: K options, n comparisons."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxrace.data import read_votes
from jaxrace.selection.comparisons import LARGEST_SCORE
from jaxrace.selection.scores import Scores

MOST_OPTIONS = 2_000  # matrices of all pairs must have room


class Table(NamedTuple):
    """Comparisons by the names of options."""

    names: list[str]  # K, as they come
    first: np.ndarray  # int32 [n]
    second: np.ndarray  # int32 [n]
    score: np.ndarray  # float64 [n], by how much the first was better
    reading: str = "margin"  # how scores were read, or "win"
    said: tuple[str, ...] = ()  # what was guessed


def read_comparisons(
    source: Any, score: str = "auto", argument: str = "votes", **columns: Any
) -> Table:
    """Read comparisons; ``columns`` are more arguments of ``read_votes``.

    ValueError if a row cannot be used, or may be read in two ways.
    """
    votes = read_votes(source, score=score, argument=argument, **columns)
    if len(votes.names) > MOST_OPTIONS:
        got = f"{len(votes.names):,}"
        raise ValueError(f"{argument}: expected at most {MOST_OPTIONS:,} options in all, got {got}")
    margins = votes.margins
    is_large = ~(np.abs(margins) <= LARGEST_SCORE)
    if is_large.any():
        row = int(np.argmax(is_large))
        raise ValueError(
            f"{argument}: expected scores of a size of 2.6e15 at most in line {votes.lines[row]}, "
            f"got {margins[row]:g}"
        )
    return Table([*votes.names], votes.first, votes.second, margins, votes.kind, votes.said)


def scores_of(table: Table) -> Scores:
    """Sufficient statistics, in as many digits as JAX has."""
    counts, means = counts_and_means(table)
    squares = _summed(table, (table.score - means[table.first, table.second]) ** 2)
    variances = (squares + squares.T) / np.maximum(counts, 1)
    floats = (jnp.asarray(numbers, float) for numbers in (means, variances))
    return Scores(jnp.asarray(counts, jnp.int32), *floats)


def counts_and_means(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """How often each pair was compared, int64 [K, K], and its mean score, float64 [K, K]."""
    counts, sums = _summed(table, np.ones(len(table.score))), _summed(table, table.score)
    counts = (counts + counts.T).astype(np.int64)
    return counts, (sums - sums.T) / np.maximum(counts, 1)


def _summed(table: Table, numbers: np.ndarray) -> np.ndarray:
    """By the first and the second of each row, float64 [K, K]."""
    size = len(table.names)
    places = table.first.astype(np.int64) * size + table.second
    return np.bincount(places, numbers, size * size).reshape(size, size)
