"""Which columns of comparisons are the two options, and which says who has won."""

import dataclasses
import itertools
import re
from collections.abc import Sequence
from shlex import quote

from jaxrace.core.validation import BadArgument
from jaxrace.tables.heads import word_set
from jaxrace.tables.table import Table, quoted

# What tells two columns apart whose names are the same but for it.
_SIDES = {
    **{"first": "second", "a": "b", "1": "2", "one": "two"},
    **{"left": "right", "white": "black", "home": "away"},
    **{"engine": "opponent", "player": "opponent"},
}
# Who has points in chess: 1, 0 and 1/2 as a result are those of the first that is named.
_PLAYERS = word_set("engine engines player players program bot opponent opponents")
HALVES, NONE = frozenset(("1/2", "½", "0.5", ".5")), frozenset(("0", "0.0"))
ONE_OR_NONE = NONE | {"1", "1.0"}
POINTS = "1, 0 and 1/2 are read as points of the first of two, as chess has them"
# What the rest of such a name may be, the likelier first.
_NAMED = (
    *("", "model", "option", "name", "player", "agent", "team", "system", "id", "candidate"),
    *("engine", "bot", "program"),
)
_ENDS = ("winner", "loser"), ("chosen", "rejected")  # of the two
_CHOSEN = *_ENDS[1:], ("preferred", "rejected"), ("better", "worse"), ("preferred", "other")
_OUTCOMES = (
    *("score", "winner", "result", "outcome", "preference", "vote", "verdict", "label"),
    *("choice", "ftr", "res"),  # the last ones of football, at full time
)
# The same, of words alone, where none of these is there: texts of judges may be called so, too.
_ALSO = "preferred", "judgement", "judgment", "decision", "better", "loser", "worse", "rejected"
_LOSERS = word_set("loser lost losing worse worst rejected bad dispreferred")
_TIED, _WINS = word_set("tie ties draw draws"), word_set("wins won win winner")
_SCORES = word_set("score scores points goals")
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
OPEN = "*"  # a game that has not ended
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
        return plain(self.outcome or "") == "winner"

    @property
    def names_losers(self) -> bool:
        """Does the outcome say who has lost?"""
        return bool({*_words(self.outcome or "")} & _LOSERS)

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
    def are_told_apart(self) -> bool:
        """Are the two called first and second, a and b or the like, in either order?"""
        one, other = self.own_words
        return bool(one) and other in (_SIDES.get(one), *(a for a, b in _SIDES.items() if b == one))

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
        if not self.are_players or plain(self.outcome or "") not in ("result", "points"):
            return False
        cells = {str(cell).strip() for cell in table.column(self.outcome or "")} - {OPEN}
        return bool(cells & HALVES) and cells <= HALVES | ONE_OR_NONE

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
    by_name = {plain(head): head for head in heads}
    for base, (won, lost) in itertools.product(_NAMED[1:] if first is None else (), _ENDS):
        if {f"{won} {base}", f"{lost} {base}"} <= set(by_name):
            return Sides(by_name[f"{won} {base}"], by_name[f"{lost} {base}"], outcome)
    if first is None and {"winner", "loser"} <= set(by_name):
        others = [head for head in heads if plain(head) in {*_OUTCOMES, "margin"} | _TIED]
        others.remove(by_name["winner"])
        if others and outcome is None:
            how = " --score margin" if table.kind(others[0]) == "number" else ""
            hint = f"--score-column {quote(others[0])}{how} takes it, for the winner; "
            hint += "without it each row is a win"
            if table.kind(others[0]) == "flag":
                hint = "make it numbers, .5 for a tie and 1 for others, below the head score"
            raise table.wrong("one way to say who has won", quoted(others), hint=hint)
        return Sides(by_name["winner"], by_name["loser"], outcome)
    for pair in _CHOSEN if first is None and outcome is None else ():
        chosen = [by_name[word] for word in pair if word in by_name]
        # Beside other columns of options it says how it ended; texts have nothing in common.
        if len(chosen) == 2 and not _pairs(heads) and _have_names_in_common(table, chosen):
            return Sides(chosen[0], chosen[1])
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
    found = [head for word in (*_OUTCOMES, "margin") for head in rest if plain(head) == word]
    if found and (len(found) == 1 or plain(found[0]) == "score"):
        return Sides(first, second, found[0])
    found = found or [head for head in rest if plain(head) in _ALSO and table.kind(head) == "text"]
    if len(found) == 1:
        return Sides(first, second, found[0])
    if found:
        raise table.wrong("one column that says who has won", quoted(found), hint=hint)
    if scores := _for_each_side(table, rest, _SCORES)[::step]:
        return Sides(first, second, "", scores=(scores[0], scores[1]))
    own = [[head for head in rest if plain(head) in words] for words in _OF_FIRST]
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
    return {*map(plain, heads)} == {"winner", "loser"}


def names_one_winner(heads: Sequence[str]) -> bool:
    """Do columns for each side mark one of them, as winner_a and winner_b? wins_a are counts."""
    return all({"winner", "won", "win"} & {*_words(head)} for head in heads[:2])


def plain(head: str) -> str:
    """The words of a head or a cell, in small letters, with spaces between them."""
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
        if not {"player", "opponent"} <= {*map(plain, pair[:2])}
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
