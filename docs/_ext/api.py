"""The reference as MyST: what a package offers, from its source, and the help of the command.

``api_markdown`` documents what a package offers by the names that people import. (Generators that
know a name by the module that defines it would show ``jaxrace.judging.table_race.race``.)
"""

import ast
import dataclasses
import functools
import importlib
import inspect
import itertools
import os
import subprocess
import sys
import textwrap
from types import ModuleType
from typing import Any

from docstrings import as_markdown, inline, items

PACKAGES = (
    *("jaxrace", "jaxrace.judging", "jaxrace.tables", "jaxrace.racing", "jaxrace.selection"),
    *("jaxrace.dueling", "jaxrace.improvement", "jaxrace.search", "jaxrace.agents"),
    *("jaxrace.envs", "jaxrace.kernels", "jaxrace.sweep"),
)


def _exported(package: ModuleType) -> dict[str, Any]:
    """What a package imports ``as`` itself, or defines, in its order."""
    assert package.__file__
    names: list[str] = []
    with open(package.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names += [each.name for each in node.names if each.asname == each.name]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
    return {name: getattr(package, name) for name in names if not name.startswith("_")}


@functools.cache
def offered(package: str) -> dict[str, Any]:
    """The public names of a package and what they are."""
    return _exported(importlib.import_module(package))


@functools.cache
def _homes() -> dict[int, str]:
    """The full name of each thing, by its identity: that of the first package that offers it."""
    homes: dict[int, str] = {}
    for package in PACKAGES:
        for name, value in offered(package).items():
            homes.setdefault(id(value), f"{package}.{name}")
    return homes


@functools.cache
def _known() -> dict[str, str]:
    """The full name behind each name by which a docstring may call it, if it is one thing alone."""
    known: dict[str, str | None] = {}
    for full in _homes().values():
        short = full.removeprefix("jaxrace.")
        for alias in {full.rpartition(".")[2], short, full}:
            known[alias] = full if known.get(alias, full) == full else None
    return {alias: full for alias, full in known.items() if full}


def link(name: str) -> str | None:
    """The full public name that is meant, or None."""
    return _known().get(name.removesuffix("()"))


@functools.cache
def _node(value: Any) -> ast.FunctionDef | ast.ClassDef | None:
    """How it is written, without the comments."""
    try:
        source = textwrap.dedent(inspect.getsource(inspect.unwrap(value)))
    except (OSError, TypeError):
        return None
    node = ast.parse(source).body[0]
    return node if isinstance(node, ast.FunctionDef | ast.ClassDef) else None


def _signature(node: ast.FunctionDef, is_method: bool) -> str:
    arguments = node.args
    if is_method:
        arguments = ast.parse(ast.unparse(node)).body[0].args  # pyright: ignore[reportAttributeAccessIssue]
        first = arguments.posonlyargs or arguments.args
        first.pop(0)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(arguments)}){returns}"


@dataclasses.dataclass(frozen=True)
class _Field:
    name: str
    kind: str
    default: str | None
    comment: str


def _fields(value: type) -> list[_Field]:
    """The annotated fields of a class itself, with the comments beside them."""
    node = _node(value)
    assert isinstance(node, ast.ClassDef)
    lines = textwrap.dedent(inspect.getsource(value)).splitlines()
    found = []
    for each in node.body:
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            continue
        kind = ast.unparse(each.annotation)
        if each.target.id.startswith("_") or kind.startswith("ClassVar"):
            continue
        assert each.end_lineno
        line = each.end_lineno - 1
        end = (each.value or each.annotation).end_col_offset or 0
        comment = [lines[line][end:].partition("#")[2].strip()]
        if comment[0]:
            below = (one.strip() for one in lines[line + 1 :])
            more = itertools.takewhile(lambda one: one.startswith("#"), below)
            comment += [one.removeprefix("#").strip() for one in more]
        default = ast.unparse(each.value) if each.value else None
        found.append(_Field(each.target.id, kind, default, " ".join(comment)))
    return found


def _is_given(value: type) -> bool:
    """Does the library make its objects: states, results, parameters?"""
    node = _node(value)
    assert isinstance(node, ast.ClassDef)
    decorators = " ".join(ast.unparse(one) for one in node.decorator_list)
    return "pytree" in decorators or "register_dataclass" in decorators or hasattr(value, "_fields")


