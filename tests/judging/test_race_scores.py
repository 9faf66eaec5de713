"""`jaxrace race`: tables of scores, what is said of them, and bad input."""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from jaxrace.commands.cli import main
from jaxrace.runs import tables
from jaxrace.tables import read_scores

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


def as_dict(table):
    return dict(zip(table.names, table.values, strict=True))


def race_json(capsys, *arguments):
    status = main(["race", *map(str, arguments), "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_both_layouts_are_the_same_table(scores, wide, tmp_path):
    write_long(tmp_path / "long.csv", scores)
    found = [as_dict(read_scores(path)) for path in (wide, tmp_path / "long.csv")]
    for table in found:
        assert list(table) == list(RUNS)
        for name, column in table.items():
            np.testing.assert_allclose(column, scores[name], atol=1e-6)


def test_a_table_is_certified(wide, capsys):
    assert main(["race", str(wide), "--top", "2"]) == 0
    said = capsys.readouterr().out
    assert "\nCERTIFIED: best, good\n" in said
    assert "each of them wins more often than it loses against each of the others; wrong" in said
    assert "NOT" not in said
    status, found = race_json(capsys, wide, "--top", 2)
    assert status == 0
    assert [option["name"] for option in found["options"]] == ["best", "good", "odd", "weak"]
    assert [option["runs"] for option in found["options"]] == [26, 26, 12, 26]
    assert [option["verdict"] for option in found["options"]] == ["in", "in", "out", "out"]
    assert found["best"] == found["possible"] == ["best", "good"]
    assert found["next_runs"] == {}


def test_no_jax_is_imported(wide):
    script = (
        "import sys; from jaxrace.commands.cli import main; "
        f"main(['race', {str(wide)!r}, '--top', '2']); sys.exit('jax' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_runs_that_depend_on_each_other_are_judged_on_demand(scores, tmp_path, capsys):
    write_wide(tmp_path / "sorted.csv", {**scores, "best": np.sort(scores["best"])})
    command = ["race", str(tmp_path / "sorted.csv"), "--top", "2"]
    assert main(command) == 4
    assert "got sorted runs of best" in (refused := capsys.readouterr().err)
    assert "--dependent (dependent=True) looks at them, and certifies nothing" in refused
    assert main([*command, "--dependent"]) == 3
    said = capsys.readouterr().out
    assert "NOT CERTIFIED, a guess: best, good" in said
    assert "runs of best are sorted: a clock or a step?" in said
    assert "wrong with a probability" not in said


@pytest.mark.parametrize(
    ("page", "options"),
    [
        ("README.md", "answers.csv --shared --by mean --low 0 --high 1"),
        ("docs/start.md", "scores.csv --top 2"),
    ],
)
def test_pages_show_what_is_printed(page, options, capsys):
    checkout = Path(__file__).parents[2]
    file, *rest = options.split()
    assert main(["race", str(checkout / "docs" / "data" / file), *rest]) == 0
    said = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    shown = textwrap.indent("\n".join(said), "    ")
    assert shown in (checkout / page).read_text("utf-8")


@pytest.mark.parametrize("name", ["report.md", "report.html"])
def test_a_report_says_what_the_terminal_says(name, wide, tmp_path):
    folder = tmp_path / "r"
    folder.mkdir()
    assert main(["race", str(wide), "--top", "2", "--report", str(folder / name)]) == 0
    assert {file.name for file in folder.iterdir()} == {name, "report.png", "report.svg"}
    text = (folder / name).read_text("utf-8")
    assert "CERTIFIED: best, good" in text
    cells = "| 1 | best | 26 |" if name.endswith("md") else "<td>best</td><td>26</td>"
    assert cells in text
    assert ("![The answer as a figure](report.png)" if name.endswith("md") else "<svg") in text


def test_a_report_shows_names_as_they_are_and_says_what_it_leaves_out(tmp_path):
    names = ["<b>|$x$`*", *(f"model {place}" for place in range(24))]
    rows = np.random.default_rng(0).normal(0, 1, (20, len(names)))
    (tmp_path / "s.json").write_text(json.dumps(dict(zip(names, rows.T.tolist(), strict=True))))
    for name in ("r.md", "r.html"):
        main(["race", str(tmp_path / "s.json"), "--report", str(tmp_path / name)])
    text = (tmp_path / "r.md").read_text("utf-8")
    assert "&lt;b&gt;\\|&#36;x&#36;\\`\\*" in text
    assert "<b>" not in text
    for name in ("r.md", "r.html"):
        assert "... and 5 more" in (tmp_path / name).read_text("utf-8")


def test_smaller_may_be_better(wide, capsys):
    """The same table upside down."""
    assert main(["race", str(wide), "--smaller", "--top", "2"]) == 0
    assert "CERTIFIED: weak, odd\n" in capsys.readouterr().out


@pytest.mark.parametrize("layout", ["wide", "named", "long"])
def test_shared_tasks_in_every_layout(layout, tmp_path, capsys):
    """Tasks differ far more than models do; one is better on 56 of 60, and one of them lags."""
    rng = np.random.default_rng(0)
    tasks = rng.normal(0, 3, 60)
    best = tasks + np.where(np.arange(60) % 15 == 3, -0.2, 0.2)
    models = {"a": tasks, "b": best, "c": (tasks - 0.3)[:50]}
    cells = [[f"{x[t]:.3f}" if t < len(x) else "" for x in models.values()] for t in range(60)]
    rows = [[f"q{t}", *row] for t, row in enumerate(cells)]
    if layout == "wide":
        lines = [",".join(models), *(",".join(row[1:]) for row in rows)]
    elif layout == "named":
        lines = ["task," + ",".join(models), *(",".join(row) for row in rows)]
    else:
        lines = ["option,task,score"]
        lines += [f"{m},{r[0]},{s}" for r in rows for m, s in zip(models, r[1:], strict=True) if s]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    status, found = race_json(capsys, tmp_path / "t.csv", "--shared")
    assert status == 0
    assert found["best"] == ["b"]
    assert race_json(capsys, tmp_path / "t.csv", "--shared", "--of", 60)[0] == 0
    # As independent runs the same table says nothing.
    if layout == "wide":
        assert race_json(capsys, tmp_path / "t.csv")[0] == 3
    # Who lags is asked for its next tasks, by their names.
    next_file = tmp_path / "next.csv"
    few = [line for line in lines if not line.startswith("b,q") or int(line[3:].split(",")[0]) < 20]
    if layout == "long":
        (tmp_path / "t.csv").write_text("\n".join(few) + "\n")
        arguments = ("--shared", "--delta", 1e-6, "--next", next_file)
        status, found = race_json(capsys, tmp_path / "t.csv", *arguments)
        assert status == 3
        wanted = [f"q{t}" for t in range(20, 30)]
        assert found["next_runs"] == {"b": wanted}
        assert tables.read_table(next_file)["task"].tolist() == wanted


def test_who_needs_more_runs_is_said(scores, tmp_path, capsys):
    close = {**scores, "rival": np.random.default_rng(1).normal(6.9, 1, 20)}
    write_wide(tmp_path / "close.csv", close)
    next_file = tmp_path / "next.csv"
    command = ["race", str(tmp_path / "close.csv"), "--top", "2", "--next", str(next_file)]
    assert main(command) == 3
    said = capsys.readouterr().out
    assert "NOT CERTIFIED, a guess: best, " in said
    assert re.search(r"(good +rival|rival +good) .* \d+ %\n", said)
    wanted = tables.read_table(next_file)
    assert dict(zip(*(column.tolist() for column in wanted.values()), strict=True)) == {"rival": 5}


def test_what_never_had_a_block_asks_for_one(scores, tmp_path, capsys):
    few = {"new": scores["best"][:4], **{name: scores[name] for name in ("weak", "good", "best")}}
    write_wide(tmp_path / "few.csv", few)
    status, found = race_json(capsys, tmp_path / "few.csv", "--top", 2)
    assert status == 3
    assert found["next_runs"] == {"new": 1}
    assert found["at_least"] >= 6


SORTED = "\n".join(f"{i / 2},{i % 3}" for i in range(20))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (None, [], "scores: expected a file that can be read, got 'scores.csv'"),
        ("", [], "scores: expected a table with something in it in 'scores.csv', got none"),
        ("a,b\n1,2\n3,x\n", [], "line 3, column 'b', got 'x'"),
        (
            "option,score\na,1\n,2\n",
            [],
            "a name of an option in 'scores.csv', line 3",
        ),
        (f"a,b\n{SORTED}\n", [], "the order in which they were made, got sorted runs of a"),
        ("a,b\n1,2\n", ["--top", "2"], "--top: expected less than the 2 options, got 2"),
        ("a,b\n1,2\n", ["--delta", "1"], "--delta: expected a number between 0 and 1, exclusive"),
        ("a,b\n1,2\n", ["--horizon", "4"], "--horizon: expected an integer of at least 5"),
        ("a,b\n1,2\n", ["--by", "mean"], "--low, --high: expected the range of the scores"),
        ("a,b\n1,2\n", ["--by", "mean", "--low", "0", "--high", "1"], "got 2 for run 1 of b"),
        ("a,b\n1,2\n", ["--of", "5"], "--of: expected shared tasks"),
        ("a,b\n1,2\n3,4\n", ["--shared", "--of", "1"], "--of: expected an integer of at least 2"),
        ("option,score\na,1\nb,2\n", ["--shared"], "expected the task of each score, for shared"),
        ("a,b\n1,2\n", ["--tolerance", "-1"], "--tolerance: expected a number in [0, 0.5)"),
        (
            "a,b\n1,2\n",
            ["--report", "r.txt"],
            "--report: expected a file that ends in .md or .html",
        ),
        ("a,b\n1,2\n", ["--lanes", "8"], "unrecognized arguments: --lanes"),
    ],
)
def test_what_cannot_be_used_is_named(text, options, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "scores.csv").write_text(text)
    assert main(["race", "scores.csv", *options]) == (4 if "sorted" in message else 2)
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("seeds", "wanted"),
    [
        ("0 1 2", "3"),
        ("100 101 102", "103"),
        ("1 2 3", "4"),
        ("0 2 4", "4"),
        ("q1 q2 q3", "new task 1"),
    ],
)
def test_seeds_go_on_where_they_end(seeds, wanted, tmp_path, capsys):
    """Seeds that do not count are called by their places, and new tasks beside names so."""
    rows = [f"{seed},{place % 2},{place}" for place, seed in enumerate(seeds.split())]
    (tmp_path / "s.csv").write_text("\n".join(["seed,a,b", *rows, ""]))
    found = race_json(capsys, tmp_path / "s.csv", "--shared")[1]["next_runs"]
    assert found["a"][0] == wanted


