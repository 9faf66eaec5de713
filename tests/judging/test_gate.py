"""Each candidate against a baseline: verdicts, intervals, and candidates that come later."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import jaxrace
from jaxrace.evidence.blocks import BlockPairs, block_values, independent_bets
from jaxrace.evidence.independence import DependentRunsWarning
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.judging.claims import forecast, shares
from jaxrace.judging.gate_result import FALLS, PASSES

MEAN = {"by": "mean", "low": 0, "high": 1}
BASE = {"baseline": "main"}


def gate(data, **settings: Any) -> Any:
    """The front door, whose numbers may be None."""
    return jaxrace.gate(data, **settings)


def coins(rng, **chances):
    """Right and wrong answers to the same questions."""
    number = chances.pop("tasks", 300)
    return {name: (rng.random(number) < chance).astype(float) for name, chance in chances.items()}


def plain_log_e(d, null, delta, of=None):
    """The largest ln E of "E d <= null" in a stream or a list, by its definition."""
    mixture = shared_bets(math.log(3 / delta), of)
    products, largest, total = [1.0] * len(mixture.bets), -math.inf, 0.0
    for s, one in enumerate(d, 1):
        left = 1 if of is None else of - s + 1
        expected = null if of is None else max((of * null - total) / left, -1)
        for k, bet in enumerate(mixture.bets):
            cut = min(bet * (1 if of is None else of / left), 0.99 / max(1 + expected, 1e-6))
            products[k] *= 1 + cut * (one - expected)
        total += one
        found = sum(w * p for w, p in zip(mixture.weights, products, strict=True))
        largest = max(largest, math.log(found))
        if of is not None and total - (of - s) > of * null + 1e-9:
            largest = math.inf
    return largest


@pytest.mark.parametrize("of", [None, 400])
@pytest.mark.parametrize("seed", range(6))
def test_verdicts_are_those_of_the_definition(seed, of):
    rng = np.random.default_rng(seed)
    names = ("main", "a", "b", "c", "d")
    table = coins(rng, **dict(zip(names, (0.5, 0.65, 0.35, 0.5, 0.58), strict=True)))
    settings = {"margin": 0.12, "delta_reject": 0.2, "shared": True, "of": of, **MEAN}
    result = gate(table, **BASE, **settings)
    for one in result.candidates:
        d = table[one.name] - table["main"]
        better, not_worse = (plain_log_e(d, null, 0.05, of) for null in (0, -0.12))
        worse, no_better = (plain_log_e(-d, null, 0.05, of) for null in (0, -0.12))
        to_pass, to_fall = math.log(4 / 0.05), math.log(4 / 0.2)
        expected = "too few"
        for verdict, log_e, level in (
            ("no better", no_better, to_fall),
            ("worse", worse, to_fall),
            ("not worse", not_worse, to_pass),
            ("better", better, to_pass),
        ):
            expected = verdict if log_e >= level else expected
        assert one.verdict == expected
        # The interval says the same.
        assert (one.low >= 0) == (better >= to_pass)
        assert (one.low >= -0.12) == (not_worse >= to_pass)
        assert (one.high <= 0) == (worse >= to_fall)
        assert (one.high <= 0.12) == (no_better >= to_fall)


def test_an_interval_keeps_to_the_margin_however_near():
    """As near as its ends are found: whatever the margin, it lies beyond it with the claim only."""
    rng = np.random.default_rng(7)
    table = coins(rng, main=0.5, a=0.5, b=0.5, c=0.5, tasks=200)
    settings = {"shared": True, **MEAN}
    for place, one in enumerate(gate(table, **BASE, **settings).candidates):
        for want, end in (("not-worse", -one.low), ("better", one.high)):
            said = set()
            for margin in end + np.linspace(-2e-4, 2e-4, 17):
                found = gate(table, **BASE, margin=margin, want=want, **settings)
                now = found.candidates[place]
                reached = now.low >= -margin if want == "not-worse" else now.high <= margin
                assert (now.verdict in ("not worse", "no better")) == reached
                said.add(reached)
            assert said == {False, True}


def test_a_candidate_has_the_same_interval_beside_others():
    rng = np.random.default_rng(8)
    table = coins(rng, main=0.5, a=0.6, b=0.5, c=0.4, tasks=100)
    settings = {"of": 400, "at_most": 9, "shared": True, **MEAN}
    all_of = gate(table, **BASE, **settings)
    alone = gate({name: table[name] for name in ("main", "a")}, **BASE, **settings)
    assert alone.candidates[0] == all_of.candidates[0]
    assert 1 - 1e-4 < shares(10_000, None).sum() < 1


def pairs_of(kind, rng):
    """Three options of some kind: first over second, with a gap in a third."""
    values = rng.integers(0, 5, (3, 40)) / 4
    if kind == "blocks":

        def differences(*blocks):
            return np.subtract(*block_values(values, *blocks))

        return BlockPairs(differences, np.full(3, 40), independent_bets(4.0, 300), 5, 5)
    values[2, [3, 20]] = np.nan
    of = {"stream": None, "list": 50, "whole": 40}[kind]
    return SharedPairs(values[..., None], "mean", shared_bets(4.0, of), of)


@pytest.mark.parametrize("kind", ["blocks", "stream", "list", "whole"])
def test_evidence_falls_with_the_null(kind):
    """That all claims for a candidate are one event rests on it."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        pairs = pairs_of(kind, rng)
        first, second = np.array([0, 1, 2, 0]), np.array([1, 0, 0, 2])
        found = [pairs.process(first, second, null).highest for null in np.linspace(-1, 1, 81)]
        assert all((now <= then + 1e-9).all() for then, now in itertools.pairwise(found))