def _call(value: type) -> str:
    """How a class is called, without the types, which stand with the fields."""
    node = _node(value)
    assert isinstance(node, ast.ClassDef)
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            return _signature(each, is_method=True).removesuffix(" -> None")
    if not dataclasses.is_dataclass(value) or _is_given(value):
        return ""
    written = {
        field.name: field
        for base in reversed(value.__mro__)
        if dataclasses.is_dataclass(base)
        for field in _fields(base)
    }
    parts = []
    for field in dataclasses.fields(value):
        default = written[field.name].default if field.name in written else None
        shown = default is not None and not default.startswith(("field(", "dataclasses.field("))
        parts.append(f"{field.name}={default}" if shown else field.name)
    return f"({', '.join(parts)})"


def _directive(kind: str, name: str, body: str, options: str = "", ticks: int = 6) -> str:
    fence = "`" * ticks
    return f"{fence}{{py:{kind}}} {name}\n{options}\n{body}{fence}\n"


def _members(value: type, full: str) -> str:
    """Fields without an entry in the docstring, methods and properties."""
    docstring = inspect.getdoc(value) or ""
    told = set()
    if "Attributes:\n" in docstring:
        section = docstring.partition("Attributes:\n")[2].partition("\n\n")[0]
        told = {name.strip() for names, _ in items(section) for name in names.split(",")}
    lines = [
        f"- **{field.name}** (`{field.kind}`)"
        + (f": {inline(field.comment, link)}" if field.comment else "")
        for field in _fields(value)
        if field.name not in told
    ]
    parts = ["\n".join(lines) + "\n"] if lines else []
    for name, member in vars(value).items():
        if name.startswith("_"):
            continue
        is_property = isinstance(member, property | functools.cached_property)
        inner = getattr(member, "func", None) or getattr(member, "fget", None)
        inner = inner or getattr(member, "__func__", member)
        if not callable(inner):
            continue
        node = _node(inner)
        if not isinstance(node, ast.FunctionDef):
            continue
        text = inspect.getdoc(inspect.unwrap(inner)) or ""
        if not text:  # an override, which does what its base class says
            continue
        body = as_markdown(text, link)
        if is_property:
            kind = f":type: {ast.unparse(node.returns)}\n" if node.returns else ""
            parts.append(_directive("property", f"{full}.{name}", body, kind))
            continue
        is_static = isinstance(member, staticmethod)
        option = ":staticmethod:\n" if is_static else ""
        option = ":classmethod:\n" if isinstance(member, classmethod) else option
        shown = f"{full}.{name}{_signature(node, not is_static)}"
        parts.append(_directive("method", shown, body, option))
    return "\n".join(parts)


def _bases(value: type) -> str:
    """What it takes over, and from where."""
    linked = []
    for base in value.__mro__[1:]:
        if base.__module__.startswith("jaxrace") and (full := link(base.__name__)):
            linked.append(f"{{py:obj}}`{base.__name__} <{full}>`")
    return f"Has what {', '.join(linked)} has.\n\n" if linked else ""


def _entry(full: str, value: Any) -> str:
    """One public name, as MyST."""
    node = _node(value) if inspect.isclass(value) or callable(value) else None
    if isinstance(node, ast.FunctionDef):
        text = inspect.getdoc(inspect.unwrap(value)) or ""
        return _directive("function", full + _signature(node, False), as_markdown(text, link))
    if isinstance(value, type):
        text = as_markdown(inspect.cleandoc(value.__doc__ or ""), link)
        kind = "exception" if issubclass(value, BaseException) else "class"
        body = f"{text}\n{_bases(value)}{_members(value, full)}"
        return _directive(kind, full + _call(value), body, ticks=8)
    shown = repr(value)
    body = f"    {shown}\n" if len(shown) <= 90 and " at 0x" not in shown else ""
    return _directive("data", full, body)


@functools.cache
def api_markdown(package: str) -> str:
    """All that a package offers, as MyST."""
    module = importlib.import_module(package)
    parts = [as_markdown(inspect.getdoc(module) or "", link)]
    for name, value in offered(package).items():
        full = f"{package}.{name}"
        if (home := _homes()[id(value)]) != full:
            parts.append(f"`{full}`: see {{py:obj}}`{home}`.\n")
        else:
            parts.append(_entry(full, value))
    return "\n".join(parts)


@functools.cache
def command_markdown(verb: str) -> str:
    """The help of a verb, as the command prints it."""
    words = [sys.executable, "-m", "jaxrace", *([verb] if verb != "jaxrace" else []), "--help"]
    run = subprocess.run(
        words, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "80"}
    )
    return f"```text\n{run.stdout.strip()}\n```\n"


WRITERS = {"api": api_markdown, "command": command_markdown}
