"""Comparisons of two options: votes, games and margins."""

import dataclasses
import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxrace.core.validation import require_choice
from jaxrace.tables.about import about
from jaxrace.tables.annotations import plain_votes
from jaxrace.tables.copies import copies_in, copies_of
from jaxrace.tables.endings import endings_of
from jaxrace.tables.files import files_in
from jaxrace.tables.joined import joined
from jaxrace.tables.matches import pairs_of_games, parted_pairs
from jaxrace.tables.matrix import crosstable_in, games_of, results_in
from jaxrace.tables.numbers import numbers_of
from jaxrace.tables.outcomes import Kind, kind_of_scores, shares_of
from jaxrace.tables.pairs import with_heads
from jaxrace.tables.rounds import Missing, missing_rounds
from jaxrace.tables.sides import POINTS, Sides, names_one_winner, sides_of
from jaxrace.tables.so_far import held_rows
from jaxrace.tables.sources import read_table
from jaxrace.tables.table import (
    FLAGS,
    Place,
    Table,
    alike,
    quoted,
    without_ends,
    words_of,
)


class Unended(NamedTuple):
    """A game that has begun, and has no result; or one of a round that is not there."""

    place: int  # how many of the comparisons come before it
    first: int  # a place in ``names``
    second: int
    pair: int  # as in ``Votes.pairs``, or -1
    round: int = -1  # of one that is not there


OF_TOURNAMENT = ("home", "away", "score")  # heads of the log of one: shares of the points
_READ_AS_WINS = (
    "scores are read as the first's share of a win: 1 won, 0 lost, 0.5 tied; --score margin reads "
    "them as margins"
)
_READ_AS_MARGINS = "scores are read as margins, by how much the first was better"
NO_ROUNDS = (
    "no rounds or pairs are told: neither lost games that are missing nor one colour for all games "
    "can be seen"
)
_NO_SHARES = "`jaxrace duel` takes shares, which do not say how many games there were"
_FILES = ("*.pgn", "*.csv", "*.tsv", "*.jsonl", "*.json", "*.parquet", "*.xlsx")
_IN_FOLDERS = (*_FILES, *(f"**/{name}" for name in _FILES))
_MOST = 10_000_000  # comparisons that counts may stand for


@dataclasses.dataclass(frozen=True, eq=False)
class Votes:
    """Comparisons of two options each."""

    names: tuple[str, ...]  # of the K options, as they come
    first: np.ndarray  # int32 [n], a place in ``names``
    second: np.ndarray  # int32 [n], another one
    # float64 [n]: of kind "win" the share of a win that the first has, 1, .5 or 0 (or between); of
    # kind "margin" by how much it was better
    scores: np.ndarray
    kind: Kind
    lines: np.ndarray  # int64 [n], of the source
    said: tuple[str, ...] = ()  # what was guessed, in words
    sided: bool = False  # is the first the one at home, or with White?
    ordered: bool = True  # in the order in which they came; False: made of counts
    # int64 [n]: two games of one opening with sides reversed have one number, others -1
    pairs: np.ndarray | None = None
    items: np.ndarray | None = (
        None  # int64 [n]: those about one item, as a question, have one; or -1
    )
    cluster: str = ""  # the column of these, if the caller says that they count once
    judges: np.ndarray | None = None  # int64 [n]: those by one judge have one; or -1
    judged_by: str = ""  # the column of these
    copies: np.ndarray | None = None  # int64 [n, 2]: numbers of its moves, see ``copies_of``
    endings: np.ndarray | None = None  # str [n]: how it ended if not on the board, or ""
    unended: tuple[Unended, ...] = ()  # games without a result, by their places
    refused: str = ""  # why nothing can be proven by these data, as ``Answer.refused`` has it

    def at(self, rows: Any) -> "Votes":
        """Some of the comparisons: those at an index of NumPy, of one axis."""
        kept: dict[str, Any] = {
            name: x[rows] for name, x in vars(self).items() if isinstance(x, np.ndarray)
        }
        if self.unended:
            places = np.arange(len(self.first))[rows]
            before = np.searchsorted(places, [game.place for game in self.unended]).tolist()
            both = zip(self.unended, before, strict=True)
            kept["unended"] = tuple(game._replace(place=place) for game, place in both)
        return dataclasses.replace(self, **kept)

    @property
    def margins(self) -> np.ndarray:
        """By how much the first was better, float64 [n]; of votes 1, 0 or -1."""
        return 2 * self.scores - 1 if self.kind == "win" else self.scores


