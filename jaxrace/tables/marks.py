"""Words for right and wrong, such as pass and fail, read as 1 and 0."""

import dataclasses
from collections import Counter
from collections.abc import Sequence

from jaxrace.tables.failures import is_failure
from jaxrace.tables.heads import names_group, names_option, names_score, names_task
from jaxrace.tables.runs import Asked
from jaxrace.tables.table import Cell, Table, is_blank, quoted

_PAIRS = tuple(
    {word: float(word in right) for word in right + wrong}
    for right, wrong in (
        *((["c"], ["i"]), (["pass"], ["fail"]), (["passed"], ["failed"])),
        *((["correct"], ["incorrect"]), (["right"], ["wrong"]), (["yes"], ["no"])),
        *((["true"], ["false"]), (["wahr"], ["falsch"]), (["richtig"], ["falsch"])),
        *((["vrai"], ["faux"]), (["verdadero"], ["falso"]), (["vero"], ["falso"])),
        *((["ja"], ["nein"]), (["oui"], ["non"]), (["si", "sí", "sì"], ["no"])),
        ([*"✓✔✅☑"], [*"✗✘❌✕"]),
    )
)
_KNOWN = frozenset(word for pair in _PAIRS for word in pair)


def with_numbers_for_marks(table: Table, asked: Asked) -> Table:
    """The table with 1 and 0 where columns of scores have words of one pair, said.

    These are the columns that the caller names; else one that is called like a score; else two or
    more where no others are of numbers. BadArgument if most words are such, and others are not.
    """
    if table.numbers is not None:
        return table
    named = [h for h in (asked.score, *asked.options) if h in table.heads]
    about = {asked.option, asked.group, *asked.tasks}
    heads = named or [
        h
        for h in table.heads
        if not (h in about or names_task(h) or names_option(h) or names_group(h))
    ]
    marks = {h: found for h in heads if (found := _marks(table.column(h)))}
    numbers = [h for h in heads if h not in marks and table.kind(h) == "number"]
    if scores := [h for h in marks if names_score(h)]:
        marks, numbers = {h: marks[h] for h in scores}, [h for h in numbers if names_score(h)]
    if numbers or (len(marks) < 2 and not (named or scores)):
        return table
    often = sum(marks.values(), Counter[str]())
    pair = max(_PAIRS, key=lambda pair: sum(often[word] for word in pair))
    words = [word for word in pair if word in often]
    # Truth values are read anyway, and runs that failed are no marks beside nothing else.
    if not marks or {*often} <= {"true", "false"} or all(map(is_failure, often)):
        return table
    columns = dict(zip(table.heads, table.columns, strict=True))
    for head in marks:
        columns[head] = [pair.get(_word(cell), cell) for cell in columns[head]]
        are_read = [is_blank(x) or isinstance(x, float) or is_failure(x) for x in columns[head]]
        hint = (
            "words of one pair are read as 1 and 0: write numbers, such as 0.5 for partly right; "
        )
        expected = f"words of one pair, as {' and '.join(map(repr, words))}"
        table.require(head, are_read, expected, f"{hint}--options leaves out columns of others")
    read = " and ".join(f"{word!r} is {pair[word]:.0f}" for word in words)
    said = (*table.said, f"words read as numbers: {read}, in {quoted([*marks])}")
    return dataclasses.replace(table, columns=tuple(columns.values()), said=said)


def _marks(column: Sequence[Cell]) -> Counter[str]:
    """How often each word is in a column, if most words are those of pairs; else nothing."""
    if not all(isinstance(cell, str | bool | None) for cell in column):
        return Counter()
    found = Counter(_word(cell) for cell in column if not is_blank(cell))
    return found if 2 * sum(found[word] for word in _KNOWN) > found.total() else Counter()


def _word(cell: Cell) -> str:
    return str(cell).strip().casefold()
