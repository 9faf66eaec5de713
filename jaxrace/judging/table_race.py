"""Which options of a table are the best: the front door. Axes: K options, P pairs."""

import dataclasses
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxrace.answers.answer import listed
from jaxrace.core.inputs import require_truth
from jaxrace.core.validation import BadArgument, require_top
from jaxrace.evidence.blocks import BlockPairs
from jaxrace.evidence.independence import (
    IN_COMMON,
    DependentRunsWarning,
    Runs,
    doubt_about,
    is_too_few,
    rises,
    runs_of_numbers,
    sorted_options,
)
from jaxrace.evidence.levels import By, Gaps
from jaxrace.evidence.process import Pairs
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.judging import scores
from jaxrace.judging.alike import (
    doubt_about_copies,
    doubt_about_order,
    doubt_about_sorting,
    in_order_by_lot,
    of_one_group,
    pooled,
)
from jaxrace.judging.clusters import doubt_about_clusters, doubt_about_folds
from jaxrace.judging.final_look import with_one_look
from jaxrace.judging.in_groups import (
    group_means,
    in_lottery,
    list_told,
    lottery_notes,
    unused_of,
    used_of,
)
from jaxrace.judging.judgement import answer, judgement_on
from jaxrace.judging.known import doubt_about_list
from jaxrace.judging.looks import Looks
from jaxrace.judging.question import (
    HORIZON,
    Compare,
    Kind,
    Question,
    Weights,
    compared,
    question_of_shared,
)
from jaxrace.judging.result import NextRuns, RaceOfTable
from jaxrace.judging.scales import on_one_scale
from jaxrace.tables.heads import names_clock

# By a preference, to see whether runs are independent: pairs of all options, runs of an option.
_MOST_COMPARED, _LEAST_COMPARED = 100_000, 20


def race(
    data: Any,
    top: int = 1,
    *,
    delta: float = 0.05,
    by: By = "wins",
    low: float | None = None,
    high: float | None = None,
    shared: bool = False,
    of: int | Mapping[str, int] | str | os.PathLike[str] | None = None,
    tolerance: float = 0.0,
    smaller: bool = False,
    larger: bool = False,
    compare: Compare | None = None,
    horizon: int = HORIZON,
    gaps: Gaps = "lost",
    looks: str | os.PathLike[str] | None = None,
    order_by_lot: int | None = None,
    weights: Weights | None = None,
    seed: int = 0,
    final: bool = False,
    dependent: bool = False,
    **columns: Any,
) -> RaceOfTable:
    """Say which options are certainly the best, or what to run next.

    You may add runs and race the table again with the same settings, as often as you like: a wrong
    certificate has probability at most ``delta`` in all these looks together. New runs go behind
    the old ones; ``looks`` checks that. You are free in which options you run, how often and why.

    Args:
        data: Scores by name. Independent runs: of each option [n_i], in the order in which they
            were made. Shared tasks: of each option [T], or [T, R] with R values on each task, in
            the order in which the tasks are run; NaN where an option has not been run. Or an array
            [n, K] with a column for each option. Or a data frame or the path of a file, as
            ``jaxrace.tables.read_scores`` takes them, or the ``Scores`` that it returns.
        top: How many of the best options are wanted, kappa.
        delta: The probability of a wrong certificate.
        by: What better means. wins: to score higher more often than lower. mean: to have the higher
            mean, which needs ``low`` and ``high``.
        low: The lowest possible score, for a race by mean.
        high: The highest possible score, for a race by mean.
        shared: Options ran on the same tasks, seeds or instances, and are compared within each.
            Tasks are alike and independent, or a list (``of``).
        of: Who is best on a list of so many tasks, in an order drawn by lot before any result is
            known? Of groups also numbers by group, a file of these, or the file of all tasks for
            ``order``.
        tolerance: How much worse an option may be and still count as one of the best: by mean in
            units of the score, by wins in win probability (below 0.5). Races between ties then end.
        smaller: Smaller scores are better. Files of timings say so themselves.
        larger: Larger scores are better, whatever the file or a name such as loss says. Such a name
            is refused without ``smaller`` or ``larger``.
        compare: A preference between two outcomes that need not be numbers: +1, -1, or 0.
        horizon: Independent runs per option for which bets are tuned: a larger number finds smaller
            gaps, later. Runs beyond it count, too.
        gaps: Shared tasks that an option lacks before its last one. lost: they count as lost until
            they are run. skip: they are left out; they must not depend on scores, nor ever be
            filled.
        looks: A file that remembers each look. It refuses a look at which settings, options or
            earlier scores have changed. Shared tasks keep their first order.
        order_by_lot: A seed: put the shared tasks of a complete table in a random order, which
            depends on the seed and their names alone. For one look.
        weights: Who is best on average over groups of shared tasks (``group_column``)? equal:
            groups count the same. size: tasks do. Or numbers by group, or a file of these. Without
            it tasks are pooled.
        seed: The seed of the lottery that says, by names alone, which group's task counts next.
            Choose it before scores are known, and keep it.
        final: Also say who may be the best if this complete table is looked at once, and never
            again.
        dependent: Also judge runs that are not independent. Nothing is certified then.
        **columns: ``option_column``, ``task_column``, ``failed`` and the other arguments of
            ``jaxrace.tables.read_scores``: how data are read, and what a failed run counts as.

    Returns:
        The result; print it.

    Raises:
        ValueError: An argument is out of its range; data are no scores by name, out of low to
            high, or certainly not independent.

    Warns:
        DependentRunsWarning: Independent runs hardly are independent, or have tasks in common;
            shared tasks are folds of one data set, hardly alike, or hardly in an order by lot.
            Nothing is certified then.

    >>> a, b, c = np.random.default_rng(0).normal([0.0, 1.0, 3.0], size=(25, 3)).T
    >>> result = race({"a": a, "b": b, "c": c})
    >>> result.best, result.certified
    (['c'], True)
    >>> [(pair.better, pair.worse, round(pair.low, 2)) for pair in result.pairs]
    [('c', 'b', 0.8), ('c', 'a', 0.82)]
    """
    settings = {name: value for name, value in locals().items() if name not in ("data", "columns")}
    asked = prepared("top", data, settings | columns)
    found = answer(judgement_on(*asked[:4]), asked.notes)
    return asked.answered(with_one_look(*asked[:4], found))


