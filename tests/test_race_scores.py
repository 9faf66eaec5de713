"""`jaxrace race`: tables of scores, what is said of them, and bad input."""

import csv
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from jaxrace import runs, tables
from jaxrace.commands.cli import main
from jaxrace.commands.job import Job
from jaxrace.commands.race.config import ScoresConfig
from jaxrace.commands.race.file import ranks_of, read_scores
from jaxrace.commands.race.job import race_scores

# The cache would stay switched on for the tests that follow.
COMMAND = ["race", "--no-compilation-cache"]
RUNS = {"weak": 26, "good": 26, "odd": 12, "best": 26}


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(5)
    means = {"weak": 0.0, "good": 8.0, "odd": 4.0, "best": 12.0}
    return {name: rng.normal(means[name], 1, n) for name, n in RUNS.items()}


def write_wide(path, scores):
    lines = [",".join(scores)]
    for run in range(max(map(len, scores.values()))):
        lines.append(",".join(f"{x[run]:.6f}" if run < len(x) else "" for x in scores.values()))
    path.write_text("\n".join(lines) + "\n")


def write_long(path, scores):
    rows = [(run, name, x) for name, column in scores.items() for run, x in enumerate(column)]
    # Run after run, as they were made; with the mark that spreadsheets leave.
    lines = [f"{run},{name},{x:.6f}" for run, name, x in sorted(rows, key=lambda row: row[0])]
    path.write_text("\n".join(["seed,option,score", *lines, ""]), encoding="utf-8-sig")


@pytest.fixture
def wide(scores, tmp_path):
    write_wide(tmp_path / "wide.csv", scores)
    return tmp_path / "wide.csv"


def test_both_layouts_are_the_same_table(scores, wide, tmp_path):
    write_long(tmp_path / "long.csv", scores)
    found = [read_scores(path) for path in (wide, tmp_path / "long.csv")]
    for table in found:
        assert list(table) == list(RUNS)
        for name, column in table.items():
            np.testing.assert_allclose(column, scores[name], atol=1e-6)


def test_a_table_is_certified(wide, tmp_path, capsys):
    command = [*COMMAND, str(wide), "--top", "2", "--out", str(tmp_path / "run")]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "CERTIFIED: best, good: more often better than worse than each of the others" in said
    assert "probability at most 0.05, in all looks with the same columns and settings (hor" in said
    assert f"of 90 runs counted; {tmp_path / 'run'}" in said
    assert "NOT" not in said
    files = {path.name for path in (tmp_path / "run").iterdir()}
    assert files == {"config.json", "summary.json", "ranking.csv"}
    ranking = tables.read_table(tmp_path / "run" / "ranking.csv")
    assert ranking["option"].tolist() == ["best", "good", "odd", "weak"]
    assert ranking["runs"].tolist() == [26, 26, 12, 26]
    assert ranking["verdict"].tolist() == ["in", "in", "out", "out"]
    assert main([*command, "--resume"]) == 0
    assert capsys.readouterr().out == said


def test_runs_that_depend_on_each_other_are_judged_on_demand(scores, tmp_path, capsys):
    write_wide(tmp_path / "sorted.csv", {**scores, "best": np.sort(scores["best"])})
    command = [*COMMAND, str(tmp_path / "sorted.csv"), "--top", "2"]
    assert main([*command, "--out", str(tmp_path / "refused")]) == 2
    assert "got sorted runs of best" in (refused := capsys.readouterr().err)
    assert "--dependent judges them, without a guarantee" in refused
    assert main([*command, "--dependent", "--out", str(tmp_path / "run")]) == 0
    printed = capsys.readouterr()
    assert "WARNING: runs: expected independent ones" in printed.out
    assert "CERTIFIED only if runs are independent" in printed.out


