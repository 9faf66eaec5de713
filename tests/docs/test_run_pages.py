"""The pages that strangers read first run, and print what they show."""

import importlib
import re

import jax
import pytest
import run_pages

# What a script needs that the tests do not.
NEEDED = {
    "compared/adastop": "adastop",
    "compared/bradley-terry": "evalica",
    "compared/honestboard": "honestboard",
    "compared/rliable": "rliable",
    "compared/two-models": "evalsig",
}


def _case(name):
    """Scripts take seconds to minutes."""
    marks = [pytest.mark.slow] if run_pages.scripts(name) else []
    return pytest.param(name, marks=marks)


@pytest.mark.skipif(
    jax.config.read("jax_enable_x64"), reason="what they draw is of JAX's default dtype"
)
@pytest.mark.parametrize("name", [_case(name) for name in run_pages.PAGES])
def test_a_page_runs(name, tmp_path, monkeypatch):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    monkeypatch.chdir(tmp_path)
    blocks = list(run_pages.ran(name, tmp_path))
    assert any(block.printed for block in blocks)
    for block in blocks:
        assert (block.shown or "").rstrip() == block.printed.rstrip()


def test_the_first_pages_are_among_them():
    assert {"index", "start"} <= {*run_pages.PAGES}


def test_functions_that_the_table_of_calls_names_are_there():
    import jaxrace

    named = re.findall(r"`((?:jaxrace|racing|search)\.\w+)`", run_pages.text("which"))
    assert len(named) > 5
    for one in named:
        part, name = one.split(".")
        owner = jaxrace if part == "jaxrace" else importlib.import_module(f"jaxrace.{part}")
        assert hasattr(owner, name), one
