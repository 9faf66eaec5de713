"""Several rows of one question are one task: equal models are told apart as seldom as stated."""

import itertools
import warnings

import numpy as np
import pandas
import pytest

import jaxrace
from jaxrace.core.validation import BadArgument
from jaxrace.tables import read_scores

QUESTIONS, EPOCHS, TABLES = 30, 10, 25
MEANS = {"shared": True, "by": "mean", "low": 0, "high": 1}


def of_equal_models(kind, seed):
    """Scores [epochs, questions, 2]: a question's level, and a model's own luck with it."""
    rng = np.random.default_rng(seed)
    shape = (1, QUESTIONS, 2)
    right = rng.normal(0.5, 0.15, (1, QUESTIONS, 1)) + rng.normal(0, 0.25, shape)
    if kind == "answers that never vary":
        return np.repeat(rng.integers(0, 2, shape), EPOCHS, 0)
    noise = rng.normal(0, 0.1, (EPOCHS, QUESTIONS, 2))
    if kind == "answers":
        return (rng.random((EPOCHS, QUESTIONS, 2)) < right).astype(int)
    return np.clip(right + noise, 0, 1)


def table(kind, seed, item="question_id", epoch="epoch", lacking=0):
    """Epoch by epoch, so that no order gives it away."""
    scores = of_equal_models(kind, seed)
    rows = [(e, q) for e in range(EPOCHS) for q in range(QUESTIONS)][lacking:]
    found = {item: [f"q{q}" for _, q in rows], epoch: [e for e, _ in rows]}
    for place, name in enumerate(("main", "cand")):
        found[name] = [float(scores[e, q, place]) for e, q in rows]
    return found


