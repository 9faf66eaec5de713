"""What can be survived in the medical task, against the simulator and against enumeration."""

import itertools
from typing import Any

import jax
import numpy as np
import pytest

from jaxrace.agents.policies import Sigmoid
from jaxrace.agents.rollout import PolicyInTask, Rollout, evaluate
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import make_search
from jaxrace.commands.train.tasks import medical_task
from jaxrace.envs import medical
from papers.preference_racing import medical_limits as limits
from papers.preference_racing.near_limit import BUDGETS, NOW, RETURNS, VARIANTS

THETAS = np.array([[0, 0, 0], [20, 1, -3], [-1, 0.5, 1], [300, 1, -5]], np.float32)


@pytest.mark.parametrize("hazard", limits.HAZARDS)
def test_survival_is_that_of_simulated_patients(hazard):
    found = limits.survival_of(THETAS, hazard)
    rollout = Rollout(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome())
    params, patients = medical.Medical.make_params(hazard=hazard), 40_000
    for number, (theta, survival) in enumerate(zip(THETAS, found, strict=True)):
        option = PolicyInTask(theta, params)
        simulated = evaluate(rollout, jax.random.key(number), option, patients).alive.mean()
        error = np.sqrt(survival * (1 - survival) / patients)
        assert abs(float(simulated) - survival) < 4 * error


@pytest.mark.parametrize(("hazard", "rule"), [("A", 0.3642), ("B", 0.6947)])
def test_the_rule_is_the_limit_of_steep_policies(hazard, rule):
    found = limits.survival_by_rule(hazard)
    assert found == pytest.approx(rule, abs=1e-4)
    steep = limits.survival_of(np.array([[1e2, 0, -10], [1e3, 0, -10], [1e6, 0, -10]]), hazard)
    assert (np.diff(steep) > 0).all()
    assert steep[-1] == pytest.approx(found, abs=1e-4)


def survival_by_hand(starts, doses, hazard):
    """By the equations of docs/jax/medical.md, in float64: [N, M]."""
    c0, c1, c2 = {"A": (-4, 1, 1), "B": (-8, 1.5, 1.5)}[hazard]
    first_s, first_x = (np.array(starts, float).T)[:, :, None]
    s, x, total = first_s, first_x, 0.0
    for dose in np.array(doses, float).T:
        grown = np.maximum(s + 0.1 * np.maximum(x, first_x) - 1.2 * (dose - 0.5), 0)
        x = x + 0.15 * np.maximum(s, first_s) + 1.2 * (dose - 0.5)
        s = np.where(s > 0, grown, s)
        total = total + np.exp(c0 + c1 * s + c2 * x)
    return np.exp(-total)


@pytest.mark.parametrize("hazard", limits.HAZARDS)
def test_free_doses_are_better_than_all_sequences_of_a_grid(hazard):
    starts = list(itertools.product((0.5, 1.5), repeat=2))
    doses = np.array(list(itertools.product(np.linspace(0, 1, 5), repeat=6)))
    on_grid = survival_by_hand(starts, doses, hazard).max(1).mean()
    found = limits.survival_by_free_doses(hazard, cells=2, levels=3)
    assert on_grid < found < on_grid + 0.05
    assert found > limits.survival_by_rule(hazard, cells=2)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("method", [NOW, RETURNS])
def test_fast_methods_are_what_was_measured(method, budget):
    config = TrainConfig(method=method, episodes=budget)
    task = medical_task(config)
    shipped: Any = make_search(config, task)
    measured: Any = VARIANTS[method].searches(config, task)
    assert shipped.search.search.strategy == measured.search.search.strategy
    for names in ("budget", "min_rounds", "max_rounds", "strategy"):
        own, other = (getattr(one.settings.search, names) for one in (shipped, measured))
        jax.tree.map(np.testing.assert_array_equal, own, other)
    assert int(shipped.settings.max_rounds[0]) == int(measured.settings.max_rounds[0])
