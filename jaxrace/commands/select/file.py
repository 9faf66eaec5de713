"""Comparisons that have been made, from a CSV file. Axes: K options, n comparisons."""

import array
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxrace import tables
from jaxrace.selection import Scores
from jaxrace.selection.comparisons import LARGEST_SCORE

_COLUMNS = ("first", "second", "score")

# Matrices of all pairs must have room, and the file a size at which it is read in a minute or so.
MOST_OPTIONS = 2_000
_MOST_BYTES = 2 * 10**9
_VOTES = (0.0, 0.5, 1.0)  # of votes as shares of a win: lost, tied, won


class Table(NamedTuple):
    """Comparisons by the names of options."""

    names: list[str]  # K, as they come
    first: np.ndarray  # int32 [n]
    second: np.ndarray  # int32 [n]
    score: np.ndarray  # float64 [n], by how much the first was better
    reading: str = "margin"  # how the scores of the file were read, or "win"


def read_comparisons(path: str | os.PathLike[str], score: str = "auto") -> Table:
    """Read a CSV file with columns first, second and score, and perhaps others.

    A score is a "margin", or a "win", see ``SelectConfig``, or "auto" for what it can only be.
    ValueError if a row cannot be used, or if scores may be read in two ways.
    """
    number: dict[str, int] = {}
    sides = array.array("i"), array.array("i")
    scores, lines = array.array("d"), array.array("q")
    for line, *names, text in _cells(Path(path)):
        try:
            found = tables.as_float(text)
        except ValueError:
            raise _wrong(path, "numbers as scores", line, repr(text)) from None
        if names[0] == names[1] or not abs(found) <= LARGEST_SCORE:
            expected = "two different options and a score of a size of 2.6e15 at most"
            raise _wrong(path, expected, line, f"{names[0]}, {names[1]}, {found}")
        for side, name in zip(sides, names, strict=True):
            side.append(number.setdefault(name, len(number)))
        if len(number) > MOST_OPTIONS:
            raise _wrong(path, f"at most {MOST_OPTIONS:,} options", line, "one more")
        scores.append(found)
        lines.append(line)
    if not scores:
        raise ValueError(f"problem: expected at least one row in {os.fspath(path)!r}, got none")
    margins, reading = _as_margins(path, np.array(scores), np.array(lines), score)
    first, second = (np.array(side, np.int32) for side in sides)
    return Table(list(number), first, second, margins, reading)


def _cells(path: Path) -> Iterator[tuple[int, str, str, str]]:
    """The number of each row, from 1 below the heads, and its cells of ``_COLUMNS``."""
    size = path.stat().st_size if path.is_file() else 0
    if size > _MOST_BYTES:
        raise ValueError(
            f"problem: expected a file of at most {_MOST_BYTES:,} bytes, "
            f"got {size:,} of {os.fspath(path)!r}"
        )
    rows = tables.numbered_rows("problem", path)
    begin, heads = next(rows, (0, []))
    if not heads:
        raise ValueError(f"problem: expected a CSV file, got {str(path)!r}: it is empty")
    heads = [head.lower() for head in heads]
    if any(heads.count(name) != 1 for name in _COLUMNS):
        raise ValueError(
            f"problem: expected columns {', '.join(_COLUMNS)} in {str(path)!r}, "
            f"got {', '.join(heads)}"
        )
    first, second, score = (heads.index(name) for name in _COLUMNS)
    for number, row in rows:
        line = number - begin
        if len(row) != len(heads):
            raise _wrong(path, f"{len(heads)} cells", line, f"{len(row)}")
        if not row[first] or not row[second]:
            raise _wrong(path, "names of options", line, f"{row[first]!r}, {row[second]!r}")
        yield line, row[first], row[second], row[score]


def _wrong(path: str | os.PathLike[str], expected: str, line: int, got: str) -> ValueError:
    return ValueError(f"problem: expected {expected} in {os.fspath(path)!r}, row {line}, got {got}")


def _as_margins(
    path: str | os.PathLike[str], scores: np.ndarray, lines: np.ndarray, asked: str
) -> tuple[np.ndarray, str]:
    """By how much the first was better, and how the scores were read.

    A wrong reading makes the options that are named first look better than they are, and the surer
    the more comparisons there are: 0 is a loss or a tie, .5 a tie or a close win.
    """
    outside = (scores < 0) | (scores > 1)
    if asked == "win" and outside.any():
        row = int(np.argmax(outside))
        raise ValueError(
            "score: expected shares of a win, from 0 (the first lost) to 1 (it won), in "
            f"{os.fspath(path)!r}, got {scores[row]:g} in row {lines[row]}"
        )
    is_vote = np.isin(scores, _VOTES)
    if asked == "win" or (asked == "auto" and is_vote.all()):
        return 2 * scores - 1, "win"
    if asked == "auto":
        _require_one_reading(path, scores, lines, is_vote)
    return scores, "margin"


def _require_one_reading(
    path: str | os.PathLike[str], scores: np.ndarray, lines: np.ndarray, is_vote: np.ndarray
) -> None:
    if (scores >= 0).all():
        row = int(np.argmin(is_vote))
        raise ValueError(
            f"score: expected win or margin, as {os.fspath(path)!r} has no negative score, and "
            f"{scores[row]:g} in row {lines[row]}, which is not 0, 0.5 or 1: --score margin if "
            "scores are by how much the first was better, --score win if they are its share of a "
            "win, from 0 to 1; what is on another scale has to be made one of these"
        )
    if (is_vote | (scores == -1)).all() and (scores == 0.5).any():
        row, other = int(np.argmax(scores == -1)), int(np.argmax(scores == 0.5))
        raise ValueError(
            f"score: expected one way to write votes in {os.fspath(path)!r}, got -1 in row "
            f"{lines[row]}, of 1, 0 and -1, and 0.5 in row {lines[other]}, of 1, 0.5 and 0: "
            "write all in one way, or say --score margin if these are margins"
        )


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
