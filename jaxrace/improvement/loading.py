"""Trajectories from files. Axes: n trajectories of at most T steps, d numbers observed."""

import csv
import dataclasses
import math
import os
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.improvement.trajectories import ReturnRange, Trajectories, trajectories

_NEEDED = ("trajectory", "action", "probability", "reward")
_BEHAVIOUR = "behaviour"

# What an NPZ file is expected to be, and begins with.
_NPZ, _ZIP = "expected arrays of numbers in an NPZ file", b"PK"

# Of actions and policies: they are kept as int32.
_MOST = 2**31 - 1


class Loaded(NamedTuple):
    """A data set, its observations as they are in the file."""

    path: Path
    data: Trajectories
    seen: np.ndarray  # [n, T, d], the observations with all their digits
    names: tuple[str, ...]  # of the observed numbers
    lines: np.ndarray | None  # int64 [n, T], of each step in a CSV file

    def place(self, row: int, step: int) -> str:
        """Where an action stands in the file, for messages."""
        if self.lines is None:
            return f"{self.path}: actions[{row}, {step}]"
        return f"{self.path}, line {self.lines[row, step]}: action"


class Parts(NamedTuple):
    """A data set in two parts, scaled by what was observed in the first."""

    train: Trajectories
    test: Trajectories
    low: np.ndarray  # float64 [d], became 0
    high: np.ndarray  # float64 [d], became 1
    num_actions: int  # that there are in ``train``


class _Step(NamedTuple):
    line: int
    numbers: dict[str, float]  # by column


def load(path: str | os.PathLike[str], returns: ReturnRange) -> Loaded:
    r"""Read logged trajectories.

    A CSV file has a row for each step, the steps of a trajectory in their order, one after the
    other, with the columns ``trajectory`` (any label), ``action`` (0, 1, ...), ``probability`` (of
    the action, by the policy that took it), ``reward``, perhaps ``behaviour`` (which policy took
    it: 0, 1, ...), and all that was observed, a number in each other column. An NPZ file has the
    arrays ``observations`` [n, T, d], ``actions``, ``probabilities`` and ``rewards`` [n, T], and
    perhaps ``lengths`` and ``behaviour`` [n].

    Args:
        path: Ends in .csv or .npz, in small letters or capitals.
        returns: No return may be outside of it.

    Raises:
        ValueError: The file is not like that; the message names the first bad row.
        OSError: There is no such file.

    >>> text = "trajectory,x,action,probability,reward\na,2,0,.5,1\na,4,1,.5,0\nb,2,1,.5,1\n"
    >>> _ = Path("log.csv").write_text(text)
    >>> found = load("log.csv", ReturnRange(0, 2))
    >>> found.names, found.seen[0, :, 0].tolist(), found.data.taken.tolist()
    (('x',), [2.0, 4.0], [[True, True], [True, False]])
    """
    path = Path(path)
    if path.suffix.lower() == ".csv":
        return _load_csv(path, returns)
    if path.suffix.lower() == ".npz":
        return _load_npz(path, returns)
    raise ValueError(f"data: expected a file that ends in .csv or .npz, got {path}")


def divide(loaded: Loaded, in_train: np.ndarray) -> Parts:
    r"""Divide a data set, and bring its observations into [0, 1].

    What makes them so is known from the first part alone, as the actions are: policies that are
    looked for there then depend on nothing in the other one. What the other part has observed
    beyond the range of the first counts as its end.

    Args:
        loaded: From ``load``.
        in_train: Which trajectories are the first part, bool [n].

    >>> text = "trajectory,x,action,probability,reward\na,2,0,.5,1\na,4,1,.5,0\nb,9,1,.5,1\n"
    >>> _ = Path("log.csv").write_text(text)
    >>> parts = divide(load("log.csv", ReturnRange(0, 2)), np.array([True, False]))
    >>> parts.low, parts.high, parts.train.observations.tolist()
    (array([2.]), array([4.]), [[[0.0], [1.0]]])
    >>> parts.test.observations.tolist()
    [[[1.0], [0.0]]]
    """
    taken = np.asarray(loaded.data.taken)
    seen = np.asarray(loaded.seen, np.float64)
    listed = seen[in_train][taken[in_train]]
    low, high = listed.min(0), listed.max(0)
    scaled = np.clip((seen - low) / np.where(high > low, high - low, 1), 0, 1)
    scaled = np.where(taken[..., None], scaled, 0).astype(np.float32)
    whole = dataclasses.replace(loaded.data, observations=jnp.asarray(scaled))
    train, test = (jax.tree.map(lambda x, r=rows: x[r], whole) for rows in (in_train, ~in_train))
    # How long the longest trajectory of the other part is must not be seen either.
    longest = int(np.asarray(train.taken).sum(1).max())
    train = jax.tree.map(lambda x: x[:, :longest] if x.ndim > 1 else x, train)
    return Parts(train, test, low, high, int(np.asarray(train.actions).max()) + 1)