class Prepared(NamedTuple):
    """A question, the table that is to answer it, and what was seen of its runs."""

    question: Question
    table: scores.ScoreTable
    columns: list[np.ndarray]  # scores as they are compared, larger is better
    pairs: Pairs
    notes: list[str]
    is_doubtful: bool  # runs may depend on each other, or tasks not be alike
    past: Looks | None

    @property
    def may_go_on(self) -> bool:
        """May more be run, and the table looked at again?"""
        once = self.question.order_by_lot is not None or self.question.is_complete
        return not (self.is_doubtful or once)

    def answered(self, found: Any) -> Any:
        """The answer, once it is remembered; without a guarantee if runs are doubtful."""
        table, lot = self.table, self.table.lottery
        if self.past is not None:
            self.past.remember(table if lot is None else lot.before)
        if lot is not None:
            means = group_means(self.question, table, self.pairs)
            used = used_of(self.question, table)
            found = dataclasses.replace(found, groups=means, used=used)
        return found.without_guarantee() if self.is_doubtful else found


def prepared(kind: Kind, data: Any, settings: Mapping[str, Any], **kept: Any) -> Prepared:
    """Read a table, and look whether what is assumed of it is so: for every front door.

    ``settings`` are arguments of ``race``, and ``kept`` those of another front door that must stay
    from look to look. Warns of doubts, from where the front door was called.
    """
    columns = dict(settings)
    looks, dependent = columns.pop("looks", None), columns.pop("dependent", False)
    of_all = {field.name for field in dataclasses.fields(Question)} - {"kind"}
    if "of" in columns:
        columns |= list_told(columns["of"], columns)
    fields = (of_all if kind == "top" else of_all - {"top"}) & columns.keys()
    told = {"kind": kind, **{name: columns.pop(name) for name in fields}}
    # A file may say that its tasks are shared, which is known once it is read.
    may_say = isinstance(data, str | os.PathLike | scores.Scores)
    question = question_of_shared(**told) if may_say else Question(**told)
    order_by_lot, is_shared = question.order_by_lot, bool(told.get("shared"))
    for name, looks_once in (("order_by_lot", order_by_lot is not None), ("final", question.final)):
        if looks_once and looks is not None:
            raise BadArgument(name, "no file of looks", "one", ": it is for a table of one look")
    require_truth("dependent", dependent)
    past = None if looks is None else Looks(looks, dataclasses.asdict(question) | kept)
    columns = {name: value for name, value in columns.items() if value not in (None, (), "")}
    of_numbers = question.compare is None
    table = scores.as_table(data, shared=is_shared, of_numbers=of_numbers, **columns)
    alike = []
    if table.tasks is None and question.shared:
        question = Question(**told)
    elif table.tasks is not None and not is_shared:
        question, is_shared = dataclasses.replace(question, shared=True), True
        alike = ["all options were asked the same: compared task by task, as with --shared"]
    if of_numbers:
        is_smaller = question.better(table) == "smaller"
        table = on_one_scale(table, is_smaller)
        table = table.with_worst(question.high if is_smaller else question.low, is_smaller)
    if past is not None:
        table = past.continued(table)
    if question.gaps == "skip" and (order_by_lot is not None or question.weights is not None):
        if past is not None:
            raise BadArgument("gaps", "'lost' of groups beside a file of looks", "'skip'")
        table = table.of_complete_tasks()
    if order_by_lot is not None:
        table = in_order_by_lot(table, order_by_lot)
    if question.weights is not None:
        table = in_lottery(question, table)
        if past is not None and table.lottery is not None:
            past.require_weights(table.lottery.weights)
    require_top(question.top, len(table.names))
    values, pairs = compared(question, table)
    runs = _runs(question, table, values, pairs)
    doubts = _doubts(question, table, values, pairs, [] if dependent else runs)
    for doubt in doubts:
        warnings.warn(doubt, DependentRunsWarning, stacklevel=3)
    if (of_samples := doubt_about_list(question, table)) is not None:
        warnings.warn(of_samples, UserWarning, stacklevel=3)
    notes = _notes(question, table) + alike
    if question.tolerance and len(question.marks_of(table)) == 2:
        part = question.tolerance
        notes.append(f"a tolerance of {part:g} by wins is one of {2 * part:g} of accuracy")
    if isinstance(pairs, SharedPairs) and min(table.progress) == question.of:
        notes += filter(None, [doubt_about_copies(table, pairs.values, refuse=False)])
    if dependent and not is_shared:
        notes += [f"runs of {name} are sorted: a clock or a step?" for name in sorted_options(runs)]
    if not (is_shared or doubts or dependent) and is_too_few([len(one.order) for one in runs]):
        notes.append("too few runs to see whether they depend on each other")
    if not question.final and (unused := unused_of(table)) is not None:
        warnings.warn(unused, UserWarning, stacklevel=3)
    is_doubtful = bool(doubts) or (dependent and not is_shared)
    return Prepared(question, table, values, pairs, notes, is_doubtful, past)