@pytest.mark.parametrize("by", ["wins", "mean"])
@pytest.mark.parametrize("shared", [False, True])
def test_smaller_is_better(by, shared):
    rng = np.random.default_rng(1)
    table = {name: rng.beta(9, 9 * b, 120) for name, b in (("main", 1), ("up", 0.6), ("down", 1.6))}
    ends = MEAN if by == "mean" else {}
    larger, smaller = (
        gate(table, **BASE, **ends, shared=shared, smaller=smaller) for smaller in (False, True)
    )
    assert [one.verdict for one in larger.candidates] == ["better", "worse"]
    assert [one.verdict for one in smaller.candidates] == ["worse", "better"]
    middle = 0.5 if by == "wins" else 0.0
    for one, other in zip(larger.candidates, smaller.candidates, strict=True):
        assert one.estimate - middle == pytest.approx(middle - other.estimate)
        assert one.score == other.score
        assert other.low <= other.estimate <= other.high


def test_what_is_wanted_decides_between():
    """A candidate that is both, not worse and no better by the margin."""
    rng = np.random.default_rng(2)
    table = coins(rng, main=0.5, same=0.5, tasks=4000)
    settings = {"margin": 0.1, "shared": True, **MEAN}
    verdicts = {w: gate(table, **BASE, want=w, **settings) for w in PASSES}
    said = {want: (one.candidates[0].verdict, one.status) for want, one in verdicts.items()}
    assert said == {
        "either": ("not worse", 0),
        "not-worse": ("not worse", 0),
        "better": ("no better", 1),
    }
    assert "no better" not in FALLS["not-worse"]


def test_a_whole_list_is_known():
    table = {"main": [1.0, 0.0] * 10, "same": [0.0, 1.0] * 10, "more": [1.0, 1.0, 0.0, 1.0] * 5}
    result = gate(table, **BASE, shared=True, of=20, **MEAN)
    assert [one.verdict for one in result.candidates] == ["equal", "better"]
    assert (result.status, result.next_runs) == (0, {})  # no further run can change it
    strict = gate(table, **BASE, shared=True, of=20, want="better", **MEAN)
    assert (strict.status, strict.rejected) == (1, ["same"])
    within = gate(table, **BASE, shared=True, of=20, margin=0.01, **MEAN)
    assert [one.verdict for one in within.candidates] == ["not worse", "better"]
    assert within.candidates[0].low == within.candidates[0].high == 0


def test_nothing_is_certain_of_doubtful_runs():
    rng = np.random.default_rng(3)
    walk = {name: rng.normal(m, 1, 60) for name, m in (("main", 0), ("a", 3))}
    result = gate(walk, **BASE, dependent=True)
    assert (result.candidates[0].verdict, result.candidates[0].low, result.status) == ("?", None, 3)
    turned = np.r_[np.ones(12), -np.ones(14)]
    for names in (("main", "a"), ("a", "main")):
        with pytest.warns(DependentRunsWarning, match="differences of .* that change"):
            result = gate(dict(zip(names, (-turned, turned), strict=True)), **BASE, shared=True)
        assert (result.headline(), result.status) == ("DATA REFUSED: tasks do not look alike", 4)
        assert "chance alone does so to 1 or 2 of 100 tables at delta 0.05" in result.refused
        assert result.candidates[0].verdict == "?"


