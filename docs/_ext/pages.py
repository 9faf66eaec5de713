"""What Sphinx does to pages: short commands, and copies as Markdown.

Each page is there as Markdown, too, beside its HTML: ``glossary.md`` beside ``glossary.html``.
"""

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.text import TextBuilder

_MADE = re.compile(r"^```\{(?:eval-rst|program-output|include)\}", re.MULTILINE)
_COMMAND = re.compile(r"^(?:jaxrace|python|pip) [^\n#]{53,}$", re.MULTILINE)  # over 60 signs


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


def _link_within(_app: Sphinx, _page: str, text: list[str]) -> None:
    """Notebooks lie beside docs/, and, copied, below it in the site."""
    text[0] = re.sub(r"\]\((?:\.\./)+(?:(notebooks/)|docs/)", r"](/\1", text[0])


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


def _markdown(app: Sphinx, page: str) -> str:
    """A page as Markdown; as plain text, if directives make it."""
    source = Path(app.env.doc2path(page))
    text = source.read_text("utf-8")
    if source.suffix == ".ipynb":
        return notebook_markdown(text)
    if not _MADE.search(text):
        return text
    builder = TextBuilder(app, app.env)
    builder.init()
    tree = app.env.get_and_resolve_doctree(page, builder)
    translator = builder.create_translator(tree, builder)
    tree.walkabout(translator)
    return getattr(translator, "body")  # noqa: B009 - that of text, which Sphinx does not type


def _write_copies(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.name != "html":
        return
    titles = []
    for page in sorted(app.env.found_docs):
        copy = Path(app.outdir, f"{page}.md")
        copy.write_text(_markdown(app, page), "utf-8")
        titles.append(f"- [{app.env.titles[page].astext()}]({page}.md)\n")
    Path(app.outdir, "llms.txt").write_text(f"# {app.config.project}\n\n{''.join(titles)}", "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the copies once all pages are there."""
    app.connect("source-read", _link_within)
    app.connect("doctree-read", _shorten_commands)
    app.connect("build-finished", _write_copies)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
