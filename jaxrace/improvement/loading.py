"""Trajectories from files. Axes: n trajectories of at most T steps, d numbers observed."""

import array
import csv
import dataclasses
import math
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.improvement.arrays import LARGEST, MOST, SMALLEST, as_numbers
from jaxrace.improvement.trajectories import ReturnRange, Trajectories, trajectories

_NEEDED = ("trajectory", "action", "probability", "reward")  # columns of a CSV file
_BEHAVIOUR = "behaviour"
_NPZ, _ZIP = "expected arrays of numbers in an NPZ file", b"PK"  # with which it begins

# More steps, or larger files, take longer and more memory than a command should.
_MOST_STEPS, _MOST_BYTES = 10**6, 2 * 10**8
_EXACT = 2**53  # not all larger integers are floats


class Loaded(NamedTuple):
    """A data set, its observations as they are in the file."""

    path: Path
    data: Trajectories
    seen: np.ndarray  # [n, T, d], the observations with all their digits
    names: tuple[str, ...]  # of the observed numbers
    lines: np.ndarray | None  # int64 [n, T], of each step in a CSV file

    def place(self, row: int, step: int, column: str = "action", array: str = "actions") -> str:
        """Where a number stands in the file, for messages."""
        if self.lines is None:
            return f"{self.path}: {array}[{row}, {step}]"
        return f"{self.path}, line {self.lines[row, step]}: {column}"


class Parts(NamedTuple):
    """A data set in two parts, scaled by what was observed in the first."""

    train: Trajectories
    test: Trajectories
    low: np.ndarray  # float64 [d], became 0
    high: np.ndarray  # float64 [d], became 1
    num_actions: int  # that there are in ``train``


def load(path: str | os.PathLike[str], returns: ReturnRange) -> Loaded:
    r"""Read logged trajectories.

    A CSV file has a row for each step, the steps of a trajectory in their order, one after the
    other, with the columns ``trajectory`` (any label), ``action`` (0, 1, ...), ``probability`` (of
    the action, by the policy that took it), ``reward``, perhaps ``behaviour`` (which policy took
    it: 0, 1, ...), and all that was observed, a number in each other column. An NPZ file has the
    arrays ``observations`` [n, T, d], ``actions``, ``probabilities`` and ``rewards`` [n, T], and
    perhaps ``lengths`` and ``behaviour`` [n]. ValueError names the first row that is not like that
    or has a return out of its range; OSError: there is no such file.

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

    Ranges and actions are those of the first part (``in_train``, bool [n]) alone: policies that are
    looked for there depend on nothing in the other one, where what is beyond a range is its end.

    >>> text = "trajectory,x,action,probability,reward\na,2,0,.5,1\na,4,1,.5,0\nb,9,1,.5,1\n"
    >>> _ = Path("log.csv").write_text(text)
    >>> parts = divide(load("log.csv", ReturnRange(0, 2)), np.array([True, False]))
    >>> parts.low, parts.high, parts.train.observations.tolist()
    (array([2.]), array([4.]), [[[0.0], [1.0]]])
    >>> parts.test.observations.tolist()
    [[[1.0], [0.0]]]
    """
    in_train, taken = np.asarray(in_train), np.asarray(loaded.data.taken)
    seen = np.asarray(loaded.seen, np.float64)
    listed = seen[in_train][taken[in_train]]
    low, high = listed.min(0), listed.max(0)
    scaled = np.clip((seen - low) / np.where(high > low, high - low, 1), 0, 1)
    scaled = np.where(taken[..., None], scaled, 0).astype(np.float32)
    # In NumPy: every index into an array of JAX is a program.
    whole = jax.tree.map(np.asarray, dataclasses.replace(loaded.data, observations=scaled))
    train, test = (jax.tree.map(lambda x, r=rows: x[r], whole) for rows in (in_train, ~in_train))
    # How long the longest trajectory of the other part is must not be seen either.
    longest = int(train.taken.sum(1).max())
    train = jax.tree.map(lambda x: x[:, :longest] if x.ndim > 1 else x, train)
    num_actions = int(train.actions.max()) + 1
    train, test = jax.tree.map(jnp.asarray, (train, test))
    return Parts(train, test, low, high, num_actions)


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
    _require_size(path, *seen.shape)
    if seen.dtype.kind in "iu" and (np.abs(seen.astype(np.float64)) > _EXACT).any():
        raise ValueError(f"{path}: observations: expected integers of at most {_EXACT}, or floats")
    names = tuple(f"x{number}" for number in range(seen.shape[2]))
    try:
        # Observations keep their digits in ``seen``: they are brought into [0, 1] before use.
        steps = found["actions"], found["probabilities"], found["rewards"]
        kept = as_numbers("observations", seen)
        data = trajectories(kept, *steps, found.get("lengths"), found.get(_BEHAVIOUR), returns)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return Loaded(path, data, seen, names, None)


