"""Questions of one passage are no independent tasks: equal models are told apart no oftener."""

import warnings
from typing import Any

import numpy as np
import pytest

import jaxrace
from jaxrace.evidence.clusters import resemblance
from jaxrace.evidence.independence import DependentRunsWarning
from jaxrace.judging.scores import as_table
from jaxrace.tables import read_scores

MEANS: dict[str, Any] = {"shared": True, "by": "mean", "low": 0, "high": 1}


def passages(seed, column="passage_id", name="id{0}", number=40, each=10, luck=0.3):
    """Two equal models, right on a passage as often as beta(luck, luck) says; shuffled."""
    rng = np.random.default_rng(seed)
    right = np.repeat(rng.beta(luck, luck, (number, 2)), each, 0)
    scores = (rng.random((number * each, 2)) < right).astype(int)
    order = rng.permutation(number * each)
    ids = [name.format(n, n // each, n % each) for n in order.tolist()]
    found: dict[str, Any] = {"question_id": ids, column: [f"p{n // each}" for n in order.tolist()]}
    if not column:
        del found[column]
    return found | {"new": scores[order, 0].tolist(), "old": scores[order, 1].tolist()}


def long(data):
    heads = [head for head in data if head not in ("new", "old")]
    return [
        {**{head: data[head][row] for head in heads}, "model": model, "correct": data[model][row]}
        for row in range(len(data["new"]))
        for model in ("new", "old")
    ]


CALLED = ["passage", "passage_id", "document", "article_title", "context_id", "conversation_id"]
CALLED += ["video_id", "patient", "repo", "story", "url", "user_id", "source_document", "subject"]


@pytest.mark.parametrize("column", CALLED)
@pytest.mark.parametrize("made", [dict, long])
def test_alike_rows_of_one_passage_are_not_certified(column, made):
    data = made(passages(1, column))
    with pytest.warns(DependentRunsWarning, match=f"tasks of one '{column}' that are alike"):
        found = jaxrace.race(data, **MEANS)
    assert not found.certified
    asked = jaxrace.race(data, **MEANS, cluster_column=column)
    assert asked.options[0].runs == 40


@pytest.mark.parametrize("name", ["q{1}_p{2}", "q{1}/{2}", "doc{1}-{2}", "{1}_{2}"])
@pytest.mark.parametrize("made", [dict, long])
def test_first_parts_of_names_are_seen(name, made):
    data = made(passages(1, "", name))
    with pytest.warns(DependentRunsWarning, match="first part of their names that are alike"):
        assert not jaxrace.race(data, **MEANS).certified


NO_PARTS = ["q{0}", "mmlu_{0}", "2024-01-{0}", "gsm8k/{0}", "v{0}.5", "django__django-{0}"]


@pytest.mark.parametrize("name", NO_PARTS)
def test_other_names_have_no_first_parts(name):
    assert not read_scores(passages(1, "", name)).clusters


def test_equal_models_are_told_apart_as_seldom_as_stated():
    """With a note alone 20 of 40 tables of this law, shuffled, were certified."""
    wrong = 0
    for seed in range(40):
        data = passages(seed, number=20, each=20)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wrong += jaxrace.race(data, **MEANS).certified
    assert wrong <= 3


def test_passages_that_say_nothing_leave_the_certificate():
    """A model that is better, on questions that only happen to be on passages."""
    doubted = 0
    for seed in range(40):
        data = passages(seed)
        rng = np.random.default_rng(1000 + seed)
        level = np.repeat(rng.beta(0.5, 0.5, 40), 10)  # of a passage, the same for both
        data |= {"new": (rng.random(400) < 0.5 + level / 2).astype(int).tolist()}
        data |= {"old": (rng.random(400) < level / 2).astype(int).tolist()}
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = jaxrace.race(data, **MEANS)
        doubted += bool(said)
        assert bool(said) or found.best == ["new"]
        assert any("400 tasks of 40 different below 'passage_id'" in note for note in found.notes)
    assert doubted <= 3  # of .01 each


def test_chance_is_as_seldom_as_stated():
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(400):
        z = rng.integers(-1, 2, (3, 60)).astype(float)
        z[rng.random(z.shape) < 0.1] = np.nan
        cluster, group = np.repeat(np.arange(12), 5), np.tile([0, 1], 30)
        z[:, group == 1] += 5.0  # groups are what they are
        found += resemblance(z, cluster, group, 0.01) is not None
    assert found <= 12  # of 4


def test_it_names_the_pair_and_how_much_its_mean_varies():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(2, 200))
    cluster = np.repeat(np.arange(20), 10)
    z[1] = np.repeat(rng.normal(size=20), 10)
    found = resemblance(z, cluster, np.zeros(200, int), 0.01)
    assert found is not None
    assert found.pair == 1
    assert found.times == pytest.approx(10)
    assert resemblance(np.zeros((1, 200)), cluster, np.zeros(200, int), 0.01) is None


def test_a_list_or_a_fixed_suite_is_what_it_is():
    data = passages(1)
    assert jaxrace.race(data, **MEANS, of=400).certified
    jaxrace.race(data, **MEANS, group_column="passage_id", of=400, weights="equal")
    jaxrace.race(data, **MEANS, group_column="passage_id")
    ways: list[dict[str, Any]] = [{"order_by_lot": 1}, {"task_column": "question_id"}]
    for more in ways:
        with pytest.warns(DependentRunsWarning, match="tasks of one 'passage_id'"):
            jaxrace.race(data, **MEANS, **more)


def test_numbers_of_passages_are_no_option():
    data = passages(1, "passage")
    data["passage"] = [int(one[1:]) for one in data["passage"]]
    found = read_scores(data)
    assert found.names == ("new", "old")
    assert len({*found.clusters["passage"].values()}) == 40
    kinds = {"question_id": data["question_id"], "text": data["new"], "audio": data["old"]}
    assert read_scores(kinds).names == ("text", "audio")


def test_rows_of_passages_without_names_count_once():
    data = passages(1, "passage")
    del data["question_id"]
    assert as_table(data, shared=True).progress.tolist() == [40, 40]
    assert as_table(long(data), shared=True).progress.tolist() == [40, 40]


def test_rows_in_the_order_of_their_passages_are_told_of_the_column():
    data = passages(1)
    order = np.argsort(data["passage_id"], kind="stable")
    data = {head: [cells[row] for row in order] for head, cells in data.items()}
    with pytest.raises(ValueError, match=r"--cluster-column passage_id .* counts each once; order"):
        jaxrace.race(data, **MEANS)


META = ["is_hard", "has_image", "in_train", "multi_hop", "answerable", "oracle", "majority"]


@pytest.mark.parametrize("head", [*META, "consensus", "contains_code", "question_len"])
def test_what_a_row_is_like_is_no_option(head):
    rng = np.random.default_rng(0)
    data: dict[str, Any] = {"question_id": [f"q{n}" for n in range(60)]}
    data |= {name: rng.integers(0, 2, 60).tolist() for name in ("gpt", "claude")}
    data[head] = [1] * 50 + [0] * 10
    found = read_scores(data)
    assert found.names == ("gpt", "claude")
    assert any(
        f"left out, as their names are those of no options: {head!r}" in x for x in found.said
    )
    asked = read_scores(data, options=["gpt", head])
    assert {*asked.names} == {"gpt", head}


@pytest.mark.parametrize("head", ["reference", "total-recall", "human_label", "gold"])
def test_a_name_does_not_refuse_what_options_names(head):
    rng = np.random.default_rng(0)
    data: dict[str, Any] = {"question_id": [f"q{n}" for n in range(60)]}
    data |= {name: rng.integers(0, 2, 60).tolist() for name in (head, "gpt")}
    with pytest.raises(ValueError, match="--options"):
        read_scores(data)
    assert {*read_scores(data, options=[head, "gpt"]).names} == {head, "gpt"}
    jaxrace.race(data, shared=True, options=[head, "gpt"])


def test_ranks_that_do_not_meet_in_one_tier_are_explained():
    rng = np.random.default_rng(0)
    steps = {f"m{k:02}": rng.normal(k / 2, 1, 60).tolist() for k in range(8)}
    found = jaxrace.rank(steps)
    pairs = [(x, y) for x in found.options for y in found.options if x.tier == y.tier]
    assert any(x.worst_rank < y.best_rank for x, y in pairs)
    said = "ranks may tell two of one tier apart"
    assert said in str(found)
    apart = jaxrace.rank({"a": rng.normal(0, 1, 60).tolist(), "b": rng.normal(9, 1, 60).tolist()})
    assert said not in str(apart)
