"""Docstrings as MyST: sections become field lists, examples code, and names of the API links."""

import re
import textwrap
from collections.abc import Callable

_SECTIONS = ("Args", "Attributes", "Raises", "Returns", "Warns")
_SECTION = re.compile(rf"^({'|'.join(_SECTIONS)}):\n((?:(?: +.*)?(?:\n|\Z))+)", re.MULTILINE)
_EXAMPLE = re.compile(r"^>>> (?:.+(?:\n|\Z))+", re.MULTILINE)
_CODE = re.compile(r"``(.+?)``", re.DOTALL)
_PAGE = re.compile(r"\bdocs/([\w/-]+)\.md")


def items(section: str) -> list[tuple[str, str]]:
    """The (names, text) of a section of arguments, attributes or errors."""
    found: list[tuple[str, str]] = []
    for entry in re.split(r"\n(?=\S)", textwrap.dedent(section).strip()):
        names, _, text = entry.partition(":")
        first, _, rest = text.partition("\n")
        found.append((names.strip(), f"{first.strip()}\n{textwrap.dedent(rest)}".strip()))
    return found


def inline(text: str, link: Callable[[str], str | None]) -> str:
    r"""A paragraph: code that names the API is linked, and so are pages of the documentation.

    Args:
        text: Of a docstring or a comment.
        link: The full public name of a name, or None.

    >>> inline("``race`` of <x>, docs/data.md", {"race": "jaxrace.race"}.get)
    '{py:obj}`race <jaxrace.race>` of \\<x>, [data](/data.md)'
    """
    parts = _CODE.split(text)
    for place, part in enumerate(parts):
        if place % 2 == 0:
            part = re.sub(r"<(?=[\w/!?])", r"\\<", part)
            parts[place] = _PAGE.sub(
                lambda page: f"[{page[1].split('/')[-1]}](/{page[1]}.md)", part
            )
        elif name := link(part):
            parts[place] = f"{{py:obj}}`{part} <{name}>`"
        else:
            parts[place] = f"`{part}`" if "`" not in part else f"`` {part} ``"
    return "".join(parts)


def _fields(heading: str, section: str, link: Callable[[str], str | None]) -> str:
    """A section as a field list, or attributes as a list of their own."""
    lines = []
    if heading == "Returns":
        return f":returns: {_continued(inline(textwrap.dedent(section).strip(), link))}\n"
    for names, text in items(section):
        body = _continued(inline(text, link))
        if heading == "Attributes":
            lines += [f"- **{names}**: {body}"]
        elif heading == "Args":
            shown = names.replace("*", r"\*").split(", ")
            lines += [f":param {name}: {body}" for name in shown]
        else:
            lines += [f":raises {names}: {body}"]
    return "\n".join(lines) + "\n"


def _continued(text: str) -> str:
    """Further lines belong to the same item."""
    return textwrap.indent(text, "  ").strip()


def as_markdown(docstring: str, link: Callable[[str], str | None]) -> str:
    """A docstring, cleaned of its indentation, as MyST."""
    out, rest = [], docstring
    while rest:
        found = [match for match in (_SECTION.search(rest), _EXAMPLE.search(rest)) if match]
        match = min(found, key=lambda one: one.start(), default=None)
        out.append(inline(rest[: match.start()] if match else rest, link))
        if match is None:
            break
        if match.re is _EXAMPLE:
            out.append(f"```pycon\n{match[0].rstrip()}\n```\n")
        else:
            out.append(_fields(match[1], match[2], link) + "\n")
        rest = rest[match.end() :]
    return "".join(out).strip() + "\n"
