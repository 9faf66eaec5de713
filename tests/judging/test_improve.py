"""`jaxrace improve`: files of logged trajectories, and bad input."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from jaxrace import improve, load_policy, runs
from jaxrace.commands.cli import main
from jaxrace.commands.improve import BOUNDS
from jaxrace.improvement import BOUNDS as LOWER_BOUNDS
from jaxrace.improvement import ReturnRange
from jaxrace.judging.policies import ImprovementOfLog, SavedPolicy, bounds
from jaxrace.judging.policies.loading import divide, load
from jaxrace.judging.policies.trajectories import some_of_each
from jaxrace.judging.policies.weighing import LogEvidence, Mixed, features_of, softmax

COMMAND = ["improve"]
HEAD = "trajectory,x,action,probability,reward"
SMALL = ["--bound", "t", "--candidates", "none"]


def test_all_bounds_are_explained():
    assert set(BOUNDS) == set(LOWER_BOUNDS) == set(bounds.BOUNDS)
    kinds = [
        {name: bound.is_safe for name, bound in each.items()}
        for each in (LOWER_BOUNDS, bounds.BOUNDS)
    ]
    assert kinds[0] == kinds[1]
    for name, text in BOUNDS.items():
        if name != "betting-anytime":
            assert text.startswith("safe" if LOWER_BOUNDS[name].is_safe else "semi-safe")


def write_csv(path, count=400, best=0.9):
    rng = np.random.default_rng(0)
    rows = ["trajectory,age,action,probability,reward"]
    for number in range(count):
        done = rng.integers(2)
        paid = float(rng.random() < (best if done else 0.1))
        rows.append(f"t{number},{rng.uniform(20, 60):.1f},{done},0.5,{paid}")
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def test_a_file(tmp_path, capsys):
    found = "approximate confidence 95%"
    data = write_csv(tmp_path / "log.csv")
    out = tmp_path / "run"
    command = [*COMMAND, data, "--low", "0", "--high", "1", "--bound", "t"]
    report = tmp_path / "report.md"
    command += ["--report", str(report), "--candidates", "none"]
    assert main([*command, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    text = report.read_text("utf-8")
    assert text.startswith(f"## FOUND: with {found} it is better than the policy in use by")
    assert "| importance sampling, " in text
    assert "| 1 100% | " in text
    assert report.with_suffix(".png").exists()
    assert f"\nFOUND: with {found} it is better than the policy in use by at least 0." in said
    assert "\nits mean return is at least 0.8" in said
    assert " in the fifth that was searched; --floor X asks for" in said
    assert "not a strict guarantee: bound t is semi-safe" in said
    summary = runs.read_summary(out)
    assert not summary["is_safe"]
    assert summary["lower_bound"] < 0.9
    assert (out / "performance.svg").exists()
    # By importance sampling in the part that was not searched.
    tested = np.loadtxt(data, delimiter=",", skiprows=1, usecols=(1, 2, 4))[~training_rows(400)]
    chances = load_policy(out / "policy.npz").probabilities(tested[:, :1])
    weights = np.where(tested[:, 1] == 1, *chances.T[::-1]) / 0.5
    mean = (weights * tested[:, 2]).mean()
    assert summary["tested_estimate"] == pytest.approx(mean, rel=1e-4)
    assert summary["tested_estimate"] != pytest.approx(summary["estimate"], rel=1e-3)
    # Of the 80 that were searched.
    paid = np.loadtxt(data, delimiter=",", skiprows=1, usecols=4)[training_rows(400)]
    assert len(paid) == 80
    assert summary["in_use"] == pytest.approx(paid.mean(), abs=1e-6)
    assert summary["floor"] is None
    assert summary["in_use_stderr"] == pytest.approx(paid.std(ddof=1) / np.sqrt(80), rel=1e-5)


def training_rows(count):
    """Of a log with so many trajectories of one policy, by the command's default seed."""
    of_split = np.random.SeedSequence(0).spawn(3)[0]
    rows = some_of_each(np.random.default_rng(of_split), np.zeros(count, int), count // 5)
    return np.isin(np.arange(count), rows)


@pytest.mark.slow
def test_the_candidate_knows_nothing_of_the_test(tmp_path):
    """Whatever stands in the rows that are tested on: ranges, returns, actions, lengths."""
    data = write_csv(tmp_path / "log.csv", count=100)
    head, *rows = Path(data).read_text().split()
    tested = np.flatnonzero(~training_rows(100))
    other = {
        "observed": "{label},1e6,{done},0.5,{paid}",
        "earned": "{label},{age},{done},0.5,0.25",
        "done": "{label},{age},7,0.5,{paid}",
        "longer": "{label},{age},{done},0.5,{paid}\n{label},-1e6,1,0.5,0",
    }
    found = {}
    for name, text in {"nothing": None, **other}.items():
        changed = list(rows)
        for number in tested[::3] if text else ():
            label, age, done, _, paid = rows[number].split(",")
            changed[number] = text.format(label=label, age=age, done=done, paid=paid)
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *changed]) + "\n")
        command = [*COMMAND, str(tmp_path / f"{name}.csv"), "--low", "0", "--high", "1", *SMALL]
        assert main([*command, "--out", str(tmp_path / name)]) in (0, 3)
        with np.load(tmp_path / name / "policy.npz") as arrays:
            found[name] = dict(arrays), runs.read_summary(tmp_path / name)
    policy, summary = found.pop("nothing")
    for name, (mine, changed) in found.items():
        for array in ("theta", "alpha", "low", "high"):
            np.testing.assert_array_equal(mine[array], policy[array], err_msg=name)
        assert changed["in_use"] == summary["in_use"]
        assert changed["estimate"] == summary["estimate"]
        # The test does see them; to a policy that is certain everywhere, observations are all one.
        assert name == "observed" or changed["lower_bound"] != summary["lower_bound"]


