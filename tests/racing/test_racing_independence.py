"""Runs that depend on each other are seen, and those that do not are not accused."""

import itertools
import warnings

import numpy as np
import pytest

from jaxrace.evidence import independence
from jaxrace.judging import DependentRunsWarning, check_runs


def verdict(runs):
    """What is said of them, and why."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DependentRunsWarning)
        try:
            check_runs(runs)
        except DependentRunsWarning as warning:
            return "warned", str(warning)
        except ValueError as error:
            return "refused", str(error)
    return "passed", ""


def drawn_at_once(law, num_runs):
    """All outcomes of so many runs of a law [atoms], with their probabilities."""
    for runs in itertools.product(range(len(law)), repeat=num_runs):
        yield runs, np.prod([law[run] for run in runs])


CONTINUOUS = [(runs, 1 / 720) for runs in itertools.permutations(range(6))]


@pytest.mark.parametrize("level", [0.05, 0.9])
@pytest.mark.parametrize(
    ("outcomes", "num_options"),
    [
        (CONTINUOUS, 1),
        (list(drawn_at_once([0.5, 0.5], 8)), 1),
        (list(drawn_at_once([0.5, 0.5], 8)), 2),
        (list(drawn_at_once([1 / 3] * 3, 6)), 1),
    ],
)
def test_levels_hold_for_every_outcome(outcomes, num_options, level, monkeypatch):
    """The exact probability of an alarm, where all outcomes can be listed."""
    monkeypatch.setattr(independence, "WARNED", level)
    monkeypatch.setattr(independence, "REFUSED", 1e-300)
    error = 0.0
    for runs, probability in outcomes:
        parts = np.split(np.array(runs), num_options)
        error += probability * (verdict(parts)[0] == "warned")
    assert error <= level
    if num_options == 1 and level == 0.9:
        assert error > 0  # so few runs show that little


rng = np.random.default_rng(0)
LAWS = {
    "normal": lambda size: rng.normal(size=size),
    "Cauchy": rng.standard_cauchy,
    "0 or 1": lambda size: rng.random(size) < 0.5,
    "seldom 1": lambda size: rng.random(size) < 0.02,
    "all the same": np.zeros,
    "few values": lambda size: rng.integers(0, 20, size),
    "infinite": lambda size: np.where(rng.random(size) < 0.3, np.inf, rng.normal(size=size)),
}


@pytest.mark.parametrize("law", LAWS)
def test_independent_runs_pass(law):
    draw = LAWS[law]
    found = [
        verdict(draw((num_options, number)))[0]
        for num_options, number in ((2, 11), (5, 20), (3, 60), (2, 400))
        for _ in range(25)
    ]
    assert found.count("passed") >= 94  # of 100, at .01: fewer once in 20,000 times
    assert "refused" not in found


def autoregressive(shape, correlation):
    noise = rng.normal(size=shape)
    for t in range(1, shape[1]):
        fresh = np.sqrt(1 - correlation**2) * noise[:, t]
        noise[:, t] = correlation * noise[:, t - 1] + fresh
    return noise


def test_runs_that_follow_each_other_are_refused():
    for correlation in (0.9, -0.9):
        for _ in range(10):
            found, said = verdict(autoregressive((5, 60), correlation))
            assert found == "refused"
            assert "lag-1 rank correlation of " + ("0." if correlation > 0 else "-0.") in said
    # In one of five options only, in a table with names.
    runs = dict(zip("abcde", rng.normal(size=(5, 200)), strict=True))
    runs["c"] = autoregressive((1, 200), 0.9)[0]
    assert "200 runs of c with a lag-1 rank correlation of 0." in verdict(runs)[1]


@pytest.mark.parametrize("times", [2, 5])
@pytest.mark.parametrize("repeat", [np.repeat, np.tile])
def test_repeated_runs_are_refused(repeat, times):
    once = rng.normal(size=(5, 60 // times))
    runs = [repeat(of_option, times) for of_option in once]
    assert verdict(runs)[0] == "refused"
    # Of options of other lengths, too.
    assert verdict([runs[0], rng.normal(size=11), runs[2][:50]])[0] != "passed"


def test_rows_that_are_copied_are_warned_of():
    runs = rng.normal(size=(3, 60))
    runs[:, 50:] = runs[:, :10]
    found, said = verdict(runs)
    assert found == "warned"
    assert "10 of 60 rows that repeat another one, of 3 options" in said


def test_sorted_runs_are_refused():
    runs = rng.normal(size=(5, 12))
    runs[3].sort()
    assert verdict(runs) == (
        "refused",
        "runs: expected independent ones in the order in which they were made, got sorted runs of "
        "option 3 (a clock or a step?); by chance less than once in 1,000,000 tries",
    )
    assert verdict([runs[3][::-1].copy(), runs[0]])[0] == "refused"


@pytest.mark.parametrize("runs", [[], [[], []], [[1.0], [2.0]], {"a": [1, 2], "b": [True]}])
def test_few_runs_say_nothing(runs):
    assert verdict(runs)[0] == "passed"


@pytest.mark.parametrize(
    "runs", [[["a", "b"]], [[1j]], [[[1.0]]], [[np.nan]], [np.zeros(3, "datetime64[s]")]]
)
def test_what_is_no_number_is_refused(runs):
    with pytest.raises(ValueError, match=r"runs: expected numbers \[n\] of option 0, without NaN"):
        check_runs(runs)
