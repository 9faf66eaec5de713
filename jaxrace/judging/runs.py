"""Which runs would help next, and how many it may take. Axes: K options."""

import math
import re

import numpy as np

from jaxrace.evidence.blocks import BlockPairs
from jaxrace.evidence.decision import BoolArray
from jaxrace.evidence.process import FloatArray, Pairs
from jaxrace.judging.question import Question
from jaxrace.judging.result import NextRuns
from jaxrace.judging.scores import Table

# Tasks that are run at once: a tenth of what an option has, and at least so many.
_LEAST_TASKS, _SHARE = 10, 0.1


def next_runs(question: Question, table: Table, pairs: Pairs, asked: BoolArray) -> NextRuns:
    """By name the runs that complete a block, or the next tasks of the common order."""
    if isinstance(pairs, BlockPairs):
        lacking = pairs.start(pairs.complete() + 1) - pairs.counts
        return {table.names[option]: int(lacking[option]) for option in np.flatnonzero(asked)}
    assert table.tasks is not None
    found: dict[str, list[str]] = {}
    for option in np.flatnonzero(asked):
        done = set(table.tasks[option].tolist())
        number = max(_LEAST_TASKS, math.ceil(_SHARE * len(done)))
        last = max(done, default=-1) + 1
        end = last + number if question.of is None else min(last + number, question.of)
        begin = 0 if question.gaps == "lost" else last
        ahead = [task for task in range(begin, end) if task not in done][:number]
        found[table.names[option]] = [_task(table, task) for task in ahead]
    return {name: tasks for name, tasks in found.items() if tasks}


def _task(table: Table, task: int) -> str:
    names = table.task_names
    if task < len(names):
        return names[task]
    # Seeds that count from 0, or from 100, go on where they end.
    begin = int(names[0]) if names and re.fullmatch(r"[0-9]{1,9}", names[0]) else 1
    if names != tuple(str(begin + place) for place in range(len(names))):
        begin = 1
    is_named = not all(name.isdigit() for name in names)  # questions, not seeds
    return f"new task {task - len(names) + 1}" if is_named else str(begin + task)


def least_further(
    pairs: Pairs, mean: FloatArray, doubtful: BoolArray, null: float, level: float, table: Table
) -> int:
    """Further runs of all options together until the pairs in doubt have a verdict, at best.

    That is if each run goes the way that its pair leans.
    """
    first, second = np.nonzero(doubtful)
    if not len(first):
        return 0
    # The order of each pair that looks right.
    turn = mean[first, second] < 0
    first, second = np.where(turn, second, first), np.where(turn, first, second)
    process = pairs.process(first, second, null)
    wanted = process.common + pairs.least_further(process, null, level)
    most = have = table.progress
    for option in (first, second):
        most = most.copy()
        np.maximum.at(most, option, wanted)
    return int((most - have).sum())