def test_an_action_that_was_not_searched(tmp_path):
    """The policy never takes it; mixed with the one in use, it is left to that."""
    text = [HEAD, *(f"{number},0,{number % 2},0.5,1" for number in range(19)), "19,0,2,0.5,1"]
    (tmp_path / "log.csv").write_text("\n".join(text) + "\n")
    loaded = load(tmp_path / "log.csv", ReturnRange(0, 1))
    parts = divide(loaded, np.arange(20) < 4)
    assert parts.train.actions.max() == 1
    test = parts.test
    features = features_of(0, test.observations[:, 0])
    given = test.actions[:, 0], test.probabilities[:, 0], np.arange(16), np.ones(16)
    known = LogEvidence(features, *given, test.behaviour, 2)
    alphas = np.array([1.0, 0.25])
    weights = known.weights(Mixed(np.zeros((2, 2, 2)), alphas))
    np.testing.assert_allclose(weights, [[1] * 15 + [1 - alpha] for alpha in alphas], rtol=1e-12)
    saved = SavedPolicy(np.zeros((2, 2)), 0.5, ("x",), parts.low, parts.high)
    mixed = saved.probabilities([0.0], in_use=[0.2, 0.2, 0.6])
    np.testing.assert_allclose(mixed, [0.35, 0.35, 0.3], rtol=1e-6)
    with pytest.raises(ValueError, match=r"^in_use: expected .* at least 2 actions, got 1"):
        saved.probabilities([0.0], in_use=[1.0])


def test_numbers_of_actions_need_not_begin_at_zero(tmp_path):
    """Numbers that no row has are no actions: none of them is recommended."""
    rng = np.random.default_rng(0)
    actions = rng.integers(3, size=600)
    rewards = rng.random(600) < np.array([0.2, 0.3, 0.9])[actions]
    found = []
    for numbers in ((0, 1, 2), (1, 2, 3), (7, 101, 305)):
        rows = (
            f"{'old' if row % 2 else 'new'},{numbers[a]},{1 / 3},{r:d}"
            for row, (a, r) in enumerate(zip(actions, rewards, strict=True))
        )
        (tmp_path / "log.csv").write_text("\n".join(["age,action,probability,reward", *rows]))
        result = improve(tmp_path / "log.csv", low=0, high=1)
        assert {rule.does.split()[0] for rule in result.rules} == {str(numbers[2])}
        found.append(result.estimate)
    assert found[0] > 0.8
    assert found == [found[0]] * 3


