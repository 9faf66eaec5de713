"""The reference, by Sphinx's autodoc: public names, comments beside fields, types in short."""

import ast
import functools
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import jax.typing
import numpy.typing
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

_SPELT: dict[str, str] = {
    stringify_annotation(alias, how): "ArrayLike"
    for alias in (numpy.typing.ArrayLike, jax.typing.ArrayLike)
    for how in ("smart", "fully-qualified", "fully-qualified-except-typing")
}
_SHORT = (
    (re.compile(r"<function [\w.]*<lambda>>|<factory>"), "..."),
    (re.compile(r"<function (\w+)>"), r"\1"),
    (re.compile(r"~"), ""),
    (re.compile(r"\bjax\.jaxlib\._jax\.Array\b"), "jax.Array"),
    (re.compile(r"\b(?:collections\.abc|typing|numpy\.typing)\.(?=[A-Z])"), ""),
    (re.compile(r"\bjaxrace(?:\.[a-z_0-9]+)+\.(?=[A-Z])"), ""),
    (
        re.compile(r"\bnumpy\.ndarray\[tuple\[Any, \.\.\.\], numpy\.dtype\[([^\]]*)\]\]"),
        r"NDArray[\1]",
    ),
    (re.compile(r"\[\[\.\.\.\], "), "[..., "),
)
# Napoleon takes what is before a colon for the type of an attribute; this is none to it.
_COLON = "\ue000"
# Code, which stays, or what reStructuredText would take for a substitution or a link.
_MARKUP = re.compile(r"(``.*?``)|(\||(?<=\w)_(?!\w)|(?<=\[)\*(?=\w))")


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
            if comment[0]:
                # A comment that begins with a capital is above the next field.
                comment += itertools.takewhile(_goes_on, map(_comment, lines[end:]))
            else:
                above = itertools.takewhile(bool, map(_comment, lines[: each.lineno - 1][::-1]))
                comment = [*above][::-1]
            if not each.target.id.startswith("_"):
                yield each.target.id, " ".join(comment).strip()


def _comment(line: str) -> str:
    """The words of a line that is a comment, or ""."""
    line = line.strip()
    return line.removeprefix("#").strip() if line.startswith("#") else ""


def _goes_on(comment: str) -> bool:
    return bool(comment) and not comment[0].isupper()


def short_type(text: str) -> str:
    """A type, or a signature, as people read it.

    >>> short_type("~collections.abc.Callable[[], ~jax.jaxlib._jax.Array] = <function g>")
    'Callable[[], jax.Array] = g'
    >>> short_type("numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.int32]]")
    'NDArray[numpy.int32]'
    """
    for long, name in _SPELT.items():
        text = text.replace(long, name)
    for pattern, short in _SHORT:
        text = pattern.sub(short, text)
    return text


def inherited(value: type) -> Iterator[str]:
    """What a class has of the classes of jaxrace above it: a list for each, a line a name."""
    seen = {*vars(value)}
    for base in value.__mro__[1:]:
        if not base.__module__.startswith("jaxrace") or base.__name__.startswith("_"):
            continue
        lines = dict(fields(base)) if "__annotations__" in vars(base) else {}
        for name, member in vars(base).items():
            if isinstance(member, property | functools.cached_property) or callable(member):
                said = inspect.getdoc(member) or ""
                lines[name] = " ".join(said.partition("\n\n")[0].split())
        lines = {name: said for name, said in lines.items() if name not in seen and said}
        told = {name: said for name, said in lines.items() if not name.startswith("_")}
        seen |= {*lines}
        if told:
            yield from ("", f"From ``{base.__name__}``:", "")
            yield from (f"* ``{name}`` - {said}" for name, said in told.items())
            yield ""


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
    if what == "class":
        text += inherited(value)
    if what in ("attribute", "data", "property") and text:
        text[0] = text[0].replace(":", _COLON)
    is_example = False
    for place, line in enumerate(text):
        is_example = bool(line.strip()) and (is_example or line.lstrip().startswith(">>>"))
        if not is_example:
            text[place] = _MARKUP.sub(lambda found: found[1] or rf"\{found[2]}", line)


def _after_napoleon(_app: Any, _what: str, _name: str, _value: Any, _options: Any, text: list[str]):
    for place, line in enumerate(text):
        line = line.replace(_COLON, ":")
        text[place] = short_type(line) if line.startswith(":vartype ") else line


def _short_types(_app: Any, _what: str, _name: str, _value: Any, _options: Any, *shown: str | None):
    return tuple(text and short_type(text) for text in shown)


def _is_skipped(_app: Any, what: str, _name: str, value: Any, is_skipped: bool, _options: Any):
    """Names of other packages, modules, and fields whose default is a function are no members.

    Nor are the fields of a named tuple, which its docstring lists.
    """
    if (inspect.getdoc(value) or "").startswith("Alias for field number "):
        return True
    if what == "class" and inspect.isfunction(value) and "." not in value.__qualname__:
        return True
    module = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
    return is_skipped or inspect.ismodule(value) or not (module or "jaxrace").startswith("jaxrace")


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls it."""
    # Before napoleon, which reads the section.
    app.connect("autodoc-process-docstring", _say, priority=400)
    app.connect("autodoc-process-docstring", _after_napoleon, priority=600)
    app.connect("autodoc-process-signature", _short_types)
    app.connect("autodoc-skip-member", _is_skipped)
    return {"parallel_read_safe": True}
