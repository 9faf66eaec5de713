"""`jaxrace select`: files of comparisons, simulations, and bad input."""

import itertools
import json
import subprocess
import sys

import numpy as np
import pytest

import jaxrace
from jaxrace import runs
from jaxrace.commands.cli import main
from jaxrace.judging.rating.front import read_comparisons
from jaxrace.runs import tables

COMMAND = ["select"]
QUALITIES = {"ann": 0.0, "bob": 3.0, "cy": 1.0, "dan": 2.0}


@pytest.fixture
def games(tmp_path):
    """Four games of every two, without noise but in the last digit."""
    rows = [
        (i, j, QUALITIES[i] - QUALITIES[j] + 0.01 * number)
        for number in range(4)
        for i in QUALITIES
        for j in QUALITIES
        if i < j
    ]
    first, second, score = map(np.array, zip(*rows, strict=True))
    tables.write_table(tmp_path / "games.csv", {"first": first, "second": second, "score": score})
    return tmp_path / "games.csv"


def test_a_file_is_judged(games, tmp_path, capsys):
    folder = tmp_path / "run"
    command = [*COMMAND, str(games), "--top", "2", "--next", "4"]
    assert main([*command, "--out", str(folder)]) == 3, "margins without a range prove nothing"
    assert {path.name for path in folder.iterdir()} == {
        "config.json",
        "summary.json",
        "ranking.csv",
        "ranking.png",
        "ranking.svg",
    }
    summary = runs.read_summary(folder)
    assert summary["best"] == ["bob", "dan"]
    assert summary["confidence"] > 0.99
    assert sum(pair["times"] for pair in summary["next"]) == 4
    ranking = tables.read_table(folder / "ranking.csv")
    assert ranking["name"].tolist() == ["bob", "dan", "cy", "ann"]
    assert ranking["selected"].tolist() == [True, True, False, False]
    said = capsys.readouterr().out
    assert "an estimate for ONE look: do not stop because of it\n" in said
    assert "\nNOT CERTIFIED, a guess: bob, dan\n" in said
    assert said.splitlines()[-1] == str(folder)
    assert main([*command, "--out", str(folder)]) == 2
    assert "--out: expected a new or an empty folder" in capsys.readouterr().err


def test_a_file_leaves_no_folder_and_needs_no_jax(games):
    code = (
        "import sys; from jaxrace.commands.cli import main; "
        f"assert main(['select', {str(games)!r}, '--top', '2']) == 3; "
        "assert 'jax' not in sys.modules, 'jax'"
    )
    subprocess.run([sys.executable, "-c", code], cwd=games.parent, check=True, timeout=60)
    assert [path.name for path in games.parent.iterdir()] == [games.name]


def test_a_pair_that_was_never_compared_is_known_through_the_others(games, tmp_path, capsys):
    rows = tables.read_table(games)
    kept = ~((rows["first"] == "bob") & (rows["second"] == "cy"))
    fewer = tmp_path / "fewer.csv"
    tables.write_table(fewer, {name: column[kept] for name, column in rows.items()})
    folder = tmp_path / "run"
    command = [*COMMAND, str(fewer), "--top", "1", "--next", "2"]
    assert main([*command, "--out", str(folder)]) == 3, "of eight games each"
    summary = runs.read_summary(folder)
    assert summary["best"] == ["bob"]
    assert summary["confidence"] > 0.9
    assert {"bob", "dan"} in [{pair["better"], pair["worse"]} for pair in summary["next"]], (
        "the first and the second"
    )
    said = capsys.readouterr().out
    assert "not known yet" not in said


