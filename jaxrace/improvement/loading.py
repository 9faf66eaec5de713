"""Trajectories from files. Axes: n trajectories of at most T steps, d numbers observed."""

import csv
import math
import os
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jaxrace.improvement.trajectories import ReturnRange, Trajectories, trajectories

_NEEDED = ("trajectory", "action", "probability", "reward")
_BEHAVIOUR = "behaviour"

# Of actions and policies: they are kept as int32.
_MOST = 2**31 - 1


class Loaded(NamedTuple):
    """A data set, and what its observations were before they were brought into [0, 1]."""

    data: Trajectories
    names: tuple[str, ...]  # of the observed numbers
    low: np.ndarray  # float64 [d], became 0
    high: np.ndarray  # float64 [d], became 1
    num_actions: int


def load(path: str | os.PathLike[str], returns: ReturnRange) -> Loaded:
    r"""Read logged trajectories.

    A CSV file has a row for each step, the steps of a trajectory in their order, one after the
    other, with the columns ``trajectory`` (any label), ``action`` (0, 1, ...), ``probability`` (of
    the action, by the policy that took it), ``reward``, perhaps ``behaviour`` (which policy took
    it: 0, 1, ...), and all that was observed, a number in each other column. An NPZ file has the
    arrays ``observations`` [n, T, d], ``actions``, ``probabilities`` and ``rewards`` [n, T], and
    perhaps ``lengths`` and ``behaviour`` [n].

    Args:
        path: Ends in .csv or .npz.
        returns: No return may be outside of it.

    Raises:
        ValueError: The file is not like that; the message names the first bad row.
        OSError: There is no such file.

    >>> text = "trajectory,x,action,probability,reward\na,2,0,.5,1\na,4,1,.5,0\nb,2,1,.5,1\n"
    >>> _ = Path("log.csv").write_text(text)
    >>> found = load("log.csv", ReturnRange(0, 2))
    >>> found.names, found.low, found.high, found.data.taken.tolist()
    (('x',), array([2.]), array([4.]), [[True, True], [True, False]])
    """
    path = Path(path)
    if path.suffix == ".csv":
        return _load_csv(path, returns)
    if path.suffix == ".npz":
        return _load_npz(path, returns)
    raise ValueError(f"data: expected a file that ends in .csv or .npz, got {path}")


def _load_npz(path: Path, returns: ReturnRange) -> Loaded:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays.files}
    except (ValueError, zipfile.BadZipFile):
        raise ValueError(f"{path}: expected arrays of numbers in an NPZ file") from None
    needed = ("observations", "actions", "probabilities", "rewards")
    missing = [name for name in needed if name not in found]
    if missing:
        raise ValueError(f"{path}: expected an array {missing[0]!r}, got {', '.join(found)}")
    seen = found["observations"]
    if seen.ndim != 3 or not seen.shape[2] or not np.issubdtype(seen.dtype, np.number):
        raise ValueError(
            f"{path}: observations: expected numbers [n, T, d], got {seen.dtype}{[*seen.shape]}"
        )
    names = tuple(f"x{number}" for number in range(seen.shape[2]))
    try:
        steps = found["actions"], found["probabilities"], found["rewards"]
        optional = found.get("lengths"), found.get(_BEHAVIOUR)
        return _loaded(seen, steps, *optional, returns, names)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _load_csv(path: Path, returns: ReturnRange) -> Loaded:
    heads, lines = _lines(path)
    names = tuple(name for name in heads if name not in (*_NEEDED, _BEHAVIOUR))
    if not names:
        raise ValueError(f"{path}: expected at least one column with what was observed")
    if not lines:
        raise ValueError(f"{path}: expected a row for each step, got none")
    steps: dict[str, list[dict[str, float]]] = {}
    last = None
    for number, line in lines.items():
        place = f"{path}, line {number}"
        row = _parsed(place, heads, line)
        label = line[heads.index("trajectory")]
        if label in steps and label != last:
            raise ValueError(
                f"{place}: expected the steps of a trajectory one after the other, "
                f"got {label!r} again"
            )
        of_same, last = steps.setdefault(label, []), label
        if of_same and row.get(_BEHAVIOUR) != of_same[0].get(_BEHAVIOUR):
            raise ValueError(
                f"{place}: {_BEHAVIOUR}: expected one policy for all of trajectory {label!r}, "
                f"{of_same[0][_BEHAVIOUR]:g}, got {row[_BEHAVIOUR]:g}"
            )
        of_same.append(row)
    return _of_steps(path, list(steps.items()), names, returns)


