"""The reference, by Sphinx's autodoc: public names, comments beside fields."""

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

_ARRAY_LIKE = stringify_annotation(ArrayLike, "smart")
# Code, which stays, or what reStructuredText would take for a substitution or a link.
_MARKUP = re.compile(r"(``.*?``)|(\||(?<=\w)_(?!\w))")


def fields(value: type) -> Iterator[tuple[str, str]]:
    """Each public annotated field of a class itself, and the comment beside it.

    Autodoc reads ``#:`` alone.
    """
    lines = textwrap.dedent(inspect.getsource(value)).splitlines()
    (node,) = ast.parse("\n".join(lines)).body
    assert isinstance(node, ast.ClassDef)
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            end, column = each.end_lineno or 1, each.end_col_offset or 0
            comment = [lines[end - 1][column:].partition("#")[2].strip()]
            below = (line.strip() for line in lines[end:])
            if comment[0]:
                more = itertools.takewhile(lambda line: line.startswith("#"), below)
                comment += [line.removeprefix("#").strip() for line in more]
            if not each.target.id.startswith("_"):
                yield each.target.id, " ".join(comment).strip()


def _each_by_itself(text: list[str]) -> list[str]:
    """Entries such as "low, high: Ends." once for each name: napoleon takes one of attributes."""
    out: list[str] = []
    entry = re.compile(r"( +)(\w+(?:, \w+)+): ")
    inside = False
    for place, line in enumerate(text):
        inside = line == "Attributes:" or (inside and bool(line.strip()))
        names = entry.match(line) if inside else None
        if names is None:
            out.append(line)
            continue
        deeper = re.compile(f"{names[1]} ").match
        said, more = line[names.end() :], [*itertools.takewhile(deeper, text[place + 1 :])]
        *first, last = names[2].split(", ")
        for name in first:
            out += [f"{names[1]}{name}: {said}", *more]
        out.append(f"{names[1]}{last}: {said}")
    return out


def _say(_app: Any, what: str, _name: str, value: Any, _options: Any, text: list[str]):
    if what == "class" and "Attributes:" not in text and hasattr(value, "__annotations__"):
        said = [f"    {name}: {comment}" for name, comment in fields(value) if comment]
        text += ["", "Attributes:", *said, ""] if said else []
    text[:] = _each_by_itself(text)
    is_example = False
    for place, line in enumerate(text):
        is_example = bool(line.strip()) and (is_example or line.lstrip().startswith(">>>"))
        if not is_example:
            text[place] = _MARKUP.sub(lambda found: found[1] or rf"\{found[2]}", line)


def _short_types(_app: Any, _what: str, _name: str, _value: Any, _options: Any, *shown: str | None):
    """An alias of a type by its name."""
    return tuple(text and text.replace(_ARRAY_LIKE, "ArrayLike") for text in shown)


def _is_skipped(_app: Any, what: str, _name: str, value: Any, is_skipped: bool, _options: Any):
    """Names of other packages, modules, and fields whose default is a function are no members."""
    if what == "class" and inspect.isfunction(value) and "." not in value.__qualname__:
        return True
    module = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
    return is_skipped or inspect.ismodule(value) or not (module or "jaxrace").startswith("jaxrace")


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls it."""
    # Before napoleon, which reads the section.
    app.connect("autodoc-process-docstring", _say, priority=400)
    app.connect("autodoc-process-signature", _short_types)
    app.connect("autodoc-skip-member", _is_skipped)
    return {"parallel_read_safe": True}
