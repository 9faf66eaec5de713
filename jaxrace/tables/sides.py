"""Which columns of comparisons are the two options, and which says who has won."""

import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from shlex import quote

import numpy as np

from jaxrace.core.validation import BadArgument
from jaxrace.tables.heads import word_set
from jaxrace.tables.table import Table, quoted, words_of

# What tells two columns apart whose names are the same but for it.
_SIDES = {
    **{"first": "second", "a": "b", "1": "2", "one": "two"},
    **{"left": "right", "white": "black", "home": "away"},
    **{"engine": "opponent", "player": "opponent"},
}
# Who has points in chess: 1, 0 and 1/2 as a result are those of the first that is named.
_PLAYERS = word_set("engine engines player players program bot opponent opponents")
_HALVES, _NONE = frozenset(("1/2", "½", "0.5", ".5")), frozenset(("0", "0.0"))
_POINTS = _NONE | {"1", "1.0"}
POINTS = "1, 0 and 1/2 are read as points of the first of two, as chess has them"
# What the rest of such a name may be, the likelier first.
_NAMED = (
    *("", "model", "option", "name", "player", "agent", "team", "system", "id", "candidate"),
    *("engine", "bot", "program"),
)
_ENDS = ("winner", "loser"), ("chosen", "rejected")  # of the two
_OUTCOMES = (
    *("score", "winner", "result", "outcome", "preference", "vote", "verdict", "label"),
    *("choice", "ftr", "res"),  # the last ones of football, at full time
)
_TIES = frozenset(
    (
        *("tie", "ties", "tied", "draw", "drawn", "equal", "same", "both", "neither", "none"),
        *("bothbad", "both bad", "tie bothbad", "tie both bad", "both good", "1/2-1/2", "½-½"),
        *("0.5-0.5", "1/2", "½", "0.5", ".5", "remis", "d"),
        *("tievote", "bothbad_vote", "a=b", "b=a"),
    )
)
_TIED, _WINS = word_set("tie ties draw draws"), word_set("wins won win winner")
_SCORES = word_set("score scores points goals")
_FOOTBALL = ("h", "a", "d"), ("1", "2", "x")  # who is at home has won, has lost, a draw
_WON, _LOST = word_set("win won"), word_set("loss lost lose")
# For the first by its name, as white, whichever was asked for as first; of arenas and Arena-Hard.
_RESULTS = word_set("1-0 leftvote a>b a>>b"), word_set("0-1 rightvote b>a b>>a")
_AT_HOME = (("white", "black"), ("home", "away"))
PENTANOMIAL = tuple(f"ptnml_{half}" for half in range(5))  # pairs of games by halves of a point
# The same by other names: of lost, drawn and won games, or of points.
_PENTANOMIALS = (
    *(tuple(f"{word} {half}" for half in range(5)) for word in ("ptnml", "pent", "pentanomial")),
    *(("ll", "ld", middle, "wd", "ww") for middle in ("dd", "wldd", "ddwl", "wl dd", "dd wl")),
    *(("0", "0 5", "1", "1 5", "2"), ("0", "1 2", "1", "3 2", "2")),
)
_OF_FIRST = word_set("wins won w"), word_set("losses lost l"), word_set("draws drawn ties d")
_COUNTS_READ = (
    "; counts are read from wins, losses and draws (of the first), from those of each side, as "
    "wins_a, wins_b and draws, and of pairs of games from ptnml_0 to ptnml_4, or ll, ld, dd, wd, ww"
)
_OPEN = "*"  # a game that has not ended
SCALE = "from a scale such as 1 to 5 subtract the middle, so that 0 is a tie"


