"""What Sphinx does to pages: short commands, copies as Markdown, and their list, llms.txt.

Each page is there as Markdown, too, beside its HTML: ``glossary.md`` beside ``glossary.html``. A
link of a copy that leads nowhere is warned of, as Sphinx does of pages.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders.text import TextBuilder
from sphinx.util import logging

_MADE = re.compile(r"^```\{(?:eval-rst|program-output|include)\}", re.MULTILINE)
_MENU = re.compile(r"^```\{toctree\}\n.*?^```\n", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()(?!\w+:)([^()\s#]+)")  # within the site, without its heading
_CODE = re.compile(r"^(```.*?^```\n|(?: {4}[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
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


def within(text: str) -> str:
    """Notebooks lie beside docs/, and, copied, below it in the site.

    >>> within("[a](../../notebooks/a.ipynb) [b](../docs/b.md)")
    '[a](/notebooks/a.ipynb) [b](/b.md)'
    """
    return re.sub(r"\]\((?:\.\./)+(?:(notebooks/)|docs/)", r"](/\1", text)


def _link_within(_app: Sphinx, _page: str, text: list[str]) -> None:
    text[0] = within(text[0])


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
        return _linked(app, page, notebook_markdown(text))
    if not _MADE.search(text):
        return _linked(app, page, _MENU.sub("", text))
    builder = TextBuilder(app, app.env)
    builder.init()
    tree = app.env.get_and_resolve_doctree(page, builder)
    translator = builder.create_translator(tree, builder)
    tree.walkabout(translator)
    return getattr(translator, "body")  # noqa: B009 - that of text, which Sphinx does not type


def _linked(app: Sphinx, page: str, text: str) -> str:
    """Links of a page to where its copy, figures and files lie in the site."""
    here, env = Path(page).parent, app.env
    files = {os.fspath(file): name for file, (_, name) in env.dlfiles.items()}

    def built(link: re.Match[str]) -> str:
        name = link[0].removeprefix("/") if link[0][0] == "/" else str(here / link[0])
        name = os.path.normpath(name)
        if (found := name.rpartition(".")[0]) in env.found_docs:
            name = f"{found}.md"
        elif name in env.images:
            name = f"_images/{env.images[name][1]}"
        elif name in files:
            name = f"_downloads/{files[name]}"
        else:
            logging.getLogger(__name__).warning("%s.md: no %s in the site", page, link[0])
        return os.path.relpath(name, here)

    parts = _CODE.split(within(text))  # every second one is code
    return "".join(x if i % 2 else _LINK.sub(built, x) for i, x in enumerate(parts))


def _listed(app: Sphinx, page: str, title: str | None = None) -> Iterator[str]:
    """A page and those in its menu, a line each: what it is about is its first sentence."""
    found = (
        " ".join(x.astext().split()) for x in app.env.get_doctree(page).findall(nodes.paragraph)
    )
    told = next((text for text in found if " " in text.strip()), "")
    said = re.split(r"(?<=[a-z.][.?!]) (?=[A-Z])", told)[0].rstrip(":")
    yield f"- [{title or app.env.titles[page].astext()}]({page}.md){': ' if said else ''}{said}\n"
    for below in app.env.toctree_includes.get(page, ()):
        yield from _listed(app, below)


def _list_of_pages(app: Sphinx) -> str:
    """The content of llms.txt: the first page, and the sections of its menu in their order."""
    root = app.config.root_doc
    (about, *_) = _listed(app, root)
    parts = [f"# {app.config.project}\n\n{about}"]
    for menu in app.env.get_doctree(root).findall(addnodes.toctree):
        lines = [
            line
            for title, page in menu["entries"]
            for line in _listed(app, app.config.root_doc if page == "self" else page, title)
        ]
        parts.append(f"## {menu['caption'] or 'Begin'}\n\n{''.join(lines)}")
    return "\n".join(parts)


def _write_copies(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.name != "html":
        return
    for page in sorted(app.env.found_docs):
        copy = Path(app.outdir, f"{page}.md")
        copy.write_text(_markdown(app, page), "utf-8")
    Path(app.outdir, "llms.txt").write_text(_list_of_pages(app), "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the copies once all pages are there."""
    app.connect("source-read", _link_within)
    app.connect("doctree-read", _shorten_commands)
    app.connect("build-finished", _write_copies)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