def _arrays(path: Path) -> dict[str, np.ndarray]:
    # That there is no such file is another error than that it is no archive of arrays.
    with path.open("rb") as file:
        start = file.read(len(_ZIP))
        if start != _ZIP:
            raise ValueError(f"{path}: {_NPZ}, which begins with {_ZIP}, got {start}")
        file.seek(0)
        try:
            with zipfile.ZipFile(file) as archive:
                size = sum(member.file_size for member in archive.infolist())
            if size > _MOST_BYTES:
                raise ValueError(f"at most {_MOST_BYTES:,} bytes, got {size:,}")
            file.seek(0)
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
    heads, rows = _read(path)
    names = tuple(name for name in heads if name not in (*_NEEDED, _BEHAVIOUR))
    count, lengths = len(rows.starts), np.diff([*rows.starts, len(rows.lines)])
    horizon = int(lengths.max())
    _require_size(path, count, horizon, len(names))
    row_of = np.repeat(np.arange(count), lengths)
    places = row_of, np.arange(len(rows.lines)) - np.asarray(rows.starts)[row_of]

    def filled(values: Any, default: float = 0) -> np.ndarray:
        table = np.full((count, horizon), default, np.asarray(values).dtype)
        table[places] = values
        return table

    lines = filled(np.asarray(rows.lines))
    numbers = {head: np.asarray(values) for head, values in rows.numbers.items()}
    earned = numbers["reward"] * returns.discounts(horizon)[places[1]]
    totals = np.add.reduceat(earned, rows.starts)
    outside = np.flatnonzero(~returns.includes(returns.normalised(totals)))
    if outside.size:
        number = int(outside[0])
        raise ValueError(
            f"{path}, line {lines[number, 0]}: trajectory {rows.labels[number]!r}: expected a "
            f"return from {returns.low:g} to {returns.high:g}, got {totals[number]:g}"
        )
    behaviour = None
    if _BEHAVIOUR in numbers:
        behaviour = numbers[_BEHAVIOUR][rows.starts].astype(np.int64)
    seen = np.stack([filled(numbers[name]) for name in names], -1)
    actions = filled(numbers["action"].astype(np.int64))
    chances, rewards = filled(numbers["probability"], 1), filled(numbers["reward"])
    # Observations keep their digits in ``seen``: they are brought into [0, 1] before use.
    steps = as_numbers("observations", seen), actions, chances, rewards
    try:
        data = trajectories(*steps, lengths, behaviour, returns)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return Loaded(path, data, seen, names, lines)


def _require_size(path: Path, count: int, horizon: int, width: int) -> None:
    if count * horizon > _MOST_STEPS or count * horizon * width > 10 * _MOST_STEPS:
        raise ValueError(
            f"{path}: expected at most {_MOST_STEPS:,} steps, and ten times as many numbers "
            f"observed, where all trajectories are as long as the longest: got {count:,} "
            f"trajectories of up to {horizon:,} steps with {width:,} numbers each"
        )