@dataclasses.dataclass(frozen=True)
class Sides:
    """Columns of comparisons."""

    first: str  # of the first option
    second: str
    outcome: str | None = None  # that says how it ended; None if the first has won always
    scores: tuple[str, str] | None = None  # of a score for each side
    # How often the first has won, the second, neither; or how many pairs of games gave the first
    # 0, 1/2, 1, 3/2 and 2 points.
    counts: tuple[str, ...] | None = None

    @property
    def is_named(self) -> bool:
        """Does the outcome name who has won, so that numbers in it are names?"""
        return _plain(self.outcome or "") == "winner"

    @property
    def names_losers(self) -> bool:
        """Does the outcome say who has lost?"""
        return _plain(self.outcome or "") in ("loser", "lost")

    @property
    def own_words(self) -> tuple[str, str]:
        """What alone tells the names of the two columns apart, as a and b; empty if nothing."""
        one, other = _words(self.first), _words(self.second)
        unlike = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
        return unlike[0] if len(unlike) == 1 and len(one) == len(other) else ("", "")

    @property
    def is_turned(self) -> bool:
        """Is the first called as the second one of a pair is, such as black beside white?"""
        one, other = self.own_words
        return bool(one) and _SIDES.get(other) == one

    @property
    def are_at_home(self) -> bool:
        """Is one of both at home, or has White?"""
        return bool({self.own_words, self.own_words[::-1]} & {*_AT_HOME})

    @property
    def are_players(self) -> bool:
        """Do the names say that games are compared, as engine1 does, whoever has White?"""
        return bool({*_words(self.first), *_words(self.second)} & _PLAYERS)

    @property
    def are_for_first(self) -> bool:
        """Does the outcome's name say that numbers are scores of the first?"""
        words = {*_words(self.outcome or "")}
        is_chess = self.own_words == ("white", "black") and words == {"result"}
        return bool(words & {self.own_words[0], "score", "scores", "margin"}) or is_chess

    def has_points(self, table: Table) -> bool:
        """Is the outcome 1, 0 and halves of two players? By convention the first one's points."""
        if not self.are_players or _plain(self.outcome or "") not in ("result", "points"):
            return False
        cells = {str(cell).strip() for cell in table.column(self.outcome or "")} - {_OPEN}
        return bool(cells & _HALVES) and cells <= _HALVES | _POINTS

    def require_said(
        self, table: Table, asked: str, got: str, row: int = 0, is_scale: bool = False
    ) -> None:
        """Raise unless numbers are for the first by name, or asked for: a wrong guess turns all."""
        words, own = {*_words(self.outcome or "")}, self.own_words
        turned = f"--first-column {self.second!r} --second-column {self.first!r}"
        if own[1] in words and own[0] not in words:
            got = f"{self.outcome!r}, of the second"
            raise table.wrong("a column that is for the first option", got, hint=turned)
        if asked == "auto" and not (self.are_for_first or self.has_points(table)):
            how = "margin" if is_scale or got.startswith("-") else "win"
            hint = f"{SCALE}; then " if is_scale else ""
            say = "1 says" if how == "win" else "larger ones say"
            hint += (
                f"--score {how} if {say} that {self.first} has won, and with {turned} if {say} "
                f"that {self.second} has"
            )
            expected = "to be told whom numbers are for"
            raise table.wrong(expected, got, row, self.outcome, hint=hint)


