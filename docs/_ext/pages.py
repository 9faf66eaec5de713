"""What Sphinx does to pages: parts that are written for the reference, short commands, copies.

Each page is there as Markdown, too, beside its HTML: ``glossary.md`` beside ``glossary.html``.
"""

import json
import re
from pathlib import Path
from typing import Any

from api import WRITERS
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_WRITTEN = re.compile(r"^```\{(api|command)\} (\S+)\n```$", re.MULTILINE)
_INCLUDED = re.compile(r"^```\{include\} (\S+)\n(?::.*\n)*```$", re.MULTILINE)

_COMMAND = re.compile(r"^(?:jaxrace|python|pip) [^\n#]{53,}$", re.MULTILINE)  # over 60 signs


class Written(SphinxDirective):
    """MyST that a function writes stands in the place of the directive."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """What it writes, parsed like the rest of the page."""
        return self.parse_text_to_nodes(WRITERS[self.name](self.arguments[0]))


def in_short_lines(command: str, most: int = 60) -> str:
    r"""A command, continued by backslashes before options, as wide as a telephone has room for.

    >>> print(in_short_lines("jaxrace race answers.csv --shared --of 2000", most=36))
    jaxrace race answers.csv --shared \
        --of 2000
    """
    lines = [""]
    for part in re.split(r" (?=--|&& )", command):
        joined = f"{lines[-1]} {part}" if lines[-1] else part
        if len(joined) <= most - 2 or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(f"    {part}")
    return " \\\n".join(lines)


def _shorten_commands(app: Sphinx, tree: nodes.document) -> None:
    for block in tree.findall(nodes.literal_block):
        text = _COMMAND.sub(lambda match: in_short_lines(match[0]), block.astext())
        if text != block.astext():
            block.rawsource = text
            block[:] = [nodes.Text(text)]


def notebook_markdown(text: str) -> str:
    """The cells of a notebook: prose, code, and what it printed."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            printed = output.get("text") or output.get("data", {}).get("text/plain", [])
            if printed:
                parts.append(f"```text\n{''.join(printed).rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def markdown(source: Path) -> str:
    """A page as plain Markdown, with what its directives write."""
    text = source.read_text("utf-8")
    if source.suffix == ".ipynb":
        return notebook_markdown(text)
    text = _WRITTEN.sub(lambda match: WRITERS[match[1]](match[2]), text)
    return _INCLUDED.sub(lambda match: (source.parent / match[1]).read_text("utf-8"), text)


def _write_copies(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.name != "html":
        return
    titles = []
    for page in sorted(app.env.found_docs):
        copy = Path(app.outdir, f"{page}.md")
        copy.write_text(markdown(Path(app.env.doc2path(page))), "utf-8")
        titles.append(f"- [{app.env.titles[page].astext()}]({page}.md)\n")
    Path(app.outdir, "llms.txt").write_text(f"# {app.config.project}\n\n{''.join(titles)}", "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directives, and write the copies once all pages are there."""
    for name in WRITERS:
        app.add_directive(name, Written)
    app.connect("doctree-read", _shorten_commands)
    app.connect("build-finished", _write_copies)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