def test_what_is_beyond_what_was_searched_counts_as_its_end(tmp_path):
    """For the test as for the policy in use."""
    text = [HEAD, "a,2,0,.5,1", "b,4,1,.5,0", "c,-7,1,.5,0", "d,3,1,.5,0", "e,9,1,.5,0"]
    (tmp_path / "log.csv").write_text("\n".join(text) + "\n")
    parts = divide(load(tmp_path / "log.csv", ReturnRange(0, 1)), np.arange(5) < 2)
    np.testing.assert_array_equal(parts.train.observations[:, 0, 0], [0, 1])
    np.testing.assert_array_equal(parts.test.observations[:, 0, 0], [0, 0.5, 1])
    theta = np.array([[0.0, 0], [1, 3]])
    saved = SavedPolicy(theta, 1.0, ("x",), parts.low, parts.high)
    expected = softmax(features_of(0, parts.test.observations[:, 0]) @ theta.T)
    np.testing.assert_allclose(saved.probabilities([[-7], [3], [9]]), expected, rtol=1e-6)


def report_of(**changes):
    """What is said of a summary."""
    return str(answer_of(**changes))


def answer_of(**changes):
    """The answer with a summary."""
    share = {"mean": 1.0, "stderr": None, "count": 1}
    numbers = {"floor": 0.5, "lower_bound": 0.61, "estimate": 0.7, "tested_estimate": 0.7}
    numbers |= {
        "in_use": 0.45,
        "in_use_stderr": 0.01,
        "low": 0,
        "high": 1,
        "smaller": False,
    }
    kind = {"method": "batch", "bound": "ci", "is_safe": True, "bound_is_safe": True, "delta": 0.05}
    counts = {"delta_holds_for": "the whole run", "tests": 1, "repeats": 1, "passed": share}
    none = np.zeros((2, 2)), 1.0, ("x",), np.zeros(1), np.ones(1)
    summary = {**kind, **counts, **numbers, "alpha": 1.0, **changes}
    return ImprovementOfLog(summary, SavedPolicy(*none))


SEEN = "daedalus2 tests on data that it has seen"
NOTHING_NEW = "NOTHING BETTER FOUND: with confidence 95%"
SEMI_SAFE = {"is_safe": False, "bound_is_safe": False}
# All returns are equal: the candidate passes, and is nothing new.
EQUAL = {"floor": 1.0, "lower_bound": 1.0, "estimate": 1.0}

SAID = [
    ({"alpha": 0.6}, "a mixture: the new policy with probability 0.6, the policy in use otherwise"),
    # A mixture without any of the candidate is nothing new, wherever the floor is.
    ({"alpha": 0.0}, f"{NOTHING_NEW} the mean return of the policy in use is at least 0.610"),
    ({"bound": "bca", **SEMI_SAFE}, "FOUND: with approximate confidence 95% its mean return is at"),
    (EQUAL, f"{NOTHING_NEW} its mean return is at least "),
    (EQUAL, "keep the policy in use"),
    (
        {"floor": None, "gain": 0.25, "gain_bound": 0.16},
        "FOUND: with confidence 95% it is better than the policy in use by at least 0.160 (",
    ),
    (
        {"floor": None, "gain": 0.25, "gain_bound": 0.00016},
        "policy in use by at least 0.0002 (estimate 0.2500)",
    ),
    (
        {"floor": None, "gain": 0.25, "gain_bound": 0.16},
        "a policy that is no better than the one in use is returned with probability at most 0.05, "
        "for the whole run; its mean return is at least 0.610 (estimate 0.700), with confidence 95%"
        " of its own",
    ),
    (
        {"floor": None, "gain": 0.25, "gain_bound": 0.16},
        "note: the policy in use: mean return 0.450 +- 0.010 in the fifth that was searched; ",
    ),
    *(
        (
            {"method": method, "bound": bound, "is_safe": False, "bound_is_safe": is_safe},
            f"\n  not a strict guarantee: {why}; all of it if probabilities are right",
        )
        for method, bound, is_safe, why in (
            ("daedalus2", "bca", False, f"{SEEN}, and bound bca is semi-safe, that is approximate"),
            ("daedalus2", "ci", True, SEEN),
            ("daedalus", "t", False, "bound t is semi-safe, that is approximate"),
        )
    ),
]


