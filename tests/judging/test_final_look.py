"""One look through the front doors: what is said, refused, and taken away."""

import warnings
from typing import Any

import numpy as np
import pytest

import jaxrace
from jaxrace.evidence.independence import DependentRunsWarning

RNG = np.random.default_rng(0)
RIGHT = (RNG.random((400, 5)) < [0.9, 0.75, 0.72, 0.7, 0.4]).astype(float)
SHARED = {name: RIGHT[:, place] for place, name in enumerate("abcde")}
RUNS = {name: RNG.normal(mean, 1, 15) for name, mean in zip("abc", (0, 2, 5), strict=True)}
BY_MEAN: dict[str, Any] = {"by": "mean", "low": 0, "high": 1}


def test_race_says_who_may_be_best_beside_the_answer_for_all_looks():
    plain = jaxrace.race(SHARED, shared=True, **BY_MEAN)
    found = jaxrace.race(SHARED, shared=True, final=True, **BY_MEAN)
    assert plain.final is None
    assert "one look" not in str(plain)
    assert found.final == ["a"]
    assert found.possible == plain.possible
    assert found.to_dict()["final"] == ["a"]
    once = "only a can be better than each of the others"
    once = once if found.by == "wins" else "the best is a"
    assert f"test of one look: {once}; wrong with a probability of 0.05" in str(found)
    assert "if nobody has looked before or looks again" in str(found)
    assert any("by seed 0" in note for note in found.notes)


def test_the_best_three_come_from_all_pairs_together():
    found = jaxrace.race(SHARED, 3, shared=True, final=True)
    ranked = jaxrace.rank(SHARED, shared=True, final=True)
    assert set(found.final or ()) == {
        x.name for x in ranked.options if (x.final_best_rank or 9) <= 3
    }
    assert set(found.final or ()) == {"a", "b", "c", "d"}


@pytest.mark.parametrize("settings", [{"shared": True}, {"shared": True, **BY_MEAN}])
def test_rank_has_a_second_pair_of_columns(settings):
    found = jaxrace.rank(SHARED, final=True, **settings)
    once = [(x.final_tier, x.final_best_rank, x.final_worst_rank) for x in found.options]
    assert once == [(1, 1, 1), (2, 2, 4), (2, 2, 4), (2, 2, 4), (3, 5, 5)]
    assert found.tables()[0].heads[:4] == ["tier", "rank", "tier*", "rank*"]
    assert "* test of one look: wrong" in str(found)
    assert "TEST OF ONE LOOK: 3 TIERS: 1 a; 2 " in found.headline()
    (panel,) = found.plot().axes
    assert any("(2-4*)" in text.get_text() for text in panel.texts)
    assert found.to_dict()["options"][0]["final_worst_rank"] == 1


def test_independent_runs():
    found = jaxrace.rank(RUNS, final=True)
    assert [(x.name, x.final_best_rank, x.final_worst_rank) for x in found.options] == [
        ("c", 1, 1),
        ("b", 2, 2),
        ("a", 3, 3),
    ]
    assert jaxrace.race(RUNS, final=True).final == ["c"]


def test_order_of_tasks_does_not_matter():
    one, other = (
        jaxrace.rank(table, shared=True, final=True)
        for table in (SHARED, {name: x[::-1] for name, x in SHARED.items()})
    )
    assert [x.final_best_rank for x in one.options] == [x.final_best_rank for x in other.options]


def test_a_list_that_was_run_whole_is_known():
    found = jaxrace.race(SHARED, shared=True, of=400, final=True)
    assert found.final is None
    assert any("nothing to test" in note for note in found.notes)


def test_what_it_does_not_hold_for_is_refused(tmp_path):
    gap = SHARED | {"a": np.r_[SHARED["a"][:-1], np.nan]}
    refused: tuple[tuple[str, Any, dict[str, Any]], ...] = (
        ("no file of looks", SHARED, {"shared": True, "looks": tmp_path / "looks"}),
        ("no tolerance", SHARED, {"shared": True, "tolerance": 0.1}),
        ("missing: a 1", gap, {"shared": True}),
        ("5 runs or more of each option, got a 4", {"a": RUNS["a"][:4], "b": RUNS["b"]}, {}),
        ("numbers, got compare", RUNS, {"compare": lambda x, y: (x > y) - (x < y)}),
    )
    for about, table, settings in refused:
        with pytest.raises(ValueError, match=about):
            jaxrace.race(table, final=True, **settings)
    found = jaxrace.race(gap, final=True, shared=True, gaps="skip")
    assert found.final == ["a"]
    assert any("without 1 tasks" in note for note in found.notes)


def test_doubts_take_it_away(tmp_path):
    copies = {name: np.tile(x[:80], 5) for name, x in SHARED.items()}
    with pytest.raises(ValueError, match=r"different ones, got .* again from"):
        jaxrace.race(copies, shared=True, final=True)
    rows = [f"{fold},{','.join(map(str, row))}" for fold, row in enumerate(RIGHT[:50])]
    (tmp_path / "folds.csv").write_text("\n".join(["fold,a,b,c,d,e", *rows]))
    with pytest.warns(DependentRunsWarning):
        assert jaxrace.race(tmp_path / "folds.csv", shared=True, final=True).final is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranked = jaxrace.rank(RUNS, final=True, dependent=True)
    assert ranked.options[0].final_tier is None
    assert "one look" not in " ".join(ranked.meanings())


@pytest.mark.parametrize("once", [{}, {"order_by_lot": 1}])
def test_it_is_said_which_of_two_answers_sets_the_exit_status(once):
    found = jaxrace.race(SHARED, shared=True, final=True, **once)
    _, second = found.meanings()
    assert second.endswith("; the exit status is that of the line before")
    assert ("decide before you look" in second) == bool(once)
    assert ("who tries several has no guarantee" in "".join(found.notes)) == bool(once)
    judged = str(jaxrace.gate(SHARED, baseline="b", shared=True, final=True, **once))
    assert "the exit status is that of verdict, not of verdict*" in judged
