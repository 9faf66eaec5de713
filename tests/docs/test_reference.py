"""The reference shows what is called and what it returns, and as people read it."""

import dataclasses
import importlib
import re
import sys
import typing
from pathlib import Path

import pytest

import jaxrace

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
EXTENSIONS = REFERENCE.parent / "_ext"


def documented() -> dict[str, set[str]]:
    """The names that each page shows, by its own directives or as those of a package."""
    found = {}
    for page in REFERENCE.glob("*.md"):
        text = page.read_text("utf-8")
        names = {
            name.rpartition(".")[2] for name in re.findall(r"^\.\. auto\w+:: (\S+)", text, re.M)
        }
        for name in re.findall(r"^\.\. automodule:: (\S+)\n   :members:", text, re.M):
            names |= {*vars(importlib.import_module(name))}
        found[page.stem] = names
    return found


def test_all_functions_of_jaxrace_are_on_its_page():
    assert {*jaxrace._FUNCTIONS} <= documented()["jaxrace"]


@pytest.mark.parametrize("name", [*jaxrace._FUNCTIONS])
def test_what_a_function_returns_is_shown(name):
    """And so is what is in it: rows are classes of their own."""
    shown = set().union(*documented().values())
    returned = typing.get_type_hints(getattr(jaxrace, name)).get("return", type(None))
    classes = [each for each in typing.get_args(returned) or (returned,) if _is_ours(each)]
    for each in classes:
        for one in (*each.__mro__, *getattr(each, "ROWS", {}).values()):
            assert not _is_ours(one) or one.__name__ in shown, one


def _is_ours(each: object) -> bool:
    hidden = ("AnswerOfTable", "Ranking")  # what is said of their members is said below
    named = getattr(each, "__module__", "").startswith("jaxrace"), getattr(each, "__name__", "")
    return isinstance(each, type) and named[0] and named[1] not in hidden


def test_the_keys_that_scripts_need_are_those_of_the_answers():
    rows = re.findall(r"^\| `(\w+)`[^|]*\| `(\w+)` \| (.*) \|$", _page("command"), re.M)
    assert len(rows) == 9
    assert {row[0] for row in rows} <= {*jaxrace._FUNCTIONS}
    by_name = {}
    for name in ("gate_result", "engine_result", "board_result", "result", "plan_result", "order"):
        by_name |= vars(importlib.import_module(f"jaxrace.judging.{name}"))
    by_name |= vars(importlib.import_module("jaxrace.judging.rating.front"))
    by_name |= vars(importlib.import_module("jaxrace.judging.standing"))
    for verb, answer, keys in rows:
        if verb != "improve":  # which is of a summary
            kind = by_name[answer]
            has = {field.name for field in dataclasses.fields(kind)} | {*kind.ALSO}
            assert {*re.findall(r"`(\w+)`", keys)} <= has, verb


def test_the_keys_of_a_policy(capsys):
    from jaxrace.commands.cli import main

    log = str(REFERENCE.parent / "data" / "log.csv")
    main(["improve", log, "--low", "0", "--high", "20", "--bound", "betting", "--json"])
    (keys,) = re.findall(r"^\| `improve` .*\| (.*) \|$", _page("command"), re.M)
    printed = capsys.readouterr().out
    assert {"status", *re.findall(r"`(\w+)`", keys)} <= {*re.findall(r'^ "(\w+)":', printed, re.M)}


def _page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text("utf-8")


def test_types_and_comments_are_read_as_they_are_meant(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    reference = importlib.import_module("reference")
    long = "~collections.abc.Callable[[~typing.Any], ~jax.jaxlib._jax.Array] = <function order>"
    assert reference.short_type(long) == "Callable[[Any], jax.Array] = order"
    long = (
        "~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[numpy.int32]] = <function A.<lambda>>"
    )
    assert reference.short_type(long) == "NDArray[numpy.int32] = ..."
    # A comment above a field is not the end of the one before.
    from jaxrace.dueling import DuelWork
    from jaxrace.racing import DominanceResult

    said = dict(reference.fields(DuelWork))
    assert said["params"] == "of the algorithm"
    assert said["ends_when_decided"].startswith("Does a run also end")
    listed = "\n".join(reference.inherited(DominanceResult))
    assert "* ``certificate`` - How the first kappa" in listed
    assert "* ``best`` - The first kappa" in listed
    assert "log_highest" not in listed  # it has that itself
    sys.modules.pop("reference")