def read_votes(
    source: Any,
    *,
    score: str = "auto",
    first_column: str | None = None,
    second_column: str | None = None,
    score_column: str | None = None,
    cluster_column: str | None = None,
    decimal: str = "auto",
    delimiter: str = "auto",
    argument: str = "votes",
) -> Votes:
    r"""Read comparisons of two options.

    There are two columns of options, such as model_a and model_b, white and black, or first and
    second, and one that says how it ended: ``winner`` (a column, its side, or an option; tie,
    draw, both bad), ``result`` (1-0, 0-1, 1/2-1/2) or ``score``. Numbers in a column whose name
    does not say whom they are for, such as ``label`` or ``winner``, need ``score``. Or there are
    columns winner and loser; scores or counts of wins for each side, and perhaps of ties. A PGN
    file has games.

    Args:
        source: As for all doors (``jaxrace.tables``), or PGN. A folder of such files, which are
            read as one. A list of pairs (winner, loser), or of (first, second, score).
        score: What numbers as scores are: "win", the first's share of a win, from 0 to 1; "margin",
            by how much it was better; "auto", what alone they can be.
        first_column: The column of the first option. A score above .5, or a margin above 0, is for
            it.
        second_column: The column of the second option.
        score_column: The column that says how it ended.
        cluster_column: The column of what belongs together, such as a question or a judge. All
            votes of two that it names alike count once, by their mean, for what is proven.
        decimal: As for all doors, and so are ``delimiter`` and ``argument``.
        delimiter: What separates the columns of a text.
        argument: What messages begin with.

    Raises:
        BadArgument: A row cannot be used, or may be read in more than one way.

    >>> from pathlib import Path
    >>> text = "model_a,model_b,winner\nx,y,model_a\ny,z,tie\nz,x,model_b\n"
    >>> _ = Path("votes.csv").write_text(text)
    >>> votes = read_votes("votes.csv")
    >>> votes.names, votes.first.tolist(), votes.second.tolist()
    (('x', 'y', 'z'), [0, 1, 2], [1, 2, 0])
    >>> votes.scores, votes.kind
    (array([1. , 0.5, 0. ]), 'win')
    """
    require_choice("score", score, ("auto", "win", "margin"))
    if isinstance(source, str | os.PathLike) and Path(source).is_dir():
        names = {"first_column": first_column, "second_column": second_column}
        names |= {"score_column": score_column, "cluster_column": cluster_column}
        names |= {"score": score, "argument": argument}
        read = functools.partial(read_votes, decimal=decimal, delimiter=delimiter, **names)
        files = files_in(argument, Path(source), _IN_FOLDERS)
        return joined(Place(argument, f"'{source}'"), files, read)
    asked = {first_column, second_column, score_column, cluster_column} - {None}
    source = with_heads(argument, source, asked)
    table = without_ends(read_table(argument, source, decimal=decimal, delimiter=delimiter))
    table = parted_pairs(table)
    table.require_heads([cluster_column] if cluster_column else [])
    if first_column is None:
        table, score = plain_votes(table, score, cluster_column)
    square = crosstable_in(table) if first_column is None else None
    if square is not None:
        return _of_crosstable(square)
    sides = sides_of(table, first_column, second_column, score_column)
    votes = _of_table(table, sides, score, cluster_column)
    if votes.copies is not None:
        more, refused = copies_in(votes.copies, votes.lines)
        votes = dataclasses.replace(votes, said=(*votes.said, *more), refused=refused)
    return _turned(votes) if votes.sided and sides.is_turned else votes


def _turned(votes: Votes) -> Votes:
    """The same comparisons, with the second ones as the first."""
    scores = 1 - votes.scores if votes.kind == "win" else -votes.scores
    unended = tuple(x._replace(first=x.second, second=x.first) for x in votes.unended)
    sides = {"first": votes.second, "second": votes.first, "unended": unended}
    return dataclasses.replace(votes, scores=scores, **sides)