def test_what_nothing_connects_is_said(tmp_path, capsys):
    (tmp_path / "apart.csv").write_text("first,second,score\na,b,1\nc,d,2\n")
    command = [*COMMAND, str(tmp_path / "apart.csv"), "--top", "1"]
    command += ["--score", "margin"]
    assert main([*command, "--out", str(tmp_path / "run")]) == 3
    assert "no chain of comparisons connects" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("first,second,score\na,a,1\n", "line 2, got 'a' twice"),
        ("first,second,score\na,b,-1\na,b,1e39\n", r"2.6e15 at most .*line 3, got 1e\+39"),
        ("first,second,score\na,b,-1e30\n", r"size of 2.6e15 at most .*line 2, got -1e\+30"),
        ("first,second,score\na,b,1\na, ,1\n", "expected names of options in .*, line 3"),
    ],
)
def test_a_bad_row_is_named(text, message, tmp_path):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_comparisons(tmp_path / "bad.csv")


def test_names_are_text_whatever_they_look_like(tmp_path, capsys):
    """Of "7", "007" and "True" each is an option of its own, and is called so."""
    pairs = itertools.combinations(names := ["007", "7", "True", "x"], 2)
    rows = "".join(f"{i},{j},{n}\n" for i, j in pairs for n in (1, 2, 3))
    (tmp_path / "agents.csv").write_text("first,second,score\n" + rows)
    assert read_comparisons(tmp_path / "agents.csv", "margin").names == tuple(names)
    command = [*COMMAND, str(tmp_path / "agents.csv"), "--top", "2"]
    command += ["--score", "margin"]
    assert main([*command, "--out", str(tmp_path / "run")]) == 3
    assert runs.read_summary(tmp_path / "run")["best"] == ["007", "7"]
    said = capsys.readouterr().out
    assert "above 0: the first was better in every row" in said
    assert "\n1  007 " in said


def test_an_answer_by_name_in_python(games):
    """What the command prints as JSON, as a frame, as HTML, and as text."""
    found = jaxrace.select(games, 2, next=3)
    assert found.best == ["bob", "dan"]
    assert found.to_frame()["name"].to_list() == ["bob", "dan", "cy", "ann"]
    assert sum(found.to_frame("next")["times"]) == 3
    assert found.options[0].score == pytest.approx((3 + 2 + 1) / 3, abs=0.02)
    assert found.options[0].comparisons == 12
    assert found.gap.score == pytest.approx((4 - 0) / 3, abs=0.05)
    assert json.loads(json.dumps(found.to_dict()))["best"] == found.best
    assert "NOT CERTIFIED, a guess: bob, dan" in str(found)
    assert "<td>bob</td>" in found._repr_html_()
    (panel,) = found.plot().axes
    assert (legend := panel.get_legend()) is not None
    assert sum(int(line.get_text().split(": ")[1]) for line in legend.get_texts()) == 3


def test_a_few_games_that_end_alike_are_not_likely():
    """All of five won: one of 32 times among equals, whatever the variance of equal results is."""
    games = {"winner": ["a"] * 5, "loser": ["b"] * 5}
    found = jaxrace.select(games)
    assert found.confidence is not None
    assert found.confidence > 0.95
    assert not found.sure
    assert "compared fewer than 10 times, too few to be sure: a, b" in found.meaning()
    assert jaxrace.select({name: 2 * column for name, column in games.items()}).sure