def test_a_margin_on_right_answers_is_one_of_accuracy():
    """By wins it would be half as much: .05 is ten points of accuracy."""
    right = np.random.default_rng(1).random((2, 400)) < [[0.8], [0.74]]
    answers = dict(zip(("main", "a"), right.astype(float), strict=True))
    with pytest.raises(
        ValueError, match=r"^margin: expected by='mean', low=0, high=1 .*, 0\.05 is 0\.1"
    ):
        gate(answers, **BASE, shared=True, margin=0.05)
    percent = {name: 100 * x for name, x in answers.items()}
    with pytest.raises(
        ValueError, match=r"--high 100\) for answers that are right, .*, 0\.05 is 10"
    ):
        gate(percent, **BASE, shared=True, margin=0.05)
    noted = jaxrace.race(answers, shared=True, tolerance=0.05).notes
    assert "a tolerance of 0.05 by wins is one of 0.1 of accuracy" in noted
    by_mean = gate(answers, **BASE, shared=True, margin=0.05, by="mean", low=0, high=1)
    assert by_mean.candidates[0].verdict != "not worse"


@pytest.mark.parametrize("marks", [[0, 0.5, 1], [0, 50, 100], [0, 0.25, 0.5, 0.75, 1]])
def test_a_margin_on_partly_right_answers_is_one_of_the_mean(marks):
    """A candidate that is a little better nearly always, and far worse seldom, is worse by mean."""
    rng = np.random.default_rng(0)
    main, is_often = rng.choice(marks, 300).astype(float), rng.random(300) < 0.8
    data = {"main": main, "a": np.where(is_often, np.minimum(main + marks[1], marks[-1]), 0)}
    told = f"high={marks[-1]} .*, wrong and right being 0 and {marks[-1]}; one of wins is of how"
    with pytest.raises(ValueError, match=rf"^margin: expected by='mean', low=0, {told}"):
        gate(data, **BASE, shared=True, margin=0.05)
    gate(data, **BASE, shared=True, margin=0.05, by="mean", low=0, high=marks[-1])
    gate(data, **BASE, shared=True)


def test_a_margin_by_wins_is_taken_of_grades_and_of_fractions():
    rng = np.random.default_rng(2)
    for data in (rng.integers(1, 6, (2, 60)), rng.random((2, 60)).round(2)):
        gate(dict(zip(("main", "a"), data.astype(float), strict=True)), **BASE, margin=0.05)


@pytest.mark.parametrize(("of", "beyond"), [(None, 1.16), (300, 1.12)])
def test_a_forecast_of_runs_that_go_on_as_so_far(of, beyond):
    """As it comes out, and hardly more: runs go up and down, and reach it a little earlier."""
    d = np.tile([1.0, 1, 1, 1, 1, 1, -1, -1, -1, -1], 40)[: of or 400]
    values = np.stack([d, 0 * d])[..., None] / 2
    mixture, at, level = shared_bets(8.0, of), (np.array([0]), np.array([1])), np.array([5.0])

    def process(number):
        return SharedPairs(values[:, :number], "mean", mixture, of).process(*at)

    needed = next(n for n in range(1, 400) if process(n).highest[0] >= 5)
    for seen in (50, 100):
        (more,) = forecast(process(seen), level, mixture.weights, of)
        assert 100 < needed <= seen + more <= beyond * needed
    even = process(50)._replace(log_bets=np.full((1, len(mixture.bets)), -0.1))
    (more,) = forecast(even, level, mixture.weights, of)
    assert more == (math.inf if of is None else of - 50)


def test_who_runs_next():
    rng = np.random.default_rng(4)
    table = coins(rng, main=0.5, good=0.9, close=0.55, tasks=100)
    found = gate(table, **BASE, shared=True)
    assert list(found.next_runs) == ["main", "close"]
    table["close"] = table["close"][:40]
    assert list(gate(table, **BASE, shared=True).next_runs) == ["close"]
    none = gate({"main": [1.0, 2, 3, 5, 4], "a": []}, **BASE)
    assert (none.candidates[0].estimate, none.next_runs) == (None, {"a": 5})
    lines = [line.split() for line in str(none).splitlines()]
    assert ["a", "0", "too", "few", "5"] in lines
    assert "no interval: no runs that can be compared with main" in str(none)
    assert "unlikely soon" in str(gate({"main": [0.0] * 50, "a": [0.0] * 50}, **BASE, shared=True))