def _of_table(table: Table, sides: Sides, score: str, cluster: str | None) -> Votes:
    """The comparisons in a table."""
    if not table.lines:
        raise table.wrong("at least one row", "none")
    names, first, second = _places(table, sides)
    lines = np.array(table.lines, np.int64)
    sided = sides.are_at_home
    pairs, more = pairs_of_games(table, first, second) if sided else (None, [])
    missing = missing_rounds(table, first, second, pairs) if sided else Missing([], [])
    more = [*more, *missing.said]
    taken = {sides.first, sides.second, sides.outcome, *(sides.scores or sides.counts or ())}
    of = about(table, taken, first, second, cluster)
    if sided or sides.are_players:  # of games there may be much else, and no judges
        of = of._replace(judges=None, judged_by="", unused=())
    said, ones = (*table.said, *alike("options", names), *more, *of.said), np.ones(len(first))
    said = (*said, f"not used: {quoted(of.unused)}") if of.unused else said
    if sides.are_players and not sided and of.items is None:
        said = *said, NO_ROUNDS
    votes = Votes(
        *(names, first, second, ones, "win", lines, said, sided),
        pairs=pairs,
        items=of.items,
        cluster=of.cluster,
        judges=of.judges,
        judged_by=of.judged_by,
        copies=copies_of(table),
        endings=endings_of(table),
        unended=tuple(Unended(*game) for game in missing.games),
    )
    if sides.counts is not None:
        return _counted(table, sides.counts, votes)
    if sides.outcome is None:
        return _told(votes, f"{sides.first!r} has won in each row")
    if sides.scores is not None:
        one, other = sides.scores
        found, more = _finite(table, sides.scores)
        more = [f"margins: {one!r} less {other!r}", *more]
        return _told(votes, *more, scores=found[one] - found[other], kind="margin")
    is_number = table.kind(sides.outcome) in ("number", "blank", "flag")
    if is_number and not (sides.is_named or sides.names_losers):
        return _of_numbers(table, sides, score, votes)
    if score == "margin":
        raise table.wrong("margins", f"words, in column {sides.outcome!r}")
    shares, more = shares_of(table, sides, score, votes.names, first, second)
    rows = np.flatnonzero(~np.isnan(shares))
    if not rows.size:
        raise table.wrong("at least one comparison that has ended", "none")
    what = "games" if sided else "votes"
    more = [f"{what} from column {sides.outcome!r}", *more]
    unended = [*votes.unended]
    for row in np.flatnonzero(np.isnan(shares)).tolist():
        pair = -1 if pairs is None else int(pairs[row])
        unended.append(Unended(row, int(first[row]), int(second[row]), pair))
    votes = dataclasses.replace(votes, unended=tuple(sorted(unended, key=lambda x: x.place)))
    return _told(votes, *more, rows=rows, scores=shares[rows])


def _finite(table: Table, heads: Sequence[str]) -> tuple[dict[str, np.ndarray], list[str]]:
    """``numbers_of`` some columns, all of them finite."""
    found, said = numbers_of(table, heads)
    for head, numbers in found.items():
        table.require(head, np.isfinite(numbers), "a finite number")
    return found, said


def _of_numbers(table: Table, sides: Sides, asked: str, votes: Votes) -> Votes:
    """Votes whose outcome is a column of numbers."""
    head = sides.outcome
    assert head is not None
    is_number = [str(cell).lower() not in FLAGS for cell in table.column(head)]
    hint = "1, 0 or .5 for a first that has won, lost or tied"
    table.require(head, is_number, "a number", hint)
    found, more = _finite(table, [head])
    scores = found[head]
    least = int(np.argmin(scores))
    is_scale = scores[least] >= 0 and bool((scores > 1).any())
    sides.require_said(table, asked, f"{scores[least]:g}", least, is_scale)
    kind = kind_of_scores(table, head, scores, asked)
    guessed = [_READ_AS_WINS if kind == "win" else _READ_AS_MARGINS]
    guessed = [POINTS] if sides.has_points(table) else guessed
    guessed = guessed if asked == "auto" and (table.heads, kind) != (OF_TOURNAMENT, "win") else []
    return _told(votes, *guessed, *more, scores=scores, kind=kind)


def _told(votes: Votes, *said: str, rows: Any = slice(None), **changes: Any) -> Votes:
    """Some rows of comparisons, with other scores, and with what more was guessed."""
    return dataclasses.replace(votes.at(rows), said=(*votes.said, *said), **changes)


def _places(table: Table, sides: Sides) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """The names of all options, and the places among them of the first and the second ones."""
    words, (first, second) = words_of(table.column(sides.first), table.column(sides.second))
    empty = words.index("") if "" in words else -1
    for row in np.flatnonzero((first == empty) | (second == empty) | (first == second)).tolist():
        one, other = words[first[row]], words[second[row]]
        if "" in (one, other):
            raise table.wrong("names of options", f"{one!r}, {other!r}", row)
        raise table.wrong("two different options", f"{one!r} twice", row)
    return words, first, second


