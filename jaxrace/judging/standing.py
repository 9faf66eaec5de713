"""Who stands where in a matrix of who beats whom: the front door. Axes: K options."""

import dataclasses
import itertools
import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from jaxrace.answers import style
from jaxrace.answers.answer import (
    MOST_SHOWN,
    Ranking,
    Shown,
    draw_heat,
    first_of,
    list_down,
    listed,
    panels,
)
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.judging import winners
from jaxrace.tables import Matrix, read_matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DELTA = 0.05  # of all pairs together: that one is called clear in the wrong direction


@dataclasses.dataclass(frozen=True)
class Arm:
    """One arm."""

    name: str
    beats: int  # so many of the others
    clearly: int | None  # of them, where counts are clear; None of probabilities
    wins: float  # mean probability to beat one of the others
    played: float  # its share of the von Neumann winner, a mixture
    copeland: bool  # does no other arm beat more?
    borda: bool  # does no other arm have a higher mean?
    smith: bool  # is it in the smallest set whose members beat all others?


@dataclasses.dataclass(frozen=True)
class Meeting:
    """The duels of two options that were counted."""

    first: str
    second: str
    won: float  # by the first; a draw is a half for both
    lost: float
    clear: bool  # is it clear which one is better?


@dataclasses.dataclass(frozen=True)
class DuelOfMatrix(Ranking):
    """The answer of ``jaxrace.duel`` and of ``jaxrace duel``. Print it, or see its fields."""

    ROWS: ClassVar = {"options": Arm, "pairs": Meeting}
    ALSO: ClassVar = ("best",)

    top: int  # arms that beat the most others
    options: tuple[Arm, ...]  # best first: who beats the most others, then by wins
    condorcet: bool  # does the first beat every other one?
    shares: list[list[float]]  # how likely i beats j, of the first 20, in that order
    pairs: tuple[Meeting, ...] = ()  # of counts: those of the same options
    notes: tuple[str, ...] = ()

    @property
    def is_answered(self) -> bool:
        """Is it clear what the numbers say, if they are counts: that one beats every other?"""
        return self.options[0].clearly in (None, len(self.options) - 1)

    def plot(self) -> "Figure":
        """A matplotlib figure: who beats how many, and how likely each row beats each column."""
        shown, called = self.options[:MOST_SHOWN], self.labels()
        names = [called[one.name] for one in shown]
        rows = 2 * len(shown) + max(map(len, names)) // 4  # columns have names below
        figure, (ranking, pairs) = panels(self.headline(), rows, (2, 3), names)
        for place, one in enumerate(shown):
            ranking.barh(place, one.wins, color=style.SKY if one.copeland else style.FAINT)
            ranking.text(0.02, place, f"beats {one.beats}", va="center")
        ranking.axvline(0.5, color=style.EDGE, lw=0.8)
        list_down(ranking, names)
        ranking.tick_params(axis="y", labelsize="medium")
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
        return f"Who beats whom, of {len(self.options)} options"

    def headline(self) -> str:
        first, others = self.options[0], len(self.options) - 1
        if self.condorcet and self.is_answered:
            return f"BEST: {first.name}, which beats every other"
        if self.condorcet:
            return f"NOT SURE: {first.name} is ahead of every other, clearly of {first.clearly}"
        does = "BEATS" if first.clearly is None else "IS AHEAD OF"
        most = f"the most, {first.beats} of {others}: {listed(self.best)}"
        return f"NO OPTION {does} ALL OTHERS; {most}"

    def meanings(self) -> list[str]:
        """Who is the best in other ways, too."""
        found = [f"Condorcet winner {self.names[0] if self.condorcet else 'none'}"]
        sets = {"copeland": "Copeland winners", "borda": "Borda winners", "smith": "Smith set"}
        for name, kind in sets.items():
            members = [one.name for one in self.options if getattr(one, name)]
            found.append(f"{kind} {listed(members)}")
        text = ", ".join(found)
        if self.options[0].clearly is None:
            return [text]
        clear, count = sum(one.clearly or 0 for one in self.options), len(self.options)
        pairs = f"{clear} of {count * (count - 1) // 2} pairs"
        together = f"at {1 - _DELTA:.0%} for all of them together"
        said = f"who is better is clear for {pairs}, {together}"
        return [f"by the counts as they are: {text}", said]

    def tables(self) -> list[Shown]:
        """The arms, best first, of which the first 20, and pairs that are not clear."""
        is_counted = self.options[0].clearly is not None
        rows = [
            [
                *(str(place), one.name, str(one.beats)),
                *([str(one.clearly)] if is_counted else []),
                *(f"{one.wins:.4g}", f"{one.played:.0%}"),
            ]
            for place, one in enumerate(self.options, 1)
        ]
        clearly = ["clearly"] if is_counted else []
        heads = ["", "option", "beats", *clearly, "wins", "best mixture"]
        unclear = [one for one in self.pairs if not one.clear]
        pairs = [[one.first, one.second, f"{one.won:g}", f"{one.lost:g}"] for one in unclear]
        below = "above: pairs without a clear winner"
        met = Shown.first(["option", "other", "won", "lost"], pairs, below)
        return [Shown.first(heads, rows), *([met] if pairs else [])]


