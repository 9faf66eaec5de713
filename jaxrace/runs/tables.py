"""Tables in CSV and Markdown."""

import contextlib
import csv
import html
import io
import itertools
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxrace.answers.answer import shown
from jaxrace.core.inputs import require_plain_file
from jaxrace.runs.files import StrPath, new_file

_ROWS = 10_000  # of a table that are text at a time: a number takes up to 128 bytes


def write_table(path: StrPath, columns: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> None:
    """Write a table as CSV.

    ``columns`` are integers, floats, booleans or text by name, each [rows] or one for all rows; or
    several such pieces, one after the other. A float32 has the digits that tell it from others.

    >>> write_table("table.csv", {"k": np.array([1, 2]), "task": np.array(["normal", "uniform"])})
    >>> read_table("table.csv")["task"].tolist()
    ['normal', 'uniform']
    """
    pieces: Any = [columns] if isinstance(columns, Mapping) else columns
    with new_file(path) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        names: list[str] = []
        for piece in pieces:
            if not names:
                names = list(piece)
                writer.writerow(names)
            arrays = [np.asarray(piece[name]) for name in names]
            rows = next((len(x) for x in arrays if x.ndim), 1)
            full = [x if x.ndim else np.broadcast_to(x, rows) for x in arrays]
            for start in range(0, max(map(len, full), default=0), _ROWS):
                # astype writes a number with its own precision, tolist would make it a float64.
                cells = (x[start : start + _ROWS].astype(str) for x in full)
                writer.writerows(zip(*cells, strict=True))
        text.detach()  # else it would close the file, which is not ready


def read_table(path: StrPath) -> dict[str, np.ndarray]:
    """The columns of a CSV file, each [rows]: int64, float64, bool or text."""
    require_plain_file("table", path)
    found = _read(path, _ROWS)
    kinds = [{part.dtype.kind.replace("i", "f") for part in parts} for parts in found.values()]
    if any(len(kind) > 1 for kind in kinds):  # text that began with numbers
        found = _read(path, sys.maxsize)
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _read(path: StrPath, most: int) -> dict[str, list[np.ndarray]]:
    """The columns of a CSV file in parts of up to so many rows."""
    # Spreadsheets put a mark before the first name.
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            names = next(reader, [])
            if not names:
                raise ValueError("it is empty")
            found = [[] for _ in names]
            while rows := list(itertools.islice(reader, most)):
                for parts, column in zip(found, zip(*rows, strict=True), strict=True):
                    parts.append(_parsed(column))
        except csv.Error as error:
            raise ValueError(str(error)) from error
    return {name: parts or [_parsed(())] for name, parts in zip(names, found, strict=True)}


def _parsed(column: tuple[str, ...]) -> np.ndarray:
    text = np.array(column)
    if set(column) <= {"True", "False"}:
        return text == "True"
    for kind in (np.int64, np.float64):
        with contextlib.suppress(ValueError, OverflowError):
            return text.astype(kind)
    return text


def markdown_text(text: str) -> str:
    r"""A user's text in Markdown, which shows it as it is: no links, tags, formulas and so on.

    >>> print(markdown_text("![x](http://a.b)"), markdown_text("1. <b> | my_model"))
    !\[x\](http:\//a.b) 1\. &lt;b&gt; \| my_model
    """
    text = html.escape(shown(text).strip(), quote=False).replace("$", "&#36;")
    # Underscores inside of words are themselves.
    text = re.sub(r"[\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", text)
    text = re.sub(r"(?<=:)(?=//)|(?<=\bwww)(?=\.)", r"\\", text)  # these are links by themselves
    text = re.sub(r"^(?=#|[-+](\s|$)|---)", r"\\", text)
    return re.sub(r"^(\d+)([.)](\s|$))", r"\1\\\2", text)


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown, of cells in Markdown.

    >>> print(markdown_table(["k", "draws"], [[1, "3,000"]]))
    | k | draws |
    | --- | --- |
    | 1 | 3,000 |
    """
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| {} |".format(" | ".join(map(str, line))) for line in lines)
