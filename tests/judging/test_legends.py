"""What stands beside an answer: marks have their legend, one look is said, and what to run next."""

import html
import itertools
from typing import Any

import numpy as np
import pytest

import jaxrace
from jaxrace.judging import legends

RNG = np.random.default_rng(0)
MEAN: dict[str, Any] = {"by": "mean", "low": 0, "high": 1, "shared": True}
HARD = RNG.random((300, 1))
NEAR = {  # c is far below, a and b are not told apart; questions are hard for all, or easy
    name: (HARD[:, 0] + RNG.normal(shift, 0.03, 300) < 0.8).astype(float)
    for name, shift in zip("abc", (0.0, 0.0, 0.14), strict=True)
}
# In each 20 tasks a is better by .6 on 13 and worse on 7; other things differ from task to task.
SIGNS = np.concatenate([RNG.permutation([0.3] * 13 + [-0.3] * 7) for _ in range(40)])
LEVEL = RNG.uniform(0.3, 0.7, 800)
GOES_ON = {"a": LEVEL + SIGNS, "b": LEVEL - SIGNS}
OVERLAP = "they may overlap across tiers: tiers compare options task by task, and an interval is of"


def texts_of(figure):
    """All that a figure says, in one line."""
    found = [figure._suptitle.get_text()]
    for panel in figure.axes:
        found += [panel.get_xlabel(), panel.get_title(), *(x.get_text() for x in panel.texts)]
    return " ".join(" ".join(found).split())


def test_intervals_that_overlap_across_tiers_are_explained():
    found = jaxrace.rank(NEAR, **MEAN)
    assert found.tiers == [["a", "b"], ["c"]]
    (_, b, c) = found.options
    assert b.low is not None
    assert c.high is not None
    assert b.low < c.high
    assert f"{OVERLAP} one option alone" in str(found)
    assert f"{OVERLAP} one option alone" in texts_of(found.plot())


@pytest.mark.parametrize(
    "table",
    [
        {"a": NEAR["a"], "b": NEAR["b"]},  # one tier
        {"a": RNG.random(800) < 0.8, "b": RNG.random(800) < 0.2},  # far apart
    ],
)
def test_nothing_is_explained_that_is_not_to_be_seen(table):
    found = jaxrace.rank(table, **MEAN)
    assert "overlap" not in str(found) + texts_of(found.plot())


ANSWERS = {
    "race": jaxrace.race,
    "rank": jaxrace.rank,
    "gate": lambda data, **settings: jaxrace.gate(data, baseline="b", **settings),
}


@pytest.mark.parametrize("verb", ANSWERS)
def test_one_look_is_said_wherever_the_answer_is(verb):
    found = ANSWERS[verb](NEAR, final=True, **MEAN)
    told = found.to_dict()
    assert f"; {legends.TEST}: " in found.headline()
    assert told["headline"] == found.headline()
    assert told["meanings"] == found.meanings()
    assert found.meanings()[-1].removeprefix("* ").startswith("test of one look: ")
    assert "if nobody has looked before or looks again" in found.meanings()[-1]
    assert html.escape(found.headline()) in found.to_html(figure=False)
    assert legends.TEST in texts_of(found.plot())
    plain = ANSWERS[verb](NEAR, **MEAN)
    assert legends.TEST not in str(plain) + texts_of(plain.plot())


@pytest.mark.parametrize("verb", ANSWERS)
def test_an_order_by_lot_never_claims_all_looks(verb):
    table = {"task": [f"q{n}" for n in range(300)], **NEAR}
    found = ANSWERS[verb](table, order_by_lot=1, **MEAN)
    assert found.headline().startswith(f"{legends.ONCE}, ") == (verb != "race")
    assert "all looks" not in str(found) + texts_of(found.plot())
    apart = {name: table[name] for name in ("task", "a", "c")}
    sure = jaxrace.race(apart, order_by_lot=1, **MEAN)
    assert sure.headline() == "IN ONE LOOK, CERTIFIED: a"
    assert "all looks" not in str(sure) + texts_of(sure.plot())


def without_guarantee(found):
    return found.without_guarantee()


LEGENDS = {"?": "?: ", "*": "*: by a test of one look", "%": "in percent: how much of it"}


