"""The site without Sphinx: every page is in its menu, and every package in the reference."""

import importlib
import re
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "jaxrace"
DOCS = Path(__file__).parents[2] / "docs"


def in_menus(folder: Path) -> set[Path]:
    """The pages that a toctree of a page names."""
    named = set()
    for page in folder.rglob("*.md"):
        for menu in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
            for line in menu.splitlines():
                name = line.partition("<")[2].rstrip(">") or line
                if name and not name.startswith(":"):
                    named |= {*page.parent.glob(f"{name}.*")}
    return named


def test_every_page_is_in_a_menu():
    """Sphinx would refuse it, and is not there in most places."""
    pages = {*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")} - {DOCS / "index.md"}
    pages = {page for page in pages if not {"_build", "figures", "data"} & {*page.parts}}
    assert len(pages) > 50
    assert pages - in_menus(DOCS) == set()


def test_every_package_has_its_page():
    """Each that offers names as its own, but ``runs``, the files of commands; and the agents."""
    offers = {
        path.parent.name for path in SOURCE.glob("*/__init__.py") if " as " in path.read_text()
    }
    packages = {"jaxrace", *(f"jaxrace.{name}" for name in offers - {"runs"}), "jaxrace.agents"}
    pages = "".join(page.read_text("utf-8") for page in (DOCS / "reference").glob("*.md"))
    shown = re.findall(r"^\.\. automodule:: (\S+)$", pages, re.MULTILINE)
    rooms = {each for each in shown if each.count(".") < 2}
    assert rooms == packages
    assert len(shown) == len({*shown})


def test_a_copy_of_a_page_has_no_menu_and_links_within_the_site(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    pages = importlib.import_module("pages")
    index = (DOCS / "index.md").read_text("utf-8")
    assert "toctree" in index
    assert "toctree" not in pages._MENU.sub("", index)
    text = "[a](../../notebooks/a.ipynb) ![b](b.png) [c](https://c.org/d) [e](#f) `[g](h)`\n"
    linked = pages.within(text)
    assert linked.startswith("[a](/notebooks/a.ipynb)")
    assert pages._LINK.findall(linked)[:2] == ["/notebooks/a.ipynb", "b.png"]
    assert not {"https://c.org/d", "#f"} & {*pages._LINK.findall(linked)}
    sys.modules.pop("pages")
