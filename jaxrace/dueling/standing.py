"""Who stands where in a matrix of who beats whom, by name. Axes: K arms."""

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from jaxrace.answers import (
    MOST_SHOWN,
    Ranking,
    Shown,
    draw_heat,
    finite,
    first_of,
    labels,
    listed,
    panels,
)
from jaxrace.data import Matrix, read_matrix
from jaxrace.dueling import winners
from jaxrace.dueling.matrices import check_matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True)
class Arm:
    """One arm."""

    name: str
    beats: int  # so many of the others
    wins: float  # mean probability to beat one of the others
    played: float  # how often by who knows the matrix: the von Neumann winner
    copeland: bool  # does nobody beat more of the others?
    borda: bool  # has nobody a higher mean?
    smith: bool  # is it in the smallest set whose members beat all others?


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
class Standing(Ranking):
    """The answer of ``dueling.standing`` and of ``jaxrace duel``. Print it, or see its fields."""

    ROWS: ClassVar = {"options": Arm, "bandits": Bandit}

    top: int  # arms that beat the most others
    options: tuple[Arm, ...]  # best first: who beats the most others, then by wins
    condorcet: bool  # does the first beat every other one?
    shares: list[list[float]]  # how likely i beats j, of the first 20, in that order
    notes: tuple[str, ...] = ()
    bandits: tuple[Bandit, ...] = ()
    about: str = ""  # the runs of these

    def to_dict(self) -> dict[str, Any]:
        """Everything, of what JSON knows."""
        return finite(dataclasses.asdict(self) | {"best": self.best})

    def plot(self) -> "Figure":
        """A matplotlib figure: who beats how many, and how likely each row beats each column."""
        shown = self.options[:MOST_SHOWN]
        figure, (ranking, pairs) = panels(self.headline(), 2 * len(shown), (2, 3), self.names)
        for place, one in enumerate(shown):
            ranking.barh(place, one.wins, color="C0" if one.copeland else "0.65")
            ranking.text(0.02, place, f"beats {one.beats}", va="center")
        ranking.axvline(0.5, color="0.3", lw=0.8)
        names = labels([one.name for one in shown])
        ranking.set_yticks(range(len(shown)), names)
        ranking.set_ylim(len(shown) - 0.4, -0.6)
        title = "who stands where" + first_of(shown, len(self.options))
        ranking.set(title=title, xlabel="win probability, mean over the others")
        cells = np.array(self.shares, float)
        np.fill_diagonal(cells, np.nan)
        draw_heat(pairs, cells)
        pairs.grid(visible=False)
        pairs.set_ylim(len(shown) - 0.5, -0.5)
        pairs.set_xticks(range(len(shown)), names, rotation=90)
        pairs.set_yticks(range(len(shown)), [])
        pairs.set(title="how likely the row beats the column")
        return figure

    def asked(self) -> str:
        """The question in a line."""
        return f"Who beats whom, of {len(self.options)} options{self.about and f'; {self.about}'}"

    def headline(self) -> str:
        """The answer in a line."""
        if self.condorcet:
            return f"BEST: {listed(self.best)}, which beats every other one"
        beaten = f"{self.options[0].beats} of {len(self.options) - 1}"
        return f"NOBODY BEATS ALL OTHERS; the most, {beaten}: {listed(self.best)}"

    def meaning(self) -> str:
        """Who is the best in other ways, too."""
        winner = self.names[0] if self.condorcet else "none"
        found = [f"Condorcet winner {winner}"]
        for kind, is_in in (
            ("Copeland winners", lambda one: one.copeland),
            ("Borda winners", lambda one: one.borda),
            ("Smith set", lambda one: one.smith),
        ):
            found.append(f"{kind} {listed([one.name for one in self.options if is_in(one)])}")
        return ", ".join(found)

    def tables(self) -> list[Shown]:
        """The arms, best first, of which the first 20, and the algorithms."""
        rows = [
            [str(place + 1), one.name, str(one.beats), f"{one.wins:.4g}", f"{one.played:.0%}"]
            for place, one in enumerate(self.options[:MOST_SHOWN])
        ]
        heads = ["", "option", "beats", "wins", "best mixture"]
        shown = [Shown(heads, rows, len(self.options) - len(rows))]
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
        return [*shown, *([Shown(heads, rows)] if rows else [])]


def _number(mean: float, stderr: float | None) -> str:
    digits = 0 if mean >= 100 else 1
    return f"{mean:,.{digits}f}" + ("" if stderr is None else f" ± {stderr:,.{digits}f}")


def standing(data: Any, **columns: Any) -> Standing:
    """Say who is the best in a matrix of who beats whom, and how all others stand.

    Probabilities are taken as they are. How sure an order is that comes from a few games, says
    ``jaxrace.select``.

    Args:
        data: Who beats whom, as ``jaxrace.data.read_matrix`` takes it: probabilities or wins of the
            row against the column, in a data frame, columns by name, or the path of a file; or
            what that has read.
        **columns: ``decimal`` and ``delimiter`` of ``read_matrix``.

    Raises:
        ValueError: It is no such matrix.

    >>> wins = {"ann": [0, 1, 3], "bob": [4, 0, 2], "cy": [1, 3, 0]}  # columns, below them rows
    >>> result = standing(wins)
    >>> result.condorcet, result.best, [arm.beats for arm in result.options]
    (False, ['cy', 'ann', 'bob'], [1, 1, 1])
    """
    found = data if isinstance(data, Matrix) else read_matrix(data, argument="data", **columns)
    matrix = check_matrix(found.probabilities)
    beats, wins = (matrix > 0.5).sum(1), np.asarray(winners.borda_scores(matrix), float)
    order = np.lexsort((-wins, -beats))
    played = winners.von_neumann_winner(matrix)
    sets = (
        winners.copeland_winners(matrix),
        winners.borda_winners(matrix),
        winners.smith_set(matrix),
    )
    arms = tuple(
        Arm(
            found.names[arm],
            int(beats[arm]),
            round(float(wins[arm]), 6),
            round(float(played[arm]), 6),
            *(bool(members[arm]) for members in sets),
        )
        for arm in order
    )
    first = order[:MOST_SHOWN]
    return Standing(
        top=int(sets[0].sum()),
        options=arms,
        condorcet=winners.condorcet_winner(matrix) is not None,
        shares=matrix[np.ix_(first, first)].astype(float).round(6).tolist(),
        notes=found.said,
    )