FLOORS = [  # its kind, in the headline, and what is said of the gain
    ({}, "floor 0.500)", ""),
    ({"in_use": 0.55}, "floor 0.500)", ""),  # the bound is above that
    (
        {"in_use": 0.65, "gain": 0.05, "gain_bound": -0.04},
        "floor 0.500, worse than the searched part's 0.650)",
        "not certified to be better than the policy in use: the gain is at least -0.040 (estimate "
        "0.050), with confidence 95% of its own",
    ),
    (
        {"gain": 0.25, "gain_bound": 0.16},
        "floor 0.500)",
        "better than the policy in use by at least 0.160 (estimate 0.250), with confidence 95% of "
        "its own",
    ),
]


@pytest.mark.parametrize(("changes", "kind", "of_gain"), FLOORS)
@pytest.mark.parametrize("smaller", [False, True])
def test_the_headline_says_what_the_floor_is(changes, kind, of_gain, smaller):
    if smaller:  # the numbers are costs, so many above 1 as the returns are below it
        bound = {"lower_bound": None, "upper_bound": 0.39, "estimate": 0.3, "smaller": True}
        changes = changes | bound | {"in_use": 1 - changes.get("in_use", 0.45)}
        kind = kind.replace("0.650", "0.350")
    found = answer_of(**changes)
    headline = found.headline()
    assert headline.endswith(kind)
    label = found.plot().axes[0].get_xlabel()
    assert label.endswith(kind.replace("floor ", "the floor, "))
    assert found.to_dict()["headline"] == headline
    for said in (
        found.meaning(),
        "; ".join(found.to_dict()["meanings"]),
        found.to_html(figure=False),
    ):
        assert "a policy worse than the floor is returned with probability at most 0.05" in said
        assert of_gain in said
        assert of_gain or "its own" not in said
        assert ("the floor is a ceiling: the most that it may be" in said) == smaller


def test_a_floor_below_what_the_log_earns(tmp_path):
    data = write_csv(tmp_path / "log.csv", best=0.12)
    found = improve(data, 0, 1, bound="betting", candidates="none", floor=0.03)
    assert found.found
    assert found.lower_bound < found.summary["in_use"]
    assert (
        f"floor 0.030, worse than the searched part's {found.summary['in_use']:.3f}"
        in found.headline()
    )


def test_a_gain_over_the_policy_in_use_is_seldom_overstated():
    """Of offers that do not matter, and of two kinds of visitors who want different ones."""
    wrong, certain = [0, 0], [0, 0]
    for seed, (place, effect) in itertools.product(range(30), enumerate((0.0, 0.3))):
        rng = np.random.default_rng(seed)
        wants, chances = rng.integers(2, size=500), rng.dirichlet([2, 2], size=2)
        actions = (rng.random(500) < chances[wants, 1]).astype(int)
        paid = rng.random(500) < 0.4 + effect * (actions == wants)
        log = {"wants": wants, "action": actions, "probability": chances[wants, actions]}
        cost = 1.0 - paid
        settings = {"bound": "betting", "candidates": "none", "smaller": True}
        found = improve(log | {"reward": cost}, 0, 1, **settings)
        new = found.policy.probabilities([[0.0], [1.0]])
        truth = effect * (np.diag(new) - np.diag(chances)).mean()
        assert found.gain_bound is not None
        wrong[place] += found.gain_bound > truth + 1e-9
        certain[place] += found.gain_bound > 0
        assert found.gain_bound < found.summary["gain"]
    assert max(wrong) <= 3
    assert certain[0] <= 3
    assert certain[1] >= 20


@pytest.mark.parametrize(("changes", "part"), SAID)
def test_what_is_said(changes, part):
    said = report_of(**changes)
    assert part in said
    assert "\n  FOUND: " in said or "\n  NOTHING BETTER FOUND: " in said
    assert ("a mixture: " in said) == (changes.get("alpha", 1) not in (0, 1))
    assert ("note: the policy in use: " in said) == ("gain" in changes)
