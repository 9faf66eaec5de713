"""Every example in the documentation runs and prints what it says."""

import doctest
import importlib
import pkgutil
import re
import textwrap
from pathlib import Path

import jax
import pytest

import jaxrace
import jaxrace.envs
import jaxrace.kernels
import papers

# A fenced block, and what it prints: the indented lines after one empty line, if there are any.
PYTHON_BLOCK = r"^```python\n(?P<code>.*?)^```\n(?:\n(?P<shown>(?:(?: {4}[^\n]*)?\n)+))?"

CHECKOUT = Path(__file__).parents[2]

# A set, because walking jaxrace finds the other two as well where the two links exist.
MODULES = sorted(
    {
        name
        for package in (jaxrace, jaxrace.envs, jaxrace.kernels, papers)
        for name in (
            package.__name__,
            *(
                info.name
                for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
            ),
        )
    }
)

# Examples that compile much, of what other tests of the default run use as well.
SLOW_MODULES = """
    racing.driver racing.judge dueling.elimination dueling.decisions
    dueling.counted dueling.driver dueling.matrices
    dueling.problems dueling.savage envs.gridworld envs.holdem.abstraction
    envs.holdem.betting envs.holdem.table
    improvement.bounds improvement.daedalus improvement.policy_improvement
    improvement.weights kernels.draws kernels.bootstrap
    kernels.gains kernels.mean_bounds kernels.merging kernels.ragged_wins kernels.thurstone
    kernels.wins
    search.driver search.policy_search
    selection.driver selection.pocbam selection.comparisons
    selection.tournaments
"""
SLOW_PAGES = """
    dominance_race dueling holdem improvement racing shared_tasks sweeps top_k_selection
"""  # of docs/jax
SLOW_PAPERS = """
    holdem.ashe holdem.lanes holdem.matches holdem.networks holdem.pattern_tree holdem.strength
    improvements.marketing preference_racing.options preference_racing.learners.label_ranking
    preference_racing.learners.policy_iteration preference_racing.learners.split_race
    savage.arms savage.questions top_k.stationary top_k.variants
"""
SLOW = {f"jaxrace.{name}" for name in SLOW_MODULES.split()}
SLOW |= {f"papers.{name}" for name in SLOW_PAPERS.split()}
SLOW |= {f"docs/jax/{name}.md" for name in SLOW_PAGES.split()}
SLOW |= {"docs/papers/improvement.md"}


def cases(*names):
    """Parameters of a test, of which those in SLOW are marked."""
    marks = [[pytest.mark.slow] if SLOW & {*case} else [] for case in names]
    return [pytest.param(*case, marks=mark) for case, mark in zip(names, marks, strict=True)]


def test_slow_examples_exist():
    """A module that has another name now would be left out of nothing."""
    modules = {name for name in SLOW if not name.endswith(".md")}
    assert modules <= set(MODULES)


@pytest.mark.parametrize("name", cases(*((name,) for name in MODULES)))
def test_doctests(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples may write files
    module = importlib.import_module(name)

    result = doctest.testmod(
        module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False
    )

    assert result.failed == 0


@pytest.mark.skipif(
    jax.config.read("jax_enable_x64"), reason="what the README draws is of JAX's default dtype"
)
@pytest.mark.parametrize(
    ("name", "least"),
    cases(
        ("README.md", 2),
        ("docs/reference/data.md", 4),
        ("docs/jax/medical.md", 1),
        ("docs/jax/racing.md", 2),
        ("docs/jax/sweeps.md", 1),
        ("docs/jax/dominance_race.md", 1),
        ("docs/jax/dueling.md", 2),
        ("docs/jax/holdem.md", 1),
        ("docs/jax/improvement.md", 1),
        ("docs/papers/improvement.md", 1),
        ("docs/jax/shared_tasks.md", 1),
        ("docs/jax/top_k_selection.md", 1),
    ),
)
def test_python_blocks(name, least, tmp_path, monkeypatch, capsys):
    """They all run, and print what an indented block right below them shows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(CHECKOUT / "docs")
    path = CHECKOUT / name
    text = path.read_text(encoding="utf-8")
    namespace = {"__name__": "blocks"}  # one for all: a later block may build on an earlier one
    blocks = list(re.finditer(PYTHON_BLOCK, text, re.DOTALL | re.MULTILINE))
    assert len(blocks) >= least

    for block in blocks:
        lines_above = text.count("\n", 0, block.start("code"))
        with jax.debug_nans(True):  # none is NaN where nothing is wrong
            exec(compile("\n" * lines_above + block["code"], path, "exec"), namespace)
        printed = capsys.readouterr().out
        if block["shown"]:
            assert printed.rstrip() == textwrap.dedent(block["shown"]).rstrip()


def anchors(path):
    """What a link to a page may name behind #."""
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


_FOUND = [*CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/**/*.md")]
PAGES = [page for page in _FOUND if "_build" not in page.parts]


def test_links_lead_somewhere():
    broken = []
    for page in PAGES:
        for link in re.findall(r"\]\(([^)\s:]+)\)", page.read_text("utf-8")):
            file, _, anchor = link.partition("#")
            target = page.parent / file if file else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                broken.append(f"{page.name}: {link}")
    assert broken == []


def long_lines(text: str) -> list[int]:
    """Lines of prose with more than 100 characters; not of tables, code and what it prints."""
    inside, found = False, []
    for number, line in enumerate(text.splitlines(), 1):
        inside ^= line.lstrip().startswith(("```", "~~~"))
        if not inside and not line.startswith(("    ", "|")) and len(line) > 100:
            found.append(number)
    return found


def test_lines_of_prose_are_short():
    lines = {str(page): long_lines(page.read_text("utf-8")) for page in PAGES}
    assert {name: numbers for name, numbers in lines.items() if numbers} == {}


def signs(text: str) -> list[int]:
    """Lines within a paragraph that Markdown takes for something else: comments, and lists."""
    text = re.sub(
        r"^```.*?^```", lambda found: "\n" * found[0].count("\n"), text, flags=re.M | re.S
    )
    is_prose, found = None, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            is_prose = None  # a paragraph begins behind it
        elif is_prose is None:
            is_prose = not re.match(r"([-+*|:<]|\d+[.)]) |[|#:]| {4}", line)
        elif is_prose and re.match(r"%|[-+*] |1[.)] ", line):
            found.append(number)
    return found


def test_no_line_of_prose_begins_with_a_sign_of_markdown():
    """What follows % is not shown: half a sentence was missing."""
    lines = {str(page): signs(page.read_text("utf-8")) for page in PAGES}
    assert {name: numbers for name, numbers in lines.items() if numbers} == {}


def test_a_sign_of_markdown_is_found():
    assert signs("2 to 5\n% of\n\n* one\n* two\n\nwith 1\n1. As\n\n1. one\n2. two\n") == [2, 8]


def test_a_long_line_is_found():
    text = f"{'a ' * 51}\n\n    {'b' * 99}\n\n```\n{'c' * 101}\n```\n| {'d' * 101} |\n"
    assert long_lines(text) == [1]