def _runs(
    question: Question, table: scores.ScoreTable, columns: Sequence[np.ndarray], pairs: Pairs
) -> list[Runs]:
    """Independent runs as they are looked at; none of shared tasks.

    Under a preference they are ordered by net wins over the first runs of their own option, which
    are as likely in any order as the runs are.
    """
    if not isinstance(pairs, BlockPairs):
        return []
    if question.compare is None:
        return list(map(runs_of_numbers, table.names, columns))
    most = max(math.isqrt(_MOST_COMPARED // len(columns)), _LEAST_COMPARED)
    found, start = [], np.zeros(1, int)
    for option, (name, column) in enumerate(zip(table.names, columns, strict=True)):
        own = start + option
        signs = pairs.differences(own, own, start, min(len(column), most))
        found.append(Runs(name, signs.sum((1, 2)).astype(int), column.astype(int)))
    return found


def _doubts(
    question: Question,
    table: scores.ScoreTable,
    columns: Sequence[np.ndarray],
    pairs: Pairs,
    runs: Sequence[Runs],
) -> list[str]:
    """Why what is assumed is hardly true; ValueError if it cannot be. ``runs`` are looked at."""
    if question.compare is None:
        named = zip(table.names, columns, strict=True)
        for name in [name for name, column in named if names_clock(name) and rises(column)]:
            hint = ": --options (options=) names the columns of options" * (len(table.names) > 2)
            got = f"column {name!r}, which is sorted: a clock or a step? leave it out{hint}"
            raise BadArgument("runs", "scores of options", got)
    found: list[str | None] = []
    if isinstance(pairs, SharedPairs):
        if question.of is None:
            found += [doubt_about_folds(table), doubt_about_clusters(table, pairs)]
        by_lot = question.order_by_lot is not None or (table.lottery and table.lottery.by_name)
        if min(table.progress) != question.of:  # else all were run: these are known
            copies = doubt_about_copies(table, pairs.values)
            doubt = copies if copies or by_lot else doubt_about_order(table, pairs)
            if not (doubt or by_lot or question.final):
                doubt = doubt_about_sorting(table, pairs)
            found.append(doubt)
    elif runs:
        try:
            doubt = doubt_about(runs)
            found.append(doubt and doubt + of_one_group(table))
        except BadArgument as error:
            hint = f"; {IN_COMMON}" if table.have_tasks_in_common else of_one_group(table)
            if "lag-1" in error.got:
                hint += "; runs are in the order of the rows: tasks one after the other look so too"
            hint += "; --dependent (dependent=True) looks at them, and certifies nothing"
            raise type(error)(error.name, error.expected, error.got, error.hint + hint) from error
        if table.repeat_tasks:
            found.append(
                "options have several runs on one task, such as episodes of a seed, and these "
                f"depend on each other: give the mean of each task as one run; {IN_COMMON}"
            )
        if table.have_tasks_in_common and not any(IN_COMMON in doubt for doubt in found if doubt):
            found.append(
                f"options have tasks in common, such as seeds: {IN_COMMON}; leave the column out "
                "if runs have nothing in common"
            )
    return [doubt for doubt in found if doubt is not None]


def _notes(question: Question, table: scores.ScoreTable) -> list[str]:
    """What a reader should know."""
    notes = list(table.said)
    last = [int(tasks.max(initial=-1)) + 1 for tasks in table.tasks or ()]
    counts = zip(table.names, last, table.progress.tolist(), strict=False)
    lacking = [f"{name} {end - count:,}" for name, end, count in counts if end > count]
    if lacking and table.lottery is None:
        means = (
            "each counts as lost until it is run; gaps=skip (--gaps skip) leaves them out, if they "
            "do not depend on scores and are never filled"
            if question.gaps == "lost"
            else "skipped: they must not depend on scores, and must never be filled"
        )
        notes.append(f"tasks without a score before the last one: {listed(lacking)}; {means}")
    known = table if table.lottery is None else table.lottery.before
    is_short = table.tasks is not None and (table.progress < len(known.task_names)).any()
    if is_short and table.failed not in (None, "drop"):
        notes.append(
            f"failed={table.failed} (--failed {table.failed}) says nothing of tasks that are "
            "absent from the table: if one failed, add it with an empty score"
        )
    number = len(table.task_names)
    if (scores_each := table.most_on_a_task) > number:  # hardly seeds of tasks
        notes.append(
            f"{number:,} task{'s' * (number > 1)} with up to {scores_each:,} scores of an option "
            "on one: each task counts once, by all of its scores; if these are benchmarks, "
            "group_column (--group-column) names their column, and task_column (--task-column) "
            "that of the questions, if there is one"
        )
    if question.larger and table.smaller:
        notes.append("larger scores are better, as asked for, though the file says smaller")
    if table.lottery is not None:
        notes += lottery_notes(question, table, table.lottery)
    elif len(set(table.groups)) > 1:
        said = any("groups of tasks from" in text for text in notes)
        sizes = "" if said else f": {pooled(table.groups)}"
        notes.append(f"groups of tasks are pooled, and each task counts the same{sizes}")
    by_name = table.lottery is not None and table.lottery.by_name
    if question.of is not None and min(table.progress) < question.of and not by_name:
        notes.append(
            "holds if the order of the tasks was drawn by lot, before any result was known"
        )
    if question.order_by_lot is not None:
        where, what = "", "drawn from the same mixture"
        if table.lottery is not None:
            where, what = " within groups", "of each group like these"
        notes.append(
            f"tasks{where} in a random order, by seed {question.order_by_lot}: the guarantee is "
            f"about tasks {what}; it is for one look at this table, with one seed "
            "that was chosen before: another may answer otherwise, and who tries several has no "
            "guarantee"
        )
    return notes


def compare_next(data: Any, top: int = 1, **settings: Any) -> NextRuns:
    """What to run next, by the arguments of ``race``.

    Returns:
        By name a number of runs, or of shared tasks a list of them; empty once the best are
        certified, or if no run can help.

    >>> compare_next({"a": [1.0, 3.0, 2.0], "b": [5.0, 4.0, 6.0, 8.0, 5.5]})
    {'a': 2}
    """
    return race(data, top, **settings).next_runs
