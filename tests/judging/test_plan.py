"""How many runs a race will need: simulated races against real ones, and how good forecasts are."""

import importlib
import json
import math
from typing import Any

import numpy as np
import pytest

import jaxrace
from jaxrace.commands.cli import main
from jaxrace.evidence.process import NEVER
from jaxrace.judging import simulated
from jaxrace.judging.simulated import Goal, drawn_runs, drawn_tasks, stated_runs

NUMBER = 80
PLAN = importlib.import_module("jaxrace.judging.plan")  # the function has its name
CASES = {
    "independent": {},
    "by mean": {"by": "mean", "low": 0, "high": 1},
    "shared": {"shared": True},
    "list": {"shared": True, "of": NUMBER, "by": "mean", "low": 0, "high": 1},
    "two within": {"top": 2, "shared": True, "tolerance": 0.2},
    "two": {"top": 2, "shared": True},
}


def table(seed, by, count=3):
    """Runs of options that are far apart: [K, NUMBER]."""
    rng = np.random.default_rng(seed)
    means, spread = np.array([1.4, 0.7, 0.0][:count]), 0.9
    if by == "mean":
        means, spread = 0.15 + means / 2, 0.5
    return stated_runs(rng, means, spread, 0.2, 1, NUMBER, is_normal=by == "wins")[:, 0, :, 0]


def by_name(runs):
    return {f"option {place}": [*map(float, own)] for place, own in enumerate(runs, 1)}


def forecast(runs, monkeypatch, **settings):
    """What it takes by ``plan`` if the runs of all races are these."""

    def same(rng, pilot, races, length):
        del rng, pilot
        return np.repeat(runs[:, None, :length, None], races, 1)

    monkeypatch.setattr(PLAN, "drawn_tasks", same)
    monkeypatch.setattr(PLAN, "drawn_runs", same)
    pilot = by_name(runs[:, :10])
    each = jaxrace.plan(pilot, most=NUMBER, simulations=20, **settings).each
    assert len(set(each)) == 1
    return each[0]


def first(is_answered):
    """The first number of runs of each with which a real one is answered."""
    return next((n for n in range(1, NUMBER + 1) if is_answered(n)), np.inf)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_simulated_race_ends_when_the_real_one_does(case, seed, monkeypatch):
    settings = CASES[case]
    runs = table(seed, settings.get("by", "wins"))
    took = first(lambda n: jaxrace.race(by_name(runs[:, :n]), **settings).certified)
    assert forecast(runs, monkeypatch, **settings) == took
    assert took < NUMBER


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("tiers", [2, 3])
def test_a_simulated_ranking_ends_when_the_real_one_does(shared, tiers, monkeypatch):
    runs = table(3, "wins")

    def is_answered(number):
        return len(jaxrace.rank(by_name(runs[:, :number]), shared=shared).tiers) >= tiers

    assert forecast(runs, monkeypatch, shared=shared, tiers=tiers) == first(is_answered) < NUMBER


def test_a_gate_is_answered_by_the_sooner_of_two_claims():
    times = np.full((1, 3, 3), NEVER)
    times[0, 0, 2], times[0, 2, 0], times[0, 2, 1] = 30, 20, 50
    assert simulated._answers(times, Goal(1, None, 2)).tolist() == [50]
    times[0, 2, 1] = NEVER
    assert simulated._answers(times, Goal(1, None, 2)).tolist() == [NEVER]
    alike = {"a": 0.0, "b": 0.0, "base": 0.0}
    found = jaxrace.plan(alike, spread=1, baseline="base", margin=0.2, shared=True)
    assert found.quantiles[3].each is not None
    assert jaxrace.plan(alike, spread=1, baseline="base", shared=True).quantiles[0].each is None


@pytest.mark.parametrize("kind", ["tasks", "runs"])
def test_gaps_are_as_uncertain_as_the_pilot_leaves_them(kind):
    rng = np.random.default_rng(0)
    pilot, number = rng.normal([[0.7], [0.0]], 1, (2, 15)), 15
    gap = pilot[0] - pilot[1]
    if kind == "tasks":
        means = drawn_tasks(rng, pilot[..., None], 2_000, 3_000).mean((2, 3))
        expected = gap.std(ddof=1) / np.sqrt(number)
    else:
        means = drawn_runs(rng, [*pilot], 2_000, 3_000).mean((2, 3))
        expected = np.sqrt(pilot.var(1, ddof=1).sum() / number)
    gaps = means[0] - means[1]
    assert gaps.std() == pytest.approx(expected, rel=0.1)
    assert gaps.mean() == pytest.approx((1 - 1 / number) * gap.mean(), abs=0.03)


