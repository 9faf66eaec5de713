"""Trajectories from files. Axes: n trajectories of at most T steps, d numbers observed."""

import dataclasses
import os
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxrace import tables
from jaxrace.core.inputs import require_plain_file
from jaxrace.core.validation import BadArgument
from jaxrace.judging.policies.plausibility import tell_rewards
from jaxrace.judging.policies.together import require_apart
from jaxrace.judging.policies.trajectories import (
    ReturnRange,
    Trajectories,
    as_numbers,
    checked,
    require_returns,
)
from jaxrace.tables.heads import names_smaller
from jaxrace.tables.log import Log, roles_called
from jaxrace.tables.table import quoted

_NEEDED = ("observations", "actions", "probabilities", "rewards")
_NPZ, _ZIP = "arrays of numbers in an NPZ file", b"PK"  # with which it begins

# More steps, or larger files, take longer and more memory than a command should.
_MOST_STEPS, _MOST_BYTES = 10**6, 2 * 10**8
_EXACT = 2**53  # not all larger integers are floats


class Loaded(NamedTuple):
    """A data set, its observations as they are in the file."""

    where: str  # for messages
    data: Trajectories
    seen: np.ndarray  # [n, T, d], the observations with all their digits
    names: tuple[str, ...]  # of the observed numbers
    kinds: np.ndarray  # bool [d], is a number made of a word?
    lines: np.ndarray | None = None  # int64 [n, T], of each step in a table
    action_names: tuple[str, ...] | None = None  # what the numbers of actions stand for
    said: tuple[str, ...] = ()  # what was guessed
    clusters: np.ndarray | None = None  # int64 [n]: those with one number belong together

    def place(self, row: int, step: int, column: str = "action", array: str = "actions") -> str:
        """Where a number stands in the file, for messages."""
        if self.lines is None:
            return f"{self.where}: {array}[{row}, {step}]"
        return f"{self.where}, line {self.lines[row, step]}: {column}"


class Parts(NamedTuple):
    """A data set in two parts, scaled by what was observed in the first."""

    train: Trajectories
    test: Trajectories
    low: np.ndarray  # float64 [d], became 0
    high: np.ndarray  # float64 [d], became 1
    names: tuple[str, ...]  # of the d numbers observed
    action_names: tuple[str, ...] | None  # what the numbers of actions stand for


def load(source: Any, returns: ReturnRange, larger: bool = False, **given: Any) -> Loaded:
    """Read logged decisions.

    An NPZ file has the arrays ``observations`` [n, T, d], ``actions``, ``probabilities`` and
    ``rewards`` [n, T], and perhaps ``lengths`` and ``behaviour`` [n]. All else is read by
    ``jaxrace.tables.read_log``, of which ``given`` are more arguments. ValueError names the first
    row that is not as it should be or has a return out of its range, and rewards that are called
    like costs, unless they are (``returns.smaller``) or are said not to be (``larger``).
    """
    if isinstance(source, str | os.PathLike) and Path(source).suffix.lower() == ".npz":
        if given.get("columns"):
            raise BadArgument("columns", "none of a file of arrays", repr(given["columns"]))
        return _load_npz(Path(source), returns)
    log = tables.read_log(source, **given)
    if names_smaller(log.reward) and not (larger or returns.smaller):
        raise BadArgument(
            given.get("argument", "log"),
            f"rewards, of which larger is better, in {log.where}",
            f"column {log.reward!r}",
            ": --smaller (smaller=True) says that these are costs, --larger (larger=True) that "
            "they are not",
        )
    columns = given.get("columns") or {}
    if "context" not in (roles_called(columns) if isinstance(columns, str) else columns):
        log = _without_rewards(log)
    count, lengths = len(log.starts), np.diff([*log.starts.tolist(), len(log.lines)])
    horizon = int(lengths.max())
    _require_size(log.where, count, horizon, len(log.names))
    row_of = np.repeat(np.arange(count), lengths)
    places = row_of, np.arange(len(log.lines)) - log.starts[row_of]

    def filled(values: np.ndarray, default: float = 0) -> np.ndarray:
        table = np.full((count, horizon, *values.shape[1:]), default, values.dtype)
        table[places] = values
        return table

    lines, seen = filled(log.lines), filled(log.observations)
    steps = filled(log.actions), filled(log.probabilities, 1), filled(log.rewards)
    found = _checked(log.where, seen, *steps, lengths, log.behaviour)
    place = lambda row: f"{log.where}, line {lines[row, 0]}: trajectory {log.labels[row]!r}"  # noqa: E731
    require_returns(place, found, returns)
    named = log.names, log.kinds
    require_apart(log.where, returns.returns(found), log.may_cluster)
    own = lines, log.action_names, log.said, log.clusters
    return Loaded(log.where, found, seen, *named, *own)


def _without_rewards(log: Log) -> Log:
    """Decisions of their own, without what tells their rewards."""
    if len(log.starts) < len(log.lines):  # of the states of a trajectory rewards may be functions
        return log
    told = tell_rewards(log.observations, log.rewards)
    if not told.any():
        return log
    names = quoted(np.array(log.names)[told].tolist(), 30)
    if told.all():
        raise BadArgument(
            *(log.where, "something observed that does not tell every reward", names),
            ": --columns context=NAME,context=NAME names what was known before the action",
        )
    return dataclasses.replace(
        log,
        names=tuple(np.array(log.names)[~told].tolist()),
        observations=log.observations[:, ~told],
        kinds=log.kinds[~told],
        said=(*log.said, f"left out, as the reward tells these, or these tell it: {names}"),
    )


