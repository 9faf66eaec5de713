"""What the reports on the medical task say, of findings that are made by hand."""

import numpy as np
import pytest

from papers.preference_racing import medical_grid, racing_pays
from papers.preference_racing.medical_claims import (
    convergence_claims,
    outcome_claims,
)
from papers.preference_racing.medical_runs import (
    HAZARDS,
    Learning,
    averaged,
    mean_before,
    smoothed,
)
from papers.preference_racing.racing_pays import PUBLISHED


def variants_found(changes):
    """Hand-made findings: by variant, what survival and reward differ from the schedule by."""
    noise = np.random.default_rng(3).normal(size=(2, 100))
    found = {}
    for hazard in HAZARDS:
        for name, change in {PUBLISHED: 0.0, **changes}.items():
            survival, reward = 0.5 + 0.01 * noise + change
            found[hazard, name] = {"survival_rate": survival, "mean_reward": reward}
    return found


@pytest.mark.parametrize(("change", "answer"), [(0.0, "No."), (0.1, "Yes: dominance race.")])
def test_the_answer_is_plain(change, answer):
    found = variants_found({"dominance race": change})
    assert racing_pays._answer(found, "B") == f"Hazard B: does racing pay? {answer}"


def test_the_best_setting_of_the_grid():
    values = np.zeros((8, 5, 50))
    noise = np.random.default_rng(0).normal(size=50)
    values += noise
    values[5, 1] += 2.0 + 0.1 * np.random.default_rng(1).normal(size=50)
    best, own, paper, lead = medical_grid._best(values)
    assert best == "(25, 0.05)"
    assert paper.startswith(f"{noise.mean():.3f}")
    assert float(own.split()[0]) == pytest.approx(noise.mean() + 2, abs=0.1)
    assert lead.startswith(("1.9", "2.0"))
    found = {
        (hazard, method): {"mean_reward": values}
        for hazard in HAZARDS
        for method in medical_grid.METHODS
    }
    assert [claim.holds for claim in medical_grid._claims(found)] == ["no", "no"]
    found["A", "edps"] = {"mean_reward": np.zeros((8, 5, 50)) + noise}
    assert [claim.holds for claim in medical_grid._claims(found)] == ["open", "no"]


def learning(repeat, episodes, values):
    repeat, episodes = np.array(repeat), np.array(episodes)
    last = np.append(np.diff(repeat) != 0, True)
    return Learning(repeat, episodes, {"reward": np.array(values, float)}, {}, last)


def outcomes_of(means, spread=0.1):
    rng = np.random.default_rng(0)
    return {name: mean + spread * rng.normal(size=(100, 2)) for name, mean in means.items()}


def test_the_claims_about_outcomes():
    means = {name: np.array([3.0, 3.0]) for name in ("edps", "sarsa")}
    means |= {"pb-edps": np.array([1.0, 4.0]), "pbpi": np.array([2.68, 1.56])}
    names = ("constant 0.4", "random", "constant 0.7", "constant 0.1", "constant 1")
    means |= {name: np.array([4.0, 4.0]) for name in names}
    points = outcomes_of(means)
    order = ("pbpi", *names, "pb-edps", "edps", "sarsa")
    deaths = {name: 0.1 * place + np.zeros(100) for place, name in enumerate(order)}
    front, _, numbers, ranks = outcome_claims("A", points, deaths)
    assert (front.holds, numbers.holds, ranks.holds) == ("yes", "yes", "yes")
    points["edps"] = points["pb-edps"] - 0.5
    deaths["pbpi"] = deaths["constant 1"] + 0.1
    points["pbpi"] = points["pbpi"] + 1
    points["sarsa"] = points["pbpi"] - 0.5
    front, _, numbers, ranks = outcome_claims("A", points, deaths)
    assert (front.holds, numbers.holds, ranks.holds) == ("no", "no", "no")
    assert "edps comes nearest" in front.here
    assert "pbpi before constant 0.4" in ranks.here
    assert outcome_claims("B", points, deaths)[2].holds == "open"  # close is no number


