"""Comparisons of two options where scores were expected: they are told by their heads."""

import itertools
from collections.abc import Sequence

from jaxrace.core.validation import BadArgument
from jaxrace.tables.annotations import is_annotated
from jaxrace.tables.matrix import crosstable_in
from jaxrace.tables.sides import PENTANOMIAL, Sides, names_engines, names_winners, sides_of
from jaxrace.tables.table import Place, Table, is_blank


class ComparisonsError(BadArgument):
    """Comparisons of two options, where scores were expected."""


def require_no_comparisons(table: Table, texts: Sequence[str]) -> None:
    """Raise if two columns of words are those of comparisons."""
    if len(texts) < 2:
        return
    try:
        sides = sides_of(table, None, None, None)
    except BadArgument as error:
        if names_engines(table, texts):
            got = "columns of two players"
            raise ComparisonsError(error.name, error.expected, got, error.hint) from error
        return
    if {sides.first, sides.second} <= {*texts}:
        raise comparisons(table, f"comparisons of {sides.first!r} and {sides.second!r}")


def require_no_votes(table: Table, outcome: str | None) -> None:
    """Raise if the heads are those of comparisons, whatever else is beside them."""
    if {*PENTANOMIAL} <= {*table.heads}:
        raise comparisons(table, "counts of pairs of games")
    if is_annotated(table):
        raise comparisons(table, "comparisons of two models")
    square = crosstable_in(table)
    if square is not None and {*square.heads} <= {*table.heads}:
        met = [square.column(head)[row] for row, head in enumerate(square.heads)]
        if all(map(is_blank, met)):
            raise comparisons(table, "points against each other")
    try:
        sides = sides_of(table, None, None, outcome)
    except BadArgument:
        texts = [head for head in table.heads if table.kind(head) == "text"]
        if any(names_winners(pair) for pair in itertools.combinations(texts, 2)):
            raise comparisons(table, "comparisons of winners and losers") from None
        return
    kinds = {table.kind(sides.first), table.kind(sides.second)}
    if kinds == {"text"} or (kinds == {"number"} and _are_numbered_players(table, sides)):
        raise comparisons(table, f"comparisons of {sides.first!r} and {sides.second!r}")


def _are_numbered_players(table: Table, sides: Sides) -> bool:
    """Are numbers of two columns names, never twice in a row, beside words of who has won?"""
    if not sides.outcome or table.kind(sides.outcome) != "text":
        return False
    pairs = [*zip(table.labels(sides.first), table.labels(sides.second), strict=True)]
    names = {name for pair in pairs for name in pair}
    return (
        all(one != other and one.isdigit() and other.isdigit() for one, other in pairs)
        and 2 * len(names) <= len(pairs)
        and any(one > other for one, other in pairs)
        and any(one < other for one, other in pairs)
    )


def comparisons(place: Place, got: str) -> ComparisonsError:
    """The error of comparisons where scores were expected."""
    hint = "`jaxrace select` ranks by these, and `jaxrace gate` compares each with a baseline and "
    hint += "forecasts how many more it takes"
    error = place.wrong("scores of options", got, hint=hint)
    return ComparisonsError(error.name, error.expected, error.got, error.hint)