def sides_of(table: Table, first: str | None, second: str | None, outcome: str | None) -> Sides:
    """The columns, as asked for or by their names; BadArgument says what is missing or unclear."""
    table.require_heads([head for head in (first, second, outcome) if head is not None])
    if (first is None) != (second is None):
        raise table.wrong("--first-column and --second-column", "one of them")
    hint = "--score-column says which it is"
    heads = [head for head in table.heads if head != outcome]
    by_name = {_plain(head): head for head in heads}
    for base, (won, lost) in itertools.product(_NAMED[1:] if first is None else (), _ENDS):
        if {f"{won} {base}", f"{lost} {base}"} <= set(by_name):
            return Sides(by_name[f"{won} {base}"], by_name[f"{lost} {base}"], outcome)
    if first is None and {"winner", "loser"} <= set(by_name):
        others = [head for head in heads if _plain(head) in {*_OUTCOMES, "margin"} | _TIED]
        others.remove(by_name["winner"])
        if others and outcome is None:
            how = " --score margin" if table.kind(others[0]) == "number" else ""
            hint = f"--score-column {quote(others[0])}{how} takes it, for the winner; "
            hint += "without it each row is a win"
            if table.kind(others[0]) == "flag":
                hint = "make it numbers, .5 for a tie and 1 for others, below the head score"
            raise table.wrong("one way to say who has won", quoted(others), hint=hint)
        return Sides(by_name["winner"], by_name["loser"], outcome)
    pairs = _pentanomial(heads)
    if first is None or second is None:
        first, second = _pair(table, [head for head in heads if head not in pairs])
    if outcome is not None:
        return Sides(first, second, outcome)
    step = -1 if Sides(first, second).is_turned else 1  # what is for each side is in its order
    rest = [head for head in table.heads if head not in (first, second)]
    if pairs and {*pairs} <= {*rest}:
        return Sides(first, second, "", counts=pairs[::step])
    if counts := _for_each_side(table, rest, _WINS)[::step]:
        ties = [head for head in rest if _TIED & {*_words(head)[-1:]}]
        return Sides(first, second, "", counts=(*counts, *ties[:1]))
    found = [head for word in (*_OUTCOMES, "margin") for head in rest if _plain(head) == word]
    if found and (len(found) == 1 or _plain(found[0]) == "score"):
        return Sides(first, second, found[0])
    if found:
        raise table.wrong("one column that says who has won", quoted(found), hint=hint)
    if scores := _for_each_side(table, rest, _SCORES)[::step]:
        return Sides(first, second, "", scores=(scores[0], scores[1]))
    own = [[head for head in rest if _plain(head) in words] for words in _OF_FIRST]
    if step == 1 and [*map(len, own)] in ([1, 1, 0], [1, 1, 1]):
        return Sides(first, second, "", counts=tuple(head for one in own for head in one))
    if sum(table.kind(head) == "number" for head in rest) > 1:
        hint += _COUNTS_READ
    raise table.wrong("a column score, winner or result", quoted(table.heads), hint=hint)


def _pentanomial(heads: Sequence[str]) -> tuple[str, ...]:
    """The columns of pairs of games by halves of a point, from 0 on; none if there are not."""
    named = {" ".join(re.findall(r"[a-z]+|\d+", head.lower())): head for head in heads}
    if {"wl", "lw", "dl", "dw"} & {*named}:  # one of the five is in two columns
        return ()
    found = [names for names in _PENTANOMIALS if {*names} <= {*named}]
    return tuple(named[name] for name in found[0]) if len(found) == 1 else ()


def names_engines(table: Table, texts: Sequence[str]) -> bool:
    """Are two columns of words those of players, whatever else is beside them?"""
    try:
        first, second = _pair(table, table.heads)
    except BadArgument:
        return False
    return {first, second} <= {*texts} and Sides(first, second).are_players


def are_sides(heads: Sequence[str]) -> bool:
    """Are two heads winner and loser, or the same but for their sides, as player_a and player_b?"""
    return names_winners(heads) or bool(_pairs(heads))


def names_winners(heads: Sequence[str]) -> bool:
    """Are two heads winner and loser, in any order?"""
    return {*map(_plain, heads)} == {"winner", "loser"}


def names_one_winner(heads: Sequence[str]) -> bool:
    """Do columns for each side mark one of them, as winner_a and winner_b? wins_a are counts."""
    return all({"winner", "won", "win"} & {*_words(head)} for head in heads[:2])


def _plain(head: str) -> str:
    return " ".join(_words(head))


def _words(head: str) -> list[str]:
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", head)
    return re.findall(r"[a-z]+|\d+", parted.lower())


def _pairs(heads: Sequence[str]) -> list[tuple[str, str, str]]:
    """Columns whose names are the same but for their sides, and what they have in common."""
    words = [tuple(_words(head)) for head in heads]
    called: dict[tuple[str, ...], list[int]] = {}
    for place, own in enumerate(words):
        called.setdefault(own, []).append(place)
    return [
        (one, heads[place], " ".join(w for w in own if w != word))
        for one, own in zip(heads, words, strict=True)
        for place, word in sorted(
            (place, word)
            for at, word in enumerate(own)
            for place in called.get((*own[:at], _SIDES.get(word, ""), *own[at + 1 :]), ())
        )
    ]


