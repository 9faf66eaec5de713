"""The answer of a race, made of a judgement. Axes: K options.

Evidence is a running maximum over the tasks or runs in their order. If they are alike, or in an
order by lot, what is certain early hardly ever turns. Where it has turned, they are not: the
certificate is not given, and the table is refuted.
"""

import dataclasses
from typing import Any

import numpy as np

from jaxrace.evidence import decision
from jaxrace.evidence.decision import BoolArray
from jaxrace.evidence.levels import confidence
from jaxrace.evidence.process import Pairs, intervals
from jaxrace.judging.alike import ORDER_BY_LOT
from jaxrace.judging.judgement import Judgement, least_further, next_runs
from jaxrace.judging.question import Question
from jaxrace.judging.result import Option, Pair, RaceOfTable
from jaxrace.judging.scores import Table

_MOST_PAIRS = 20  # whose intervals are found


def answer(
    question: Question, table: Table, pairs: Pairs, found: Judgement, notes: list[str]
) -> RaceOfTable:
    """What is certain, by name, and how a race ends that is no certificate: refuted or tied."""
    answered, decided = _answer(question, table, pairs, found, notes), found.decided
    cross = decided.leads[:, None] & ~decided.leads[None, :]
    if question.of is not None:
        whole = bool((found.evidence.whole | ~cross).all())
        answered = dataclasses.replace(answered, whole=whole)
        tied = cross & found.evidence.tied
        if not answered.certified and tied.any() and (tied | found.seen.over | ~cross).all():
            which = np.flatnonzero(tied.any(1) | tied.any(0))
            return _tied(answered, {table.names[option] for option in which})
    if answered.whole:
        return answered
    why = _contradiction(answered, question, table.names, cross, found)
    if why is not None:
        verdicts = dict.fromkeys(answered.names, "?")
        refuted = f"{why}: it is hardly true that {_assumed(question)}"
        return _ended(
            answered, verdicts, certificate=None, possible=answered.names, refuted=refuted
        )
    if question.order_by_lot is not None:  # for one look
        verdicts = {option.name: option.verdict for option in answered.options}
        return _ended(answered, verdicts, one_look=True)
    return answered


def _answer(
    question: Question, table: Table, pairs: Pairs, found: Judgement, notes: list[str]
) -> RaceOfTable:
    names, decided = table.names, found.decided
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
    ahead = next_runs(question, table, pairs, found.asked)
    beats = (found.evidence.plain >= found.levels.verdict).sum(1)
    options = []
    for option in decided.ranking:
        number = ahead.get(names[option], 0)
        options.append(
            Option(
                name=names[option],
                runs=len(table.values[option]),
                score=_score(question, table.values[option], found, option),
                beats=int(beats[option]),
                verdict=str(verdicts[option]),
                next=number if isinstance(number, int) else len(number),
            )
        )
    kind = "independent" if table.tasks is None else "shared"
    shown = _pairs(question, table, pairs, found)
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
        confidence=confidence(found.levels.verdict),
        next_runs=ahead,
        at_least=least_further(question, table, pairs, found),
        in_doubt=0 if is_certified else int(found.served.sum()),
        notes=tuple(notes),
        better=question.better(table),
    )


def _pairs(question: Question, table: Table, pairs: Pairs, found: Judgement) -> tuple[Pair, ...]:
    """The closest pairs across the boundary that have runs in common."""
    (ranking, top), evidence, names = (
        (found.decided.ranking, question.top),
        found.evidence,
        table.names,
    )
    first, second = (x.ravel() for x in np.meshgrid(ranking[:top], ranking[top:], indexing="ij"))
    order = np.argsort(evidence.highest[first, second].round(decision.DIGITS), kind="stable")
    order = order[evidence.has_runs[first, second][order]][:_MOST_PAIRS]
    first, second = at = first[order], second[order]
    if not len(first):
        return ()
    level = found.levels.verdict
    lows, highs = intervals(pairs, first, second, level, question.null)
    over, tied = found.seen.over[at], evidence.tied[at]
    against = (highs <= question.null) & ~over
    verdicts = np.select([tied, over, against], ["equal", "enough", "against"], "")
    effects = (question.effect(x) for x in (evidence.mean[at], lows, highs))
    numbers = zip(*(x.tolist() for x in (*effects, evidence.highest[at] / level)), strict=True)
    return tuple(
        Pair(names[i], names[j], *own, decided=verdict == "enough", verdict=verdict)
        for i, j, own, verdict in zip(*at, numbers, verdicts.tolist(), strict=True)
    )


def _score(question: Question, values: np.ndarray, found: Judgement, option: int) -> float | None:
    """The mean score, or by wins the mean of the win probabilities against the others."""
    if question.by == "mean":
        return float(values.astype(float).mean()) if len(values) else None
    others = len(found.evidence.mean) - 1
    if found.evidence.has_runs[option].sum() < others:
        return None
    return float((1 + found.evidence.mean[option].sum() / others) / 2)


def _contradiction(
    answered: RaceOfTable,
    question: Question,
    names: tuple[str, ...],
    cross: BoolArray,
    found: Judgement,
) -> str | None:
    """What contradicts itself across the boundary, if anything.

    That is a verdict of which the mean of all differences is on the other side; verdicts both
    ways, which no tolerance explains; or an estimate outside of its own interval, which is there
    whenever an interval is empty.
    """
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


def _tied(found: RaceOfTable, tied: set[str]) -> RaceOfTable:
    verdicts = {
        name: "tied" if name in tied else "in" if place < found.top else "out"
        for place, name in enumerate(found.names)
    }
    possible = [name for name, verdict in verdicts.items() if verdict != "out"]
    return _ended(
        found, verdicts, possible=possible, tied=[name for name in found.names if name in tied]
    )


def _ended(found: RaceOfTable, verdicts: dict[str, str], **fields: Any) -> RaceOfTable:
    """Nothing that could be run would help."""
    fields |= {"next_runs": {}, "at_least": 0, "in_doubt": 0}
    return _changed(found, verdicts, {"next": 0}, **fields)


def without_guarantee(found: RaceOfTable) -> RaceOfTable:
    """The same of runs that may depend on each other: a guess, and nothing that is certain."""
    nothing = {"certificate": None, "pairs": (), "more_pairs": 0, "at_least": 0}
    fields = {**nothing, "possible": found.names, "is_dependent": True}
    return _changed(found, dict.fromkeys(found.names, "?"), {"beats": 0}, **fields)


def _changed(
    found: RaceOfTable, verdicts: dict[str, str], of_options: dict[str, int], **fields: Any
) -> RaceOfTable:
    options = tuple(
        dataclasses.replace(one, verdict=verdicts[one.name], **of_options) for one in found.options
    )
    return dataclasses.replace(found, options=options, **fields)
