"""One look at groups of tasks: the mean of their means, with nothing that waits for new tasks."""

from typing import Any

import numpy as np
import pytest

import jaxrace
from jaxrace.core.validation import BadArgument
from jaxrace.judging import GateOfTable

SIZES = {"mmlu": 1000, "gsm": 250, "law": 80}
MEAN: dict[str, Any] = {"by": "mean", "low": 0, "high": 1, "shared": True, "weights": "equal"}


FAR = (0.75, 0.75, 0.75), (0.6, 0.6, 0.6), (0.4, 0.35, 0.3)
NEAR = (0.7, 0.7, 0.7), (0.65, 0.65, 0.65), (0.4, 0.4, 0.4)


def table(seed: int = 0, chances: Any = FAR) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    group = np.repeat([*SIZES], [*SIZES.values()])
    hard = rng.random(len(group))
    columns = {"benchmark": group.tolist(), "question": [f"q{n}" for n in range(len(group))]}
    for name, of_groups in zip("abc", chances, strict=True):
        limit = np.repeat(of_groups, [*SIZES.values()]) + rng.normal(0, 0.3, len(group))
        columns[name] = (hard < limit).astype(float).tolist()
    return columns


def macro(data, name):
    values, group = np.array(data[name]), np.array(data["benchmark"])
    return np.mean([values[group == one].mean() for one in SIZES])


def test_all_tasks_count_and_no_new_ones_are_asked_for():
    data = table()
    plain = jaxrace.rank(table(0, NEAR), **MEAN)
    near = jaxrace.rank(table(0, NEAR), final=True, **MEAN)
    found = jaxrace.rank(data, final=True, **MEAN)
    advice = "run new tasks of law; or, if there are no more, final=True"
    assert advice in " ".join(plain.notes)
    assert "new task" in str(plain)
    assert [(x.name, x.final_tier) for x in found.options] == [("a", 1), ("b", 2), ("c", 3)]
    assert not found.next_runs
    assert not near.next_runs
    assert "new task" not in str(near)
    assert "run new tasks" not in str(found)
    assert "means of 3 groups, each by its own tasks, weighted and added" in str(found)
    for x in found.options:
        assert x.score == pytest.approx(macro(data, x.name))
        # Three standard errors of the stratified mean on each side, or about so many.
        assert x.score is not None
        assert x.final_low is not None
        assert x.final_high is not None
        assert x.final_low < x.score < x.final_high
        errors = [one.error or 0.0 for one in found.groups if one.option == x.name]
        width = 2 * 2.394 * np.sqrt(np.square(errors).sum()) / 3  # of .05 / 3 on both sides
        assert width < x.final_high - x.final_low < 1.25 * width
    law = np.array(data["a"])[-80:]
    error = next(x.error for x in found.groups if (x.option, x.group) == ("a", "law"))
    assert error == pytest.approx(law.std(ddof=1) / 80**0.5)
    assert f"{law.mean():.3g} ± {error:.2g}" in str(found)
    raced = jaxrace.race(data, final=True, **MEAN)
    assert raced.final == ["a"]
    assert not raced.next_runs
    assert raced.at_least == 0
    judged = jaxrace.gate(data, baseline="b", final=True, **MEAN)
    assert isinstance(judged, GateOfTable)
    assert {x.name: x.final for x in judged.candidates} == {"a": "better", "c": "worse"}
    assert not judged.next_runs


def test_by_size_it_is_the_look_at_all_of_them():
    data = table(1)
    by_size, pooled = (
        jaxrace.rank(data, final=True, order_by_lot=1, **{**MEAN, "weights": weights})
        for weights in ("size", None)
    )
    one, other = (
        {x.name: (x.final_best_rank, x.final_worst_rank) for x in found.options}
        for found in (by_size, pooled)
    )
    assert one == other


def test_weights_of_groups_turn_the_answer():
    """a is far better on law alone, and worse on the rest by less."""
    data = table(2, ((0.5, 0.5, 0.9), (0.6, 0.6, 0.4), (0.1, 0.1, 0.1)))
    for weights, best in (({"mmlu": 8, "gsm": 1, "law": 1}, "b"), ("equal", "a")):
        found = jaxrace.race(data, final=True, **{**MEAN, "weights": weights})
        assert found.final == [best]


def test_what_not_all_have_run_is_left_out_if_asked():
    data = table()
    data["a"][3] = None
    with pytest.raises(BadArgument, match="tasks that are missing: a 1"):
        jaxrace.rank(data, final=True, **MEAN)
    found = jaxrace.rank(data, final=True, gaps="skip", **MEAN)
    assert [x.final_tier for x in found.options] == [1, 2, 3]
    assert any("without 1 tasks" in note or "left out: 1 of" in note for note in found.notes)


def test_a_group_of_one_task_has_no_spread():
    data = {head: column[1249:] for head, column in table().items()}  # one of gsm, 80 of law
    with pytest.raises(BadArgument, match=r"2 tasks or more of each group .*, got gsm 1"):
        jaxrace.rank(data, final=True, **MEAN)


def test_a_list_that_is_known_stays_so():
    found = jaxrace.rank(table(), final=True, of=1330, **MEAN)
    assert found.whole
    assert not found.has_final
    assert all(one.error is None for one in found.groups)
    assert "hold together" not in str(found)
    assert "hold together" not in found.plot().axes[0].get_xlabel()
    assert "hold together" in str(jaxrace.rank(table(), **MEAN))


def test_a_lot_within_groups_is_said_once():
    """Not: a pool of all of them, in the order of the table."""
    notes = " ".join(jaxrace.rank(table(), order_by_lot=3, **MEAN).notes)
    assert "within groups in a random order, by seed 3" in notes
    assert "who tries several has no guarantee" in notes
    assert "same mixture" not in notes
    assert "in the order of the table" not in notes


def test_one_tier_is_not_yet_an_answer():
    """As of ``race`` and ``gate``: nothing is certain, and more may help; unless all is known."""
    rng = np.random.default_rng(5)
    tie = dict(zip("ab", (rng.random((2, 40)) < 0.5).astype(float), strict=True))
    found = jaxrace.rank(tie, shared=True)
    assert found.headline().startswith("ONE TIER")
    assert (found.is_answered, found.status) == (False, 3)
    known = jaxrace.rank(tie, shared=True, of=40)
    assert (known.is_answered, known.status) == (True, 0)
