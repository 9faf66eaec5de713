"""The evidence of a table, what is certified, what to run next, and the answer. Axes: K options.

Evidence is a running maximum over the tasks or runs in their order. If they are alike, or in an
order by lot, what is certain early hardly ever turns. Where it has turned, the table is refused.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxrace.answers.answer import MOST_DRAWN
from jaxrace.evidence import decision, table_decision
from jaxrace.evidence.boundaries import board_levels, board_of
from jaxrace.evidence.decision import Seen
from jaxrace.evidence.forecast import UNLIKELY, forecast
from jaxrace.evidence.groups import GroupPairs
from jaxrace.evidence.levels import BoolArray, FloatArray, IntArray, Levels
from jaxrace.evidence.process import (
    MOST_OF_ALL_PAIRS,
    Evidence,
    Pairs,
    confidence,
    intervals,
    wanted_pairs,
)
from jaxrace.evidence.table_decision import TableDecision
from jaxrace.judging.alike import how_to_mend
from jaxrace.judging.next_runs import next_runs, number_of, progress, to_run
from jaxrace.judging.question import Question
from jaxrace.judging.result import Option, Pair, RaceOfTable
from jaxrace.judging.scores import ScoreTable

_MOST_PAIRS = 20  # whose intervals are found
_MOST_HELPED = 500  # options among which it is looked who may help, apart from pairs in doubt


class Judgement(NamedTuple):
    """What the evidence of a table comes to."""

    question: Question
    table: ScoreTable
    pairs: Pairs
    levels: Levels
    evidence: Evidence
    seen: Seen
    decided: TableDecision
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
    has_some = progress(table, pairs)
    beats = decision.seen_of(evidence.plain, evidence.mean, level.possible, level.strong)
    perhaps = decision.perhaps_best(beats.over, top)
    served = decided.served
    if decided.certificate is not None or not has_some.all():
        served = np.zeros_like(served)  # nothing is in doubt before all have something
    elif not served.any() and num_options <= _MOST_HELPED:
        served = table_decision.who_may_help(seen, top, is_tolerant=is_tolerant)
    asked = to_run(question, table, pairs, served)
    about = question, table, pairs
    return Judgement(*about, level, evidence, seen, decided, served, asked, *perhaps)


def _further(found: Judgement) -> tuple[int, float | None]:
    """Further runs of all options until nothing is in doubt: at least, and about.

    At least: each goes as its pair leans. About: pairs go on as so far; inf if that takes more than
    100 times what there is, None if some pair has no evidence yet.
    """
    question, table, pairs = found[:3]
    doubtful, over = found.served | found.decided.doubtful, found.seen.over
    first, second = np.nonzero(doubtful)
    if found.decided.certificate is not None or not len(first):
        return 0, 0
    # Where all of them have a verdict, strong ones are lacking.
    lacks_strong = question.by == "wins" and not question.tolerance
    lacks_strong &= bool((over | over.T)[doubtful].all())
    level = found.levels.strong if lacks_strong else found.levels.verdict
    # The order of each pair that looks right.
    turn = found.evidence.mean[first, second] < 0
    first, second = np.where(turn, second, first), np.where(turn, first, second)
    process = pairs.process(first, second, question.null)
    least = pairs.least_further(process, question.null, level)
    levels, weights = np.full(len(first), level), pairs.bets.weights
    about = np.maximum(forecast(process, levels, weights, question.of), least)
    is_likely = bool((about <= UNLIKELY * process.common).all())
    has_some = bool(process.common.all())

    def total(further: FloatArray | IntArray) -> int:
        most = table.progress.copy()
        for option in (first, second):
            np.maximum.at(most, option, process.common + further.astype(int))
        return int((most - table.progress).sum())

    return total(least), total(about) if is_likely else math.inf if has_some else None


def answer(found: Judgement, notes: list[str]) -> RaceOfTable:
    """What is certain, by name; or that the race is tied, or refused."""
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
        return _ended(answered.without_verdicts(), {}, refused=why)
    if question.order_by_lot is not None:
        return _ended(answered, {}, one_look=True)
    return _ended(answered, {}) if question.is_complete else answered


def _ended(answered: RaceOfTable, verdicts: dict[str, str], **fields: Any) -> RaceOfTable:
    """With other verdicts: nothing that could be run would help."""
    options = tuple(
        dataclasses.replace(one, verdict=verdicts.get(one.name, one.verdict), next=0)
        for one in answered.options
    )
    fields |= {"options": options, "next_runs": {}, "at_least": 0, "about": 0, "in_doubt": 0}
    return dataclasses.replace(answered, **fields)


def _answer(found: Judgement, notes: list[str]) -> RaceOfTable:
    question, table, names, decided = found.question, found.table, found.table.names, found.decided
    is_certified = decided.certificate is not None
    possible = found.is_possible
    if is_certified and not question.tolerance:
        possible = decided.leads
        if decided.certificate == "counts":
            equal = found.evidence.tied
            possible = possible | decision.perhaps_tied(found.seen.strong, decided.leads, equal)
    verdicts = np.where(possible, "?", "out").astype(object)
    if is_certified:
        verdicts[decided.leads] = "good enough" if question.tolerance else "in"
    if question.tolerance or not is_certified:
        verdicts[found.is_sure] = "in"
    ahead = next_runs(question, table, found.pairs, found.asked)
    at_least, about = _further(found)
    beats = (found.evidence.plain >= found.levels.verdict).sum(1)
    options = tuple(
        Option(
            name=names[option],
            runs=len(table.values[option]),
            score=_score(found, option),
            beats=int(beats[option]),
            verdict=str(verdicts[option]),
            next=number_of(ahead, names[option]),
        )
        for option in decided.ranking
    )
    shown, closest = _pairs(found)
    return RaceOfTable(
        top=question.top,
        delta=question.delta,
        by=question.by,
        kind=question.kind_of_runs,
        tolerance=question.tolerance,
        certificate=decided.certificate,
        options=options,
        possible=[names[option] for option in decided.ranking if possible[option]],
        pairs=shown,
        closest=closest,
        more_pairs=question.top * (len(names) - question.top) - len(shown),
        confidence=confidence(found.levels.verdict),
        next_runs=ahead,
        at_least=at_least,
        about=about,
        in_doubt=0 if is_certified else int(found.served.sum()),
        notes=tuple(notes),
        better=question.better(table),
        of=question.of,
        out_from=found.levels.possible / found.levels.verdict,
        tiers=_tiers(found),
    )


def _tiers(found: Judgement) -> list[list[str]]:
    """The names in each tier that is certain, best first; of many options none are looked for."""
    names = found.table.names
    if len(names) > MOST_OF_ALL_PAIRS:
        return [list(names)]
    level = board_levels(found.question.by, len(names), found.question.delta)
    plain = decision.seen_of(found.evidence.plain, found.evidence.mean, *level[:2])
    board = board_of(plain.over, plain.strong, found.evidence.mean)
    return [[names[one] for one in part] for part in np.split(board.ranking, board.ends)]


def _pairs(found: Judgement) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """The closest pairs across the boundary that have runs in common; and of other options."""
    question, evidence = found.question, found.evidence
    ranking, top = found.decided.ranking, question.top
    first, second = (x.ravel() for x in np.meshgrid(ranking[:top], ranking[top:], indexing="ij"))
    order = np.argsort(evidence.highest[first, second].round(table_decision.DIGITS), kind="stable")
    order = order[evidence.has_runs[first, second][order]]
    first, second = first[order], second[order]
    drawn = {*ranking[:MOST_DRAWN].tolist()}
    places = (np.unique(options, return_index=True) for options in (first, second))
    others = [n for x in places for option, n in zip(*x, strict=True) if option in drawn]
    others = sorted({n for n in others if n >= _MOST_PAIRS})
    shown = [*range(min(_MOST_PAIRS, len(first))), *others]
    told = _told(found, first[shown], second[shown])
    return told[:_MOST_PAIRS], told[_MOST_PAIRS:]


def _told(found: Judgement, first: np.ndarray, second: np.ndarray) -> tuple[Pair, ...]:
    """How much better options [P] are than others [P], with intervals."""
    question, names, evidence = found.question, found.table.names, found.evidence
    at, level = (first, second), found.levels.verdict
    if not len(first):
        return ()
    lows, highs = intervals(found.pairs, first, second, level, question.null)
    over, tied = found.seen.over[at], evidence.tied[at]
    against = (highs <= question.null) & ~over
    verdicts = np.select([tied, over, against], ["equal", "enough", "against"], "")
    effects = (question.effect(x) for x in (evidence.mean[at], lows, highs))
    numbers = zip(*(x.tolist() for x in (*effects, evidence.highest[at] / level)), strict=True)
    return tuple(
        Pair(
            *(names[i], names[j], *own),
            level=confidence(level),
            decided=verdict == "enough",
            verdict=verdict,
        )
        for i, j, own, verdict in zip(*at, numbers, verdicts.tolist(), strict=True)
    )


def _score(found: Judgement, option: int) -> float | None:
    """The mean score, or by wins the mean of the win probabilities against the others."""
    if found.question.by == "mean":
        return mean_score(found.question, found.table, found.pairs, option)
    others = len(found.evidence.mean) - 1
    if found.evidence.has_runs[option].sum() < others:
        return None
    return float((1 + found.evidence.mean[option].sum() / others) / 2)


def mean_score(question: Question, table: ScoreTable, pairs: Pairs, option: int) -> float | None:
    """Of all runs of an option, or over groups of tasks as they are weighted; None without any."""
    values = table.values[option]
    if isinstance(pairs, GroupPairs) and len(values):
        own = pairs.own_means()
        return float(question.scores_of(table, own, own, own)[0, option])
    return float(values.astype(float).mean()) if len(values) else None


def _contradiction(answered: RaceOfTable, found: Judgement, cross: BoolArray) -> str:
    """What contradicts itself across the boundary, if anything.

    Or an estimate that is outside of its own interval, as whenever an interval is empty.
    """
    about = found.question, found.table, found.seen, found.levels.verdict
    if why := contradiction(*about, cross | cross.T):
        return why
    for pair in answered.pairs:
        if not pair.low <= pair.estimate <= pair.high:
            why = outside(pair.better, pair.worse, pair.estimate, pair.low, pair.high)
            return refusal(why, found.question, found.table)
    return ""


def outside(one: str, other: str, estimate: float, low: float, high: float) -> str:
    """That a difference is outside of its own interval, which looks may have left empty."""
    interval = f"its own interval, {low:.5g} to {high:.5g}"
    if low > high:
        interval = f"all intervals so far: at least {low:.5g}, and at most {high:.5g}"
    of_all = f"over all of the table the difference of {one} and {other} is {estimate:.5g}"
    return f"{of_all}, outside of {interval}"


def contradiction(
    question: Question, table: ScoreTable, seen: Seen, level: float, among: BoolArray
) -> str:
    """What contradicts itself among pairs, bool [K, K], if anything; and what that refutes.

    A verdict against the mean of all differences; or verdicts both ways, which no tolerance
    explains.
    """
    names, reached = table.names, (seen.highest >= level) & among
    null = 0.0 if question.kind == "rank" else question.null
    early = "was certain at an earlier look, but over all of the table"
    for i, j in np.argwhere(reached & (seen.mean < null)):
        why = f"that {names[i]} is better than {names[j]} {early} {names[j]} is better"
        return refusal(why, question, table)
    if not null:
        for i, j in np.argwhere(reached & reached.T):
            why = f"both {names[i]} over {names[j]} and {names[j]} over {names[i]} were certain"
            return refusal(why, question, table)
    return ""


def refusal(why: str, question: Question, table: ScoreTable) -> str:
    """What does not look like what is assumed, why, and how often that is chance alone.

    The rates are those of docs/theory/assumptions.md, of two options.
    """
    looks = f"{'tasks' if question.shared else 'runs'} do not look alike"
    if question.of is not None:
        looks = "the order of the tasks does not look drawn by lot"
    odds = "where it is true, chance alone does so to 1 or 2 of 100 tables at delta 0.05"
    doubt = f"nothing is certified, as it is in doubt ({odds}) that {_assumed(question, table)}"
    return f"{looks}: {why}: {doubt}"


def _assumed(question: Question, table: ScoreTable) -> str:
    """What is assumed, and what to do if it is not true."""
    if not question.shared:
        return "runs are alike and independent; what changed from run to run?"
    if question.of is not None:
        advice = "once all tasks of the list are run, their order does not matter"
        return f"the order of the tasks was drawn by lot; {advice}"
    if question.order_by_lot is not None:
        return "the tasks are alike; ask again with more tasks, in a table of their own"
    return f"the tasks are alike; {how_to_mend(table)}"
