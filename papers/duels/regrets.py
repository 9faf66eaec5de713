"""How well bandits have done on a matrix, beside what it is like."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from jaxrace.answers.answer import Shown
from jaxrace.judging.standing import Arm, DuelOfMatrix, Meeting


@dataclasses.dataclass(frozen=True)
class Bandit:
    """How an algorithm has found the best arm: means of its runs."""

    name: str
    correct: float  # share of the runs that recommend a best arm in the end
    explored: float | None  # duels until it was sure; None: never
    sure: float  # share of the runs in which it was
    favourite: str  # the arm that is recommended most
    copeland: float  # regret, with its standard error, as the others
    copeland_stderr: float | None
    borda: float
    borda_stderr: float | None
    weak: float | None = None  # this and the next where an arm beats every other one
    weak_stderr: float | None = None
    strong: float | None = None
    strong_stderr: float | None = None


@dataclasses.dataclass(frozen=True)
class Regrets(DuelOfMatrix):
    """The answer of ``python -m papers.duels``."""

    ROWS: ClassVar = {"options": Arm, "pairs": Meeting, "bandits": Bandit}

    bandits: tuple[Bandit, ...] = ()
    about: str = ""  # the runs of these

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Regrets":
        """The same again, of what ``to_dict`` gives."""
        given: dict[str, Any] = {field.name: found[field.name] for field in dataclasses.fields(cls)}
        for name, kind in cls.ROWS.items():
            given[name] = tuple(kind(**row) for row in given[name])
        given["notes"] = tuple(given["notes"])
        return cls(**given)

    def asked(self) -> str:
        """The question in a line."""
        return f"{super().asked()}; {self.about}"

    def tables(self) -> list[Shown]:
        """Those of the matrix, and the algorithms."""
        # The other regrets are in the frame.
        measures = ("strong", "copeland") if self.condorcet else ("copeland", "borda")
        heads = ["algorithm", *(f"{measure} regret" for measure in measures)]
        rows = []
        for one in self.bandits:
            explored = "-" if one.explored is None else f"{one.explored:,.0f}"
            if one.explored is not None and one.sure < 1:
                explored += f" ({one.sure:.0%})"
            regrets = [
                _number(getattr(one, measure), getattr(one, f"{measure}_stderr"))
                for measure in measures
            ]
            rows.append([one.name, *regrets, f"{one.correct:.3f}", explored, one.favourite])
        heads += ["correct", "explored in", "favourite"]
        return [*super().tables(), Shown(heads, rows)]


def _number(mean: float, stderr: float | None) -> str:
    digits = 0 if mean >= 100 else 1
    return f"{mean:,.{digits}f}" + ("" if stderr is None else f" ± {stderr:,.{digits}f}")
