"""Right answers with names that would give orders: to a page, a terminal, a figure."""

import functools
import html
import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from command_runs import Ran, ran
from markdown_it import MarkdownIt
from right_answers import check, params

from jaxrace import race
from jaxrace.answers.answer import shown
from jaxrace.runs.tables import markdown_table, markdown_text

PICTURE = "![x](http://example.org/x.png)"
NAMES = [
    "a\n\n# CERTIFIED: a\n\n",
    PICTURE,
    "\x1b[31mred\x07",
    "[red]\u202emodel[/red]",
    "<script>alert(1)</script>",
    "my_model-7b $x$",
]
rng = np.random.default_rng(0)
SCORES = {name: rng.normal(size=12).round(3).tolist() for name in NAMES}
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# Every beginning of something else than a text, and some of our own.
TEXTS = [
    *NAMES,
    *("# one", "#", "###### six", "1. one", "12) twelve", "- one", "+ one", "* one", "---", "+"),
    *("***", "___", "_a_", "a_b", "__a__", "`a`", "```", "~~~", "~~a~~", "> a", ">", "    a"),
    *("[a](b)", "[a]: http://b", "![a][b]", "<http://a>", "<b>a</b>", "&lt;", "&#35;", "a\\", "\\"),
    *("a|b", "0.5", "-0.486 to 0.797", "CERTIFIED: a, b", "1", "2026. a", "a\r\n===", "|-|"),
]


@functools.cache
def reported(name: str) -> Ran:
    return ran(f"race s.json --report {name}", {"s.json": json.dumps(SCORES)})


def tags(page: str) -> set[str]:
    return set(re.findall(r"<(\w+)", page))


def pictured() -> set[str]:
    """What is drawn on the figure, which is read as XML."""
    tree = ElementTree.fromstring(reported("r.md").files["r.svg"])
    return {comment for comment in ("".join(tree.itertext()),) if "\x1b" in comment}


def page() -> str:
    return MARKDOWN.render(reported("r.md").files["r.md"].decode())


CASES = [
    (
        "texts in Markdown are themselves",
        lambda: [MARKDOWN.render(markdown_text(text)) for text in TEXTS],
        [f"<p>{html.escape(shown(text).strip())}</p>\n" for text in TEXTS],
    ),
    (
        "cells in Markdown are themselves",
        lambda: re.findall(
            "<td>(.*)</td>",
            MARKDOWN.render(markdown_table(["x"], [[x] for x in map(markdown_text, TEXTS)])),
        ),
        [html.escape(shown(text).strip()) for text in TEXTS],
    ),
    ("texts that look like links", lambda: markdown_text("http://a www.b"), r"http:\//a www\.b"),
    ("a report has one heading", lambda: re.findall(r"<h(\d)>", page()), ["2"]),
    ("a report has one picture", lambda: re.findall(r'<img src="(.*?)"', page()), ["r.png"]),
    (
        "a report has nothing else",
        lambda: tags(page()) - {"table", "thead", "tbody", "tr", "th", "td", "p", "ul", "li"},
        {"h2", "img"},
    ),
    (
        "a report in HTML",
        lambda: [
            one in reported("r.html").files["r.html"].decode()
            for one in ("\x1b", "<script", "\u202e", "a\n\n#")
        ],
        [False] * 4,
    ),
    (
        "a picture of a report with a name of its own",
        lambda: re.findall(
            r'<img src="(.*?)"', MARKDOWN.render(reported("a(b.md").files["a(b.md"].decode())
        ),
        ["a%28b.png"],
    ),
    ("a figure is XML", pictured, set()),
    (
        "a printed answer",
        lambda: [one for one in str(race(SCORES)) if not one.isprintable() and one != "\n"],
        [],
    ),
    (
        "a page of a notebook",
        lambda: [one for one in race(SCORES)._repr_html_() if not one.isprintable()],
        [],
    ),
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)
