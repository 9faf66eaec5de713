"""What a race on shared tasks found, and how a person reads it. Axes: K options, Q nulls."""

import dataclasses
import math

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace.racing.dominance.result import CertifiedResult, FloatArray
from jaxrace.racing.dominance.state import COUNTS, DOMINANCE, EXHAUSTED
from jaxrace.racing.result import MAX_LISTED, span
from jaxrace.racing.shared.state import TIE


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class SharedResult(CertifiedResult):
    """The result of a ``SharedRace``."""

    highest: jax.Array  # float32 [Q, K, K], ln of the largest E_ij in the course of the race
    mean_difference: jax.Array  # float32 [K, K], over the common tasks, in [-1, 1]
    asked: jax.Array  # int32 [K], how many further tasks each would run next
    finite: bool = dataclasses.field(metadata={"static": True})

    @property
    def evaluations(self) -> NDArray[np.int64]:
        """Outcomes of all options together: int64 [...]."""
        return np.asarray(self.samples, np.int64).sum(-1)

    @property
    def log_highest(self) -> FloatArray:
        return np.asarray(self.highest, np.float64)[..., 0, :, :]

    @property
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two options on a task that the race counted."""
        samples = np.asarray(self.samples, np.int64)
        shared = np.minimum(samples[..., :, None], samples[..., None, :])
        return np.triu(shared, 1).sum((-2, -1))

    def _promise(self) -> str:
        best = "highest mean" if self.by == "mean" else "the most wins"
        if np.max(self.params.tolerance) > 0:
            best = f"{best} within {span(self.params.tolerance)}"
        tasks = "on the whole list of tasks" if self.finite else "on tasks like these"
        return (
            f"{best}, {tasks}: a wrong certificate has probability at most "
            f"{span(self.params.delta)}, however options depend on each other within a task"
        )

    def _title(self) -> str:
        number = span(self.params.max_rounds)
        tasks = f"a list of {number} tasks" if self.finite else f"at most {number} tasks"
        return f"race by {self.by} on {tasks}, delta {span(self.params.delta)}"

    def _progress(self) -> str:
        number = int(self.certificate_number)
        if number == DOMINANCE:
            return f"CERTIFIED (a): {self._first} is over each of the others"
        if number == COUNTS:
            return "CERTIFIED (b): certain wins and losses settle the scores"
        if not self.decided and (tied := self._equal()):
            return f"TIED on the whole list: {', '.join(tied)}"
        played = int(np.max(self.samples))
        how = f"after {played} tasks" if number == EXHAUSTED else "yet"
        return f"NOT certified {how}; {self._guess}"

    def _equal(self) -> list[str]:
        """Options that are equal on the whole list, where nothing else is open at the boundary."""
        inside, outside = np.split(np.asarray(self.ranking), [self.top])
        cross = np.ix_(inside, outside)
        run = np.asarray(self.samples) == int(self.params.max_rounds)
        is_tied = self.finite & (run[:, None] & run[None, :])[cross]
        is_tied &= abs(np.asarray(self.mean_difference)[cross]) <= TIE
        if not (is_tied | (self.log_highest[cross] >= float(self.params.level))).all():
            return []
        found = np.concatenate([inside[is_tied.any(1)], outside[is_tied.any(0)]])
        return [str(option) for option in found]

    def _notes(self) -> dict[str, str]:
        """Further, how far the evidence is, and whose further tasks would help."""
        notes = super()._notes()
        if self.decided:
            return notes
        ranking = np.asarray(self.ranking)
        inside, outside = ranking[: self.top], ranking[self.top :]
        worst = float(self.log_highest[np.ix_(inside, outside)].min())
        share = math.floor(100 * max(worst, 0) / float(self.params.level))
        asked = np.asarray(self.asked)
        wanted = [f"{asked[i]} of {i}" for i in ranking if asked[i]][:MAX_LISTED]
        return notes | {
            "in doubt": f"{min(share, 99)} % of the evidence for the pair that has least",
            "next tasks": ", ".join(wanted) or "-",
        }
