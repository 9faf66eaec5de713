"""Macro means over groups of tasks, an order before anything is run, and clusters."""

import contextlib
import csv
import json
import warnings
from typing import Any

import numpy as np
import pandas
import pytest

import jaxrace
from jaxrace.commands.cli import main
from jaxrace.core.validation import BadArgument
from jaxrace.judging import DependentRunsWarning, GateOfTable
from jaxrace.tables import read_scores

SIZES = {"arc": 40, "gsm": 80, "law": 200}
BASE = {"arc": 0.3, "gsm": 0.7, "law": 0.5}
MEAN = {"by": "mean", "low": 0, "high": 1, "shared": True}


def answers(gains=(0.0, 0.25, -0.15), seed=0, sizes=SIZES) -> dict[str, list[Any]]:
    """Columns: all answers, in the order of their groups; an option gains so much in each."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"{group} {n}", group, *(int(rng.random() < BASE[group] + gain) for gain in gains))
        for group, size in sizes.items()
        for n in range(size)
    ]
    return dict(
        zip(("question", "subject", *"abc"), map(list, zip(*rows, strict=True)), strict=False)
    )


def macro(data, option):
    groups, own = np.array(data["subject"]), np.array(data[option], float)
    return np.mean([own[groups == group].mean() for group in SIZES])


def taken(data, rows):
    return {head: [column[row] for row in rows] for head, column in data.items()}


def write(path, columns):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    return path


def test_a_whole_list_is_known_and_counts_by_group():
    # b is better on the small groups, a on the large one: pooled it is a.
    data = answers((0.0, 0.2))
    law = np.array(data["subject"]) == "law"
    data["b"] = np.where(law, 0, data["b"]).tolist()
    data["a"] = np.where(law, np.arange(320) % 5 == 0, data["a"]).astype(int).tolist()
    assert jaxrace.race(data, of=320, **MEAN).best == ["a"]
    found = jaxrace.race(data, of=320, weights="equal", **MEAN)
    assert (found.best, found.certified, found.whole) == (["b"], True, True)
    for one in found.options:
        assert one.score == pytest.approx(macro(data, one.name))
    assert found.pairs[0].estimate == pytest.approx(macro(data, "b") - macro(data, "a"))
    by_size = jaxrace.race(data, of=320, weights="size", **MEAN)
    assert by_size.best == ["a"]
    mapped = jaxrace.race(data, of=320, weights={"arc": 40, "gsm": 80, "law": 200}, **MEAN)
    assert mapped.pairs[0].estimate == pytest.approx(by_size.pairs[0].estimate)
    ranked = jaxrace.rank(data, of=320, weights="equal", **MEAN)
    assert [x.score for x in ranked.options] == [
        pytest.approx(macro(data, x.name)) for x in ranked.options
    ]
    assert ranked.tiers == [["b"], ["a"]]


def test_means_of_groups_are_shown():
    data = answers()
    for found in (
        jaxrace.race(data, weights="equal", **MEAN),
        jaxrace.rank(data, weights="equal", shared=True),
    ):
        means = {(one.option, one.group): one for one in found.groups}
        assert len(means) == 9
        law = np.array(data["c"])[np.array(data["subject"]) == "law"]
        assert means["c", "law"].mean == pytest.approx(law.mean())
        assert means["c", "law"].tasks == 200
        assert found.to_dict()["groups"][0]["weight"] == pytest.approx(1 / 3)
        assert found.to_frame("groups").shape == (9, 6)
        assert f"{law.mean():.3g}" in str(found)
        assert "the question is about the mean over 3 groups of tasks" in str(found)
    assert jaxrace.race({"a": [1.0, 2], "b": [3.0, 4]}).groups == ()


def test_order_then_race(tmp_path):
    """Tables in the order that was drawn are read in it, whatever is known of the list."""
    data = answers()
    items = {head: data[head] for head in ("question", "subject")}
    drawn = jaxrace.order(items, "subject", seed=4)
    names = [one.task for one in drawn.tasks]
    turned = jaxrace.order({head: column[::-1] for head, column in items.items()}, seed=4)
    assert turned.tasks == drawn.tasks
    assert sorted(names) == sorted(items["question"])
    assert jaxrace.order(items, seed=5).tasks != drawn.tasks
    path = write(tmp_path / "items.csv", items)
    rows = [data["question"].index(name) for name in names]
    looks = tmp_path / "looks.json"
    for end in (20, 90, 320):
        part = taken(data, rows[:end])
        asked = {**MEAN, "weights": "equal", "seed": 4}
        first = jaxrace.race(part, of=str(path), looks=looks, **asked)
        assert end == 320 or f"so far count: {end} of {end}, then " in first.notes[-1]
        by_size = jaxrace.race(part, of=SIZES, **asked)
        by_group = taken(part, np.argsort(part["subject"], kind="stable"))
        again = jaxrace.race(by_group, of=str(path), **asked)
        evidence = [pair.evidence for pair in first.pairs]
        assert [pair.evidence for pair in by_size.pairs] == evidence
        assert [pair.evidence for pair in again.pairs] == evidence
        if end == 20:
            assert not first.certified
            assert first.next_runs["b"] == names[20:30]
            assert str(by_size.next_runs["b"]).startswith("['new task 1 of ")
    assert first.best == ["b"]
    assert "known" in str(jaxrace.rank(part, of=str(path), **asked))


def test_evidence_waits_for_what_is_missing():
    data = answers()
    asked = {**MEAN, "weights": "equal", "of": 320}
    order = [one.task for one in jaxrace.order({x: data[x] for x in ("question", "subject")}).tasks]
    for place in (3, 60):
        kept = {*order[:place], *order[place + 1 : 100]}
        b = zip(data["question"], data["b"], strict=True)
        lacking = {**data, "b": [x if name in kept else None for name, x in b]}
        waits = f"only 3 of 99 scores of b count, as it lacks {order[3]}, which comes next"
        with pytest.warns(UserWarning, match=waits) if place == 3 else contextlib.nullcontext():
            found = jaxrace.race(lacking, **asked)
        assert found.used["b"] == place
        assert any(f"b {place} of 99, then {order[place]}" in note for note in found.notes)
        # Only then has the last one of these been asked for.
        assert found.certified == (place == 60)
        wanted = found.next_runs.get("b")
        assert found.certified or (
            isinstance(wanted, list) and wanted[:2] == [order[3], order[100]]
        )


def test_files_in_the_order_of_groups():
    """Pooled they are refused; with groups nothing is doubted, unless a group is sorted inside."""
    data = answers()
    with pytest.raises(BadArgument, match="groups of tasks one after the other"):
        jaxrace.race(data, **MEAN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jaxrace.race(data, weights="equal", **MEAN)
    gains = np.array(data["b"]) - np.array(data["a"])
    order = np.lexsort((gains, np.array(data["subject"])))
    by_gain = taken(data, order.tolist())
    with pytest.raises(BadArgument, match=r"in (law|gsm|arc), "):
        jaxrace.race(by_gain, weights="equal", **MEAN)
    with pytest.raises(BadArgument, match=r"in (law|gsm|arc), "):
        jaxrace.race(taken(by_gain, range(300)), weights="equal", of=SIZES, **MEAN)
    # Where the order within groups is by lot, too, that of the file does not matter.
    for how in ({"order_by_lot": 1}, {"of": 320}):
        found = jaxrace.race(by_gain, weights="equal", **how, **MEAN)
        assert not found.is_dependent


def test_what_is_missing_may_be_left_out():
    """Tasks that not all have run: the same as if nobody had ever had them."""
    data = answers()
    data["b"][0] = None
    data["a"][100] = None
    asked = {**MEAN, "weights": "equal", "gaps": "skip"}
    found = jaxrace.race(data, **asked)
    there = taken(data, [row for row in range(320) if row not in (0, 100)])
    assert found.pairs == jaxrace.race(there, **MEAN, weights="equal").pairs
    assert any("left out: 2 of 320" in note for note in found.notes)
    pooled = jaxrace.race(data, **MEAN, order_by_lot=1, gaps="skip")
    assert pooled.pairs == jaxrace.race(there, **MEAN, order_by_lot=1).pairs
    with pytest.raises(BadArgument, match="gaps: expected 'lost' of groups beside a file of looks"):
        jaxrace.race(data, **asked, looks="looks.json")


def test_an_interval_stays_within_the_range_of_scores():
    data = answers()
    data["b"][0] = None  # nothing of b counts
    with pytest.warns(UserWarning, match="only 0 of 319 scores of b count"):
        found = jaxrace.rank(data, **MEAN, weights="equal")
    ends = {one.name: (one.low, one.high) for one in found.options}
    assert ends["b"] == (0, 1)
    assert found.used["b"] == 0 < found.used["a"]
    assert "  used  " in str(found)


def test_the_group_that_is_used_up_is_named():
    found = jaxrace.race(answers(), weights="equal", **MEAN)
    used = found.used["a"]
    assert any(
        f"the 40 tasks of arc are used up, and {320 - used} of others wait" in note
        for note in found.notes
    )
    assert "used up" not in str(jaxrace.race(answers(), weights="equal", of=320, **MEAN).notes)


def test_scales_of_groups_that_are_unlike_are_said():
    data = answers()
    is_law = np.array(data["subject"]) == "law"
    far = {x: np.where(is_law, 1000.0 * np.array(data[x]), data[x]).tolist() for x in "abc"}
    by_mean = {**MEAN, "high": 1000, "weights": "equal"}
    for scores, is_said in ((far, True), ({x: data[x] for x in "abc"}, False)):
        found = jaxrace.race(data | scores, **by_mean)
        assert any("law from 0 to 1,000" in note for note in found.notes) == is_said


def test_one_group_or_all_groups_that_are_sorted():
    sizes = {f"g{n}": 60 for n in range(20)}
    rng = np.random.default_rng(0)
    data = {
        "subject": [group for group in sizes for _ in range(60)],
        "question": [f"{group} {n}" for group in sizes for n in range(60)],
        "a": rng.integers(0, 2, 1200).tolist(),
        "b": rng.integers(0, 2, 1200).tolist(),
    }
    gains = np.array(data["b"]) - np.array(data["a"])
    in_one = np.where(np.repeat(np.arange(20), 60) == 3, gains, rng.random(1200))
    in_all = gains + 4 * rng.random(1200)  # hardly more than chance in each
    for keys in (in_one, in_all):
        rows = np.lexsort((keys, np.repeat(np.arange(20), 60)))
        sorted_by = {x: (np.array(data[x])[rows] if x in "ab" else data[x]) for x in data}
        columns = {head: list(column) for head, column in sorted_by.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises((BadArgument, DependentRunsWarning), match="in g"):
                jaxrace.race(columns, weights="equal", **MEAN)


def test_tasks_that_are_added_count_at_later_looks(tmp_path):
    data, looks = answers(), tmp_path / "looks.json"
    first = [row for row in range(320) if row % 4]
    for rows in (first, first + [row for row in range(320) if row % 4 == 0]):
        found = jaxrace.race(taken(data, rows), weights="equal", looks=looks, **MEAN)
        alone = jaxrace.race(taken(data, rows), weights="equal", **MEAN)
        assert found.pairs == alone.pairs
        assert found.notes == alone.notes


def test_chance_orders_are_not_doubted():
    caught = 0
    for seed in range(40):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            jaxrace.race(answers((0.1, 0.1, 0.0), seed), weights="equal", **MEAN)
        caught += any(issubclass(x.category, DependentRunsWarning) for x in found)
    assert caught <= 3


def test_equal_models_are_not_told_apart():
    """Streams of unlike groups, in the order of a file: at most delta, as said."""
    wrong = 0
    for seed in range(60):
        found = jaxrace.race(answers((0.0, 0.0), seed), weights="equal", **MEAN)
        wrong += found.certified
    assert wrong <= 7


def test_another_group_is_another_question(tmp_path):
    data = answers()
    asked = {**MEAN, "weights": "equal", "looks": tmp_path / "looks.json"}
    jaxrace.race(taken(data, range(120)), **asked)
    with pytest.raises(BadArgument, match="looks: expected the groups arc, gsm, as before"):
        jaxrace.race(data, **asked)
    with pytest.raises(BadArgument, match="seed 0, as before"):
        jaxrace.race(taken(data, range(120)), seed=1, **asked)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights": "size"}, "weights: expected sizes that are known"),
        ({"weights": {"arc": 1, "gsm": 1}}, "weights: expected a number for law"),
        ({"weights": {"arc": 1, "gsm": 1, "law": 0}}, "weights: expected numbers above 0, got 0"),
        ({"weights": "equal", "of": 321}, "of: expected the groups of all 321 tasks, got 320"),
        ({"weights": "equal", "of": {**SIZES, "law": 199}}, "at least as many tasks of law"),
        ({"weights": "equal", "of": {**SIZES, "law": 1.5}}, "of: expected a whole number"),
        ({"weights": "equal", "of": 320, "gaps": "skip"}, "gaps: expected 'lost'"),
        ({"weights": "equal", "shared": False}, "weights: expected shared tasks"),
        ({"of": SIZES}, "of: expected weights of groups"),
        ({"seed": 1}, "seed: expected weights of groups"),
    ],
)
def test_bad_arguments(settings, message):
    with pytest.raises(BadArgument, match=message):
        jaxrace.race(answers(), **{**MEAN, **settings})


def test_groups_are_needed():
    data = {"a": [0.0, 1, 0], "b": [1.0, 1, 0]}
    with pytest.raises(BadArgument, match="weights: expected tasks in groups"):
        jaxrace.race(data, weights="equal", **MEAN)


def test_clusters(tmp_path):
    rng = np.random.default_rng(0)
    right = rng.random((2, 30, 4)) < np.array([0.4, 0.7])[:, None, None]
    columns = {
        "passage": [f"p{n // 4}" for n in range(120)],
        "question": list(range(120)),
        "a": right[0].ravel().astype(int).tolist(),
        "b": right[1].ravel().astype(int).tolist(),
    }
    long = {
        "model": ["a", "b"] * 120,
        "passage": [x for x in columns["passage"] for _ in "ab"],
        "question": [x for x in columns["question"] for _ in "ab"],
        "score": [x for both in zip(columns["a"], columns["b"], strict=True) for x in both],
    }
    for source in (write(tmp_path / "w.csv", columns), write(tmp_path / "l.csv", long)):
        found = read_scores(source, cluster_column="passage")
        assert found.task_names == tuple(f"p{n}" for n in range(30))
        np.testing.assert_allclose(found.values, right.mean(2))
        assert "each passage counts once, by the mean of its rows: 30 of them" in found.said
    by_hand = dict(zip("ab", right.mean(2), strict=True))
    choices: tuple[dict[str, Any], ...] = ({"shared": True}, MEAN)
    for by in choices:
        found = jaxrace.race(columns, cluster_column="passage", **by)
        assert found.pairs == jaxrace.race(by_hand, **by).pairs
    runs = {"model": long["model"], "score": long["score"]}
    runs["seed"] = [f"{m}{p}" for m, p in zip(long["model"], long["passage"], strict=True)]
    alone = jaxrace.race(runs, cluster_column="seed")
    assert [one.runs for one in alone.options] == [30, 30]
    long["score"][3] = None  # b on the question 1
    uneven = read_scores(write(tmp_path / "u.csv", long), cluster_column="passage", failed="drop")
    assert uneven.values[1][0] == pytest.approx(right[1, 0, [0, 2, 3]].mean())
    assert "in 1 options have different numbers" in uneven.said[-1]
    with pytest.raises(BadArgument, match="cluster_column: expected numbers"):
        jaxrace.race(columns, shared=True, cluster_column="passage", compare=lambda x, y: 0)


def test_command(tmp_path, capsys):
    data = answers()
    items = write(tmp_path / "items.csv", {x: data[x] for x in ("question", "subject")})
    to = tmp_path / "order.csv"
    assert main(["order", str(items), "--groups", "subject", "--seed", "2", "--to", str(to)]) == 0
    assert "ORDER of 320 tasks, by seed 2" in capsys.readouterr().out
    order = read_rows(to)
    assert [x["question"] for x in order] == [
        one.task for one in jaxrace.order(str(items), seed=2).tasks
    ]
    rows = [data["question"].index(x["question"]) for x in order]
    results = write(tmp_path / "results.csv", taken(data, rows[:150]))
    weights = write(tmp_path / "w.csv", {"subject": list(SIZES), "weight": [1, 1, 1]})
    by_mean = ["--by", "mean", "--low", "0", "--high", "1", "--shared", "--seed", "2"]
    found = []
    for how in (["--weights", "equal"], ["--weights", str(weights)]):
        main(["race", str(results), *by_mean, *how, "--of", str(to), "--json"])
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["best"] == found[1]["best"] == ["b"]
    assert found[0]["pairs"] == found[1]["pairs"]
    assert main(["rank", str(results), *by_mean, "--weights", "equal", "--of", str(to)]) in (0, 3)


def read_rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_gate_shows_what_is_asked_about():
    """Means are weighted as differences are, on a list that was run whole."""
    data = answers()
    found = jaxrace.gate(data, baseline="a", **MEAN, weights="equal", of=320)
    assert isinstance(found, GateOfTable)
    for one in (found.baseline, *found.candidates):
        assert one.score == pytest.approx(macro(data, one.name))
        better = macro(data, one.name) - macro(data, "a")
        assert one.estimate is None or one.estimate == pytest.approx(better)
    assert len(found.groups) == 3 * len(SIZES)
    assert "nothing is said of other tasks" in found.meaning()


def test_a_group_of_seeds_that_is_used_up_takes_more_of_each():
    rows = [(m, g, n, (n * 7 + len(m)) % 5) for n in range(9) for g in "xyz" for m in ("a", "bb")]
    said = {}
    for head in ("seed", "question"):
        table = [dict(zip(("algo", "env", head, "return"), row, strict=True)) for row in rows]
        said[head] = " ".join(jaxrace.race(table, shared=True, weights="equal").notes)
    assert ": run a seed more of each group; or, if there are no more" in said["seed"]
    assert ": run new tasks of " in said["question"]


def test_means_of_groups_are_of_runs_that_did_not_fail():
    scores = np.random.default_rng(2).normal(size=(40, 2)).round(3)
    rows = [
        {"algo": name, "env": f"e{run % 2}", "seed": run // 2, "return": scores[run, option]}
        for run in range(40)
        for option, name in enumerate("ab")
    ]
    rows[0]["return"] = None
    asked: dict[str, Any] = {"shared": True, "weights": "equal", "failed": "worst"}
    found = jaxrace.race(pandas.DataFrame(rows), **asked).groups
    means = {(one.option, one.group): one.mean for one in found}
    assert means["a", "e0"] == pytest.approx(scores[2::2, 0].mean())
    assert means["b", "e0"] == pytest.approx(scores[::2, 1].mean())