def duel(data: Any, *, argument: str = "data", **columns: Any) -> DuelOfMatrix:
    """Say who is the best in a matrix of who beats whom, and how all others stand.

    Probabilities are taken as they are. Counts are evidence: the answer says of each pair whether
    it is clear who is better. With a probability of 95 % everything called clear is right, however
    you chose the pairs and whenever you looked, if the duels of a pair are alike and independent of
    each other (docs/jax/dueling.md).

    Args:
        data: Who beats whom, as ``jaxrace.tables.read_matrix`` takes it: probabilities or wins of
            the row against the column, in a data frame, columns by name, an array, or the path of a
            file; or what that has read.
        argument: What messages begin with.
        **columns: ``decimal`` and ``delimiter`` of ``read_matrix``.

    Raises:
        ValueError: It is not square, or an entry cannot be right.

    >>> wins = {"ann": [0, 1, 3], "bob": [4, 0, 2], "cy": [1, 3, 0]}  # columns, below them rows
    >>> result = duel(wins)
    >>> result.condorcet, result.best, [arm.beats for arm in result.options]
    (False, ['cy', 'ann', 'bob'], [1, 1, 1])
    """
    found = data if isinstance(data, Matrix) else read_matrix(data, argument=argument, **columns)
    matrix = winners.check_matrix(found.probabilities)
    beats, wins = (matrix > 0.5).sum(1), (matrix.sum(1, dtype=float) - 0.5) / (len(matrix) - 1)
    order = np.lexsort((-wins, -beats))
    first = order[:MOST_SHOWN]
    names, clear, pairs = found.names, None, []
    if (counts := found.wins) is not None:
        clear = clear_wins(counts)
        for i, j in itertools.combinations(first.tolist(), 2):
            duels, is_clear = (float(counts[i, j]), float(counts[j, i])), clear[i, j] | clear[j, i]
            pairs.append(Meeting(names[i], names[j], *duels, clear=bool(is_clear)))
    kinds = winners.copeland_winners, winners.borda_winners, winners.smith_set
    sets = [kind(matrix) for kind in kinds]
    numbers = np.stack([wins, winners.von_neumann_winner(matrix)]).round(6)
    clearly = [None] * len(names) if clear is None else clear.sum(1).tolist()
    found_of = beats.tolist(), clearly, *numbers.tolist(), *(members.tolist() for members in sets)
    arms = [Arm(*row) for row in zip(names, *found_of, strict=True)]
    return DuelOfMatrix(
        top=int(sets[0].sum()),
        options=tuple(arms[arm] for arm in order),
        condorcet=winners.condorcet_winner(matrix) is not None,
        shares=matrix[np.ix_(first, first)].astype(float).round(6).tolist(),
        pairs=tuple(pairs),
        notes=found.said,
    )


def clear_wins(wins: np.ndarray) -> np.ndarray:
    """Is it clear that option i is better than j? bool [K, K], of wins of i against j.

    By the bets of a shared table: E_ij = sum_k w_k (1 + lambda_k)^wins (1 - lambda_k)^losses grows
    above K (K - 1) / delta. A draw, a half for both, only loses.
    """
    level = math.log(wins.size - len(wins)) - math.log(_DELTA)
    bets, weights = shared_bets(level)
    won, lost = np.log1p(bets), np.log1p(-np.array(bets))
    evidence = wins[..., None] * won + wins.T[..., None] * lost + np.log(weights)
    return np.logaddexp.reduce(evidence, -1) >= level
