"""Which files the gate takes for votes or games, and which for scores."""

from pathlib import Path
from typing import Any

import pytest

import jaxrace
from jaxrace.commands.cli import main
from jaxrace.judging.engine_result import GateOfGames
from jaxrace.judging.gate_result import GateOfTable

SIDES = ["model_a", "model_b", "tie"] * 10
X, Y, BOTH = ["x"] * 30, ["y"] * 30, ["x", "y"] * 15
VOTES = {
    # A name in each column or in one: the others were taken for options, "tie" among them.
    "a pair": {"model_a": X, "model_b": Y, "winner": SIDES, "anony": [True] * 30},
    "x alone": {"model_a": X, "model_b": ["y", "z"] * 15, "winner": SIDES, "anony": [True] * 30},
    "numbers": {"model_a": [*"121"] * 10, "model_b": [*"212"] * 10, "winner": SIDES},
    "alpaca": {"generator_1": X, "generator_2": Y, "preference": [1.0, 2.0, 1.5] * 10},
    "losers": {"winner": BOTH, "loser": BOTH[1:] + BOTH[:1]},
    "a crosstable": {"": ["x", "y"], "x": ["-", 3], "y": [5, "-"]},
}


def write(columns, path="v.csv"):
    rows = [columns, *zip(*columns.values(), strict=True)]
    Path(path).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", VOTES)
def test_votes_by_their_heads(name):
    write(VOTES[name])
    baseline = "1" if name == "numbers" else "x"
    found = jaxrace.gate("v.csv", baseline=baseline)
    assert isinstance(found, GateOfGames)
    assert {one.name for one in found.candidates} <= {"2", "y", "z"}
    assert main(["gate", "v.csv", "--baseline", baseline]) in (1, 3, 4)  # some come in turns
    with pytest.raises(ValueError, match="`jaxrace select` ranks by these"):
        jaxrace.race("v.csv")


def test_a_list_of_pairs():
    """In Python, as ``select`` takes it; numbers in rows of two are scores of two options."""
    won = [("new", "old")] * 12 + [("old", "new")] * 3
    triples = [("new", "old", 1.0)] * 12 + [("new", "old", 0.0)] * 3
    rows = [["first", "second", "score"], *map(list, triples)]
    for data in (won, triples, rows):
        (found,) = jaxrace.gate(data, baseline="old").candidates
        assert (found.name, found.verdict, found.score) == ("new", "better", 0.8)
        with pytest.raises(ValueError, match=r"pairs of names: `jaxrace select` .* forecasts how"):
            jaxrace.race(data)
    scores = [(1.0, 2.0), (0.0, 3.0)] * 5
    assert isinstance(jaxrace.gate(scores, baseline="option 0"), GateOfTable)


def test_scores_beside_who_was_better():
    """Two columns of scores, whose larger one has won; words that name tasks."""
    a, b = [3, 5, 4, 4, 2, 3, 5, 2], [1, 5, 2, 5, 2, 1, 5, 4]
    won = ["a" if x > y else "b" if x < y else "tie" for x, y in zip(a, b, strict=True)]
    write({"task": range(8), "model_a": a, "model_b": b, "model_c": a[::-1], "winner": won})
    assert isinstance(jaxrace.gate("v.csv", baseline="model_a", shared=True), GateOfTable)
    write({"model": BOTH, "first": X, "second": [*range(15)] * 2, "score": [*range(30)]})
    table = jaxrace.tables.read_scores("v.csv")
    assert table.names == ("x", "y")


def test_a_folder_of_games(capsys):
    for folder in ("games", "games/deep"):
        Path(folder).mkdir()
        game = '[White "x"]\n[Black "y"]\n[Result "1-0"]\n\n1. e4 1-0\n\n'
        Path(folder, f"{folder[-1]}.pgn").write_text(game * (1 + len(folder)))
        assert main(["gate", "games", "--baseline", "y"]) in (0, 3)
        assert "games, as PGN" in error(["race", "games"], capsys)
    Path("games/s.pgn").unlink()
    assert main(["gate", "games", "--baseline", "y"]) in (0, 3)


def error(command, capsys):
    assert main(command) == 2
    return capsys.readouterr().err


def test_what_numbers_are_is_said():
    """The message of shares recommends --score win."""
    write({"model_a": X, "model_b": Y, "score": [0.75, 0.25, 1.0] * 10})
    with pytest.raises(ValueError, match="--score win"):
        jaxrace.gate("v.csv", baseline="y")
    (found,) = jaxrace.gate("v.csv", baseline="y", score="win").candidates
    turned: Any = {"first_column": "model_b", "second_column": "model_a"}
    (other,) = jaxrace.gate("v.csv", baseline="y", score="win", **turned).candidates
    assert (found.score, other.score) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    command = ["gate", "v.csv", "--baseline", "y", "--score", "win"]
    assert main([*command, "--first-column", "model_b", "--second-column", "model_a"]) in (
        1,
        3,
        4,
    )  # some come in turns