def _counted(table: Table, heads: Sequence[str], votes: Votes) -> Votes:
    """Votes one by one, where a row has how many there are of each kind."""
    found, more = numbers_of(table, heads)
    for head, numbers in found.items():
        # Points, in which a draw is a half, leave no room for a column of draws.
        is_whole = numbers % (0.5 if len(heads) == 2 else 1) == 0
        is_count = (numbers >= 0) & is_whole & (numbers <= _MOST)
        table.require(head, is_count, f"a count from 0 to {_MOST:,}")
    counts = np.stack([found[head] for head in heads], 1)  # [rows, 2, 3 or 5]
    if names_one_winner(heads) and counts.max(initial=0) <= 1:
        how = f"the winner is marked in columns {quoted(heads)}"
        return _one_by_one(table, votes, _one_of(table, counts), how, *more)
    if counts.shape[1] == 2:
        for row in np.flatnonzero(counts.sum(1) % 1).tolist():
            got = f"{counts[row, 0]:g} and {counts[row, 1]:g}"
            raise table.wrong("a whole number of games", got, row)
        counts = games_of(counts)
    return _one_by_one(table, votes, counts, f"counts from columns {quoted(heads)}", *more)


def _one_of(table: Table, marks: np.ndarray) -> np.ndarray:
    """Marks [n, 2 or 3] of one winner each, or of a tie, which may stand beside both."""
    marks = marks.copy()
    if marks.shape[1] == 3:
        marks[(marks == 1).all(1)] = 0, 0, 1
    for row in np.flatnonzero(marks.sum(1) != 1).tolist():
        got = "none" if not marks[row].any() else " and ".join(f"{x:g}" for x in marks[row])
        hint = "a third column for ties, such as winner_tie, marks one; else leave the row out"
        raise table.wrong("one winner, or a tie,", got, row, hint=hint)
    return marks if marks.shape[1] == 3 else games_of(marks)  # halves are a tie, too


def _one_by_one(table: Table, votes: Votes, counts: np.ndarray, *said: str) -> Votes:
    """Votes of rows with counts [n, 2, 3 or 5], as ``Sides`` has them."""
    counts = counts.astype(np.int64)
    if not 0 < counts.sum() <= _MOST:
        raise table.wrong(f"1 to {_MOST:,} comparisons", f"{counts.sum():,}")
    won, lost, drawn = counts.T[:3]
    in_quarters = (
        counts if counts.shape[1] == 5 else np.stack([lost, 0 * won, drawn, 0 * won, won], 1)
    )
    held = held_rows(votes.names, votes.first, votes.second, in_quarters, sided=votes.sided)
    counts = np.where(held.kept[:, None], counts, 0)
    rows = np.repeat(np.arange(len(counts)), counts.sum(1))
    kinds = [0.0, 0.25, 0.5, 0.75, 1.0] if counts.shape[1] == 5 else [1.0, 0.0, 0.5]
    shares = np.repeat(np.tile(kinds, len(counts)), counts.reshape(-1))
    ordered = bool(counts.sum(1).max() <= 1)  # a row for each game
    told = {"scores": shares, "ordered": ordered, "refused": held.refused}
    return _told(votes, *said, *held.said, rows=rows, **told)


def _of_crosstable(table: Table) -> Votes:
    """Votes one by one, where each row has points, or results, against each column."""
    first, second = np.triu_indices(len(table.heads), 1)
    results, said = results_in(table), []
    if results is not None:
        counts, how = results[first, second], "results of the row against the column"
    else:
        points, said = numbers_of(table, table.heads)
        points = np.stack([points[head] for head in table.heads], 1)
        counts = _games_of_points(table, points, first, second)
        how = "points of the row against the column; draws that make whole points count as won and"
        how += " lost"
    met = counts.sum(1) > 0
    first, second, counts = first[met], second[met], counts[met]
    lines, ones = np.array(table.lines, np.int64)[first], np.ones(len(first))
    first, second = first.astype(np.int32), second.astype(np.int32)
    votes = Votes(table.heads, first, second, ones, "win", lines, table.said)
    return _one_by_one(table, votes, counts, *said, how)


def _games_of_points(
    table: Table, points: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Wins, defeats and draws [n, 3] of pairs of rows of points [K, K]."""
    both = np.stack([points[first, second], points[second, first]], 1)
    met = ~np.all(np.isnan(both), 1)
    places = zip(first[met].tolist(), second[met].tolist(), both[met].tolist(), strict=True)
    for i, j, (one, other) in places:
        name, against = table.heads[i], table.heads[j]
        if not (min(one, other) >= 0 and one + other == np.floor(one + other) <= _MOST):
            got = f"{one:g} and {other:g} of {name} and {against}"
            raise table.wrong("points of both, of a whole number of games,", got, hint=_NO_SHARES)
        if one % 0.5:
            got, expected = f"{one:g} of {name} against {against}", "points, a draw half a point,"
            raise table.wrong(expected, got, i, against, hint=_NO_SHARES)
    if np.all(both[met].sum(1) == 100):
        got = "100 for both together in every pair, as of percents"
        raise table.wrong("points", got, hint=f"{_NO_SHARES}; columns a, b, wins_a, wins_b do")
    return games_of(np.where(met[:, None], both, 0))
