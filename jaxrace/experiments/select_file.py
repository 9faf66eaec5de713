"""Comparisons that have been made: who is best so far, and what to compare next.

Axes: K options, n comparisons.
"""

import os
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import tables
from jaxrace.selection import Scores, ScoreSelector, SelectionResult
from jaxrace.selection.comparisons import is_usable

_COLUMNS = ("first", "second", "score")

# Comparisons of a pair from which a variance can be estimated.
LEAST_OF_A_PAIR = 2


class Table(NamedTuple):
    """Comparisons by the names of options."""

    names: list[str]  # K, as they come
    first: np.ndarray  # int64 [n]
    second: np.ndarray  # int64 [n]
    score: np.ndarray  # float64 [n]


def read_comparisons(path: str | os.PathLike[str]) -> Table:
    """Read a CSV file with columns first, second and score.

    Raises:
        ValueError: There is no such file or column, or a row cannot be used; the row is named.

    >>> tables.write_table("games.csv", {"first": np.array(["ann", "bob"]),
    ...     "second": np.array(["bob", "cy"]), "score": np.array([2.0, -1.0])})
    >>> read_comparisons("games.csv").names
    ['ann', 'bob', 'cy']
    """
    try:
        columns = tables.read_table(path, text=_COLUMNS[:2])
    except (OSError, ValueError) as error:
        raise ValueError(
            f"problem: expected a CSV file, got {os.fspath(path)!r}: {error}"
        ) from error
    missing = [name for name in _COLUMNS if name not in columns]
    if missing:
        raise ValueError(
            f"problem: expected columns {', '.join(_COLUMNS)} in {os.fspath(path)!r}, "
            f"got {', '.join(columns)}"
        )
    first, second = (columns[name] for name in _COLUMNS[:2])
    score = columns["score"]
    if not len(score):
        raise ValueError(f"problem: expected at least one row in {os.fspath(path)!r}, got none")
    blank = np.flatnonzero([not name.strip() for name in [*first, *second]])
    if blank.size:
        row = int(blank[0]) % len(first)
        raise ValueError(
            f"problem: expected names of options in {os.fspath(path)!r}, row {row + 1}, "
            f"got {first[row]!r}, {second[row]!r}"
        )
    if score.dtype.kind not in "if":
        raise ValueError(f"problem: expected numbers as scores in {os.fspath(path)!r}")
    score = score.astype(np.float64)
    wrong = np.flatnonzero((first == second) | ~is_usable(score))
    if wrong.size:
        row = int(wrong[0])
        raise ValueError(
            "problem: expected two different options and a score of a size of 2.6e15 at most "
            f"in {os.fspath(path)!r}, row {row + 1}, got {first[row]}, {second[row]}, {score[row]}"
        )
    names = list(dict.fromkeys(np.stack([first, second], 1).reshape(-1).tolist()))
    number = {name: place for place, name in enumerate(names)}
    places = [np.array([number[name] for name in column]) for column in (first, second)]
    return Table(names, places[0], places[1], score)


def scores_of(table: Table) -> Scores:
    """Sufficient statistics, in float64 on the way.

    >>> table = Table(["a", "b"], np.array([0, 1]), np.array([1, 0]), np.array([3.0, -1.0]))
    >>> scores_of(table).means[0].tolist(), scores_of(table).variances[0, 1].tolist()
    ([0.0, 2.0], 1.0)
    """
    shape = (len(table.names),) * 2
    counts, sums, squares = np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape)
    for i, j, sign in ((table.first, table.second, 1), (table.second, table.first, -1)):
        np.add.at(counts, (i, j), 1)
        np.add.at(sums, (i, j), sign * table.score)
    means = sums / np.maximum(counts, 1)
    for i, j, sign in ((table.first, table.second, 1), (table.second, table.first, -1)):
        np.add.at(squares, (i, j), (sign * table.score - means[i, j]) ** 2)
    variances = squares / np.maximum(counts, 1)
    return Scores(
        jnp.asarray(counts, jnp.int32), jnp.asarray(means, float), jnp.asarray(variances, float)
    )


class Linked(NamedTuple):
    """Scores by all comparisons together, also of pairs that were not compared."""

    scores: np.ndarray  # float64 [K]
    is_connected: bool  # every two options are, through others if need be


def linked_scores(scores: Scores) -> Linked:
    """S_i of qualities that fit all mean scores best, by least squares: for tables with gaps.

    Who met weak ones only is not better for it, unlike by the sum of the means.

    >>> rows = np.array([0, 1]), np.array([1, 2])
    >>> table = Table(["a", "b", "c"], *rows, np.array([3.0, 6.0]))
    >>> linked_scores(scores_of(table)).scores.round(6).tolist()
    [12.0, 3.0, -15.0]
    """
    counts = np.asarray(scores.counts, np.float64)
    laplacian = np.diag(counts.sum(1)) - counts
    size = len(counts)
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    qualities = inverse @ (counts * np.asarray(scores.means, np.float64)).sum(1)
    is_connected = np.linalg.matrix_rank(laplacian, hermitian=True) == size - 1
    return Linked(size * qualities - qualities.sum(), bool(is_connected))


def judged(
    selector: ScoreSelector, scores: Scores, number: int, key: jax.Array
) -> tuple[SelectionResult, np.ndarray]:
    """What has been found, and the pairs to compare next, int32 [number, 2].

    >>> from jaxrace.selection import Pocbam
    >>> rows = np.array([[0, 1], [0, 2], [1, 2]] * 4)
    >>> scores = np.array([2.0, 3.0, 0.5] * 3 + [1.5, 3.5, -0.5])
    >>> table = Table(["a", "b", "c"], rows[:, 0], rows[:, 1], scores)
    >>> result, pairs = judged(Pocbam(3, 1, 2), scores_of(table), 2, jax.random.key(0))
    >>> result.selected.tolist(), pairs.shape
    ([True, False, False], (2, 2))
    """
    params: Any = selector.params()
    state = selector.with_scores(selector.init(params), scores, jnp.zeros((0, 2), jnp.int32))
    pairs = selector.ask_many(key, state, params, number)
    return selector.result(state, params), np.asarray(pairs)