@pytest.mark.parametrize("kind", ["grades", "answers", "answers that never vary"])
def test_equal_models_are_told_apart_as_seldom_as_stated(kind):
    """With each row as a task 16 of 40 races of grades were certified, and 7 gates passed."""
    wrong = dict.fromkeys(("race", "rank", "gate"), 0)
    for seed in range(TABLES):
        data = table(kind, seed, lacking=seed % 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wrong["race"] += jaxrace.race(data, **MEANS).certified
            wrong["rank"] += len({one.tier for one in jaxrace.rank(data, **MEANS).options}) > 1
            gate = jaxrace.gate(data, baseline="main", margin=0, want="better", **MEANS)
            wrong["gate"] += bool(gate.passed)
    # More than 4 of 25 come with a probability of .007 at .05, and the true rate is below that.
    assert max(wrong.values()) <= 4, wrong


def test_a_model_that_is_better_on_all_questions_is_found():
    data = table("answers that never vary", 0)
    data["cand"] = [min(1.0, one + 0.5) for one in data["main"]]
    data["main"] = [one / 2 for one in data["main"]]
    assert jaxrace.race(data, **MEANS).best == ["cand"]


def test_it_is_what_a_cluster_column_says():
    data = table("grades", 3)
    own = jaxrace.race(data, **MEANS)
    asked = jaxrace.race(data, **MEANS, cluster_column="question_id")
    assert [one.score for one in own.options] == pytest.approx([one.score for one in asked.options])
    (pair,), (other,) = own.pairs, asked.pairs
    assert (pair.low, pair.high) == pytest.approx((other.low, other.high))


SAID = "10 rows of an option for each {!r}, told apart by {!r}: with --shared each"
ITEMS = [
    ("id", "repeat"),
    *[(item, "epoch") for item in ("question_id", "problem", "prompt", "doc_id", "sample_id")],
    *[(item, "seed") for item in ("task_id", "instance_id", "example", "query", "patient")],
    *[
        ("question", by)
        for by in ("repeat", "sample", "trial", "run", "attempt", "replicate", "draw")
    ],
    *[
        ("problem", by)
        for by in ("rep", "n", "k", "judge", "completion_id", "temperature", "sample_idx")
    ],
]


@pytest.mark.parametrize(("item", "epoch"), ITEMS)
def test_rows_of_one_item_belong_together(item, epoch):
    data = table("answers", 0, item, epoch)
    for source in (data, pandas.DataFrame(data), [*map(dict, rows_of(data, item, epoch))]):
        found = read_scores(source)
        assert found.names == ("main", "cand")
        assert len(found.task_names) == QUESTIONS
        assert any(SAID.format(item, epoch) in said for said in found.said), found.said


def rows_of(data, *heads):
    """A row for each run."""
    for name in ("main", "cand"):
        columns = [data[head] for head in heads]
        for *labels, score in zip(*columns, data[name], strict=True):
            yield [*zip(heads, labels, strict=True), ("model", name), ("score", score)]


def test_environments_are_groups_and_their_seeds_are_runs():
    rows = [
        {"algo": algo, "env": env, "seed": seed, "return": 1.0 * seed}
        for env in ("ant", "hopper")
        for seed in range(5)
        for algo in ("ppo", "sac")
    ]
    found = read_scores(rows)
    assert (len(found.task_names), found.groups.count("ant")) == (10, 5)
    tasks = [{"task": one.pop("env"), **one} for one in rows]
    assert len(read_scores(tasks).task_names) == 2
    found = read_scores(tasks, group_column="task")
    assert (len(found.task_names), found.groups.count("ant")) == (10, 5)


def test_numbers_of_rows_are_no_items():
    data = table("answers", 0)
    rows = {"index": [*range(len(data["main"]))], **data}
    assert len(read_scores(rows).task_names) == QUESTIONS
    assert (
        len(read_scores({"id": [f"r{i}" for i in rows["index"]], **data}).task_names) == QUESTIONS
    )


ONCE = {"question_id": [f"q{i}" for i in range(20)], "main": [1, 0] * 10, "cand": [0, 1] * 10}


def twice(*rows):
    return {head: [*cells, *[cells[row] for row in rows]] for head, cells in ONCE.items()}


AGAIN = [
    (twice(3), "got 2 of 'main' for 'q3': leave out all but one; --cluster-column question_id"),
    ({**twice(3, 4), "cand": [0, 1] * 11}, "got 2 of 'main' for 'q3', and 1 more like that"),
]


@pytest.mark.parametrize(("data", "message"), AGAIN)
def test_an_id_that_is_there_twice_is_asked_about(data, message, tmp_path):
    """Copies of a row, and rows that contradict each other."""
    long = [dict(row) for row in rows_of(data, "question_id")]
    pandas.DataFrame(data).to_csv(tmp_path / "wide.csv", index=False)
    pandas.DataFrame(long).to_json(tmp_path / "long.jsonl", orient="records", lines=True)
    sources = data, pandas.DataFrame(data), long, tmp_path / "wide.csv", tmp_path / "long.jsonl"
    for source in sources:
        with pytest.raises(
            BadArgument, match=r"expected one row for each option and 'question_id'"
        ):
            jaxrace.race(source, **MEANS)
        with pytest.raises(BadArgument) as error:
            read_scores(source)
        assert message in str(error.value)
        assert len(read_scores(source, cluster_column="question_id").task_names) == 20


def test_an_epoch_that_is_there_twice_is_asked_about():
    data = {head: [*cells, cells[0]] for head, cells in table("answers", 0).items()}
    with pytest.raises(BadArgument, match=r"'question_id', 'epoch' in .* for 'q0', 'epoch' '0'"):
        read_scores(data)


def test_a_list_counts_questions_and_not_rows():
    data = table("answers", 0)
    assert jaxrace.race(data, of=QUESTIONS, **MEANS).kind == "all 30 shared"
    with pytest.raises(
        BadArgument, match="of which 30 are in the table, got 300, the number of its"
    ):
        jaxrace.race(data, of=QUESTIONS * EPOCHS, **MEANS)


def test_an_option_that_has_run_nothing_yet_repeats_nothing():
    data = {"seed": [1, 2, 3], "a": [0.1, 0.2, 0.3], "b": [0.4, 0.5, 0.1], "c": []}
    assert [x.runs for x in jaxrace.race(data, shared=True).options if x.name == "c"] == [0]


def by_epoch(item, again, score, scores):
    """Ten epochs of six ids of two models, long."""
    cells = itertools.product(range(6), range(10), "ab")
    rows = [(*cell, x) for cell, x in zip(cells, scores, strict=True)]
    heads = item, again, "model", score
    return [dict(zip(heads, row, strict=True)) for row in rows]


RIGHT_OR_WRONG = np.random.default_rng(0).integers(0, 2, 120).tolist()
ACCURACIES = np.random.default_rng(0).random(120).round(3).tolist()


@pytest.mark.parametrize("score", ["correct", "score"])
def test_epochs_of_a_plain_id_are_its_samples_where_answers_are_right_or_wrong(score):
    found = read_scores(by_epoch("id", "epoch", score, RIGHT_OR_WRONG))
    assert found.task_names == tuple("012345")
    assert any("each 'id' counts once, by all of its rows" in note for note in found.said)


@pytest.mark.parametrize(
    ("item", "again", "score", "scores", "is_asked"),
    [
        ("id", "epoch", "accuracy", ACCURACIES, True),
        ("task_id", "epoch", "passed", RIGHT_OR_WRONG, True),
        ("run_id", "epoch", "accuracy", ACCURACIES, False),
        ("run_id", "epoch", "success", RIGHT_OR_WRONG, False),
        ("seed", "step", "return", ACCURACIES, False),
        ("env", "step", "return", ACCURACIES, False),
    ],
)
def test_what_may_be_a_learning_curve_is_refused(item, again, score, scores, is_asked):
    rows = by_epoch(item, again, score, scores)
    with pytest.raises(ValueError, match=f"got another {again} of the same run of a: ") as error:
        read_scores(rows)
    assert (f"--cluster-column {item} counts each" in str(error.value)) == is_asked
    assert len(read_scores(rows, cluster_column=item).values[0]) == 6


GRADES = np.random.default_rng(0).random((2, 20)).round(2).tolist()
REMARKS = [
    (["flagged", "shard", "hard", "correct_format"], [0, 1, 1, 0, 1] * 4, ONCE["main"]),
    (["solved", "easyness"], [0, 1, 1, 0, 1] * 4, GRADES[0]),
    (["gpt"], [1] * 20, ONCE["main"]),
]


@pytest.mark.parametrize(("heads", "cells", "main"), REMARKS)
def test_a_column_that_is_hardly_an_option_is_said(heads, cells, main):
    for head in heads:
        data = {"question_id": ONCE["question_id"], "main": main, "cand": main[::-1], head: cells}
        said = f"the options are the columns 'main', 'cand', {head!r}; {head!r} may be none: "
        assert any(note.startswith(said) for note in read_scores(data).said)
        asked = read_scores(data, options=["main", "cand"]).said
        assert not any("may be none" in note for note in asked)
