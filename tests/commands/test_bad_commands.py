"""Bad options of every command: one line that names them, and nothing is printed or left else."""

import json

import pytest
from without_cache import without_cache

from jaxrace.commands.cli import main

BAD = {
    # The command.
    "": "expected one of race, rank, gate, order, plan, duel, select, improve, train, list, info",
    "walk": "VERB: invalid choice: 'walk' (choose from 'race', 'rank', 'gate', ",
    "train maze": "env: expected one of medical, got 'maze'",
    "list races": "unrecognized arguments: races",
    # Training.
    "train medical --method edps --bound kl": "--bound: expected none with method edps, which does",
    "train medical --method random --delta 0.1": "--delta: expected none with method random, which",
    "train medical --action 0.5": "--action: expected none with method pb-edps-fast, which does",
    "train medical now": "unrecognized arguments: now: `jaxrace train --help` shows all",
    "train medical --budget 100": "--budget 100: --episodes N is the budget of each search",
    "train medical --total-timesteps 9": "--episodes N is the budget of each search",
    "train medical --resume runs/1": "runs/1: --resume takes no folder, --out runs/1 --resume does",
    "train": "required: env: `jaxrace list` shows environments",
    "train medical --out new --resume": "got 'new', without config.json",
    "train medical --speed 3": "unrecognized arguments: --speed 3",
    "train medical --episodes": "--episodes: expected one argument",
    "train medical --episodes 0": "--episodes: expected an integer of at least 1, got 0",
    "train medical --sigma wide": "--sigma: expected a number, several with commas between them, o",
    "train medical --delta 1": "--delta: expected a number between 0 and 1, exclusive, got 1.0",
    "train medical --delta 0.1,0.1": "--delta: expected different numbers, at least one, got (0.1",
    "train medical --sigma 1,-2": "--sigma: expected a positive number, got -2.0",
    "train medical --method random --delta 0.1,0.2": "--method: expected pb-edps or edps for a",
    "train medical --resume": "--resume: expected the folder of the run in out (--out), got none",
    "train medical --resume --out new": "--out: expected the folder of a run to resume, got 'new'",
    "train medical --method reinforce": "--method: expected one of pb-edps-fast, pb-edps, edps",
    "train medical --method constant --action 2": "--action: expected a dose from 0 to 1, got 2.0",
    "train medical --method pb-edps --strategy PGPE": "--population: expected a size that PGPE",
    "train medical --out full": "--out: expected a new or an empty folder, got 'full'",
    "train medical --out full/file/x": "--out: expected a folder that can be written, got 'full/",
    "train medical --max-rounds 40000": "--max-rounds: expected at most 2048, got 40000",
    "train medical --strategy Open_ES --population 8 --sigma 1": "--sigma: expected null for Open_",
    "train medical --strategy CMAES": "--strategy: expected one of CMA_ES, ",
    "train medical --population 1000000": "--population: expected at most 1000, got 1000000",
    "train medical --sigma 1,1e-46": "--sigma: expected a positive number from",
    "train medical --delta 1e-320": "--delta: expected a number between 0 and 1, exclusive, got 1e",
    # Poker players.
    "train medical --hands 10": "unrecognized arguments: --hands 10",
    # Selection.
    "select none.csv": "votes: expected a file that can be read, got 'none.csv'",
    "select none.csv --resume": "unrecognized arguments: --resume",
    "select none.csv --report r.pdf": "--report: expected a file that ends in .md or .html",
    "select": "the following arguments are required: votes",
    # Duels.
    "duel nothing.csv": "matrix: expected a file that can be read",
    "duel nothing.csv --seed 1": "unrecognized arguments: --seed",
    "duel": "the following arguments are required: matrix",
    # Policy improvement.
    "improve log.csv --low 0 --high 1 --bound hoeffding": "--bound: expected one of ci, ",
    "improve log.csv --low 0 --high 1 --candidates some": "--candidates: expected one of none, k-f",
    "improve maze": "log: expected a file that ends in .npz, .csv",
    "improve log.csv": "--low: expected the least and the largest possible return, as in",
    "improve log.csv --low 0 --high 1": "log: expected a file that can be read, got 'log.csv': No",
}


@pytest.mark.parametrize("command", BAD)
def test_bad_options(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    before = sorted(tmp_path.rglob("*"))
    assert main(without_cache(command.split())) == 2
    output = capsys.readouterr()
    assert output.out == ""
    (line,) = output.err.splitlines()
    assert line.startswith("jaxrace: error: ")
    assert BAD[command] in line
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("command", [command for command in BAD if command])
def test_with_json_an_error_is_an_object(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert main(without_cache([*command.split(), "--json"])) == 2
    output = capsys.readouterr()
    found = json.loads(output.out)
    assert found.keys() == {"error", "name", "expected", "got", "status"}
    assert output.err == f"jaxrace: error: {found['error']}\n"
    assert found["status"] == 2
    if found["name"] is not None:
        begin = f"{found['name']}: expected {found['expected']}, got {found['got']}"
        assert found["error"].startswith(begin)


def test_the_parts_of_an_error(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(
        "run,a,b\n" + "".join(f"{k},{5 * k % 7},{k % 2}\n" for k in range(9))
    )
    assert main(["race", "scores.csv", "--delta", "2", "--json"]) == 2
    found = json.loads(capsys.readouterr().out)
    parts = "--delta", "a number between 0 and 1, exclusive", "2.0"
    assert (found["name"], found["expected"], found["got"]) == parts


def test_where_a_file_cannot_be_written_the_error_is_the_only_object(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(
        "run,a,b\n" + "".join(f"{k},{5 * k % 7},{k % 2}\n" for k in range(9))
    )

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("jaxrace.commands.front.write_report", full)
    assert main(["race", "scores.csv", "--json", "--report", "race.md"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert "No space left" in found["error"]
    assert (found["name"], found["status"]) == (None, 1)