def divide(loaded: Loaded, in_train: np.ndarray) -> Parts:
    """Divide a data set, and bring its observations into [0, 1].

    Ranges and actions are those of the first part (``in_train``, bool [n]) alone: policies that are
    looked for there depend on nothing in the other one, where what is beyond a range is its end.
    Words that only the other one has are left out, and actions that only it has come last. Numbers
    between actions, or below, are none.
    """
    taken, actions, action_names = loaded.data.taken, loaded.data.actions, loaded.action_names
    seen = np.asarray(loaded.seen, np.float64)
    listed = seen[in_train][taken[in_train]]
    kept = ~loaded.kinds | listed.any(0)
    seen, listed = seen[..., kept], listed[:, kept]
    names = tuple(np.array(loaded.names)[kept].tolist())
    numbers, places = np.unique(np.where(taken, actions, actions[0, 0]), return_inverse=True)
    if action_names is None and numbers[-1] >= len(numbers):  # 1, 2, 3: there is no action 0
        actions = places.reshape(actions.shape).astype(actions.dtype)
        action_names = tuple(map(str, numbers.tolist()))
    if action_names is not None:
        is_seen = np.isin(np.arange(len(action_names)), actions[in_train][taken[in_train]])
        order = np.argsort(~is_seen, kind="stable")
        actions = np.where(taken, np.argsort(order).astype(actions.dtype)[actions], 0)
        action_names = tuple(action_names[place] for place in order)
    low, high = listed.min(0), listed.max(0)
    scaled = np.clip((seen - low) / np.where(high > low, high - low, 1), 0, 1)
    scaled = np.where(taken[..., None], scaled, 0)
    found = dataclasses.replace(loaded.data, observations=scaled, actions=actions)
    train, test = (found.each(lambda x, rows=rows: x[rows]) for rows in (in_train, ~in_train))
    # How long the longest trajectory of the other part is must not be seen either.
    longest = int(train.taken.sum(1).max())
    train = train.each(lambda x: x[:, :longest] if x.ndim > 1 else x)
    return Parts(train, test, low, high, names, action_names)


def _load_npz(path: Path, returns: ReturnRange) -> Loaded:
    arrays = _arrays(path)
    missing = [name for name in _NEEDED if name not in arrays]
    if missing:
        raise BadArgument(f"{path}", f"an array {missing[0]!r}", ", ".join(arrays))
    for name in (*_NEEDED, "lengths", "behaviour"):
        if name in arrays and arrays[name].dtype.kind not in "biuf":
            raise BadArgument(f"{path}: {name}", "real numbers", f"{arrays[name].dtype}")
    seen = arrays["observations"]
    if seen.ndim != 3 or not seen.shape[2]:
        got = f"{seen.dtype}{[*seen.shape]}"
        raise BadArgument(f"{path}: observations", "numbers [n, T, d]", got)
    _require_size(str(path), *seen.shape)
    if seen.dtype.kind in "iu" and (np.abs(seen.astype(np.float64)) > _EXACT).any():
        expected = f"integers of at most {_EXACT}, or floats"
        raise BadArgument(f"{path}: observations", expected, "larger integers")
    names = tuple(f"x{number}" for number in range(seen.shape[2]))
    steps = (arrays[name] for name in _NEEDED[1:])
    more = arrays.get("lengths"), arrays.get("behaviour"), returns
    found = _checked(str(path), seen, *steps, *more)
    return Loaded(str(path), found, seen, names, np.zeros(len(names), bool))


def _checked(where: str, seen: np.ndarray, *given: Any) -> Trajectories:
    """Observations keep their digits elsewhere: they are brought into [0, 1] before use."""
    try:
        return checked([as_numbers("observations", seen)], *given)
    except BadArgument as error:
        raise BadArgument(f"{where}: {error.name}", error.expected, error.got, error.hint) from None


def _arrays(path: Path) -> dict[str, np.ndarray]:
    require_plain_file("log", path)
    # A missing file is another error than a file that is not an archive of arrays.
    with path.open("rb") as file:
        start = file.read(len(_ZIP))
        if start != _ZIP:
            raise BadArgument(f"{path}", f"{_NPZ}, which begins with {_ZIP}", str(start))
        file.seek(0)
        try:
            with zipfile.ZipFile(file) as archive:
                size = sum(member.file_size for member in archive.infolist())
            if size > _MOST_BYTES:
                expected = f"{_NPZ} of at most {_MOST_BYTES:,} bytes"
                raise BadArgument(f"{path}", expected, f"{size:,}")
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                found = {name: arrays[name] for name in arrays.files}
        except BadArgument:
            raise
        except Exception as error:
            # NumPy, zipfile and zlib have many ways to say that bytes are not what they expect.
            raise BadArgument(f"{path}", _NPZ, f"other bytes: {error}") from error
    others = [name for name, array in found.items() if not isinstance(array, np.ndarray)]
    if others:
        raise BadArgument(f"{path}", _NPZ, f"{others[0]!r}, a file of another kind")
    return found


def _require_size(where: str, count: int, horizon: int, width: int) -> None:
    if count * horizon > _MOST_STEPS or count * horizon * width > 10 * _MOST_STEPS:
        raise BadArgument(
            where,
            f"at most {_MOST_STEPS:,} steps, and ten times as many numbers observed, where all "
            "trajectories are as long as the longest",
            f"{count:,} trajectories of up to {horizon:,} steps with {width:,} numbers each",
        )
