"""The evidence of a table, what is certified, what to run next, and the answer. Axes: K options.

Evidence is a running maximum over the tasks or runs in their order. If they are alike, or in an
order by lot, what is certain early hardly ever turns. Where it has turned, the table is refuted.
"""

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxrace.evidence import decision, table_decision
from jaxrace.evidence.blocks import BlockPairs
from jaxrace.evidence.decision import Seen
from jaxrace.evidence.levels import BoolArray, Levels
from jaxrace.evidence.process import Evidence, Pairs, confidence, intervals, wanted_pairs
from jaxrace.evidence.table_decision import Decision
from jaxrace.judging.alike import ORDER_BY_LOT
from jaxrace.judging.question import Question
from jaxrace.judging.result import NextRuns, Option, Pair, RaceOfTable
from jaxrace.judging.scores import ScoreTable

_MOST_PAIRS = 20  # whose intervals are found
_MOST_HELPED = 500  # options among which it is looked who may help, apart from pairs in doubt

# Tasks that are run at once: a tenth of what an option has, and at least so many.
_LEAST_TASKS, _SHARE = 10, 0.1


class Judgement(NamedTuple):
    """What the evidence of a table comes to."""

    question: Question
    table: ScoreTable
    pairs: Pairs
    levels: Levels
    evidence: Evidence
    seen: Seen
    decided: Decision
    served: BoolArray  # [K, K], pairs to run for
    asked: BoolArray  # [K]
    is_possible: BoolArray  # [K]
    is_sure: BoolArray  # [K]


