"""What to run next, by name. Axes: K options."""

import math
import re
from collections.abc import Sequence

import numpy as np

from jaxrace.evidence import decision
from jaxrace.evidence.blocks import BlockPairs
from jaxrace.evidence.levels import BoolArray, IntArray
from jaxrace.evidence.process import Pairs
from jaxrace.judging.question import Question
from jaxrace.judging.result import NextRuns
from jaxrace.judging.scores import ScoreTable

# Tasks that are run at once: a tenth of what an option has, and at least so many.
_LEAST_TASKS, _SHARE = 10, 0.1


def progress(table: ScoreTable, pairs: Pairs) -> IntArray:
    """Of each option the blocks, or the tasks, that it has run: [K]."""
    return pairs.complete() if isinstance(pairs, BlockPairs) else table.progress


def number_of(ahead: NextRuns, name: str) -> int:
    """How many runs an option has ahead."""
    wanted = ahead.get(name, 0)
    return wanted if isinstance(wanted, int) else len(wanted)


def to_run(question: Question, table: ScoreTable, pairs: Pairs, served: BoolArray) -> BoolArray:
    """Options that are behind in the pairs ``served``, [K, K], first those without any run: [K]."""
    done = progress(table, pairs)
    if not done.all():
        return done == 0
    is_lost = question.shared and question.gaps == "lost"
    return decision.behind(served, table.in_order() if is_lost else done)


def next_runs(question: Question, table: ScoreTable, pairs: Pairs, asked: BoolArray) -> NextRuns:
    """By name the runs that complete a block, or the next tasks of the common order.

    ``asked`` are the options that are to run, bool [K].
    """
    if isinstance(pairs, BlockPairs):
        lacking = pairs.blocks.lacking(pairs.counts)
        return {table.names[option]: int(lacking[option]) for option in np.flatnonzero(asked)}
    assert table.tasks is not None
    ahead: dict[str, list[str]] = {}
    for option in np.flatnonzero(asked):
        done = set(table.tasks[option].tolist())
        number = max(_LEAST_TASKS, math.ceil(_SHARE * len(done)))
        last = max(done, default=-1) + 1
        end = last + number if question.of is None else min(last + number, question.of)
        begin = 0 if question.gaps == "lost" else last
        tasks = [task for task in range(begin, end) if task not in done][:number]
        ahead[table.names[option]] = [_task(table.task_names, task) for task in tasks]
    return {name: tasks for name, tasks in ahead.items() if tasks}


def _task(names: Sequence[str], task: int) -> str:
    """What a task is called, or will be."""
    if task < len(names):
        return names[task]
    if not all(name.isdigit() for name in names):  # questions, not seeds
        return f"new task {task - len(names) + 1}"
    # Seeds that count from 0, or from 100, go on where they end.
    begin = int(names[0]) if names and re.fullmatch(r"[0-9]{1,9}", names[0]) else 1
    are_counted = [*names] == [str(begin + place) for place in range(len(names))]
    return str((begin if are_counted else 1) + task)