def test_the_readme_shows_what_is_printed(tmp_path, capsys):
    checkout = Path(__file__).parents[1]
    file, out = checkout / "docs" / "data" / "scores.csv", tmp_path / "run"
    assert main([*COMMAND, str(file), "--top", "2", "--out", str(out)]) == 0
    said = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    shown = textwrap.indent("\n".join(said[:-2]), "    ")
    assert shown in (checkout / "README.md").read_text("utf-8")


def test_lower_may_be_better(wide, tmp_path, capsys):
    """The same table upside down."""
    assert main([*COMMAND, str(wide), "--lower", "--top", "2", "--out", str(tmp_path / "run")]) == 0
    assert "CERTIFIED: weak, odd:" in capsys.readouterr().out


@pytest.mark.slow
def test_who_needs_more_runs_is_said(scores, tmp_path, capsys):
    close = {**scores, "rival": np.random.default_rng(1).normal(6.9, 1, 20)}
    write_wide(tmp_path / "close.csv", close)
    command = [*COMMAND, str(tmp_path / "close.csv"), "--top", "2", "--out", str(tmp_path / "run")]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "NOT CERTIFIED, a guess: best, " in said
    assert re.search(r"in doubt: (good or rival|rival or good) \(\d+ % of the evidence\)\n", said)
    ranking = tables.read_table(tmp_path / "run" / "ranking.csv")
    wanted = dict(zip(ranking["option"].tolist(), ranking["further_runs"].tolist(), strict=True))
    assert {name for name, further in wanted.items() if further} == {"good", "rival"}
    assert wanted["rival"] - wanted["good"] == 6
    summary = runs.read_summary(tmp_path / "run")
    assert summary["certificate"] is None
    assert summary["pairs_in_doubt"] == 1


def test_what_never_had_a_block_asks_for_one(scores, tmp_path, capsys):
    few = {"new": scores["best"][:4], **{name: scores[name] for name in ("weak", "good", "best")}}
    write_wide(tmp_path / "few.csv", few)
    command = [*COMMAND, str(tmp_path / "few.csv"), "--top", "2", "--out", str(tmp_path / "run")]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert re.search(r"new +4 .* 7 *\n", said)
    assert "NOT CERTIFIED, and no guess yet" in said
    assert "fewer have new" in said
    assert runs.read_summary(tmp_path / "run")["selected"] == []


def test_only_the_order_of_scores_counts(scores, tmp_path):
    """Large numbers that float32 cannot tell apart, and infinite ones."""
    found = []
    for number, change in enumerate((lambda x: x, lambda x: 1e12 + x)):
        changed = {name: change(x) for name, x in scores.items()}
        changed["best"] = np.where(changed["best"] > changed["good"].max(), np.inf, 0)
        write_wide(tmp_path / f"{number}.csv", changed)
        config = ScoresConfig(str(tmp_path / f"{number}.csv"), top=2)
        folder = race_scores(Job(config, tmp_path / f"{number}"))
        found.append(tables.read_table(folder / "ranking.csv")["option"].tolist())
    assert found[0] == found[1]
    table = read_scores(tmp_path / "1.csv")
    assert len(np.unique(np.concatenate(list(ranks_of(table).values())))) > 50


NAMES = ("[/x]", "[red]", "lr:100:adam", "a,b", 'q"uote', "1e3", "True", "x" * 90)