def judgement_on(
    question: Question, table: ScoreTable, columns: Sequence[np.ndarray], pairs: Pairs
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
        decided = table_decision.decide(seen, top, level.verdict, slack, is_tolerant=is_tolerant)
        wanted = (decided.leads[:, None] != decided.leads[None, :]) & ~looked_at
        if not wanted.any():
            break
    has_some = pairs.complete() if isinstance(pairs, BlockPairs) else table.progress
    is_lost = question.shared and question.gaps == "lost"
    beats = decision.seen_of(evidence.plain, evidence.mean, level.possible, level.strong)
    perhaps = decision.perhaps_best(beats.over, top)
    served = decided.served
    if decided.certificate is not None or not has_some.all():
        served = np.zeros_like(served)  # nothing is in doubt before all have something
    elif not served.any() and num_options <= _MOST_HELPED:
        none = np.zeros_like(served)
        served = table_decision.who_may_help(seen, none, none, top, is_tolerant=is_tolerant)
    asked = decision.behind(served, table.in_order() if is_lost else has_some)
    if decided.certificate is None:
        asked |= has_some == 0
    about = question, table, pairs
    return Judgement(*about, level, evidence, seen, decided, served, asked, *perhaps)


def _next_runs(found: Judgement) -> NextRuns:
    """By name the runs that complete a block, or the next tasks of the common order."""
    question, table, pairs = found[:3]
    if isinstance(pairs, BlockPairs):
        lacking = pairs.start(pairs.complete() + 1) - pairs.counts
        return {table.names[option]: int(lacking[option]) for option in np.flatnonzero(found.asked)}
    assert table.tasks is not None
    ahead: dict[str, list[str]] = {}
    for option in np.flatnonzero(found.asked):
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


def _least_further(found: Judgement) -> int:
    """Further runs of all options until nothing is in doubt, if each goes as its pair leans."""
    question, table, pairs = found[:3]
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


def answer(found: Judgement, notes: list[str]) -> RaceOfTable:
    """What is certain, by name; or that the race is tied, or refuted."""
    question, names, leads = found.question, found.table.names, found.decided.leads
    answered = _answer(found, notes)
    cross = leads[:, None] & ~leads[None, :]
    if question.of is not None:
        whole = bool((found.evidence.whole | ~cross).all())
        answered = dataclasses.replace(answered, whole=whole)
        tied = cross & found.evidence.tied
        if not answered.certified and tied.any() and (tied | found.seen.over | ~cross).all():
            verdicts = dict(zip(names, np.where(leads, "in", "out").tolist(), strict=True))
            which = np.flatnonzero(tied.any(1) | tied.any(0))
            verdicts |= {names[option]: "tied" for option in which}
            possible = [name for name in answered.names if verdicts[name] != "out"]
            equal = [name for name in possible if verdicts[name] == "tied"]
            return _ended(answered, verdicts, possible=possible, tied=equal)
    if answered.whole:
        return answered
    if why := _contradiction(answered, found, cross):
        nothing = {"certificate": None, "possible": answered.names}
        refuted = f"{why}: it is hardly true that {_assumed(question)}"
        return _ended(answered, dict.fromkeys(names, "?"), **nothing, refuted=refuted)
    if question.order_by_lot is not None:
        return _ended(answered, {}, one_look=True)
    return answered


def _ended(answered: RaceOfTable, verdicts: dict[str, str], **fields: Any) -> RaceOfTable:
    """With other verdicts: nothing that could be run would help."""
    options = tuple(
        dataclasses.replace(one, verdict=verdicts.get(one.name, one.verdict), next=0)
        for one in answered.options
    )
    fields |= {"options": options, "next_runs": {}, "at_least": 0, "in_doubt": 0}
    return dataclasses.replace(answered, **fields)


def without_guarantee(answered: RaceOfTable) -> RaceOfTable:
    """The same of runs that may depend on each other: a guess, and nothing that is certain."""
    options = tuple(dataclasses.replace(one, verdict="?", beats=0) for one in answered.options)
    nothing: Any = {"certificate": None, "pairs": (), "more_pairs": 0, "at_least": 0}
    nothing |= {"options": options, "possible": answered.names}
    return dataclasses.replace(answered, **nothing, is_dependent=True)


def _answer(found: Judgement, notes: list[str]) -> RaceOfTable:
    question, table, names, decided = found.question, found.table, found.table.names, found.decided
    is_certified = decided.certificate is not None
    possible = found.is_possible
    if is_certified and not question.tolerance:
        possible = decided.leads
        if decided.certificate == "counts":
            possible = possible | decision.perhaps_tied(found.seen.strong, decided.leads)
    verdicts = np.where(possible, "?", "out").astype(object)
    if is_certified:
        verdicts[decided.leads] = "good enough" if question.tolerance else "in"
    if question.tolerance or not is_certified:
        verdicts[found.is_sure] = "in"
    ahead = _next_runs(found)
    beats = (found.evidence.plain >= found.levels.verdict).sum(1)
    counts = {name: n if isinstance(n, int) else len(n) for name, n in ahead.items()}
    options = tuple(
        Option(
            name=names[option],
            runs=len(table.values[option]),
            score=_score(found, option),
            beats=int(beats[option]),
            verdict=str(verdicts[option]),
            next=counts.get(names[option], 0),
        )
        for option in decided.ranking
    )
    kind = "independent" if table.tasks is None else "shared"
    shown = _pairs(found)
    return RaceOfTable(
        top=question.top,
        delta=question.delta,
        by=question.by,
        kind=kind if question.of is None else f"all {question.of:,} shared",
        tolerance=question.tolerance,
        certificate=decided.certificate,
        options=options,
        possible=[names[option] for option in decided.ranking if possible[option]],
        pairs=shown,
        more_pairs=question.top * (len(names) - question.top) - len(shown),
        confidence=confidence(found.levels.verdict),
        next_runs=ahead,
        at_least=_least_further(found),
        in_doubt=0 if is_certified else int(found.served.sum()),
        notes=tuple(notes),
        better=question.better(table),
    )


def _pairs(found: Judgement) -> tuple[Pair, ...]:
    """The closest pairs across the boundary that have runs in common."""
    question, names, evidence = found.question, found.table.names, found.evidence
    ranking, top, level = found.decided.ranking, question.top, found.levels.verdict
    first, second = (x.ravel() for x in np.meshgrid(ranking[:top], ranking[top:], indexing="ij"))
    order = np.argsort(evidence.highest[first, second].round(table_decision.DIGITS), kind="stable")
    order = order[evidence.has_runs[first, second][order]][:_MOST_PAIRS]
    first, second = at = first[order], second[order]
    if not len(first):
        return ()
    lows, highs = intervals(found.pairs, first, second, level, question.null)
    over, tied = found.seen.over[at], evidence.tied[at]
    against = (highs <= question.null) & ~over
    verdicts = np.select([tied, over, against], ["equal", "enough", "against"], "")
    effects = (question.effect(x) for x in (evidence.mean[at], lows, highs))
    numbers = zip(*(x.tolist() for x in (*effects, evidence.highest[at] / level)), strict=True)
    return tuple(
        Pair(names[i], names[j], *own, decided=verdict == "enough", verdict=verdict)
        for i, j, own, verdict in zip(*at, numbers, verdicts.tolist(), strict=True)
    )


def _score(found: Judgement, option: int) -> float | None:
    """The mean score, or by wins the mean of the win probabilities against the others."""
    if found.question.by == "mean":
        values = found.table.values[option]
        return float(values.astype(float).mean()) if len(values) else None
    others = len(found.evidence.mean) - 1
    if found.evidence.has_runs[option].sum() < others:
        return None
    return float((1 + found.evidence.mean[option].sum() / others) / 2)


def _contradiction(answered: RaceOfTable, found: Judgement, cross: BoolArray) -> str | None:
    """What contradicts itself across the boundary, if anything.

    A verdict against the mean of all differences; verdicts both ways, which no tolerance explains;
    or an estimate outside of its own interval, as whenever an interval is empty.
    """
    question, names = found.question, found.table.names
    reached = (found.seen.highest >= found.levels.verdict) & (cross | cross.T)
    early = "was certain at an earlier look at the table, though over all of it"
    for i, j in np.argwhere(reached & (found.seen.mean < question.null)):
        return f"that {names[i]} is better than {names[j]} {early} {names[j]} is better"
    if not question.tolerance:
        for i, j in np.argwhere(reached & reached.T):
            return f"both {names[i]} over {names[j]} and {names[j]} over {names[i]} were certain"
    for pair in answered.pairs:
        if not pair.low <= pair.estimate <= pair.high:
            return (
                f"by how much {pair.better} is better than {pair.worse}, {pair.estimate:.3g} over "
                f"all of the table, is outside of its own interval, {pair.low:.3g} to "
                f"{pair.high:.3g}"
            )
    return None


def _assumed(question: Question) -> str:
    """What is assumed, and what to do if it is not true."""
    if not question.shared:
        return "runs are alike and independent; what changed from run to run?"
    if question.of is not None:
        advice = "once all tasks of the list are run, their order does not matter"
        return f"the order of the tasks was drawn by lot; {advice}"
    if question.order_by_lot is not None:
        return "the tasks are alike; with more tasks, in a table of its own, ask again"
    return f"the tasks are alike; {ORDER_BY_LOT}, once all of them are run"
