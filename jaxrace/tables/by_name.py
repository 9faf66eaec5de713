"""A number for each name: costs of options, weights of groups."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from jaxrace.core.validation import BadArgument
from jaxrace.tables.numbers import numbers_of
from jaxrace.tables.sources import read_table
from jaxrace.tables.table import quoted


def numbers_by_name(argument: str, source: Any, names: Sequence[str]) -> list[float]:
    """The numbers of some names: of a mapping, or of a table with a column of names and another.

    BadArgument if one has no finite number, or two.
    """
    found = all_numbers(argument, source)
    for name in names:
        if not math.isfinite(found.get(name, math.nan)):
            raise BadArgument(argument, f"a number for {name}", f"those of {quoted([*found])}")
    return [found[name] for name in names]


def all_numbers(argument: str, source: Any) -> dict[str, float]:
    """The same of all names that there are."""
    if isinstance(source, Mapping):
        pairs = [(str(name), float(number)) for name, number in source.items()]
    else:
        table = read_table(argument, source)
        if len(table.heads) != 2:
            raise table.wrong("two columns, of names and of numbers", quoted(table.heads))
        name, number = table.heads
        numbers = numbers_of(table, [number])[0][number].tolist()
        pairs = [*zip(table.labels(name), numbers, strict=True)]
    found = dict(pairs)
    if len(found) < len(pairs):
        raise BadArgument(argument, "one number for each name", "two of one")
    return found
