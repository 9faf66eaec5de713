"""Ends of a race that are no certificate: a tie on a whole list, and what the table itself refutes.

Evidence is a running maximum over the tasks or runs in their order. If they are alike, or in an
order by lot, what is certain early hardly ever turns. Where it has turned, they are not: the
certificate is not given. Axes: K options.
"""

import dataclasses

import numpy as np

from jaxrace.evidence.decision import BoolArray, Seen
from jaxrace.evidence.process import Evidence
from jaxrace.judging.question import Question
from jaxrace.judging.result import RaceOfTable


def with_end(
    found: RaceOfTable,
    question: Question,
    names: tuple[str, ...],
    leads: BoolArray,
    seen: Seen,
    evidence: Evidence,
) -> RaceOfTable:
    """The answer, as refuted or tied if it is that.

    Args:
        found: What the verdicts say.
        question: What was asked.
        names: Of the options.
        leads: The first kappa, bool [K].
        seen: What the decision was taken on.
        evidence: Of all pairs.
    """
    cross = leads[:, None] & ~leads[None, :]
    if question.of is not None:
        found = dataclasses.replace(found, whole=bool((evidence.whole | ~cross).all()))
        tied = cross & evidence.tied
        if not found.certified and tied.any() and (tied | seen.over | ~cross).all():
            which = tied.any(1) | tied.any(0)
            return _tied(found, [names[option] for option in np.flatnonzero(which)])
    if found.whole:
        return found
    why = _contradiction(found, question, names, cross, seen)
    if why is not None:
        return _refuted(found, question, why)
    if question.order_by_lot is not None:  # for one look
        found = _ended(found, {option.name: option.verdict for option in found.options})
        return dataclasses.replace(found, one_look=True)
    return found


def _contradiction(
    found: RaceOfTable,
    question: Question,
    names: tuple[str, ...],
    cross: BoolArray,
    seen: Seen,
) -> str | None:
    """What contradicts itself across the boundary, if anything.

    That is a verdict of which the mean of all differences is on the other side; verdicts both
    ways, which no tolerance explains; or an estimate outside of its own interval, which is there
    whenever an interval is empty.
    """
    level = question.levels(len(names)).verdict
    reached = (seen.highest >= level) & (cross | cross.T)
    turned = reached & (seen.mean < question.null)
    early = "was certain at an earlier look at the table, though over all of it"
    for i, j in np.argwhere(turned):
        return f"that {names[i]} is better than {names[j]} {early} {names[j]} is better"
    if not question.tolerance:
        for i, j in np.argwhere(reached & reached.T):
            return f"both {names[i]} over {names[j]} and {names[j]} over {names[i]} were certain"
    for pair in found.pairs:
        if not pair.low <= pair.estimate <= pair.high:
            between = f"{pair.low:.3g} to {pair.high:.3g}"
            return (
                f"by how much {pair.better} is better than {pair.worse}, {pair.estimate:.3g} over "
                f"all of the table, is outside of its own interval, {between}"
            )
    return None


def _refuted(found: RaceOfTable, question: Question, why: str) -> RaceOfTable:
    if not question.shared:
        assumed, advice = "runs are alike and independent", "what changed from run to run?"
    elif question.of is not None:
        assumed = "the order of the tasks was drawn by lot"
        advice = "once all tasks of the list are run, their order does not matter"
    elif question.order_by_lot is not None:
        assumed, advice = "the tasks are alike", "with more tasks, in a table of its own, ask again"
    else:
        assumed = "the tasks are alike"
        advice = (
            "order_by_lot=SEED (--order-by-lot SEED) puts those of a complete table in a random "
            "order, for one look; of=N (--of N) asks about these N tasks, once all of them are run"
        )
    return dataclasses.replace(
        _ended(found, dict.fromkeys(found.names, "?")),
        certificate=None,
        possible=found.names,
        refuted=f"{why}: it is hardly true that {assumed}; {advice}",
    )


def _tied(found: RaceOfTable, tied: list[str]) -> RaceOfTable:
    verdicts = {
        name: "tied" if name in tied else "in" if place < found.top else "out"
        for place, name in enumerate(found.names)
    }
    possible = [name for name, verdict in verdicts.items() if verdict != "out"]
    tied = [name for name in found.names if name in tied]
    return dataclasses.replace(_ended(found, verdicts), possible=possible, tied=tied)


def _ended(found: RaceOfTable, verdicts: dict[str, str]) -> RaceOfTable:
    """Nothing that could be run would help."""
    rows = (dataclasses.replace(x, verdict=verdicts[x.name], next=0) for x in found.options)
    nothing = {"next_runs": {}, "at_least": 0, "in_doubt": 0}
    return dataclasses.replace(found, options=tuple(rows), **nothing)
