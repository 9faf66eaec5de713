"""What answers a table with NumPy, narwhals, jsonargparse and rich, and nothing else.

    python tests/tables/tables_alone.py

Runs in an environment of these packages alone, see .ci/run; fails if one of the others is there.
"""

import contextlib
import importlib.util
import io
import os
import tempfile
from pathlib import Path

import jaxrace
from jaxrace.commands.cli import main

DATA = Path(__file__).resolve().parents[2] / "docs" / "data"
OTHERS = ("jax", "scipy", "matplotlib", "orbax", "filelock", "docstring_parser", "pandas", "polars")
ANSWERS = {
    f"race {DATA / 'scores.csv'} --top 2": (0, "CERTIFIED"),
    f"race {DATA / 'answers.csv'} --shared --next next.csv": (0, "CERTIFIED"),
    f"rank {DATA / 'answers.csv'} --shared --tolerance 0.4": (0, "TIERS"),
    f"gate {DATA / 'scores.csv'} --baseline baseline": (3, "PASSED"),
    "plan --options 2 --gap 1 --spread 1": (0, ""),
    f"select {DATA / 'games.csv'} --top 3": (3, "NOT CERTIFIED"),
    f"improve {DATA / 'log.csv'} --low 0 --high 20": (0, "FOUND"),
    f"select {DATA / 'games.csv'} --top 1 --out run": (2, "matplotlib"),
    f"race {DATA / 'scores.csv'} --report report.html": (2, "matplotlib"),
    f"gate {DATA / 'scores.csv'} --baseline large --report report.md": (1, "REJECTED"),
    "train medical": (1, "expected the package jax"),
    "--help": (0, "usage"),
    "list": (0, "medical"),
    "info": (0, "JAX is not installed"),
}


def said_by(command: str) -> tuple[int, str]:
    """The exit status, and what is printed anywhere."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = main(command.split())
    return status, said.getvalue()


def check() -> None:
    """Ask everything; AssertionError for an answer that is wrong."""
    for name in OTHERS:
        assert importlib.util.find_spec(name) is None, f"{name} is there"
    for command, (status, text) in ANSWERS.items():
        found = said_by(command)
        assert found[0] == status, (command, *found)
        assert text in found[1], (command, *found)
        print(f"{command}: as expected")
    assert jaxrace.race({"a": [3.0, 4.0, 3.5] * 9, "b": [1.0, 2.0, 1.5] * 9}).best == ["a"]
    games = [{"winner": "ann", "loser": "bob"}] * 12
    assert jaxrace.select(games).best == ["ann"]
    assert jaxrace.duel({"ann": [0, 1], "bob": [30, 0]}).is_answered


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check()
