"""What may happen to a table between two looks, and what may not."""

import math

import numpy as np
import pytest

import jaxrace
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.judging.looks import Looks
from jaxrace.judging.scores import as_table

ALPHA, NUMBER = 0.05, 2_000
LEVEL = -math.log(ALPHA)


def filled_by_batches(gaps, num_tasks=200, share=0.3, batch=10):
    """The share of lists that ever say the worse of two is over the better, at looks in between.

    A part of the tasks of each is left out at first, and run later in their order.
    """
    rng = np.random.default_rng(0)
    half = num_tasks // 2
    d = np.r_[np.full(half + 1, 1.0), np.full(half - 1, -1.0)]
    d = rng.permuted(np.tile(d, (NUMBER, 1)), axis=1)
    scores = np.stack([np.maximum(d, 0), np.maximum(-d, 0)], 1)  # [tables, 2, T]
    better, worse = 2 * np.arange(NUMBER), 2 * np.arange(NUMBER) + 1
    missing = rng.random(scores.shape) < share
    missing[:, :, -1] = False
    places = np.cumsum(missing, 2) - 1
    wrong = np.zeros(NUMBER, bool)
    for filled in range(0, num_tasks, batch):
        is_open = missing & (places >= filled)
        values = np.where(is_open, np.nan, scores).reshape(2 * NUMBER, num_tasks, 1)
        pairs = SharedPairs(values, "mean", shared_bets(LEVEL, num_tasks), num_tasks, gaps=gaps)
        wrong |= pairs.process(worse, better).highest >= LEVEL
        if not is_open.any():
            return wrong.mean()
    raise AssertionError("not all gaps were filled")


def test_gaps_may_be_filled():
    """What is skipped and then filled moves what comes behind it: a control that must fail."""
    error = 4 * math.sqrt(ALPHA * (1 - ALPHA) / NUMBER)
    assert filled_by_batches("lost") <= ALPHA
    assert filled_by_batches("skip") > ALPHA + error / 4


def test_a_gap_costs_little_and_needs_no_reason():
    """One task of 60 that was left out is as if it had been lost; it is asked for first."""
    scores = {"a": [1.0] * 60, "b": [0.0] * 60}
    scores["a"][4] = math.nan
    whole = {"a": [1.0] * 4 + [-1.0] + [1.0] * 55, "b": [0.0] * 60}
    found, lost = (jaxrace.race(x, shared=True) for x in (scores, whole))
    assert found.certified
    assert found.pairs[0].evidence == lost.pairs[0].evidence
    assert "before the last one: a 1; each counts as lost" in found.notes[0]
    few = {name: values[:6] for name, values in scores.items()}
    assert "'a': ['5', '7', '8'," in str(jaxrace.compare_next(few, shared=True))
    skipped = jaxrace.race(few, shared=True, gaps="skip")
    assert "'a': ['7', '8'," in str(skipped.next_runs)
    assert "must never be filled" in skipped.notes[0]


def first_look(path, runs=8, **settings):
    scores = {"a": [4.0, 1, 2, 8, 7, 3, 5, 6][:runs], "b": [2.0, 6, 7, 3, 4, 1, 8, 5][:runs]}
    return scores, jaxrace.race(scores, looks=path, **settings)


CHANGES = [
    (lambda s: s["a"].reverse(), {}, "expected 4 for run 1 of a, as before in .*, got 3.5"),
    (lambda s: s["b"].pop(), {}, "expected 5 for run 8 of b, as before in .*, got none"),
    (lambda s: s.pop("b") and s.update(c=[1.0]), {}, "expected the options of before, a, b"),
    (lambda s: None, {"delta": 0.1}, "expected delta 0.05, as before in .*, got 0.1"),
    (lambda s: None, {"tolerance": 0.1}, "expected tolerance 0.0, as before"),
]


@pytest.mark.parametrize(("change", "settings", "message"), CHANGES)
def test_what_was_looked_at_stays(tmp_path, change, settings, message):
    scores, _ = first_look(tmp_path / "looks.json")
    scores["a"].append(3.5)
    jaxrace.race(scores, looks=tmp_path / "looks.json")
    change(scores)
    with pytest.raises(ValueError, match=f"^looks: {message}"):
        jaxrace.race(scores, looks=tmp_path / "looks.json", **settings)


def test_rows_may_be_sorted_again(tmp_path):
    """Tasks are taken in the order in which they came first, whatever the file does later."""
    rng = np.random.default_rng(5)
    rows = [
        {"question": f"q{t}", "option": name, "score": float(rng.random() < chance)}
        for t in rng.permutation(90)
        for name, chance in (("a", 0.8), ("b", 0.4))
    ]
    path = tmp_path / "looks.json"
    jaxrace.race(rows[:100], shared=True, looks=path)
    jaxrace.race(rows, shared=True, looks=path)
    in_order = jaxrace.race(rows, shared=True)
    again = sorted(rows, key=lambda row: row["question"])
    assert jaxrace.race(again, shared=True, looks=path).pairs == in_order.pairs
    assert jaxrace.race(again, shared=True).pairs != in_order.pairs
    twice = [*again, {"question": "q3", "option": "a", "score": 1.0}]
    with pytest.raises(ValueError, match="got 2 of 'a' for 'q3'"):
        jaxrace.race(twice, shared=True, looks=path)
    turned = [
        row | {"score": 1 - row["score"]}
        if (row["question"], row["option"]) == ("q3", "a")
        else row
        for row in again
    ]
    with pytest.raises(ValueError, match="for task q3 of a, as before"):
        jaxrace.race(turned, shared=True, looks=path)


def test_groups_go_with_their_tasks(tmp_path):
    rows = [(name, task) for task in ("law 1", "art 1", "art 2") for name in "ab"]
    for order in (rows, rows[::-1]):
        table = as_table(
            [{"option": n, "question": t, "score": 1, "topic": t[:3]} for n, t in order],
            shared=True,
        )
        looks = Looks(tmp_path / "looks.json", {"compare": None})
        seen = looks.continued(table)
        looks.remember(seen)
        assert seen.task_names == ("law 1", "art 1", "art 2")
        assert seen.groups == ("law", "art", "art")


def test_another_file_is_no_file_of_looks(tmp_path):
    (tmp_path / "looks.json").write_text("{}")
    with pytest.raises(ValueError, match=r"^looks: .*expected what was written there"):
        first_look(tmp_path / "looks.json")
