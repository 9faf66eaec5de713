"""What marks in an answer about a table mean, and what to run next, in lines below it."""

import re
from collections.abc import Mapping, Sequence

from jaxrace.answers.answer import listed

_MOST_TASKS, _MOST_KINDS = 3, 3  # tasks that are named, and lists of them

NEW = re.compile(r"new task [0-9]+")
ONCE = "IN ONE LOOK"  # begins a headline whose error holds for one look
TEST = "TEST OF ONE LOOK"  # begins what ``final`` says, in a headline
WHICH = "both answers are for one look: decide before you look which of them you will use"


def starred(intervals: str = "") -> str:
    """What a star says; ``intervals`` is about those of one look, if there are any."""
    return (
        "*: by a test of one look (final), right only if nobody has looked before or looks again; "
        + (intervals or "it has no intervals: those shown are without *")
    )


def once_only(delta: float) -> str:
    """What one look asks for, and costs."""
    return (
        f"wrong with a probability of {delta:g}, for many tasks or runs, if nobody has looked "
        "before or looks again"
    )


def run_next(ahead: Mapping[str, int] | Mapping[str, list[str]]) -> list[str]:
    """A line on what to run next: options that run the same are named together.

    >>> run_next({"a": 2, "b": 2, "c": 1})
    ['run next: a, b: 2 more runs of each; c: 1 more run']
    >>> run_next({"a": ["q4", "q5"]}), run_next({"a": ["new task 1"]}), run_next({})
    (['run next: a: 2 tasks (q4, q5)'], ['run next: a: 1 new task'], [])
    >>> run_next({name: [f"q{n}" for n in range(30)] for name in "ab"})
    ['run next: a, b: 30 tasks (q0, q1, q2 and 27 more); all are in next_runs, and --next FILE']
    """
    kinds: dict[str, list[str]] = {}
    is_cut = False
    for name, wanted in ahead.items():
        kinds.setdefault(_told(wanted), []).append(name)
        if isinstance(wanted, list) and len(wanted) > _MOST_TASKS:
            is_cut |= not _are_new(wanted)
    if not kinds:
        return []
    shown = [*kinds.items()][:_MOST_KINDS]
    said = [f"{listed(names)}: {_of_each(what, names)}" for what, names in shown]
    if more := sum(map(len, kinds.values())) - sum(len(names) for _, names in shown):
        said.append(f"and {more} more options")
    is_cut |= bool(more) or any(listed(names) != ", ".join(names) for _, names in shown)
    where = "; all are in next_runs, and --next FILE" if is_cut else ""
    return [f"run next: {'; '.join(said)}{where}"]


def _told(wanted: int | Sequence[str]) -> str:
    if isinstance(wanted, int):
        return f"{wanted:,} more run{'s' * (wanted != 1)}"
    tasks = f"task{'s' * (len(wanted) != 1)}"
    if _are_new(wanted):
        return f"{len(wanted):,} new {tasks}"
    named = ", ".join(wanted[:_MOST_TASKS])
    more = f" and {len(wanted) - _MOST_TASKS:,} more" if len(wanted) > _MOST_TASKS else ""
    return f"{len(wanted):,} {tasks} ({named}{more})"


def _are_new(tasks: Sequence[str]) -> bool:
    """Have they no names of their own yet, and belong to no group?"""
    return all(NEW.fullmatch(task) for task in tasks)


def _of_each(what: str, names: Sequence[str]) -> str:
    is_number = what.endswith(("run", "runs"))
    return f"{what} of each" if is_number and len(names) > 1 else what
