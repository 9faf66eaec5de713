"""How a person reads what a race by e-values found. Axes: K options, L bets, Q nulls."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxrace.answers.answer import who_may
from jaxrace.evidence.decision import COUNTS, DOMINANCE, EXHAUSTED
from jaxrace.racing.certified.blocks import DominanceResult, rounds_to_tell
from jaxrace.racing.certified.result import TIE
from jaxrace.racing.certified.tasks import SharedResult
from jaxrace.racing.report import MAX_LISTED, Report, span
from jaxrace.racing.result import REPORTS

# Pairs in doubt that a report names.
_MOST_PAIRS = 5


class CertifiedReport(Report):
    """Of a race by e-values."""

    tied_how = "perhaps equally good, and {taken}"

    def __init__(self, result: Any) -> None:
        super().__init__(result)
        self.number, self.is_near = result.certificate_number, np.max(self.numbers.tolerance) > 0
        one = result.top == 1
        self.first = "the first" if one else "each of the first"
        self.guess = "the first one is a guess" if one else f"the first {result.top} are a guess"

    def bounded(self) -> bool:
        return self.result.by == "mean"

    def words(self) -> dict[str, str]:
        # Within a tolerance others may be better by less.
        if self.is_near and self.result.decided and self.is_certain():
            return {"good enough": "good enough", "?": "the others"}
        return super().words()

    def columns(self) -> dict[str, NDArray[Any]]:
        return {"beats": (self.result.log_highest >= float(self.numbers.level)).sum(-1)}

    def notes(self) -> dict[str, str]:
        """Who may be among the best, and how sure that and single verdicts are."""
        if self.result.heuristic:
            return {}
        level, delta = float(self.numbers.level), span(self.numbers.delta)
        notes = {"beats": f"each verdict is wrong with probability at most {math.exp(-level):.2g}"}
        if self.result.decided:
            return notes
        ranking = np.asarray(self.result.ranking)
        sure, possible = (
            [str(option) for option in ranking if mask[option]]
            for mask in (np.asarray(self.result.selected), np.asarray(self.result.possible))
        )
        told = who_may(self.result.by, self.result.top, possible, sure, self.result.num_options)
        if sure or len(possible) < self.result.num_options:
            told += f"; wrong with probability at most {delta}"
        return {"so far": told, **notes}


class DominanceReport(CertifiedReport):
    """Of a ``DominanceRace``."""

    def promise(self) -> str:
        wrong = f"a wrong certificate has probability at most {span(self.numbers.delta)}"
        if self.is_near:
            wrong = f"no other option is better by {span(self.numbers.tolerance)} or more: {wrong}"
        if self.result.by == "mean":
            return f"{wrong}, if scores are in their range"
        return f"{wrong}, whatever the preferences"

    def title(self) -> str:
        how = " by mean" if self.result.by == "mean" else ""
        return f"dominance race{how}, delta {span(self.numbers.delta)}"

    def progress(self) -> str:
        number = int(self.number)
        verdict = "NOT certified, but ended by rule" if self.result.heuristic else "CERTIFIED"
        if number == DOMINANCE and self.is_near:
            return f"{verdict} (a): none of the others is better by {span(self.numbers.tolerance)}"
        if number == DOMINANCE and self.result.by == "mean":
            return f"{verdict} (a): the mean of {self.first} is at least that of each of the others"
        if number == DOMINANCE:
            return f"{verdict} (a): {self.first} is preferred to each of the others"
        if number == COUNTS:
            return f"{verdict} (b): certain wins and losses settle the scores"
        if number != EXHAUSTED:
            return f"NOT certified yet; {self.guess}"
        limit, blocks = int(self.numbers.max_rounds), self.result.blocks
        used = int(np.max(self.result.samples)) if limit >= blocks.first else 0
        needs = blocks.later if used else blocks.first
        room = "" if used == limit else f", the next block needs {needs}"
        return f"NOT certified, out of room: {used} of {limit} samples used{room}; {self.guess}"

    def notes(self) -> dict[str, str]:
        """Further, which pairs are in doubt, and which samples would help."""
        notes = super().notes()
        if self.result.decided:
            return notes
        level = float(self.numbers.level)
        # Of the two orders of a pair: the guess need not be the one that was drawn for.
        highest = np.maximum(self.result.log_highest, self.result.log_highest.T)
        doubtful = np.argwhere(np.asarray(self.result.doubtful))
        pairs = sorted(map(tuple, doubtful), key=lambda pair: highest[pair])
        shown = [
            f"{i} or {j} ({_share(float(highest[i, j]), level)})" for i, j in pairs[:_MOST_PAIRS]
        ]
        more = f" and {len(pairs) - _MOST_PAIRS} more" if len(pairs) > _MOST_PAIRS else ""
        asked = np.flatnonzero(self.result.asked)
        if not asked.size:
            full = int(self.numbers.max_rounds) >= self.result.capacity
            wider = "a race of larger capacity" if full else "a larger max_rounds"
            help_text = f"{wider}: the samples of the pairs in doubt are used up"
        else:
            number = rounds_to_tell(self.result.blocks, self.result)
            help_text = f"{number} more sample{'s' if number > 1 else ''} of "
            help_text += ", ".join(map(str, asked[:MAX_LISTED]))
        return notes | {"in doubt": ", ".join(shown) + more or "-", "would help": help_text}


class SharedReport(CertifiedReport):
    """Of a ``SharedRace``."""

    unit = "task"

    def promise(self) -> str:
        best = "highest mean" if self.result.by == "mean" else "the most wins"
        if self.is_near:
            best = f"{best} within {span(self.numbers.tolerance)}"
        tasks = "on the whole list of tasks" if self.result.finite else "on tasks like these"
        return (
            f"{best}, {tasks}: a wrong certificate has probability at most "
            f"{span(self.numbers.delta)}, however options depend on each other within a task"
        )

    def title(self) -> str:
        number = span(self.numbers.max_rounds)
        tasks = f"a list of {number} tasks" if self.result.finite else f"at most {number} tasks"
        return f"race by {self.result.by} on {tasks}, delta {span(self.numbers.delta)}"

    def progress(self) -> str:
        number = int(self.number)
        if number == DOMINANCE:
            return f"CERTIFIED (a): {self.first} is over each of the others"
        if number == COUNTS:
            return "CERTIFIED (b): certain wins and losses settle the scores"
        if not self.result.decided and (tied := self._equal()):
            return f"TIED on the whole list: {', '.join(tied)}"
        played = int(np.max(self.result.samples))
        how = f"after {played} tasks" if number == EXHAUSTED else "yet"
        return f"NOT certified {how}; {self.guess}"

    def _equal(self) -> list[str]:
        """Options that are equal on the whole list, where nothing else is open at the boundary."""
        inside, outside = np.split(np.asarray(self.result.ranking), [self.result.top])
        cross = np.ix_(inside, outside)
        run = np.asarray(self.result.samples) == int(self.numbers.max_rounds)
        is_tied = self.result.finite & (run[:, None] & run[None, :])[cross]
        is_tied &= abs(np.asarray(self.result.mean_difference)[cross]) <= TIE
        if not (is_tied | (self.result.log_highest[cross] >= float(self.numbers.level))).all():
            return []
        found = np.concatenate([inside[is_tied.any(1)], outside[is_tied.any(0)]])
        return [str(option) for option in found]

    def notes(self) -> dict[str, str]:
        """Further, how far the evidence is, and whose further tasks would help."""
        notes = super().notes()
        if self.result.decided:
            return notes
        ranking = np.asarray(self.result.ranking)
        inside, outside = ranking[: self.result.top], ranking[self.result.top :]
        worst = float(self.result.log_highest[np.ix_(inside, outside)].min())
        share = math.floor(100 * max(worst, 0) / float(self.numbers.level))
        asked = np.asarray(self.result.asked)
        wanted = [f"{asked[i]} of {i}" for i in ranking if asked[i]][:MAX_LISTED]
        return notes | {
            "in doubt": f"{min(share, 99)} % of the evidence for the pair that has least",
            "next tasks": ", ".join(wanted) or "-",
        }


def _share(log_e: float, level: float) -> str:
    """How far the evidence has come, on the scale of logarithms."""
    # Cut off: what is in doubt must not read like 100 %.
    return f"{math.floor(100 * max(log_e, 0) / level)} % of the evidence"


REPORTS |= {DominanceResult: DominanceReport, SharedResult: SharedReport}