def _pair(table: Table, heads: Sequence[str]) -> tuple[str, str]:
    """The two columns of options, by the likeliest names."""
    expected = "two columns of options"
    hint = "--first-column and --second-column say which they are"
    # A player's opponent may be a team, and the score that of the player alone.
    pairs = [
        pair
        for pair in _pairs(heads)
        if not {"player", "opponent"} <= {*map(_plain, pair[:2])}
        or _have_names_in_common(table, pair[:2])
        or any(Sides(*pair[:2], head).has_points(table) for head in table.heads)
    ]
    for base in _NAMED:
        if found := _only(table, [pair[:2] for pair in pairs if pair[2] == base], expected, hint):
            return found
    # Whatever they are called, such as debater_a and debater_b: both have the same names below.
    alike = [pair[:2] for pair in pairs if _have_names_in_common(table, pair[:2])]
    if len(alike) == 1:
        return alike[0]
    raise table.wrong(f"{expected}, such as first and second", quoted(heads), hint=hint)


def _have_names_in_common(table: Table, pair: Sequence[str]) -> bool:
    one, other = ({*table.labels(head)} for head in pair)
    return bool(one & other - {""}) and all(table.kind(head) == "text" for head in pair)


def _for_each_side(table: Table, heads: Sequence[str], words: frozenset[str]) -> tuple[str, ...]:
    """Two columns whose names are one of some words and a side; none if there are not."""
    found = [pair[:2] for pair in _pairs(heads) if words & {*pair[2].split()}]
    hint = "leave out all but the two that say how it ended"
    return _only(table, found, "a column for each side", hint) or ()


def _only(
    table: Table, pairs: Sequence[tuple[str, str]], expected: str, hint: str
) -> tuple[str, str] | None:
    """The one of at most one pair of columns."""
    if len(pairs) > 1:
        raise table.wrong(expected, quoted([head for pair in pairs for head in pair]), hint=hint)
    return pairs[0] if pairs else None


