"""`jaxrace duel`: who beats whom in a file."""

import json
import subprocess
import sys
from pathlib import Path

import jaxrace
from jaxrace.commands.cli import main

GAMES = ",ann,bob,cy\nann,,30,28\nbob,1,,2\ncy,0,2,\n"


def test_a_file_is_answered_at_once(tmp_path):
    """Without JAX, SciPy or matplotlib, and nothing is left."""
    (tmp_path / "wins.csv").write_text(GAMES)
    command = (
        "import sys; from jaxrace.commands.cli import main; assert main(['duel', 'wins.csv']) == 0;"
        "print(sorted({'jax', 'scipy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\n[]\n")
    assert [path.name for path in tmp_path.iterdir()] == ["wins.csv"]


def test_counts_say_how_clear_they_are(tmp_path, monkeypatch, capsys):
    """Exit status 3 while nobody clearly beats all others; probabilities are as they are."""
    monkeypatch.chdir(tmp_path)
    files = {
        "clear.csv": (GAMES, 0, "BEST: ann, which beats every other"),
        "few.csv": (GAMES.replace("28", "4"), 3, "NOT SURE: ann is ahead of every other, clearly"),
        "circle.csv": (",a,b,c\na,,2,1\nb,1,,2\nc,2,1,\n", 3, "NO OPTION IS AHEAD OF ALL"),
        "shares.csv": ("0.5,0.6\n0.4,0.5\n", 0, "BEST: 0, which beats every other"),
        "each.csv": ("0.5,1\n0,0.5\n", 0, "note: 0 and 1 are probabilities: certain, and not the"),
    }
    for name, (text, status, said) in files.items():
        Path(name).write_text(text)
        assert main(["duel", name]) == status
        assert f"\n{said}" in f"\n{capsys.readouterr().out}"
    result = jaxrace.duel("clear.csv")
    assert [arm.clearly for arm in result.options] == [2, 0, 0]
    assert [(one.first, one.second, one.won, one.lost, one.clear) for one in result.pairs] == [
        *(("ann", "bob", 30, 1, True), ("ann", "cy", 28, 0, True), ("bob", "cy", 2, 2, False)),
    ]
    assert main(["duel", "few.csv", "--out", "run", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found == jaxrace.duel("few.csv").to_dict() | {"doubts": [], "folder": "run"}
    names = {"config.json", "summary.json", "options.csv", "matrix.png", "matrix.svg"}
    assert {path.name for path in Path("run").iterdir()} == names


def test_a_named_matrix_of_wins_is_shown_by_name(tmp_path, capsys):
    (tmp_path / "wins.csv").write_text(",ann,bob,cy\nann,,3,4\nbob,1,,2\ncy,0,2,\n")
    report = tmp_path / "report.html"
    command = ["duel", str(tmp_path / "wins.csv"), "--json", "--report", str(report)]
    assert main(command) == 3, "of eleven duels in all"
    assert "<td>2</td><td>0</td><td>0.875</td><td>100%</td>" in report.read_text("utf-8")
    found = json.loads(capsys.readouterr().out)
    assert (found["condorcet"], found["best"]) == (True, ["ann"])
    assert [(arm["name"], arm["smith"], arm["played"]) for arm in found["options"]] == [
        *(("ann", True, 1), ("bob", False, 0), ("cy", False, 0)),
    ]
