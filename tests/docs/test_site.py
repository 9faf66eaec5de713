"""The site without Sphinx: every page is in its menu, and the reference has every public name."""

import doctest
import re
from pathlib import Path

import api
import docstrings
import pytest

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


@pytest.mark.parametrize("package", api.PACKAGES)
def test_reference(package):
    """Each public name once, with what it says; no section of a docstring is left as it was."""
    text = api.api_markdown(package)
    for name, value in api.offered(package).items():
        full = f"{package}.{name}"
        entries = re.findall(rf"(?:\}} |^`){re.escape(full)}(?![\w.])", text, re.M)
        assert len(entries) == 1, full
        if isinstance(value, type) and value.__doc__ and f"`{full}`: see" not in text:
            assert docstrings.inline(value.__doc__.splitlines()[0], api.link) in text
    assert not re.search(r"^(Args|Attributes|Raises|Returns|Warns):", text, re.M)
    page = DOCS / "reference" / f"{package.rpartition('.')[2]}.md"
    assert f"{{api}} {package}\n" in page.read_text("utf-8")


def test_docstrings_become_markdown():
    """Sections, an example and links, by hand."""
    text = """Say it.

Args:
    one, two: What
        ``race`` takes.

Raises:
    ValueError: It is wrong.

>>> 1 + 1
2
"""
    assert (
        docstrings.as_markdown(text, {"race": "jaxrace.race"}.get)
        == """Say it.

:param one: What
  {py:obj}`race <jaxrace.race>` takes.
:param two: What
  {py:obj}`race <jaxrace.race>` takes.

:raises ValueError: It is wrong.

```pycon
>>> 1 + 1
2
```
"""
    )
    assert doctest.testmod(docstrings).failed == 0