def _lines(path: Path) -> tuple[list[str], dict[int, list[str]]]:
    """The heads of the columns, and the lines that are not empty, by their numbers."""
    try:
        # Some programs begin a file with a byte order mark.
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            listed = [(reader.line_num, line) for line in reader if line]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: expected a CSV file in UTF-8: {error}") from None
    if not listed:
        raise ValueError(f"{path}: expected the names of the columns, got an empty file")
    (_, heads), *lines = listed
    missing = [name for name in _NEEDED if name not in heads]
    if missing:
        raise ValueError(f"{path}: expected a column {missing[0]!r}, got {', '.join(heads)}")
    again = [name for number, name in enumerate(heads) if name in heads[:number]]
    if again:
        raise ValueError(f"{path}: expected columns of different names, got {again[0]!r} twice")
    return heads, dict(lines)


def _parsed(place: str, heads: list[str], line: list[str]) -> dict[str, float]:
    """The numbers of a line, checked one by one."""
    if len(line) != len(heads):
        raise ValueError(f"{place}: expected {len(heads)} fields, got {len(line)}")
    return {
        head: _number(f"{place}: {head}", head, text)
        for head, text in zip(heads, line, strict=True)
        if head != "trajectory"
    }


def _number(place: str, head: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    # As they will be kept: in float32 what is too large is infinite, what is too small is 0.
    with np.errstate(over="ignore", under="ignore"):
        kept = np.float32(value)
    if not np.isfinite(kept):
        raise ValueError(f"{place}: expected a finite number, got {text!r}")
    if head in ("action", _BEHAVIOUR):
        if not (value >= 0 and value.is_integer()):
            raise ValueError(f"{place}: expected 0, 1, 2, ..., got {text!r}")
        if value > _MOST:
            raise ValueError(f"{place}: expected at most {_MOST}, got {text!r}")
    if head == "probability" and not 0 < kept <= 1:
        raise ValueError(f"{place}: expected a number in (0, 1], got {text!r}")
    return value


def _of_steps(
    path: Path,
    steps: list[tuple[str, list[dict[str, float]]]],
    names: tuple[str, ...],
    returns: ReturnRange,
) -> Loaded:
    count, horizon = len(steps), max(len(rows) for _, rows in steps)

    def filled(head: str, default: float) -> np.ndarray:
        table = np.full((count, horizon), default, np.float64)
        for number, (_, rows) in enumerate(steps):
            table[number, : len(rows)] = [row[head] for row in rows]
        return table

    lengths = np.array([len(rows) for _, rows in steps])
    behaviour = None
    if _BEHAVIOUR in steps[0][1][0]:
        behaviour = np.array([int(rows[0][_BEHAVIOUR]) for _, rows in steps])
    discounts = returns.discounts(horizon)
    for label, rows in steps:
        total = float(np.dot([row["reward"] for row in rows], discounts[: len(rows)]))
        if not returns.includes(returns.normalised(total)):
            raise ValueError(
                f"{path}, trajectory {label!r}: expected a return from {returns.low:g} to "
                f"{returns.high:g}, got {total:g}"
            )
    seen = np.stack([filled(name, 0) for name in names], -1)
    actions = filled("action", 0).astype(np.int64)
    listed = actions, filled("probability", 1), filled("reward", 0)
    return _loaded(seen, listed, lengths, behaviour, returns, names)


def _loaded(
    seen: np.ndarray,
    steps: tuple[np.ndarray, np.ndarray, np.ndarray],
    lengths: np.ndarray | None,
    behaviour: np.ndarray | None,
    returns: ReturnRange,
    names: tuple[str, ...],
) -> Loaded:
    """Checked, and scaled; ``steps`` are actions, probabilities and rewards, [n, T] each."""
    taken = np.asarray(trajectories(seen, *steps, lengths, behaviour, returns).taken)
    listed = np.asarray(seen, np.float64)[taken]
    low, high = listed.min(0), listed.max(0)
    scaled = (seen - low) / np.where(high > low, high - low, 1)
    data = trajectories(scaled, *steps, lengths, behaviour)
    return Loaded(data, names, low, high, int(np.asarray(data.actions).max()) + 1)