def inside(seeds):
    """The share of new races that end within the quartiles, of pilots of ten tasks."""
    count = 0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        means = rng.normal(0, 0.7, 2)
        pilot, runs = (stated_runs(rng, means, 1, 0.5, 1, n, is_normal=True) for n in (10, 400))
        settings = {"shared": True, "fresh": True, "most": 400, "simulations": 60}
        each = np.array(jaxrace.plan(by_name(pilot[:, 0, :, 0]), **settings).each)
        goal, rules = Goal(1, None, None), simulated.EvidenceRules(*_rules())
        took = simulated.answered_after(runs, rules, goal)[0]
        took = np.inf if took == NEVER else took
        count += 0.25 <= (each < took).mean() + rng.random() * (each == took).mean() <= 0.75
    return count / seeds


def _rules():
    from jaxrace.evidence.task_bets import shared_bets
    from jaxrace.judging.question import Question

    level = Question().levels(2).verdict
    return "wins", shared_bets(level), level, 0.0, True, None


@pytest.mark.filterwarnings("ignore::jaxrace.judging.DependentRunsWarning")
def test_half_of_the_races_end_within_the_quartiles_if_gaps_are_not_taken_at_their_word(
    monkeypatch,
):
    assert 0.38 <= inside(100) <= 0.65

    def at_its_word(rng, pilot, races, length):
        return pilot[:, rng.integers(pilot.shape[1], size=(races, length))]

    monkeypatch.setattr(PLAN, "drawn_tasks", at_its_word)
    assert inside(100) < 0.33


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({}, "pilot: expected a file, or options, gap and spread"),
        ({"options": 3, "gap": 0.1}, "pilot: expected a file, or options"),
        ({"options": 1, "gap": 0.1, "spread": 1}, "options: expected"),
        ({"options": 3, "gap": 0.1, "spread": 0}, "spread: expected"),
        ({"options": 3, "gap": 0.1, "spread": 1, "tiers": 4}, "tiers: expected"),
        ({"options": 3, "gap": 0.1, "spread": 1, "margin": 0.1}, "margin: expected none"),
        ({"data": {"a": 1.0, "b": 2.0}, "spread": 1, "baseline": "x"}, "baseline: expected one of"),
        ({"data": {"a": [1.0] * 4, "b": [2.0] * 9}}, "pilot: expected 5 runs of each option"),
        (
            {"data": {"a": [1.0, 2, 3, 1, 2], "b": [2.0, 1, 3, 4, 2]}, "gap": 1},
            "gap: expected none",
        ),
        (
            {"options": 2, "gap": 0.5, "spread": 0.1, "by": "mean", "low": 0, "high": 1},
            "spread: expected 0.25 to 0.5, by mean",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(settings, match):
    with pytest.raises(ValueError, match=match):
        jaxrace.plan(**settings)


def test_the_command_takes_a_file_or_none(tmp_path, capsys):
    stated = ["--options", "3", "--gap", "0.2", "--spread", "0.4", "--correlation", "0.5"]
    assert main(["plan", *stated, "--budget", "100", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["quantiles"][1]["share"] == 0.5
    assert 0 < found["answered"] < 1
    path = tmp_path / "pilot.csv"
    rows = [",".join(f"{score:.6f}" for score in row) for row in table(0, "wins").T[:12]]
    path.write_text("\n".join(["a,b,c", *rows]))
    assert main(["plan", str(path), "--out", str(tmp_path / "out"), "--simulations", "20"]) == 0
    assert "a median of" in capsys.readouterr().out
    assert (tmp_path / "out" / "plan.csv").read_text().startswith("share,each,further")
    assert main(["plan"]) == 2
    assert "--options" in capsys.readouterr().err


def test_a_list_that_was_run_whole_is_not_planned():
    pilot = dict(zip("ab", np.random.default_rng(0).normal(size=(2, 60)), strict=True))
    with pytest.raises(ValueError, match="pilot: expected a part of the list of tasks, got all 60"):
        jaxrace.plan(pilot, shared=True, of=60)


@pytest.mark.parametrize(
    ("setting", "match"),
    [
        ({"final": True}, "final: expected none for a plan"),
        ({"weights": "equal", "of": 90}, "of: expected none beside weights, for a plan"),
    ],
)
def test_what_is_not_simulated_is_refused(setting, match):
    pilot = dict(zip("ab", np.random.default_rng(0).normal(size=(2, 60)), strict=True))
    with pytest.raises(ValueError, match=match):
        jaxrace.plan(pilot, shared=True, **setting)


def in_groups():
    """Model a is better on the 15 questions of x, and there alone; y has 60."""
    rng = np.random.default_rng(0)
    both = rng.integers(0, 2, 60)
    return {
        "question": [f"x {n}" for n in range(15)] + [f"y {n}" for n in range(60)],
        "subject": ["x"] * 15 + ["y"] * 60,
        "a": [1] * 15 + both.tolist(),
        "b": [0] * 12 + [1] * 3 + rng.permutation(both).tolist(),
    }


def test_groups_are_planned_for_as_they_count():
    asked = {"by": "mean", "low": 0, "high": 1, "shared": True, "fresh": True}
    weighted = jaxrace.plan(in_groups(), weights={"x": 3, "y": 1}, **asked)
    pooled = jaxrace.plan(in_groups(), order_by_lot=1, **asked)
    # Gaps are .6 and .16.
    needs = [plan.quantiles[1].each or 0 for plan in (weighted, pooled)]
    assert needs[0] < 30 < 60 < needs[1]
    assert weighted.notes[-1] == (
        f"{needs[0]} tasks are about {math.ceil(0.75 * needs[0])} of x, "
        f"{math.ceil(0.25 * needs[0])} of y"
    )
    assert f"{math.ceil(needs[1] / 5)} of x" in pooled.notes[-1]


def test_what_counts_of_a_pilot_of_groups():
    """Behind the task that comes next in the order by lot nothing counts."""
    asked = {"by": "mean", "low": 0, "high": 1, "shared": True, "weights": "equal"}
    found = jaxrace.plan(in_groups(), **asked)
    assert found.pilot == jaxrace.race(in_groups(), **asked).used["a"] < 75


@pytest.mark.filterwarnings("ignore:only 6 of 74 scores of b count")
def test_answers_that_wait_for_others_are_not_billed_again():
    """All of y is there; b lacks its third one, behind which y waits in the order by lot."""
    pilot, asked = in_groups(), {"by": "mean", "low": 0, "high": 1, "shared": True}
    pilot["b"][17] = None
    found = jaxrace.plan(pilot, weights={"x": 1, "y": 1}, **asked)
    each = found.quantiles[3].each or 0
    assert found.pilot < 15 < 30 < each < 120
    new = math.ceil(each / 2) - 15  # of x; those of y lie there, but for one
    assert found.quantiles[3].further == 2 * new + 1
    begun = jaxrace.plan(pilot, weights={"x": 1, "y": 1}, fresh=True, **asked)
    fresh, fresh_headline = begun.quantiles[3], begun.headline()
    assert fresh.further == 2 * (fresh.each or 0)
    once = jaxrace.plan(pilot, order_by_lot=1, gaps="skip", **asked)
    pooled = once.quantiles[3]
    assert pooled.further == 2 * (pooled.each or 0)  # for one look a pilot does not count
    assert once.pilot == 0
    assert once.headline().startswith(f"IN ONE LOOK {once.quantiles[1].each:,} tasks answer 50% of")
    assert "choose a number of tasks, run them all, and look once" in once.meaning()
    assert "ONE LOOK" not in fresh_headline
    lot = np.random.default_rng(1).permutation(75)
    pilot = {name: [own[row] for row in lot] for name, own in pilot.items()}
    skipped = jaxrace.plan(pilot, gaps="skip", **asked).quantiles[3]
    assert skipped.further == 2 * ((skipped.each or 0) - 74)
    filled = jaxrace.plan(pilot, **asked).quantiles[3]
    assert filled.further == 2 * (filled.each or 0) - 149


def test_options_of_a_pilot_are_names_and_stated_ones_a_number(tmp_path, capsys):
    path = tmp_path / "pilot.csv"
    scores = table(0, "wins").T.tolist()
    rows = [f"{'abc'[m]},q{n},{x}" for n, own in enumerate(scores) for m, x in enumerate(own)]
    path.write_text("\n".join(["model,question,score", *rows]))
    command = ["plan", str(path), "--shared", "--simulations", "20", "--json", "--options"]
    assert main([*command, "c,a"]) == 0
    assert json.loads(capsys.readouterr().out)["names"] == ["a", "c"]
    assert jaxrace.plan(path, shared=True, options=["a", "c"], simulations=20).names == ("a", "c")
    assert main([*command, "2"]) == 2
    assert "options: expected none beside a pilot, got 2" in capsys.readouterr().err


def test_a_stated_baseline_has_any_name():
    about = {"options": 3, "gap": 0.8, "spread": 1.0, "simulations": 40}
    found = [jaxrace.plan(**about, baseline=name) for name in ("main", "option 1")]
    assert found[0].quantiles == found[1].quantiles


@pytest.mark.parametrize(("settings", "near"), [({}, "tolerance"), ({"baseline": "a"}, "margin")])
def test_options_that_hardly_differ_are_told_what_ends_their_race(settings, near):
    asked: dict[str, Any] = {"shared": True, "by": "mean", "low": 0, "high": 1, "simulations": 40}
    asked |= settings
    pilot = np.random.default_rng(5).integers(0, 2, (100, 2))
    equal = dict(zip("ab", pilot.T.tolist(), strict=True))
    long = jaxrace.plan(equal, most=1000, **asked)
    assert any(f"--{near} X ({near}=X)" in line for line in long.meanings())
    if not settings:  # tiers are planned without a tolerance
        tiers = jaxrace.plan(equal, most=1000, tiers=2, **asked)
        assert not any("--tolerance" in line for line in tiers.meanings())
    asked[near] = 0.3
    short = jaxrace.plan(equal, most=1000, **asked)
    assert not any(f"--{near}" in line for line in short.meanings())
