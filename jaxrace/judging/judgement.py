"""The evidence of a table, what is decided on it, and what to run next. Axes: K options."""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxrace.evidence import decision
from jaxrace.evidence.blocks import BlockPairs
from jaxrace.evidence.decision import BoolArray, Decision, Seen
from jaxrace.evidence.levels import Levels
from jaxrace.evidence.process import Evidence, Pairs, wanted_pairs
from jaxrace.judging.question import Question
from jaxrace.judging.result import NextRuns
from jaxrace.judging.scores import Table

_MOST_HELPED = 500  # options among which it is looked who may help, apart from pairs in doubt

# Tasks that are run at once: a tenth of what an option has, and at least so many.
_LEAST_TASKS, _SHARE = 10, 0.1


class Judgement(NamedTuple):
    """What the evidence of a table comes to."""

    levels: Levels
    evidence: Evidence
    seen: Seen
    decided: Decision
    served: BoolArray  # [K, K], pairs to run for
    asked: BoolArray  # [K]
    is_possible: BoolArray  # [K]
    is_sure: BoolArray  # [K]


def judgement_on(
    question: Question, table: Table, columns: Sequence[np.ndarray], pairs: Pairs
) -> Judgement:
    """Look at the pairs that matter, and decide."""
    num_options, top = len(columns), question.top
    level = question.levels(num_options)
    # The mean of each option's scores or ranks: for a first guess.
    means = np.array([column.mean() if len(column) else -np.inf for column in columns])
    guess = np.greater.outer(means, means) * 1e-12
    guess[np.less.outer(means, means)] = -1e-12
    evidence, wanted = Evidence(guess, question.null), wanted_pairs(means, top)
    looked_at = np.zeros_like(wanted)
    slack = decision.SHARED_SLACK if question.shared else decision.SLACK
    is_tolerant = question.tolerance > 0
    while True:
        evidence.look_at(pairs, wanted)
        looked_at |= wanted
        of_evidence = evidence.highest, evidence.mean, level.verdict, level.strong
        seen = decision.seen_of(*of_evidence, question.null)
        decided = decision.decide(seen, top, level.verdict, slack, is_tolerant=is_tolerant)
        wanted = (decided.leads[:, None] != decided.leads[None, :]) & ~looked_at
        if not wanted.any():
            break
    is_lost = question.shared and question.gaps == "lost"
    has_some = pairs.complete() if isinstance(pairs, BlockPairs) else table.progress
    progress = table.in_order() if is_lost else has_some
    beats = decision.seen_of(evidence.plain, evidence.mean, level.possible, level.strong)
    perhaps = decision.perhaps_best(beats.over, top)
    served = decided.served
    if decided.certificate is not None or not has_some.all():
        served = np.zeros_like(served)  # nothing is in doubt before all have something
    elif not served.any() and num_options <= _MOST_HELPED:
        none = np.zeros_like(served)
        served = decision.who_may_help(seen, none, none, top, is_tolerant=is_tolerant)
    asked = decision.behind(served, progress)
    if decided.certificate is None:
        asked |= has_some == 0
    return Judgement(level, evidence, seen, decided, served, asked, *perhaps)


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
        found[table.names[option]] = [_task(table.task_names, task) for task in ahead]
    return {name: tasks for name, tasks in found.items() if tasks}


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


def least_further(question: Question, table: Table, pairs: Pairs, found: Judgement) -> int:
    """Further runs of all options together until the pairs in doubt have a verdict, at best.

    That is if each run goes the way that its pair leans.
    """
    doubtful, over = found.served | found.decided.doubtful, found.seen.over
    first, second = np.nonzero(doubtful)
    if found.decided.certificate is not None or not len(first):
        return 0
    # Where all of them have a verdict, strong ones are lacking.
    lacks_strong = question.by == "wins" and not question.tolerance
    lacks_strong &= bool((over | over.T)[doubtful].all())
    level = found.levels.strong if lacks_strong else found.levels.verdict
    # The order of each pair that looks right.
    turn = found.evidence.mean[first, second] < 0
    first, second = np.where(turn, second, first), np.where(turn, first, second)
    process = pairs.process(first, second, question.null)
    wanted = process.common + pairs.least_further(process, question.null, level)
    most = table.progress.copy()
    for option in (first, second):
        np.maximum.at(most, option, wanted)
    return int((most - table.progress).sum())
