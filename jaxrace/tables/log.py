"""Logs of decisions. Axes: n trajectories, s decisions of all of them, d numbers observed."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from jaxrace.core.validation import BadArgument
from jaxrace.tables.dsjson import plain_log
from jaxrace.tables.frames import table_of
from jaxrace.tables.heads import names_cluster, names_steps, word_set, words
from jaxrace.tables.numbers import numbers_of
from jaxrace.tables.sources import read_table
from jaxrace.tables.table import Table, counts, kind_of, numbered, quoted

# The columns of a log, and what else they may be called, the likelier first.
_ROLES = {
    "trajectory": "trajectory_id episode episode_id",
    "action": "actions action_taken arm item item_id treatment choice chosen",
    "probability": "propensity pscore propensity_score prob action_prob action_probability p",
    "reward": "rewards click clicked conversion cost costs loss regret",
    "behaviour": "behavior",
    "cluster": "",
}
_NEEDED = ("action", "probability", "reward")
_TIMES = frozenset(("date", "datetime", "timestamp", "created", "created_at", "tstamp"))
# What is known after an action only: a policy that goes by it would see its own future.
_AFTER = word_set(
    "click clicks clicked conversion conversions converted purchase purchases purchased "
    "bought order_placed ordered revenue sale sales sold gmv profit dwell dwell_time "
    "watch_time watched time_spent time_on_page liked churn churned survived signup "
    "signed_up installed label labels target outcome outcomes response feedback rating "
    "result results success succeeded correct score utility payoff return returns "
    "reward_next done terminal terminated truncated optimal_action best_action"
)
_AFTER_ENDS = word_set("reward rewards click clicks clicked conversion conversions revenue")
_BEFORE = word_set(
    "past prior previous prev last history historical hist avg average mean lifetime recent "
    "before ever since predicted"
)
_IDS = word_set("id ids uid uuid guid key")
_CLOCKS = word_set("ts time times clock unix unixtime epoch timestamp date datetime")
_INDEX = ("", "unnamed: 0", "index", "id", "row")  # of a frame
_MOST_KINDS = 50  # of a column with words
_FEWEST_CLUSTERS = 30  # of a column that may name some
_USED = "--columns context=NAME,context=NAME names what to use"

_INTEGERS = 2**31 - 1  # actions are kept as int32, all else as float32
_LARGEST, _SMALLEST = float(np.finfo(np.float32).max), float(np.finfo(np.float32).tiny)
_MOST_STEPS = 10**6


@dataclasses.dataclass(frozen=True, eq=False)
class Log:
    """Decisions, those of a trajectory one after the other."""

    names: tuple[str, ...]  # of the d numbers observed; "device=phone" is 1 where it was that word
    observations: np.ndarray  # float64 [s, d]
    kinds: np.ndarray  # bool [d]: is a number made of a word?
    actions: np.ndarray  # int64 [s]
    action_names: tuple[str, ...] | None  # what they stand for; None: numbers in the source
    probabilities: np.ndarray  # float64 [s], of the action, by the policy that took it
    rewards: np.ndarray  # float64 [s]
    starts: np.ndarray  # int64 [n], the first decision of each trajectory
    labels: tuple[str, ...]  # of the n trajectories
    behaviour: np.ndarray | None  # int64 [n], which policy made each; None: nothing says so
    lines: np.ndarray  # int64 [s], of the source
    reward: str  # the column of them
    where: str  # the source, for messages
    said: tuple[str, ...] = ()  # what was guessed, in words
    # int64 [n]: trajectories with the same number belong together, as those of a user
    clusters: np.ndarray | None = None
    # The same of columns that may say so, if none is asked for.
    may_cluster: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict)


def read_log(
    source: Any,
    *,
    columns: Mapping[str, str | Sequence[str]] | str | None = None,
    decimal: str = "auto",
    delimiter: str = "auto",
    argument: str = "log",
) -> Log:
    r"""Read a log of decisions, a row for each.

    There are columns ``action``, ``probability`` (of the action, by the policy that took it) and
    ``reward``, or others that ``columns`` names. A column ``trajectory`` says which rows follow
    each other; without one every row is a decision of its own, as of a contextual bandit. A column
    ``behaviour`` says which policy acted: 0, 1, ... ``columns`` may name one of the ``cluster``,
    such as a user, to which trajectories belong. All other columns are what was observed: numbers,
    or words; each word becomes a column of 1 and 0.

    Args:
        source: As for all doors (``jaxrace.tables``), or the feedback of Open Bandit Pipeline
            (context, action, reward, pscore).
        columns: The column of each role: trajectory, action, probability, reward, behaviour,
            cluster. For "context" the columns that were observed, if these are not all others. Or
            as the command takes it: "action=item,context=age,context=device".
        decimal: As for all doors, and so are ``delimiter`` and ``argument``.
        delimiter: What separates the columns of a text.
        argument: What messages begin with.

    Raises:
        BadArgument: A column is missing, or a cell is not what its column needs.

    >>> from pathlib import Path
    >>> text = "device,age,action,propensity,reward\nphone,30,a,.5,1\ndesk,40,b,.5,0\n"
    >>> _ = Path("log.csv").write_text(text)
    >>> log = read_log("log.csv")
    >>> log.names, log.observations.tolist()
    (('device=desk', 'device=phone', 'age'), [[0.0, 1.0, 30.0], [1.0, 0.0, 40.0]])
    >>> log.actions, log.action_names, log.said[0]
    (array([0, 1]), ('a', 'b'), 'every row is a decision of its own')
    """
    source = _unpacked(argument, source)
    table = plain_log(read_table(argument, source, decimal=decimal, delimiter=delimiter))
    columns = roles_called(columns) if isinstance(columns, str) else columns or {}
    roles, context = _roles(table, columns)
    if not table.lines:
        raise table.wrong("a row for each decision", "none")
    if len(table.lines) > _MOST_STEPS:
        raise table.wrong(f"at most {_MOST_STEPS:,} decisions", f"{len(table.lines):,}")
    actions, action_names = _actions(table, roles["action"])
    probability, reward = roles["probability"], roles["reward"]
    numbers = [head for head in context if table.kind(head) not in ("text", "flag")]
    found, more = numbers_of(table, [reward, *numbers])
    # By itself, as it alone may be written in percents.
    chances, own = numbers_of(table, [probability], "," if "decimal commas" in more else None)
    found |= chances
    for head in (probability, reward, *numbers):
        table.require(head, np.abs(found[head]) <= _LARGEST, "a finite number")
    is_chance = (found[probability] >= _SMALLEST) & (found[probability] <= 1)
    hint = "percents have a sign, as in 50%" if (found[probability] > 1).any() else ""
    table.require(probability, is_chance, "a number in (0, 1]", hint)
    labels, starts = _trajectories(table, roles.get("trajectory"))
    clusters, may_cluster = None, {}
    if "cluster" in roles:
        clusters = _clusters(table, roles["cluster"], labels, starts)
    else:
        asked = [*roles.values(), *(context if "context" in columns else ())]
        heads = [head for head in table.heads if head not in asked and _names_cluster(head)]
        may_cluster = {head: _numbers(table, head, starts) for head in heads}
    names, observations, kinds = _observed(table, context, found)
    said = [] if "trajectory" in roles else ["every row is a decision of its own"]
    said += [f"{role} from column {head!r}" for role, head in roles.items() if role != head]
    said += dict.fromkeys((*own, *more))
    said.append(f"observed: {quoted(context, 30)}; {_USED}")
    if "context" not in columns:
        said += _said_of_columns(table, roles, context)
    behaviour = _behaviour(table, roles.get("behaviour"), labels, starts)
    return Log(
        *(names, observations, kinds, actions, action_names, found[probability], found[reward]),
        *(starts, labels, behaviour, np.array(table.lines, np.int64), reward, table.where),
        said=(*table.said, *said),
        clusters=clusters,
        may_cluster={head: x for head, x in may_cluster.items() if _may_cluster(x)},
    )


def _numbers(table: Table, head: str, starts: np.ndarray) -> np.ndarray:
    """The first label of each trajectory, by a number: int64 [n]."""
    return numbered([table.labels(head)[row] for row in starts.tolist()])[1]


def _names_cluster(head: str) -> bool:
    return names_cluster(head) or not _IDS.isdisjoint(words(head)[-1:])


def _may_cluster(labels: np.ndarray) -> bool:
    """Are there several clusters, of two trajectories or more on average?"""
    return _FEWEST_CLUSTERS <= labels.max() + 1 <= len(labels) / 2


def _unpacked(argument: str, source: Any) -> Any:
    """The table in the feedback of Open Bandit Pipeline; other sources as they are."""
    needed = ("context", "action", "reward", "pscore")
    if not isinstance(source, Mapping) or any(source.get(name) is None for name in needed):
        return source
    context = np.asarray(source["context"])
    if context.ndim != 2:
        raise BadArgument(argument, "context [n, d]", f"shape {list(context.shape)}")
    columns: dict[str, Any] = {f"x{place}": column for place, column in enumerate(context.T)}
    position = source.get("position")
    if position is not None and len(np.unique(np.asarray(position))) > 1:
        columns["position"] = [f"slot {place}" for place in np.asarray(position).tolist()]
    for name, role in zip(needed[1:], ("action", "reward", "probability"), strict=True):
        columns[role] = np.asarray(source[name])
        if columns[role].shape != context.shape[:1]:
            got = f"shape {list(columns[role].shape)}"
            raise BadArgument(argument, f"{name} [{len(context)}]", got)
    return table_of(argument, columns, "the feedback")


def roles_called(columns: str) -> dict[str, list[str]]:
    """The columns of each role, of a text such as action=item,context=age."""
    found: dict[str, list[str]] = {}
    for part in columns.split(","):
        role, _, name = part.partition("=")
        found.setdefault(role, []).append(name)
    known = (*_ROLES, "context")
    if any(role not in known or not all(names) for role, names in found.items()):
        expected = f"ROLE=NAME,... with roles {', '.join(known)}"
        raise BadArgument("columns", expected, repr(columns))
    return found


def _roles(
    table: Table, asked: Mapping[str, str | Sequence[str]]
) -> tuple[dict[str, str], list[str]]:
    """The column of each role, and those of the context."""
    given = {role: [heads] if isinstance(heads, str) else [*heads] for role, heads in asked.items()}
    named = [head for heads in given.values() for head in heads]
    for role, heads in given.items():
        if role not in _ROLES and role != "context":
            raise BadArgument("columns", f"some of {', '.join((*_ROLES, 'context'))}", repr(role))
        table.require_heads(heads)
        if role != "context" and len(heads) != 1:
            raise BadArgument("columns", f"one column of {role}", quoted(heads))
    if twice := [head for head in named if named.count(head) > 1]:
        raise BadArgument("columns", "different columns", f"{twice[0]!r} twice")
    roles = {}
    lowered = {head.lower(): head for head in table.heads if head not in named}
    for role, others in _ROLES.items():
        names = () if role == "cluster" else (role, *others.split())  # it may be what was observed
        found = [lowered[name] for name in names if name in lowered]
        found = given.get(role) or (found[:1] if role in lowered and found else found)
        hint = f"--columns {role}=NAME says which it is"
        if len(found) > 1:
            raise table.wrong(f"one column of {role}", quoted(found), hint=hint)
        if not found and role in _NEEDED:
            raise table.wrong(f"a column {role!r}", quoted(table.heads), hint=hint)
        if found:
            roles[role] = found[0]
    if "context" in given:
        return roles, given["context"]
    context = [head for head in table.heads if head not in roles.values()]
    steps = [head for head in context if names_steps(head) or head.lower() == "t"]
    if steps and "trajectory" not in roles:
        hint = "--columns trajectory=NAME says which it is, context=NAME that there is none"
        raise table.wrong("a column 'trajectory' beside steps", repr(steps[0]), hint=hint)
    context = [
        head
        for head in context
        if not (head.lower() in _INDEX and counts(table.labels(head)))
        # A policy cannot depend on when a row was made: the next ones are made later.
        and head.lower() not in _TIMES
        and not _is_after(head, roles)
    ]
    if not context:
        got, others = quoted(table.heads), len(table.heads) > len(roles)
        hint = _USED if others else ""
        raise table.wrong("at least one column with what was observed", got, hint=hint)
    return roles, context


def _is_after(head: str, roles: Mapping[str, str]) -> bool:
    """Does a head say that what is below it was not known when the action was chosen?"""
    found = words(head)
    name = "_".join(found)
    if any(
        name in (role, *_ROLES[role].split()) for role in roles if role != "cluster"
    ):  # another column has that role
        return True
    if not found or _BEFORE & {*found}:
        return False
    is_later = found[0] in ("next", "future", "after") or found[-1] == "next"
    return is_later or name in _AFTER or found[-1] in _AFTER_ENDS


def _said_of_columns(table: Table, roles: Mapping[str, str], context: Sequence[str]) -> list[str]:
    """What is not observed, and what may not be meant to be."""
    left = [head for head in table.heads if head not in (*roles.values(), *context)]
    later = [head for head in left if _is_after(head, roles)]
    found = {
        "left out": [head for head in left if head not in later],
        "left out, as these may be known only after the action": later,
        "observed, though called like an id or a time": [
            head for head in context if {*words(head)[-1:]} & (_IDS | _CLOCKS)
        ],
    }
    return [f"{what}: {quoted(heads, 30)}" for what, heads in found.items() if heads]


def _actions(table: Table, head: str) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """The actions as integers, int64 [rows], and what these stand for."""
    kind = table.kind(head)
    if kind == "mixed":
        is_number = [kind_of([cell]) in ("number", "blank") for cell in table.column(head)]
        table.require(head, is_number, "0, 1, 2, ... in all rows, or names in all")
    if kind in ("text", "flag"):
        table.require_full(head, "an action")
        names, places = np.unique(table.labels(head), return_inverse=True)
        return places.astype(np.int64), tuple(names.tolist())
    found = numbers_of(table, [head])[0][head]
    is_whole = ~np.isfinite(found) | (found == np.floor(found))
    hint = "actions are kinds: an amount, such as a dose or a price, has to be put into classes"
    table.require(head, is_whole, "0, 1, 2, ... or names", hint)
    return _counted(table, head, found, "0, 1, 2, ... or names"), None


def _counted(table: Table, head: str, numbers: np.ndarray, expected: str) -> np.ndarray:
    """The numbers below a head as int64 [rows], if all are 0, 1, 2, ..."""
    table.require(head, (numbers >= 0) & (numbers % 1 == 0), expected)
    table.require(head, numbers <= _INTEGERS, f"at most {_INTEGERS}")
    return numbers.astype(np.int64)


def _observed(
    table: Table, context: Iterable[str], found: Mapping[str, np.ndarray]
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """The names of the numbers observed, these, float64 [rows, d], and which are of words."""
    columns: dict[str, tuple[np.ndarray, bool]] = {}
    for head in context:
        if head in found:
            columns[head] = found[head], False
            continue
        table.require_full(head, "a word")
        labels = np.array(table.labels(head))
        different = np.unique(labels).tolist()
        if len(different) > _MOST_KINDS:
            got = f"{len(different):,}"
            hint = f"{_USED}, cluster={head} that its rows belong together"
            raise table.wrong(f"at most {_MOST_KINDS} words", got, head=head, hint=hint)
        columns |= {f"{head}={word}": ((labels == word) * 1.0, True) for word in different}
    numbers, kinds = zip(*columns.values(), strict=True)
    return tuple(columns), np.stack(numbers, 1), np.array(kinds)


def _trajectories(table: Table, head: str | None) -> tuple[tuple[str, ...], np.ndarray]:
    """The label of each trajectory, and its first decision, int64 [n]."""
    if head is None:
        return tuple(map(str, table.lines)), np.arange(len(table.lines))
    labels, places = numbered(table.labels(head))
    starts = np.unique(places, return_index=True)[1]
    for row in np.setdiff1d(np.flatnonzero(np.diff(places, prepend=-1)), starts).tolist():
        expected = "the steps of a trajectory one after the other"
        raise table.wrong(expected, f"{labels[places[row]]!r} again", row, head)
    return labels, starts


def _behaviour(
    table: Table, head: str | None, labels: Sequence[str], starts: np.ndarray
) -> np.ndarray | None:
    """The policy that made each trajectory, int64 [n]."""
    if head is None:
        return None
    found = _counted(table, head, numbers_of(table, [head])[0][head], "0, 1, 2, ...")
    for row, label, own in _changed(found, labels, starts):
        expected = f"one policy for all of trajectory {label!r}, {own},"
        raise table.wrong(expected, str(found[row]), row, head)
    return found[starts]


def _clusters(table: Table, head: str, labels: Sequence[str], starts: np.ndarray) -> np.ndarray:
    """What each trajectory belongs to, by a number: int64 [n]."""
    table.require_full(head, "what a trajectory belongs to")
    found = numbered(table.labels(head))[1]
    for row, label, _ in _changed(found, labels, starts):
        raise table.wrong(f"one {head} of trajectory {label!r}", "another", row, head)
    return found[starts]


def _changed(
    found: np.ndarray, labels: Sequence[str], starts: np.ndarray
) -> Iterable[tuple[int, str, int]]:
    """Rows where a number [s] is not that of the first step, with the trajectory and that."""
    own = np.repeat(found[starts], np.diff([*starts.tolist(), len(found)]))
    for row in np.flatnonzero(own != found).tolist():
        yield row, labels[int(np.searchsorted(starts, row, "right")) - 1], int(own[row])