def test_only_a_proof_ends_the_looks(tmp_path, capsys):
    """Three of four votes are for a: a model is sure after 24, and the votes alone after 120.

    Status 0, "certified" and no more comparisons come with a certificate alone.
    """
    rng = np.random.default_rng(0)
    for number, status in ((24, 3), (120, 0)):
        votes = rng.permutation(["a,b\n", "a,b\n", "a,b\n", "b,a\n"] * (number // 4))
        (tmp_path / "votes.csv").write_text("".join(["winner,loser\n", *votes]))
        assert main(["select", str(tmp_path / "votes.csv")]) == status
        said = capsys.readouterr().out
        found = jaxrace.select(tmp_path / "votes.csv")
        assert found.sure
        verdict, certified = found.tables()[0].rows[0][-1], status == 0
        assert (verdict, bool(found.certificate)) == (("guess", "certified")[certified], certified)
        assert ("do not stop because of it" in said) == (not certified)
        assert ("compare next  with" in said) == bool(found.next) == (not certified)
        assert ("ONE TIER: no boundary is certain yet" in said) == (not certified)
        assert (found.plot().axes[0].get_legend() is None) == certified
        assert f"above the line: {found._verdict}" in found.plot().axes[0].get_title()


def test_a_judge_who_likes_a_side_is_said():
    rng = np.random.default_rng(0)
    winners = np.where(rng.random(60) < 0.6, "new", "old").tolist()
    said = "the same one is nearly always first"
    one = {"model_a": ["new"] * 60, "model_b": ["old"] * 60, "winner": winners}
    assert any(said in note for note in jaxrace.select(one).notes)
    both = {"model_a": ["new", "old"] * 30, "model_b": ["old", "new"] * 30, "winner": winners}
    lost = ["old" if name == "new" else "new" for name in winners]
    for told in (both, {"winner": winners, "loser": lost}):
        assert not any(said in note for note in jaxrace.select(told).notes)


def test_votes_of_an_item_count_once_below_other_names():
    ids = {
        name: [f"x{row // 4}" for row in range(60)] for name in ("uid", "query_id", "prompt_idx")
    }
    rng = np.random.default_rng(0)
    one = {"model_a": ["new", "old"] * 30, "model_b": ["old", "new"] * 30}
    one["winner"] = np.where(rng.random(60) < 0.6, "new", "old").tolist()
    for name, labels in ids.items():
        notes = jaxrace.select({name: labels, **one}).notes
        assert any("60 votes are 15 results" in note for note in notes)


def test_who_is_certified_is_the_best_whatever_the_model_prefers():
    """a beats b and c narrowly, but surely; b beats c by far, which makes it the model's best."""
    rows = []
    for first, second, won in (("a", "b", 60), ("a", "c", 60), ("b", "c", 100)):
        rows += [(first, second, float(number % 100 < won)) for number in range(1_000)]
    rows = [rows[n] for n in np.random.default_rng(0).permutation(len(rows))]
    found = jaxrace.select(rows, score="win")
    assert (found.names[0], found.best, found.status) == ("b", ["a"], 0)
    assert [one.name for one in found.options if one.selected] == ["a"]
    assert found.headline() == "CERTIFIED: a"
    assert "a model prefers b, with an estimated probability" in found.meaning()
    assert found.plot().axes[0].get_title() == "blue: certified"
    doubted = found.without_verdicts("the same games twice: all of them")
    assert (doubted.best, doubted.status, doubted.confidence) == (["b"], 4, None)
    assert [one.name for one in doubted.options if one.selected] == []
    assert doubted.plot().axes[0].get_title() == ""


def test_votes_are_shares_of_wins_and_doubt_has_status_3(tmp_path, capsys):
    """Two of three games each: too few to be sure, which a script sees."""
    votes = "first,second,score\n" + "a,b,1\na,b,1\na,b,0\na,c,1\na,c,1\na,c,0\nb,c,1\nb,c,0\n"
    (tmp_path / "few.csv").write_text(votes)
    out, report = str(tmp_path / "run"), tmp_path / "report.md"
    command = [*COMMAND, str(tmp_path / "few.csv"), "--out", out]
    assert main([*command, "--json", "--report", str(report)]) == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["best"], found["sure"], found["folder"]) == (["a"], False, out)
    scores = [one["score"] for one in found["options"]]
    assert 0.5 < scores[0] < 0.667, "drawn towards the middle"
    assert scores[1] == pytest.approx(scores[2])
    assert sum(scores) == pytest.approx(1.5)
    assert report.read_text().startswith("## NOT CERTIFIED, a guess: a\n")
    assert report.with_suffix(".svg").exists()
