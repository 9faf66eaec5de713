"""Right answers of races in words: what is printed never contradicts the verdict."""

import functools
import re
import warnings

import numpy as np
import pytest
from right_answers import check, params

import jaxrace
from jaxrace import racing
from jaxrace.judging import DependentRunsWarning
from jaxrace.kernels import total_order

# Three in a circle, each better than the next on two tasks of three.
ORDER = np.random.default_rng(5).permutation(np.arange(400) % 3)
CIRCLE = np.array([[3.0, 2, 1], [2, 1, 3], [1, 3, 2]])[:, ORDER]
MEAN = {"by": "mean", "low": 0, "high": 1}


def in_circle(tolerance):
    """Who may be best of the circle: by the race in JAX, and of a table."""
    race = racing.SharedRace(3, 1, 400, by="wins", compare=total_order)
    params = race.params(tolerance=tolerance, first=400)
    state = race.init(np.float32(0), params)
    state = race.tell(state, CIRCLE.astype(np.float32), params)
    drawn = race.result(state, params)
    judged = jaxrace.race(dict(zip("abc", CIRCLE, strict=True)), shared=True, tolerance=tolerance)
    said = re.findall(r"certainly (?:in|out) +(.*)", str(drawn))
    return np.flatnonzero(drawn.possible).tolist(), said, judged.possible


KINDS = {
    "wins": {},
    "wins of tasks": {"shared": True},
    "wins of a list": {"shared": True, "of": 120},
    "within .05 wins": {"tolerance": 0.05},
    "mean": MEAN,
    "mean of a list": {"shared": True, "of": 120, **MEAN},
    "within .1 in mean": {"shared": True, "tolerance": 0.1, **MEAN},
}


def contradictions(kind):
    """Printed intervals that are past no difference without a verdict, or not with one."""
    found, verdicts = [], set()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        num_options, n = int(rng.integers(2, 6)), int(rng.integers(12, 120))
        skills = 0.5 + rng.choice([0.04, 0.12, 0.25]) * rng.random(num_options)
        table = {f"m{i}": rng.binomial(4, skill, n) / 4 for i, skill in enumerate(skills)}
        with warnings.catch_warnings():  # of one table in a hundred
            warnings.simplefilter("ignore", DependentRunsWarning)
            result = jaxrace.race(table, 1 + seed % (num_options - 1), **KINDS[kind])
        edge = (0.0 if kind.endswith("mean") or "mean of" in kind else 0.5) - result.tolerance
        for row in result.tables()[1].rows if result.pairs else []:
            low, high = re.findall(r"-?[\d.]+(?:e-\d+)?", row[3])
            verdicts.add(row[4])
            is_past = float(low) > edge or row[3].startswith("over"), float(high) < edge
            if is_past != (row[4] == "enough", row[4] == "against"):
                found.append(row)
    return found, "enough" in verdicts, any("%" in verdict for verdict in verdicts)


def counted(num_options, top, **settings):
    """Are all pairs across the boundary shown, or those that are not counted?"""
    rng = np.random.default_rng(1)
    table = {f"m{i}": rng.normal(i / 4, 1, 30) for i in range(num_options)}
    result = jaxrace.race(table, top, **settings)
    more = re.findall(r"and (\d+) more pairs across the boundary", str(result))
    return len(result.pairs), [int(number) for number in more]


def equal_beats():
    """Two that are equal on a whole list, and a third: who beats how many, and what is said."""
    table = {"a": [1.0, 0, 1], "b": [1.0, 1, 0], "c": [0.0, 0, 0]}
    result = jaxrace.race(table, shared=True, of=3)
    return [one.beats for one in result.options], [pair.share for pair in result.pairs]


def within():
    """Two equal options and a worse one, of which one is certified within a tolerance."""
    rng = np.random.default_rng(2)
    table = {name: rng.random(700) < p for name, p in zip("abc", (0.5, 0.5, 0.2), strict=True)}
    result = jaxrace.race(table, shared=True, tolerance=0.2, **MEAN)
    others = {one.name: (one.verdict, one.beats) for one in result.options}
    return others.pop(result.best[0]), sorted(others.values())


def said(means, top=1, n=40, **settings):
    """What is said of a table of normal runs, up to how sure it is."""
    rng = np.random.default_rng(3)
    table = {name: rng.normal(m, 1, n) for name, m in zip("abcdef", means, strict=False)}
    return jaxrace.race(table, top, **settings).meaning().split("; ")


WRONG = "wrong with a probability of at most 0.05, at all looks together"
ALL = [0, 1, 2]
CASES = [
    ("a circle", lambda: in_circle(0.0), (ALL, ["-", "-"], ["a", "b", "c"])),
    ("a circle within a tolerance", lambda: in_circle(0.05), (ALL, ["-", "-"], ["a", "b", "c"])),
    *(
        (f"intervals: {kind}", functools.partial(contradictions, kind), ([], True, True))
        for kind in KINDS
    ),
    ("few pairs", lambda: counted(5, 2), (6, [])),
    ("many pairs", lambda: counted(16, 6), (20, [40])),
    ("equal on a list", equal_beats, ([1, 1, 0], ["equal", "enough"])),
    ("within a tolerance", within, (("good enough", 1), [("?", 1), ("out", 0)])),
    (
        "nothing known",
        lambda: said([0, 0], n=3),
        [
            "either may be the better one",
            "it takes at least 14 more runs in all to know, if each goes the way that it looks",
        ],
    ),
    (
        "two of three left",
        lambda: said([0, 3, 3])[:2],
        ["only c, b can be better than each of the others", WRONG],
    ),
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)


def test_the_confidence_of_an_interval_is_rounded_down_and_no_further():
    rows = np.random.default_rng(0).random((20, 5))

    def said(number, **asked):
        return jaxrace.race(rows[:, :number], shared=True, **asked).tables()[1].heads[3]

    # 1 - 1.9 x 0.05 / K, and 1 - 2 x 0.05 / (K - 1).
    assert [said(k) for k in (3, 5)] == ["96.8 % interval", "98.1 % interval"]
    assert [said(k, **MEAN) for k in (3, 5)] == ["95 % interval", "97.5 % interval"]


def test_an_option_that_is_out_by_a_pair_without_enough_is_said():
    """Of three, by wins, an option is out from ln(40) on; a winner needs ln(63.2) over each."""
    scores = np.random.default_rng(0).normal([1.0, 1.0, 0.0], size=(60, 3)).T
    data = dict(zip("abc", scores, strict=True))
    seen = False
    for number in range(5, 60):
        found = jaxrace.race({name: x[:number] for name, x in data.items()}, shared=True)
        out = {one.name for one in found.options if one.verdict == "out"}
        decided = {pair.worse for pair in found.pairs if pair.decided}
        shown = {pair.worse for pair in found.pairs}
        is_said = "out, which takes 89 % of the evidence" in str(found)
        assert is_said == bool((out & shown) - decided)
        seen |= is_said
    assert seen


def test_large_numbers_have_all_of_their_digits():
    scores = np.random.default_rng(0).normal([12_764.8, 11_270.4], 50.0, (40, 2)).T
    table = dict(zip("ab", scores, strict=True))
    found = jaxrace.race(table, shared=True, by="mean", low=0, high=1e5)
    assert "e+" not in str(found)
    assert f"  {scores[0].mean():,.0f}  " in str(found)
    (pair,) = found.pairs
    assert f"  {round(pair.estimate):,}  " in str(found)
