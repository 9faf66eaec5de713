"""Which options of a table are the best: the front door. Axes: K options, P pairs."""

import dataclasses
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxrace.core.validation import require_truth
from jaxrace.evidence import decision
from jaxrace.evidence.blocks import BlockPairs
from jaxrace.evidence.decision import BoolArray, Decision, Seen
from jaxrace.evidence.independence import (
    IN_COMMON,
    DependentRunsWarning,
    doubt_about,
    is_too_few,
    require_no_clock,
    sorted_options,
)
from jaxrace.evidence.levels import By, Gaps, confidence
from jaxrace.evidence.process import Evidence, Pairs, intervals, wanted_pairs
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.judging import scores
from jaxrace.judging.alike import doubt_about_copies, doubt_about_order, pooled
from jaxrace.judging.ends import with_end
from jaxrace.judging.looks import Looks
from jaxrace.judging.question import HORIZON, Compare, Question, compared
from jaxrace.judging.result import NextRuns, Option, Pair, RaceOfTable
from jaxrace.judging.runs import least_further, next_runs

_MOST_PAIRS = 20  # whose intervals are found
_MOST_HELPED = 500  # options among which it is looked who may help, apart from pairs in doubt


def race(
    data: Any,
    top: int = 1,
    *,
    delta: float = 0.05,
    by: By = "wins",
    low: float | None = None,
    high: float | None = None,
    shared: bool = False,
    of: int | None = None,
    tolerance: float = 0.0,
    smaller: bool = False,
    larger: bool = False,
    compare: Compare | None = None,
    horizon: int = HORIZON,
    gaps: Gaps = "lost",
    looks: str | os.PathLike[str] | None = None,
    order_by_lot: int | None = None,
    dependent: bool = False,
    option_column: str | None = None,
    score_column: str | None = None,
    task_column: str | Sequence[str] | None = None,
    group_column: str | None = None,
    options: str | Sequence[str] = (),
    failed: str | float | None = None,
    where: str | Sequence[str] | Mapping[str, Any] = (),
) -> RaceOfTable:
    """Say which options are certainly the best, or what to run next.

    Runs may be added and the table raced again, with the same settings, as often as wanted: a wrong
    certificate has probability at most ``delta`` in all these looks together. New runs go behind
    the old ones, which ``looks`` sees to. Nothing else is asked of who is run, how often and why.

    Args:
        data: Scores by name. Independent runs: of each option [n_i], in the order in which they
            were made. Shared tasks: of each option [T], or [T, R] with R values on each task, all
            in the order in which the tasks are run; NaN where an option has not been run. Or an
            array [n, K] with a column for each option; a data frame, or the path of a file, as
            ``jaxrace.tables.read_scores`` takes them; or the ``Scores`` that it returns.
        top: How many of the best are wanted, kappa.
        delta: The probability of a wrong certificate.
        by: What is better: wins, to be better more often than worse, for which only the order of
            scores counts; or mean, the higher mean, which needs low and high.
        low: The lowest score that is possible, for a race by mean.
        high: The highest one.
        shared: Options ran on the same tasks, seeds or instances. Within a task they may depend on
            each other; tasks are alike and independent, unless of says that they are a list.
        of: Who is best on a list of so many tasks, whose order was drawn by lot before any result
            was known?
        tolerance: Good enough: nobody else is better by so much, in units of the score by mean and
            in win probability (below 0.5) by wins. Ties end, too.
        smaller: Smaller scores are better. A file of seconds says so itself.
        larger: Larger scores are better, whatever the file or a name such as loss says. Such names
            are refused until this or smaller is said.
        compare: A preference of two outcomes instead of numbers: +1, -1, or 0.
        horizon: Independent runs per option that the bets are tuned for: more of them show smaller
            gaps, later. Runs beyond these count as well.
        gaps: Shared tasks that an option lacks, before its last one, count as lost until they are
            run; or skip leaves them out: they must not depend on scores, nor ever be filled.
        looks: A file that remembers what was looked at, made by the first look. Later ones are
            refused if settings, options or scores of before have changed; shared tasks are taken in
            the order in which they came first.
        order_by_lot: A seed: put the shared tasks of a complete table, which is looked at once, in
            a random order, which depends on the seed and the tasks' names alone.
        option_column: The column that names the option, where its name does not say so.
        score_column: The column of the scores.
        task_column: The column of the tasks.
        group_column: The column of the benchmark, subject or the like of each task.
        options: Of a column for each option: these, with commas between; others are left out.
        failed: What a run that failed counts as, as a state, inf, NaN or a blank cell says: worst,
            below all others (by mean, low); drop, left out; or a number, its score.
        where: The rows to take, such as metric=auc; several have commas between.
        dependent: Look at runs that are not independent, too; nothing is certified then.

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
    about = top, delta, by, low, high, shared, of, tolerance, smaller, larger, compare
    question = Question(*about, horizon, gaps, order_by_lot)
    if order_by_lot is not None and looks is not None:
        raise ValueError("order_by_lot: expected no file of looks: it is for a table of one look")
    given = {
        "option_column": option_column,
        "score_column": score_column,
        "task_column": task_column,
        "group_column": group_column,
        "options": options,
        "failed": failed,
        "where": where,
    }
    require_truth("dependent", dependent)
    past = None if looks is None else Looks(looks, dataclasses.asdict(question))
    told = {name: value for name, value in given.items() if value not in (None, (), "")}
    table, columns, pairs = compared(question, data, past, told)
    for name, column in zip(table.names, [] if compare else columns, strict=not compare):
        require_no_clock(name, column)
    doubts = [] if shared or dependent or compare else _doubts(table, columns)
    if shared and of is None and (overlap := scores.overlap_of(table)) is not None:
        doubts = [overlap]
    doubts += _doubts_about_order(question, table, pairs)
    for doubt in doubts:
        warnings.warn(doubt, DependentRunsWarning, stacklevel=2)
    notes = [*table.said, *scores.notes_of(table, gaps)]
    if larger and table.smaller:
        notes.append("larger scores are better, as asked for, not smaller ones")
    if len(set(table.groups)) > 1:
        said = any("groups of tasks from" in text for text in notes)
        sizes = "" if said else f": {pooled(table.groups)}"
        notes.append(f"groups of tasks are pooled, and each task counts the same{sizes}")
    if of is not None and min(table.progress) < of:
        notes.append(
            "holds if the order of the tasks was drawn by lot, before any result was known"
        )
    if order_by_lot is not None:
        notes.append(
            f"tasks in a random order, by seed {order_by_lot}: the guarantee is about tasks drawn "
            "from the same mixture, for one look at this table with one seed, chosen before"
        )
    if dependent and not shared:
        clocks = sorted_options(dict(zip(table.names, columns, strict=True)))
        notes += [f"runs of {name} are sorted: a clock or a step?" for name in clocks]
    elif not (shared or doubts) and is_too_few([*map(len, columns)]):
        notes.append("whether runs depend on each other can hardly be seen with so few of them")
    look = _look(question, table, columns, pairs)
    found = _answer(question, table, look, pairs, tuple(notes))
    of_look = look.decided.leads, look.seen, look.evidence
    found = with_end(found, question, table.names, *of_look)
    if past is not None:
        past.remember(table)
    return found.without_guarantee() if doubts or (dependent and not shared) else found


def _doubts_about_order(question: Question, table: scores.Table, pairs: Pairs) -> list[str]:
    """Why tasks are hardly alike, or not in an order by lot; ValueError if they cannot be."""
    if not isinstance(pairs, SharedPairs) or min(table.progress) == question.of:
        return []  # all were run, in whatever order
    copies = doubt_about_copies(pairs.values)
    order = None if question.order_by_lot is not None else doubt_about_order(table, pairs)
    return [doubt for doubt in (copies, order) if doubt is not None]


def _doubts(table: scores.Table, columns: Sequence[np.ndarray]) -> list[str]:
    """Why runs are hardly independent; ValueError if they cannot be."""
    try:
        doubt = doubt_about(dict(zip(table.names, columns, strict=True)))
    except ValueError as error:
        hint = "--dependent (dependent=True) looks at them, and certifies nothing"
        raise ValueError(f"{error}; {hint}") from error
    doubts = [] if doubt is None else [doubt]
    if table.repeat_tasks:
        doubts.append(
            "options have several runs on one task, such as episodes of a seed, which go together: "
            f"the mean of each task is one run; {IN_COMMON}"
        )
    if table.have_tasks_in_common:
        doubts.append(
            f"options have tasks in common, such as seeds: {IN_COMMON}; runs that have nothing in "
            "common need no such column"
        )
    return doubts


def compare_next(data: Any, top: int = 1, **settings: Any) -> NextRuns:
    """What to run next: how many runs of which options, or of which options which tasks.

    Args:
        data: As for ``race``.
        top: How many of the best are wanted.
        **settings: All others of ``race``.

    Returns:
        By name a number of runs, or of shared tasks a list of them; empty once the best are
        certified, or if no run can help.

    >>> compare_next({"a": [1.0, 3.0, 2.0], "b": [5.0, 4.0, 6.0, 8.0, 5.5]})
    {'a': 2}
    """
    return race(data, top, **settings).next_runs


class _Look(NamedTuple):
    """A table that has been looked at."""

    evidence: Evidence
    seen: Seen
    decided: Decision
    served: BoolArray  # [K, K], pairs to run for
    asked: BoolArray  # [K]
    is_possible: BoolArray  # [K]
    is_sure: BoolArray  # [K]


def _look(
    question: Question, table: scores.Table, columns: Sequence[np.ndarray], pairs: Pairs
) -> _Look:
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
    return _Look(evidence, seen, decided, served, asked, *perhaps)


def _answer(
    question: Question, table: scores.Table, look: _Look, pairs: Pairs, notes: tuple[str, ...]
) -> RaceOfTable:
    names, decided = table.names, look.decided
    is_certified = decided.certificate is not None
    possible = look.is_possible
    if is_certified and not question.tolerance:
        possible = decided.leads
        if decided.certificate == "counts":
            possible = possible | decision.perhaps_tied(look.seen.strong, decided.leads)
    ahead = next_runs(question, table, pairs, look.asked)
    levels = question.levels(len(names))
    doubtful = look.served | decided.doubtful
    over = look.seen.over
    # Where all of them have a verdict, strong ones are lacking.
    lacks_strong = question.by == "wins" and not question.tolerance
    lacks_strong &= bool((over | over.T)[doubtful].all())
    wanted = levels.strong if lacks_strong else levels.verdict
    at_least = 0
    if not is_certified:
        mean = look.evidence.mean
        at_least = least_further(pairs, mean, doubtful, question.null, wanted, table)
    beats = look.evidence.plain >= levels.verdict
    options = []
    for option in decided.ranking:
        name = names[option]
        number = ahead.get(name, 0)
        verdict = "?" if possible[option] else "out"
        if decided.leads[option] and is_certified:
            verdict = "good enough" if question.tolerance else "in"
        if look.is_sure[option] and (question.tolerance or not is_certified):
            verdict = "in"
        options.append(
            Option(
                name=name,
                runs=len(table.values[option]),
                score=_score(question, table.values[option], look, option),
                beats=int(beats[option].sum()),
                verdict=verdict,
                next=number if isinstance(number, int) else len(number),
            )
        )
    kind = "independent" if table.tasks is None else "shared"
    shown = _pairs(question, table, look, pairs, levels.verdict)
    return RaceOfTable(
        top=question.top,
        delta=question.delta,
        by=question.by,
        kind=kind if question.of is None else f"all {question.of:,} shared",
        tolerance=question.tolerance,
        certificate=decided.certificate,
        options=tuple(options),
        possible=[names[option] for option in decided.ranking if possible[option]],
        pairs=shown,
        more_pairs=question.top * (len(names) - question.top) - len(shown),
        confidence=confidence(levels.verdict),
        next_runs=ahead,
        at_least=at_least,
        in_doubt=0 if is_certified else int(look.served.sum()),
        notes=notes,
        better=question.better(table),
    )


def _pairs(
    question: Question, table: scores.Table, look: _Look, pairs: Pairs, level: float
) -> tuple[Pair, ...]:
    """The closest pairs across the boundary that have runs in common."""
    ranking, top = look.decided.ranking, question.top
    first, second = (x.ravel() for x in np.meshgrid(ranking[:top], ranking[top:], indexing="ij"))
    has_runs = look.evidence.has_runs[first, second]
    evidence = look.evidence.highest[first, second].round(decision.DIGITS)
    order = np.argsort(evidence, kind="stable")
    order = order[has_runs[order]][:_MOST_PAIRS]
    first, second = first[order], second[order]
    if not len(first):
        return ()
    lows, highs = intervals(pairs, first, second, level, question.null)
    over, tied = look.seen.over[first, second], look.evidence.tied[first, second]
    against = (highs <= question.null) & ~over
    verdicts = np.select([tied, over, against], ["equal", "enough", "against"], "")
    effects = (question.effect(x) for x in (look.evidence.mean[first, second], lows, highs))
    return tuple(
        Pair(
            better=table.names[i],
            worse=table.names[j],
            estimate=float(estimate),
            low=float(lower),
            high=float(upper),
            evidence=float(look.evidence.highest[i, j] / level),
            decided=verdict == "enough",
            verdict=str(verdict),
        )
        for i, j, verdict, estimate, lower, upper in zip(
            first, second, verdicts, *effects, strict=True
        )
    )


def _score(question: Question, values: np.ndarray, look: _Look, option: int) -> float | None:
    """The mean score, or by wins the mean of the win probabilities against the others."""
    if question.by == "mean":
        return float(values.astype(float).mean()) if len(values) else None
    others = len(look.evidence.mean) - 1
    if look.evidence.has_runs[option].sum() < others:
        return None
    return float((1 + look.evidence.mean[option].sum() / others) / 2)