def _load_npz(path: Path, returns: ReturnRange) -> Loaded:
    found = _arrays(path)
    needed = ("observations", "actions", "probabilities", "rewards")
    missing = [name for name in needed if name not in found]
    if missing:
        raise ValueError(f"{path}: expected an array {missing[0]!r}, got {', '.join(found)}")
    for name in (*needed, "lengths", _BEHAVIOUR):
        if name in found and found[name].dtype.kind not in "biuf":
            raise ValueError(f"{path}: {name}: expected real numbers, got {found[name].dtype}")
    seen = found["observations"]
    if seen.ndim != 3 or not seen.shape[2]:
        raise ValueError(
            f"{path}: observations: expected numbers [n, T, d], got {seen.dtype}{[*seen.shape]}"
        )
    names = tuple(f"x{number}" for number in range(seen.shape[2]))
    try:
        steps = found["actions"], found["probabilities"], found["rewards"]
        data = trajectories(seen, *steps, found.get("lengths"), found.get(_BEHAVIOUR), returns)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return Loaded(path, data, seen, names, None)


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an NPZ file, by their names."""
    # That there is no such file is another error than that it is no archive of arrays.
    with path.open("rb") as file:
        start = file.read(len(_ZIP))
        if start != _ZIP:
            raise ValueError(f"{path}: {_NPZ}, which begins with {_ZIP}, got {start}")
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as arrays:
                found = {name: arrays[name] for name in arrays.files}
        except Exception as error:
            # NumPy, zipfile and zlib have many ways to say that bytes are not what they expect.
            raise ValueError(f"{path}: {_NPZ}: {error}") from error
    others = [name for name, array in found.items() if not isinstance(array, np.ndarray)]
    if others:
        raise ValueError(f"{path}: {_NPZ}, got {others[0]!r}, which is no array")
    return found


def _load_csv(path: Path, returns: ReturnRange) -> Loaded:
    heads, lines = _lines(path)
    names = tuple(name for name in heads if name not in (*_NEEDED, _BEHAVIOUR))
    if not names:
        raise ValueError(f"{path}: expected at least one column with what was observed")
    if not lines:
        raise ValueError(f"{path}: expected a row for each step, got none")
    steps: dict[str, list[_Step]] = {}
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
        if of_same and row.get(_BEHAVIOUR) != of_same[0].numbers.get(_BEHAVIOUR):
            raise ValueError(
                f"{place}: {_BEHAVIOUR}: expected one policy for all of trajectory {label!r}, "
                f"{of_same[0].numbers[_BEHAVIOUR]:g}, got {row[_BEHAVIOUR]:g}"
            )
        of_same.append(_Step(number, row))
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
    path: Path, steps: list[tuple[str, list[_Step]]], names: tuple[str, ...], returns: ReturnRange
) -> Loaded:
    count, horizon = len(steps), max(len(rows) for _, rows in steps)

    def filled(head: str, default: float) -> np.ndarray:
        table = np.full((count, horizon), default, np.float64)
        for number, (_, rows) in enumerate(steps):
            table[number, : len(rows)] = [row.numbers[head] for row in rows]
        return table

    lines = np.zeros((count, horizon), np.int64)
    discounts = returns.discounts(horizon)
    for number, (label, rows) in enumerate(steps):
        lines[number, : len(rows)] = [row.line for row in rows]
        earned = [row.numbers["reward"] for row in rows]
        total = float(np.dot(earned, discounts[: len(rows)]))
        if not returns.includes(returns.normalised(total)):
            raise ValueError(
                f"{path}, line {rows[0].line}: trajectory {label!r}: expected a return from "
                f"{returns.low:g} to {returns.high:g}, got {total:g}"
            )
    lengths = np.array([len(rows) for _, rows in steps])
    behaviour = None
    if _BEHAVIOUR in steps[0][1][0].numbers:
        behaviour = np.array([int(rows[0].numbers[_BEHAVIOUR]) for _, rows in steps])
    seen = np.stack([filled(name, 0) for name in names], -1)
    actions = filled("action", 0).astype(np.int64)
    chances, rewards = filled("probability", 1), filled("reward", 0)
    data = trajectories(seen, actions, chances, rewards, lengths, behaviour, returns)
    return Loaded(path, data, seen, names, lines)