def test_the_claims_about_convergence():
    """Learners of which the preference-based ones are better, and SARSA is quick."""
    rng = np.random.default_rng(0)

    def learner(settles, level):
        episodes = np.tile(np.arange(100, 10_001, 100), 20)
        values = np.where(episodes >= settles, level, level - 40) + 0.01 * rng.normal(size=2000)
        repeat = np.repeat(np.arange(20), 100)
        found = learning(repeat, episodes, values)
        metrics = {"mean_reward": values, "survival_rate": values / 100}
        return found._replace(metrics=metrics)

    levels = {"pb-edps": 60.0, "pbpi": 59.0, "edps": 50.0, "sarsa": 40.0}
    found = {
        (hazard, method): learner(100 if method == "sarsa" else 400, level)
        for hazard in HAZARDS
        for method, level in levels.items()
    }
    low = {"mean_reward": np.full(20, 10.0), "survival_rate": np.full(20, 0.1)}
    claims = convergence_claims(found, {hazard: {"random": low} for hazard in HAZARDS})
    held = [claim.holds for claim in claims]
    # Fastest; on a par; least; early survival; as much as fixed; most alive; faster.
    assert held == ["yes", "no", "no", "yes", "yes", "yes", "no"]


def test_differences_are_paired_with_their_base():
    rng = np.random.default_rng(1)
    base = rng.normal(size=200)
    found = {
        ("A", "published schedule"): {"survival_rate": base},
        ("A", "30 rollouts"): {"survival_rate": base + 0.5 + 0.01 * rng.normal(size=200)},
        ("A", "30 rollouts, final race"): {"survival_rate": base + 0.7},
    }
    change, error = racing_pays._difference(found, "A", "30 rollouts", "survival_rate")
    assert change == pytest.approx(0.5, abs=0.01)
    assert error == pytest.approx(0.01 / 200**0.5, rel=0.3)
    change, _ = racing_pays._difference(found, "A", "30 rollouts, final race", "survival_rate")
    assert change == pytest.approx(0.2, abs=0.01)


def test_a_policy_counts_from_its_evaluation_to_the_next():
    one = learning([0, 0, 0, 1, 1], [10, 30, 70, 20, 50], [1.0, 3.0, 9.0, 2.0, 4.0])
    # 20 episodes of 1 and 30 of 3; 30 episodes of 2 and 10 of 4.
    expected = [(20 * 1 + 30 * 3) / 50, (30 * 2 + 10 * 4) / 40]
    np.testing.assert_allclose(mean_before(one, "reward", 60), expected)


def test_curves_are_means_at_common_places():
    same = learning([0, 0, 1, 1], [100, 200, 100, 200], [1.0, 2.0, 3.0, 6.0])
    places, means = averaged(same, "reward")
    assert (places.tolist(), means.tolist()) == ([100, 200], [2.0, 4.0])
    # A search that has ended goes on counting; one that has not begun does not begin.
    shorter = learning([0, 0, 1], [100, 200, 100], [1.0, 2.0, 3.0])
    assert averaged(shorter, "reward")[1].tolist() == [2.0, 2.5]


def test_clouds_are_smoothed_by_a_kernel():
    """A noisy line is found again, and a stray point among many does not make a peak."""
    rng = np.random.default_rng(0)
    repeat = np.repeat(np.arange(200), 30)
    episodes = np.sort(rng.integers(0, 10_000, (200, 30)), axis=1).ravel()
    cloud = learning(repeat, episodes, 3 + episodes / 1000 + rng.normal(size=6000))
    places, means = smoothed(cloud, "reward")
    inner = (places > 1000) & (places < 9000)
    np.testing.assert_allclose(means[inner], 3 + places[inner] / 1000, atol=0.35)
    # All at 0, 700, ..., 7000, and one of them at 350.
    episodes = np.tile(np.arange(0, 7001, 700), 200)
    stray = learning(np.repeat(np.arange(200), 11), episodes, np.ones(2200))
    stray.episodes[1], stray.metrics["reward"][1] = 350, 100.0
    assert smoothed(stray, "reward")[1].max() < 2.5