def marked(found):
    """Marks in the tables of an answer, and the lines below each."""
    for table in found.tables():
        cells = [*table.heads, *itertools.chain(*table.rows)]
        for mark in LEGENDS:
            if any(cell == mark or (mark != "?" and cell.endswith(mark)) for cell in cells):
                yield mark, " ".join(table.below)


@pytest.mark.parametrize(
    "found",
    [
        jaxrace.race({name: own[:40] for name, own in GOES_ON.items()}, **MEAN),
        jaxrace.rank(NEAR, **MEAN, final=True, pairs="all"),
        jaxrace.gate(NEAR, baseline="b", **MEAN, final=True),
        without_guarantee(jaxrace.gate(NEAR, baseline="b", **MEAN)),
    ],
    ids=["race", "rank", "gate", "dependent"],
)
def test_every_mark_has_its_legend_below_its_table(found):
    marks = [*marked(found)]
    assert marks
    assert [mark for mark, below in marks if LEGENDS[mark] not in below] == []


def test_a_star_says_why_it_has_no_interval():
    judged = jaxrace.gate(NEAR, baseline="b", **MEAN, final=True)
    assert "verdict*" in judged.tables()[0].heads
    assert legends.starred() in judged.tables()[0].below
    assert "it has no intervals: those shown are without *" in legends.starred()


def test_what_to_run_next_is_named():
    table = {"seed": [str(n) for n in range(7)], "a": [3.0, 1, 2, 5, 4, 3, 2]}
    table |= {"b": [2.0, 2, 1, 6, 3, 4, 1]}
    below = jaxrace.race(table, shared=True).tables()[0].below
    assert (
        "run next: a, b: 10 tasks (7, 8, 9 and 7 more); all are in next_runs, and --next FILE"
        in (below)
    )
    runs = {"a": [1.0, 3.0, 2.0], "b": [5.0, 4.0, 6.0, 8.0, 5.5], "c": [5.0, 4.5, 6.0]}
    found = jaxrace.race(runs)
    assert found.next_runs == {"a": 2, "c": 2}
    assert "run next: a, c: 2 more runs of each" in found.tables()[0].below
    assert any("run next: " in line for line in jaxrace.rank(runs).tables()[0].below)
    sure = jaxrace.race({"a": NEAR["a"], "c": NEAR["c"]}, **MEAN)
    assert sure.certified
    assert "run next" not in str(sure)


def test_about_how_many_more_comes_true_if_runs_go_on_alike():
    def after(number):
        return jaxrace.race({name: own[:number] for name, own in GOES_ON.items()}, **MEAN)

    found = after(40)
    assert found.about is not None
    assert found.about >= found.at_least > 0
    assert f"about {found.about / 10:.0f}0 if differences stay as they are" in found.meaning()
    each = found.about // 2  # of two options
    assert [after(40 + number).certified for number in (each // 2, 2 * each)] == [False, True]


def test_equal_options_are_not_told_a_number():
    won = RNG.permutation([1.0, 0.0] * 40)
    found = jaxrace.race({"a": won, "b": 1 - won}, **MEAN)
    assert found.about == np.inf
    assert found.to_dict()["about"] is None
    assert "far more if differences stay as they are" in found.meaning()


def test_nothing_is_forecast_without_any_evidence():
    """Three runs are no block yet."""
    found = jaxrace.race({"a": [1.0, 2.0, 3.0], "b": [1.5, 2.5, 0.5]})
    assert found.about is None
    assert found.meaning().endswith("more runs in all to know, if each goes the way that it looks")


def test_benchmarks_that_were_taken_for_tasks_are_said():
    a, b = RNG.integers(0, 2, (2, 80))
    table = {"task": ["x"] * 40 + ["y"] * 40, "a": a, "b": b}
    found = jaxrace.race(table, **MEAN)
    assert any(
        note.startswith("2 tasks with up to 40 scores of an option on one") for note in found.notes
    )
    seeds = {"task": list("pqrstu") * 3, "a": a[:18], "b": b[:18]}
    assert not any("scores of an option" in x for x in jaxrace.race(seeds, **MEAN).notes)