def test_candidates_that_come_later(tmp_path):
    rng = np.random.default_rng(5)
    path = tmp_path / "gate.looks"
    all_of = coins(rng, main=0.5, one=0.5, two=0.75, three=0.75, tasks=120)
    table = {name: all_of[name] for name in ("one", "main")}
    settings = {**BASE, "shared": True, "looks": path, **MEAN}
    gate(table, **settings)
    # The first one is left out, and the second one comes: as number 2.
    second = {name: all_of[name] for name in ("two", "main")}
    result = gate(second, **settings)
    (alone,) = gate(second, **BASE, shared=True, delta=0.05 * shares(2, None)[1], **MEAN).candidates
    assert result.at_most is None
    assert result.candidates[0].low == pytest.approx(alone.low, abs=0.02)
    d = all_of["two"] - all_of["main"]
    is_certain = plain_log_e(d, 0, 0.05) >= -math.log(0.05 * 6 / math.pi**2 / 4)
    assert (result.candidates[0].verdict == "better") == is_certain
    # Then both: in the order in which they came, whatever that of the table.
    again = gate({name: all_of[name] for name in ("three", "two", "one", "main")}, **settings)
    assert [one.name for one in again.candidates] == ["one", "two", "three"]
    assert again.candidates[1] == result.candidates[0]
    changed = {**second, "two": 1 - second["two"]}
    with pytest.raises(ValueError, match=r"^looks: expected .* of two, as before"):
        gate(changed, **settings)
    with pytest.raises(ValueError, match=r"^looks: expected baseline 'main', as before"):
        gate(second, **settings | {"baseline": "two"})
    with pytest.raises(ValueError, match=r"^looks: expected kind 'gate', as before"):
        jaxrace.race(second, shared=True, looks=path, **MEAN)


def test_a_stated_number_of_candidates(tmp_path):
    rng = np.random.default_rng(6)
    table = coins(rng, main=0.5, a=0.8, b=0.5, c=0.5, tasks=60)
    settings = {**BASE, "shared": True, "at_most": 2, "looks": tmp_path / "looks"}
    gate({name: table[name] for name in ("main", "a", "b")}, **settings)
    with pytest.raises(ValueError, match=r"^at_most: expected 3 or more, as so many came, got 2"):
        gate({name: table[name] for name in ("main", "c")}, **settings)
    wide, narrow = (
        gate({n: table[n] for n in ("main", "a")}, **BASE, shared=True, at_most=n) for n in (50, 1)
    )
    assert wide.candidates[0].low < narrow.candidates[0].low


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"baseline": "x"}, "baseline: expected one of main, a, got 'x'"),
        ({"margin": 0.5}, r"margin: expected a number in \[0, 0.5\), got 0.5"),
        ({"margin": -0.1}, "margin: expected a number"),
        ({"delta_reject": 0}, "delta_reject: expected"),
        ({"want": "more"}, "want: expected one of either, better, not-worse"),
        ({"tolerance": 0.1}, "tolerance: expected games or votes"),
        ({"at_most": 0}, "at_most: expected an integer"),
    ],
)
def test_what_is_refused(settings, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        gate({"main": [1.0] * 9, "a": [2.0] * 9}, **{**BASE, **settings})


def test_one_look_stands_beside_all_looks():
    """It says more of a complete table, and never the opposite; margins are those of all looks."""
    rng = np.random.default_rng(3)
    hard = rng.normal(0, 1.5, 600)
    gaps = {"main": 0.0, "better": 0.42, "equal": 0.0, "worse": -0.7}
    table = {
        name: (rng.random(600) < 1 / (1 + np.exp(hard - gap))).astype(float)
        for name, gap in gaps.items()
    }
    settings = {"by": "mean", "low": 0, "high": 1, "shared": True, "margin": 0.09}
    found = gate(table, baseline="main", final=True, **settings)
    once = {one.name: one.final for one in found.candidates}
    assert once["better"] == "better"
    assert once["worse"] == "worse"
    assert once["equal"] in ("not worse", "no better")
    assert "verdict*" in str(found)
    found = gate(table, baseline="main", **settings)
    assert all(one.final is None for one in found.candidates)
    with pytest.raises(ValueError, match="final: expected no file of looks"):
        jaxrace.gate(table, baseline="main", final=True, looks="x.looks", **settings)


@pytest.mark.parametrize("verb", ["race", "rank", "gate"])
def test_percents_are_shares_and_so_are_ranges(tmp_path, verb):
    """Cells of 58% are .58: a margin of 5 in a range of 100 let every candidate pass."""
    rng, path = np.random.default_rng(0), tmp_path / "percents.csv"
    rows = np.round(rng.normal([62, 51], 8, (80, 2)).clip(0, 100), 1)
    path.write_text("base,bad\n" + "".join(f"{a}%,{b}%\n" for a, b in rows))
    asked = {"shared": True, "by": "mean", "low": 0}
    asked |= {"baseline": "base", "margin": 5} if verb == "gate" else {"tolerance": 5}
    with pytest.raises(ValueError, match="low, high: expected a range of shares, got 0 to 100"):
        getattr(jaxrace, verb)(path, high=100, **asked)
    asked |= {name: 0.05 for name in ("margin", "tolerance") if name in asked}
    assert "bad" in str(getattr(jaxrace, verb)(path, high=1, **asked))