class _Rows(NamedTuple):
    """The steps of a CSV file."""

    numbers: dict[str, array.array]  # of floats, by column
    lines: array.array  # of each step
    starts: list[int]  # the first step of each trajectory
    labels: list[str]  # of the trajectories


def _read(path: Path) -> tuple[list[str], _Rows]:
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise ValueError(f"{path}: expected at most {_MOST_BYTES:,} bytes, got {size:,}")
    try:
        # Some programs begin a file with a byte order mark.
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            lines = ((reader.line_num, [cell.strip() for cell in line]) for line in reader)
            filled = ((number, line) for number, line in lines if any(line))
            _, heads = next(filled, (0, None))
            if heads is None:
                raise ValueError(f"{path}: expected the names of the columns, got an empty file")
            _require_heads(path, heads)
            return heads, _rows_of(path, heads, filled)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: expected a CSV file in UTF-8: {error}") from None


def _require_heads(path: Path, heads: list[str]) -> None:
    missing = [name for name in _NEEDED if name not in heads]
    if missing:
        raise ValueError(f"{path}: expected a column {missing[0]!r}, got {', '.join(heads)}")
    again = [name for number, name in enumerate(heads) if name in heads[:number]]
    if again:
        raise ValueError(f"{path}: expected columns of different names, got {again[0]!r} twice")
    if not set(heads) - {*_NEEDED, _BEHAVIOUR}:
        raise ValueError(f"{path}: expected at least one column with what was observed")


def _rows_of(path: Path, heads: list[str], lines: Iterator[tuple[int, list[str]]]) -> _Rows:
    rows = _Rows({h: array.array("d") for h in heads if h != _NEEDED[0]}, array.array("q"), [], [])
    columns = [(head, heads.index(head), column) for head, column in rows.numbers.items()]
    at, known = heads.index(_NEEDED[0]), set()
    made_by = rows.numbers.get(_BEHAVIOUR)
    for number, line in lines:
        place = f"{path}, line {number}"
        if len(line) != len(heads):
            raise ValueError(f"{place}: expected {len(heads)} fields, got {len(line)}")
        for head, column, values in columns:
            values.append(_number(place, head, line[column]))
        label = line[at]
        if not rows.labels or label != rows.labels[-1]:
            if label in known:
                raise ValueError(
                    f"{place}: expected the steps of a trajectory one after the other, "
                    f"got {label!r} again"
                )
            known.add(label)
            rows.labels.append(label)
            rows.starts.append(len(rows.lines))
        elif made_by and made_by[-1] != made_by[rows.starts[-1]]:
            raise ValueError(
                f"{place}: {_BEHAVIOUR}: expected one policy for all of trajectory {label!r}, "
                f"{made_by[rows.starts[-1]]:g}, got {made_by[-1]:g}"
            )
        rows.lines.append(number)
        if len(rows.lines) > _MOST_STEPS:
            raise ValueError(f"{place}: expected at most {_MOST_STEPS:,} steps, got one more")
    if not rows.lines:
        raise ValueError(f"{path}: expected a row for each step, got none")
    return rows


def _number(place: str, head: str, text: str) -> float:
    try:
        value = float(text.replace("_", "no number"))
    except ValueError:
        value = math.nan
    # As it will be kept, in float32.
    if not abs(value) <= LARGEST:
        raise ValueError(f"{place}: {head}: expected a finite number, got {text!r}")
    if head in ("action", _BEHAVIOUR):
        if not (value >= 0 and value.is_integer()):
            raise ValueError(f"{place}: {head}: expected 0, 1, 2, ..., got {text!r}")
        if value > MOST:
            raise ValueError(f"{place}: {head}: expected at most {MOST}, got {text!r}")
    if head == "probability" and not SMALLEST <= value <= 1:
        raise ValueError(f"{place}: {head}: expected a number in (0, 1], got {text!r}")
    return value