@pytest.mark.slow
def test_names_are_printed_as_they_are(tmp_path, capsys):
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(place, 1, 12) for place, name in enumerate(NAMES)}
    with (tmp_path / "names.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(NAMES)
        writer.writerows(np.stack([*scores.values()], 1).tolist())
    assert main([*COMMAND, str(tmp_path / "names.csv"), "--out", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in NAMES)
    table = said[: said.index("CERTIFIED")].splitlines()
    # Numbers are whole, however long a name is.
    places = [found[1] for line in table if (found := re.match(r" *(\d+) ", line))]
    assert places == [str(place) for place in range(1, len(NAMES) + 1)]
    assert sum(bool(re.search(r" 12 +-?\d+\.\d+ +\d ", line)) for line in table) == len(NAMES)


def test_a_changed_table_is_not_resumed(scores, wide, tmp_path, capsys):
    command = [*COMMAND, str(wide), "--top", "2", "--out", str(tmp_path / "run"), "--resume"]
    assert main(command[:-1]) == 0
    write_wide(wide, {**scores, "best": scores["best"][:20]})
    capsys.readouterr()
    assert main(command) == 2
    assert "scores: expected the file that the run in" in capsys.readouterr().err


def test_blank_rows_and_other_cases_are_read(tmp_path):
    (tmp_path / "s.csv").write_text("\n\nOption,Seed,SCORE\na,1,2\n  ,,\nb,1,1e3\n\n")
    table = read_scores(tmp_path / "s.csv")
    assert {name: x.tolist() for name, x in table.items()} == {"a": [2.0], "b": [1000.0]}


@pytest.mark.slow
def test_the_horizon_is_as_asked(wide, tmp_path):
    folder = race_scores(Job(ScoresConfig(str(wide), horizon=26), tmp_path / "run"))
    assert runs.read_summary(folder)["horizon"] == 26


SORTED = "\n".join(f"{i},{i % 3}" for i in range(20))
UNQUOTED = 'a,b\n1,"2\n' + "1,2\n" * 40_000


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (None, [], "scores: expected a CSV file, got "),
        ("", [], "scores: expected a CSV file with something in it"),
        ("\n", [], "scores: expected a CSV file with something in it"),
        ("a;b\n1;2\n", [], "two columns or more with commas between them, got 'a;b'"),
        (UNQUOTED, [], "field larger than field limit"),
        ("option,score\na,1\n", [], "scores: expected two options or more, got a"),
        ("a,a\n1,2\n", [], "scores: expected different names of columns"),
        (",a,b\n0,1,2\n", [], "scores: expected different names of columns"),
        ("seed,a,b\n0,1,2\n", [], "got 'seed', which seems to number the runs: leave it out"),
        ("a,b\n1,2\n3\n", [], "scores: expected 2 cells in line 3, got 1"),
        ("a,b\n1,2\n3,x\n", [], "scores: expected a number as score of b in line 3, got 'x'"),
        ("a,b\n1,nan\n", [], "scores: expected a number as score of b in line 2, got 'nan'"),
        ("a,b\n1,1_000\n", [], "scores: expected a number as score of b in line 2, got '1_000'"),
        ("a,b\n1,1e400\n", [], "scores: expected a number as score of b in line 2, got '1e400'"),
        ("option,score\na,1\n,2\n", [], "scores: expected a name of an option in line 3, got none"),
        ("option,score\na,1\nb,\n", [], "scores: expected a number as score of b in line 3"),
        (f"a,b\n{SORTED}\n", [], "the order in which they were made, got sorted runs of a"),
        ("a,b\n1,2\n", ["--top", "2"], "--top: expected less than the 2 options of the file"),
        ("a,b\n1,2\n", ["--top", "0"], "--top: expected an integer of at least 1, got 0"),
        ("a,b\n1,2\n", ["--delta", "1"], "--delta: expected a number between 0 and 1, exclusive"),
        ("a,b\n1,2\n", ["--horizon", "10"], "--horizon: expected an integer of at least 11"),
        ("a,b\n1,2\n", ["--horizon", "40000"], "--horizon: expected at most 10000"),
        ("a,b\n1,2\n" + "1,2\n" * 10_000, [], "scores: expected at most 10,000 runs of an option"),
        ("a,b\n1,2\n", ["--lanes", "8"], "unrecognized arguments: --lanes"),
    ],
)
def test_what_cannot_be_used_is_named(text, options, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "scores.csv").write_text(text)
    assert main([*COMMAND, "scores.csv", *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "runs").exists()
