"""A list of pairs (winner, loser), or of triples (first, second, score), as a table."""

from collections.abc import Sequence, Set
from numbers import Integral, Real
from typing import Any

import numpy as np

from jaxrace.tables.sides import are_sides, names_winners
from jaxrace.tables.table import Place, quoted

_OF_TRIPLES = ("first", "second", "score")


def are_pairs(source: Any) -> bool:
    """Is it a list of rows that begin with two names each, so that it has no scores by option?"""
    if not isinstance(source, Sequence) or isinstance(source, str) or not source:
        return False
    return all(
        isinstance(row, tuple | list) and len(row) > 1 and all(isinstance(x, str) for x in row[:2])
        for row in source
    )


def with_heads(argument: str, source: Any, asked: Set[str | None]) -> Any:
    """A list of pairs or triples below heads, unless ``asked`` are its own; other sources as is."""
    is_list = isinstance(source, Sequence) and not isinstance(source, str) and len(source) > 0
    if not is_list or not all(isinstance(row, tuple | list) for row in source):
        return source
    widths, heads = {len(row) for row in source}, source[0]
    if widths == {3} and isinstance(heads[2], Real | np.bool_) and asked <= {*_OF_TRIPLES}:
        return [_OF_TRIPLES, *source]
    if widths != {2} or asked or names_winners([*map(str, heads)]):
        return source
    expected, place = "pairs of names, (winner, loser),", Place(argument, "a list")
    for number, cell in ((n, cell) for n, pair in enumerate(source, 1) for cell in pair):
        is_real = isinstance(cell, Real) and not isinstance(cell, Integral)
        if is_real or isinstance(cell, bool | np.bool_):
            hint = "a matrix of who beats whom is for `jaxrace duel`; names are whole or words"
            raise place.wrong(expected, str(cell), hint=hint, at=f", record {number}")
    # Options may be called as sides are, such as a and b, if they come again in other pairs.
    below = {str(cell).strip() for pair in source[1:] for cell in pair}
    are_words = all(isinstance(head, str) for head in heads)
    if below and are_words and are_sides(heads) and not below & {head.strip() for head in heads}:
        hint = "(winner, loser) as the first of the list says that the first one has won"
        raise place.wrong(expected, f"heads {quoted(heads)}", hint=hint, at=", record 1")
    return [("winner", "loser"), *source]
