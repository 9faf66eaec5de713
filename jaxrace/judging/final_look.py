"""One look at a complete table, beside the answer that is valid at all looks. Axes: K options."""

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from jaxrace.answers.answer import listed
from jaxrace.core.validation import BadArgument
from jaxrace.evidence.boundaries import board_of
from jaxrace.evidence.groups import GroupPairs
from jaxrace.evidence.levels import BoolArray
from jaxrace.evidence.one_look import LEAST_RUNS, OneLook, look_at_runs, look_at_tasks
from jaxrace.evidence.one_look_means import one_look_intervals
from jaxrace.evidence.own_score import tasks_alone
from jaxrace.evidence.process import MOST_OF_ALL_PAIRS, Pairs
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.judging.board_result import RankOfTable
from jaxrace.judging.question import Question
from jaxrace.judging.result import RaceOfTable
from jaxrace.judging.scores import ScoreTable

LEAST_OF_GROUP = 2  # tasks, of which one has a spread
_MOST_NUMBERS = 2e8  # differences of all pairs on all tasks, of wins

Found = TypeVar("Found", RaceOfTable, RankOfTable)


def look_once(
    question: Question,
    table: ScoreTable,
    columns: Sequence[np.ndarray],
    pairs: Pairs,
    *,
    delta: float | None = None,
    null: float = 0.0,
) -> OneLook:
    """The look; ValueError if the table is not complete.

    ``delta`` and ``null`` are those of the question and no difference, unless said: "i over j" is
    that differences, in [-1, 1], have a mean above the null.
    """
    delta = question.delta if delta is None else delta
    number = len(table.names)
    if number > MOST_OF_ALL_PAIRS:
        expected = f"at most {MOST_OF_ALL_PAIRS} options, for one look"
        raise BadArgument("final", expected, f"{number:,}")
    if not isinstance(pairs, SharedPairs):
        counts = zip(table.names, table.progress.tolist(), strict=True)
        if few := [f"{name} {count}" for name, count in counts if count < LEAST_RUNS]:
            raise BadArgument("final", f"{LEAST_RUNS} runs or more of each option", listed(few))
        return look_at_runs(columns, question.by, delta, null)
    if isinstance(pairs, GroupPairs):
        pairs = _of_known(pairs)
    num_tasks = int(pairs.values.shape[1])
    lacking = [
        f"{name} {num_tasks - done:,}"
        for name, done in zip(table.names, table.progress.tolist(), strict=True)
        if done < num_tasks
    ]
    if lacking and question.gaps == "lost":
        hint = (
            ": gaps=skip (--gaps skip) leaves out the tasks that not all have run, if gaps depend "
            "on no score, and not where options stopped by their scores"
        )
        expected = f"a table in which all options have run all {num_tasks:,} tasks"
        raise BadArgument("final", expected, f"tasks that are missing: {listed(lacking)}", hint)
    if number**2 * num_tasks > 2 * _MOST_NUMBERS:
        expected = f"at most {_MOST_NUMBERS:,.0f} differences of pairs on tasks, for one look"
        raise BadArgument("final", expected, f"{number**2 * num_tasks / 2:,.0f}")
    has_all = pairs.ran_by_all
    if not has_all.any():
        raise BadArgument("final", "tasks that all options have run", "none")
    if isinstance(pairs, GroupPairs):
        counts = np.bincount(pairs.group[has_all], minlength=len(pairs.weights)).tolist()
        assert table.lottery is not None
        named = zip(table.lottery.weights, counts, strict=True)
        if few := [f"{group} {count}" for group, count in named if count < LEAST_OF_GROUP]:
            expected = f"{LEAST_OF_GROUP} tasks or more of each group that all have run"
            raise BadArgument("final", expected, listed(few))
    return look_at_tasks(pairs, delta, null)


def _of_known(pairs: GroupPairs) -> GroupPairs:
    """Without tasks of an order by lot that nobody has run."""
    some = (~np.isnan(pairs.values)).any((0, 2))
    return dataclasses.replace(pairs, values=pairs.values[:, some], group=pairs.group[some])


def _own_intervals(question: Question, table: ScoreTable, pairs: SharedPairs) -> np.ndarray:
    """Of each option the interval of its mean over the tasks that all have run: [2, K]."""
    has_all = pairs.ran_by_all
    group, weights = np.zeros(int(has_all.sum()), int), np.ones(1)
    if isinstance(pairs, GroupPairs):
        group, weights = pairs.group[has_all], pairs.weights
    own = tasks_alone(dataclasses.replace(pairs, values=pairs.values[:, has_all]))
    values = own.values[:-1, :, 0]
    # As compared they are from 0 to 1, or of smaller scores from -1 to 0; by wins from -1 to 1.
    low, width = (-1, 2) if question.by == "wins" else (-(question.better(table) == "smaller"), 1)
    values = (values - low) / width
    least, most = one_look_intervals(values, group, weights, question.delta)
    return question.scores_of(table, least, low + width * least, low + width * most)[1:]


def with_one_look(
    question: Question,
    table: ScoreTable,
    columns: Sequence[np.ndarray],
    pairs: Pairs,
    found: Found,
) -> Found:
    """The answer, with what one look says if that is asked for, and the table is not refused.

    Nothing is left to test of a list of tasks that were all run.
    """
    if not question.final or found.refused:
        return found
    if found.whole:
        known = "all tasks of the list were run: they are known, and one look has nothing to test"
        return dataclasses.replace(found, notes=(*found.notes, known))
    look = look_once(question, table, columns, pairs)
    unit = "runs" if table.tasks is None else "whole tasks"
    how = "normal draws and permutations" if table.tasks is None else "random signs"
    said = [f"one look: {look.number:,} draws, {how} of {unit}, by seed {look.seed}"]
    left_out = 0
    if isinstance(pairs, GroupPairs):
        pairs = _of_known(pairs)
        said.append(
            f"one look: means of {len(pairs.weights)} groups, each by its own tasks, weighted and "
            "added"
        )
    if isinstance(pairs, SharedPairs):
        left_out = int((~pairs.ran_by_all).sum())
    if left_out:
        said.append(f"one look: without {left_out:,} tasks that not all options have run")
    names, notes = table.names, (*found.notes, *said)
    if isinstance(found, RaceOfTable):
        may = _may_be_among(look, question.top)
        order = [names.index(name) for name in found.names]
        possible = [names[option] for option in order if may[option]]
        return dataclasses.replace(found, final=possible, notes=notes)
    over = look.over()
    mean = look.estimate
    board = board_of(over, over, mean)
    ends = np.full((2, len(names)), np.nan)
    if isinstance(pairs, SharedPairs) and pairs.ran_by_all.sum() >= LEAST_OF_GROUP:
        ends = _own_intervals(question, table, pairs)
    options = []
    for one in found.options:
        option = names.index(one.name)
        options.append(
            dataclasses.replace(
                one,
                final_tier=int(board.tier[option]) + 1,
                final_best_rank=int(board.lowest[option]),
                final_worst_rank=int(board.highest[option]),
                final_low=None if np.isnan(ends[0, option]) else float(ends[0, option]),
                final_high=None if np.isnan(ends[1, option]) else float(ends[1, option]),
            )
        )
    return dataclasses.replace(found, options=tuple(options), notes=notes)


def _may_be_among(look: OneLook, top: int) -> BoolArray:
    """Who may be among the best kappa, [K]: of one by its own test, else by all pairs together."""
    return look.may_be_best() if top == 1 else look.over().sum(0) < top