def shares_of(
    table: Table,
    sides: Sides,
    asked: str,
    names: Sequence[str],
    first: np.ndarray,
    second: np.ndarray,
) -> tuple[np.ndarray, list[str]]:
    """The first's share of a win in each row, float64 [rows], NaN for a game that has not ended.

    Numbers among the words are for the first if ``asked`` is win, or the column's name says so.
    """
    assert sides.outcome is not None
    said: list[str] = []
    cells, (places,) = words_of(table.column(sides.outcome))
    lower = {cell.lower() for cell in cells} - {_OPEN}
    has_points = sides.has_points(table)
    # Sides may be called 1 and 2: then 2 among the words says that 1 is a name, too.
    are_shares = (asked == "win" or sides.are_for_first or has_points) and "2" not in lower
    words = (*_words_of_sides(sides, are_shares), _TIES)
    if has_points and asked == "auto" and not sides.are_for_first:
        said.append(POINTS)
    codes = next((codes for codes in _FOOTBALL if lower <= {*codes}), ())
    if codes and {*sides.own_words} == {"home", "away"}:
        home, away, drawn = codes
        ways = (away, home, drawn) if sides.is_turned else codes
        words = tuple(frozenset((code,)) for code in ways)
        at_home = sides.second if sides.is_turned else sides.first
        how = f"are won, drawn and lost by {at_home!r}"
        said.append(f"{home.upper()}, {drawn.upper()} and {away.upper()} {how}")
    elif sides.is_named and "2" in cells and {*cells} <= {"1", "2", *_TIES}:
        one, other = ("2", "1") if sides.is_turned else ("1", "2")
        words = words[0] | {one}, words[1] | {other}, _TIES
        said.append(f"winner {one} is {sides.first!r}, {other} is {sides.second!r}")
    found = [_share(cell, words) for cell in cells]
    by_word = np.array([-1 if share is None else share for share in found])[places]
    called = {name: place for place, name in enumerate(names)}
    named = np.array([called.get(cell, -1) for cell in cells])[places]
    by_name = np.select([named == first, named == second], [1.0, 0.0], -1)
    has_word, has_name = by_word != -1, by_name != -1
    unknown = np.flatnonzero(~(has_word | has_name)).tolist()
    for row in [row for row in unknown if cells[places[row]] == "-1"]:
        hint = "of 1, 0 and -1 a tie is 0: write all of them as numbers"
        raise table.wrong("one way to write results", "-1", row, sides.outcome, hint=hint)
    for row in unknown:
        cell = cells[places[row]]
        if cell in ("0", "1") and asked == "auto" and not sides.names_losers:
            sides.require_said(table, asked, cell, row)
        expected = f"{sides.first}, {sides.second}, one of the two options, or tie"
        if _plain(sides.outcome) in ("score", "margin"):
            expected = "a number"
        hint = "" if cell else "leave the row out, or write tie if it was one"
        raise table.wrong(expected, repr(cell), row, sides.outcome, hint=hint)
    # All winners are named in one way: an option may be called like a side.
    is_side = (by_word == 1) | (by_word == 0) | ~has_word
    is_named = bool(has_name.any() and (has_name | ~is_side).all())
    is_by_name = has_name & is_named
    shares = np.where(is_by_name, by_name, by_word)
    is_unlike = is_by_name & (by_word != by_name) & (bool(has_word.all()) | (by_word == 0.5))
    for row in np.flatnonzero(is_unlike | (shares == -1)).tolist():
        expected, hint = f"{sides.first}, {sides.second} or tie, as in other rows", ""
        if is_unlike[row]:
            expected = "one winner"
            hint = "an option is called so, and a side or a tie is, too: rename one"
        raise table.wrong(expected, repr(cells[places[row]]), row, sides.outcome, hint=hint)
    shares = 1 - shares if sides.names_losers else shares
    often = np.bincount(places, minlength=len(cells)).tolist()
    if both_bad := sum(n for cell, n in zip(cells, often, strict=True) if "bad" in cell.lower()):
        read = f"votes for neither, as both are bad, read as ties: {both_bad:,}"
        said.append(f"{read}; leave their rows out to drop them")
    if far := sum(n for cell, n in zip(cells, often, strict=True) if ">>" in cell):
        said.append(f"wins by far (>>) read as wins: {far:,}")
    if (unended := np.isnan(shares)).any():
        told = zip(first[unended].tolist(), second[unended].tolist(), strict=True)
        whose = [
            f"{names[i]} against {names[j]} {n:,}" for (i, j), n in Counter(told).most_common(5)
        ]
        said.append(f"games that have not ended, left out: {unended.sum():,} ({', '.join(whose)})")
    return shares, said


def _words_of_sides(sides: Sides, with_numbers: bool) -> tuple[frozenset[str], frozenset[str]]:
    """What says that the first has won, and that the second has."""
    one, other = sides.own_words
    won, lost = _RESULTS[::-1] if sides.is_turned else _RESULTS
    first = _WON | won | {_plain(sides.first), one} - {""}
    second = _LOST | lost | {_plain(sides.second), other} - {""}
    if {one, other} == {"home", "away"}:  # H, D and A
        first, second = first | {one[0]}, second | {other[0]}
    if with_numbers and not sides.names_losers:  # 1 does not name who has lost
        return (first - {"2"}) | _POINTS - _NONE, (second - {"1"}) | _NONE
    return first, second


def _share(cell: str, words: Sequence[frozenset[str]]) -> float | None:
    if cell == _OPEN:
        return float("nan")
    for share, known in zip((1.0, 0.0, 0.5), words, strict=True):
        if cell.strip("[]").lower() in known or _plain(cell) in known:
            return share
    return None
