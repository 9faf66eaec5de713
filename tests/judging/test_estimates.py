"""What a new policy would earn, of logs of several steps: by hand, and of whole populations."""

import dataclasses
import itertools
import json

import numpy as np
import pytest
from reference import improvement as reference

import jaxrace
from jaxrace.judging.policies.estimates import estimates_of
from jaxrace.judging.policies.loading import Parts
from jaxrace.judging.policies.trajectories import ReturnRange, checked, some_of_each
from jaxrace.judging.policies.weighing import Mixed

NAMES = ("self_normalised", "per_decision", "self_normalised_per_decision", "doubly_robust")


def as_data(listed):
    """Trajectories from lists of steps (x, action, logged probability, reward)."""
    lengths = np.array([len(steps) for steps in listed])
    table = np.zeros((len(listed), lengths.max(), 4))
    table[..., 2] = 1
    for row, steps in zip(table, listed, strict=True):
        row[: len(steps)] = steps
    actions = table[..., 1].astype(int)
    found = checked([table[..., :1]], actions, table[..., 2], table[..., 3], lengths)
    return dataclasses.replace(found, observations=found.observations[0])


def estimated(train, test, returns, theta, alpha=1.0):
    """All of them, in units of returns; the bound in standard errors below its estimate."""
    train, test = map(as_data, (train, test))
    parts = Parts(train, test, np.zeros(1), np.ones(1), ("x",), None)
    policy = Mixed(np.asarray(theta, float)[None], np.array([alpha]))
    found = estimates_of(parts, returns, 0, policy, 0.05)
    below = (found["doubly_robust"] - found["doubly_robust_bound"]) / found["doubly_robust_stderr"]
    return {name: returns.original(found[name]) for name in NAMES if name in found}, below


TRAIN = [[(0, 0, 0.5, 2.0)]] * 3 + [[(0, 1, 0.5, 6.0)]] * 3  # q(0) = 2, q(1) = 6
THETA = [[0.0, 0.0], [np.log(3), 0.0]]  # action 1 in three of four cases


@pytest.mark.parametrize("low", [0.0, -2.0])
def test_two_trajectories_by_hand(low):
    """Rewards halve with each step; ratios are 1.5, 1.5 and 0.5, v = 5."""
    test = [[(0, 1, 0.5, 1.0), (0, 1, 0.5, 2.0)], [(0, 0, 0.5, 4.0)]]
    found, below = estimated(TRAIN, test, ReturnRange(low, low + 8, 0.5), THETA)
    expected = {
        "self_normalised": (2.25 * 2 + 0.5 * 4) / 2.75,
        "per_decision": (1.5 * 1 + 2.25 * 1 + 0.5 * 4) / 2,
        "self_normalised_per_decision": (1.5 * 1 + 0.5 * 4) / 2 + 2.25 * 1 / 2.75,
        # V_2 = 1.5 x 1 + 5 - 1.5 x 6 = -2.5, V_1 = 1.5 (1 - 2.5) + 5 - 9 = -6.25; and 2 + 5 - 1.
        "doubly_robust": (-6.25 + 6) / 2,
    }
    assert found == pytest.approx(expected, rel=1e-12)
    assert below == pytest.approx(6.314, abs=1e-3)  # Student's t, one degree of freedom


@pytest.mark.parametrize("smaller", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 0.6])
def test_of_a_whole_population_all_are_exact(alpha, smaller):
    """Each trajectory as often as it is likely: x, the next x and the end by fair coins."""
    theta, logged = np.array([[0.0, 0.3], [0.5, -1.0]]), (0.25, 0.75)
    rewards = np.array([[0.3, 1.5], [0.9, -0.4]])  # of x and an action
    logits = theta[:, 0] + np.outer((0, 1), theta[:, 1])
    chances = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    chances = alpha * chances + (1 - alpha) * np.array(logged)
    listed, value = [], 0.0
    for x, y, is_over in itertools.product((0, 1), repeat=3):
        for a, b in itertools.product((0, 1), repeat=2):
            steps = [(x, a, logged[a], rewards[x, a]), (y, b, logged[b], rewards[y, b])]
            listed += [steps[: 2 - is_over]] * (1, 3)[a] * (1, 3)[b]
            earned = rewards[x, a] + (0 if is_over else 0.9 * rewards[y, b])
            value += chances[x, a] * chances[y, b] * earned / 8
    returns = ReturnRange(-1.0, 3.0, 0.9, smaller)
    # The model is of other trajectories, and wrong.
    found, _ = estimated([*TRAIN, listed[0]], listed, returns, theta, alpha)
    assert found == pytest.approx(dict.fromkeys(NAMES, value), rel=1e-9)


def test_a_log_of_several_steps():
    """Estimates of the answer, by the formulas, from the trajectories that tested it."""
    rng, rows, listed = np.random.default_rng(0), [], []
    for number in range(300):
        steps = []
        for _ in range(rng.integers(1, 4)):
            x, action = rng.random(), int(rng.integers(2))
            paid = float(rng.random() < (0.8 if action == (x > 0.5) else 0.2))
            steps.append((x, action, 0.5, paid))
        listed.append(steps)
        rows += [(number, *step) for step in steps]
    heads = ("trajectory", "x", "action", "probability", "reward")
    log = dict(zip(heads, map(list, zip(*rows, strict=True)), strict=True))
    result = jaxrace.improve(log, 0, 3, bound="t", candidates="none", discount=0.9)
    split = np.random.default_rng(np.random.SeedSequence(0).spawn(3)[0])
    searched = set(some_of_each(split, np.zeros(300, int), 60).tolist())
    tested = [
        [reference.Step(np.array([x]), *step) for x, *step in steps]
        for number, steps in enumerate(listed)
        if number not in searched
    ]
    arguments = tested, result.policy.probabilities, 0, 3, 0.9
    normalised = {
        "importance sampling, t": reference.ordinary(*arguments),
        "self-normalised": reference.weighted(*arguments),
        "per decision": reference.per_decision(*arguments),
        "per decision, self-normalised": reference.per_decision(*arguments, is_weighted=True),
    }
    expected = {name: 3 * share for name, share in normalised.items()}
    assert len({round(number, 3) for number in expected.values()}) == 4
    estimates = {one.name: one for one in result.estimates}
    found = {name: estimates[name].estimate for name in expected}
    assert found == pytest.approx(expected, rel=1e-6)
    robust = result.to_dict()["estimates"]
    assert robust["doubly_robust"] == pytest.approx(expected["per decision"], abs=0.2)
    assert robust["doubly_robust_bound"] < robust["doubly_robust"] - robust["doubly_robust_stderr"]
    assert "per decision, self-normalised" in str(result)
    assert json.loads(json.dumps(result.to_dict()))["estimates"].keys() >= set(NAMES)