@pytest.mark.parametrize(
    ("head", "options", "warned"),
    [
        ("fold", "--shared", True),
        ("fold", "--shared --of 40", False),
        ("seed", "--shared", False),
    ],
)
def test_folds_of_one_data_set_are_no_independent_tasks(head, options, warned, tmp_path, capsys):
    rows = [f"{place},{place % 2},{2 + place % 3}" for place in range(40)]
    (tmp_path / "s.csv").write_text("\n".join([f"{head},a,b", *rows, ""]))
    assert main(["race", str(tmp_path / "s.csv"), *options.split()]) == (3 if warned else 0)
    said = capsys.readouterr().out
    assert ("WARNING: folds of one data set overlap" in said) == warned
    assert ("tasks may depend on each other, and nothing is guaranteed" in said) == warned


def test_the_command_names_options_and_groups(tmp_path, capsys):
    rng = np.random.default_rng(0)
    scores = rng.normal([1, 0], 0.3, (40, 2)).round(3)
    rows = [f"{'ab'[t % 2]},{7 * t % 40},{a},{b}" for t, (a, b) in enumerate(scores)]
    (tmp_path / "s.csv").write_text("\n".join(["art,rooms,ppo,sac", *rows, ""]))
    command = ["race", str(tmp_path / "s.csv"), "--shared"]
    assert main(command) == 2
    refused = capsys.readouterr().err
    assert "got 'rooms', 0 to 39 in equal steps, each once: --task-column rooms if" in refused
    assert "--options names the columns of options, such as ppo,sac" in refused
    status, found = race_json(capsys, *command[1:], "--options", "ppo,sac", "--group-column", "art")
    assert (status, found["best"]) == (0, ["ppo"])
    assert "2 groups of tasks from column 'art': a 20, b 20" in found["notes"]
    assert main([*command, "--task-column", "rooms", "--options", "ppo,sac"]) == 0
    capsys.readouterr()
    assert main([*command, "--options", "ppo,rocks"]) == 2
    assert "expected a column 'rocks' in" in capsys.readouterr().err
