"""Votes that are not their own: of judges who differ, and of one verdict in both orders."""

import numpy as np
import pytest

import jaxrace
from jaxrace.evidence.games import in_mirrors
from jaxrace.judging.engine_result import GateOfGames


def votes_of_judges(judges, each, spread, seed=0, names="xy"):
    """Columns of votes in a random order; judges differ by ``spread`` in what they like."""
    rng = np.random.default_rng(seed)
    tastes = rng.normal(0, spread, (judges, len(names)))
    rows = []
    for judge in rng.permutation(np.repeat(np.arange(judges), each)).tolist():
        i, j = rng.permutation(len(names))[:2].tolist()
        won = rng.random() < 1 / (1 + np.exp(tastes[judge, j] - tastes[judge, i]))
        rows.append((f"u{judge}", names[i], names[j], "model_a" if won else "model_b"))
    heads = ("judge", "model_a", "model_b", "winner")
    return dict(zip(heads, map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize(("judges", "each"), [(8, 60), (40, 8)])
def test_judges_who_differ_are_refused_and_each_may_count_once(judges, each):
    """None of them like one of the options more than the other, on average over all there are."""
    certain, refused = 0, 0
    for seed in range(10):
        votes = votes_of_judges(judges, each, 1.5, seed)
        found = jaxrace.select(votes)
        certain += found.certificate is not None
        refused += found.refused.startswith("judges differ")
        once = jaxrace.select(votes, cluster_column="judge")
        assert once.certificate is None
        assert not once.refused
        assert any(f"{judges * each:,} votes are {judges} results" in x for x in once.notes)
    assert (certain, refused) == (0, 10)


def test_judges_who_are_alike_are_named_and_nothing_is_refused():
    refused = 0
    for seed in range(10):
        found = jaxrace.select(votes_of_judges(20, 20, 0.0, seed, "xyz"))
        refused += bool(found.refused)
        said = "votes of 20 judges, by column 'judge': what is certain is about these judges"
        assert any(note.startswith(said) for note in found.notes)
    assert refused <= 1


def test_many_options_tell_judges_apart_by_all_pairs_together():
    votes = votes_of_judges(20, 60, 1.0, names="abcdef")
    assert jaxrace.select(votes).refused.startswith("judges differ")


def test_a_panel_that_judges_every_item_is_asked_about_itself():
    """Two of three judges prefer x, everywhere: their mean on each item is its result."""
    rng, rows = np.random.default_rng(0), []
    for item in range(150):
        for judge, chance in (("g", 0.9), ("c", 0.8), ("m", 0.3)):
            won = rng.random() < chance
            rows.append((f"q{item}", judge, "x", "y", "x" if won else "y"))
    heads = ("question_id", "judge", "model_a", "model_b", "winner")
    votes = dict(zip(heads, map(list, zip(*rows, strict=True)), strict=True))
    found = jaxrace.select(votes)
    assert (found.best, found.certificate) == (["x"], "dominance")
    assert any(note.startswith("votes of 3 judges") for note in found.notes)
    once = jaxrace.select(votes, cluster_column="question_id")
    assert once.proven == found.proven
    assert not any("--cluster-column" in note for note in once.notes)


def test_each_judge_once_can_be_certain():
    """60 judges, of whom each votes ten times, mostly for x."""
    rng = np.random.default_rng(0)
    votes = {"judge": np.repeat(np.arange(60), 10), "model_a": ["x"] * 600, "model_b": ["y"] * 600}
    votes["winner"] = rng.choice(["x", "y"], 600, p=[0.8, 0.2])
    found = jaxrace.select(votes, cluster_column="judge")
    assert (found.certificate, found.best, found.proven[0].games) == ("dominance", ["x"], 60)
    gated = jaxrace.gate(votes, baseline="y", cluster_column="judge")
    assert isinstance(gated, GateOfGames)
    assert (gated.candidates[0].verdict, gated.candidates[0].games) == ("better", 60)


def test_columns_that_are_not_used_are_named():
    votes = votes_of_judges(5, 4, 0.0) | {"topic": ["a", "b"] * 10, "turn": [1, 2] * 10}
    assert "not used: 'topic', 'turn'" in jaxrace.select(votes).notes


def in_both_orders(times, order, seed):
    """100 verdicts on x and y by lot, each written down so often, every other time turned."""
    rng, rows = np.random.default_rng(seed), []
    for _ in range(100):
        won = "xy"[rng.integers(2)]
        rows += [(*("xy" if time % 2 else "yx"), won) for time in range(times)]
    if order == "by lot":
        rows = [rows[place] for place in rng.permutation(len(rows))]
    elif order == "in turn":
        rows = [row for time in range(times) for row in rows[time::times]]
    return dict(zip(("first", "second", "winner"), zip(*rows, strict=True), strict=True))


@pytest.mark.parametrize("order", ["by lot", "in turn", "one by one"])
def test_verdicts_in_both_orders_count_once(order):
    for seed in range(10):
        found = jaxrace.select(in_both_orders(2, order, seed))
        assert found.certificate is None
        assert any("200 votes are 100 results" in note for note in found.notes)


@pytest.mark.parametrize("order", ["in turn", "one by one"])
def test_copies_of_both_orders_are_refused(order):
    for seed in range(10):
        assert jaxrace.select(in_both_orders(4, order, seed)).refused


def test_a_second_half_that_turns_some_of_the_first_is_one_of_copies():
    rng = np.random.default_rng(0)
    pairs = [(*rng.permutation([*"xyz"])[:2], rng.integers(2)) for _ in range(100)]
    again = [pair if rng.random() < 0.5 else (pair[1], pair[0], 1 - pair[2]) for pair in pairs]
    rows = [(one, other, (one, other)[won]) for one, other, won in pairs + again]
    votes = dict(zip(("first", "second", "winner"), zip(*rows, strict=True), strict=True))
    assert "the same games twice" in jaxrace.select(votes).refused


def test_mirrors_are_seen_in_results_alone_and_by_chance_seldom():
    rng, seen = np.random.default_rng(0), 0
    for _ in range(400):
        first = rng.permutation(np.arange(100) % 2)
        seen += in_mirrors(first, 1 - first, rng.choice([1.0, -1.0], 100)) is not None
    assert 10 < seen < 60  # of two options with balanced sides about one of nine
    first = rng.integers(3, size=100)
    second = (first + rng.integers(1, 3, size=100)) % 3
    assert in_mirrors(first, second, rng.choice([1.0, -1.0], 100)) is None
