from typing import get_args, get_type_hints

import jax
import numpy as np
import pytest

from jaxrace import kernels, racing
from jaxrace.agents import policies, rollout
from jaxrace.agents.outcomes import Both, Return
from jaxrace.commands.catalogue import catalogue
from jaxrace.commands.train.config import METHODS, Method, TrainConfig
from jaxrace.commands.train.tasks import TASKS, evaluated, medical_task
from jaxrace.envs import medical


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "reinforce"},
        {"episodes": 0},
        {"repeats": 10**10},
        {"sigma": 0.0},
        {"bound": "loose"},
        {"strategy": "Hill_Climbing"},
        {"strategy": "Open_ES", "sigma": 1.0},
        {"max_rounds": kernels.MAX_ROUNDS + 1},
        {"hazard": "C"},
        {"coefficients": "zhao2009"},
        {"reward": "none"},
        {"seed": 2**32},
    ],
)
def test_config_names_the_bad_field(settings):
    name, value = list(settings.items())[-1]
    with pytest.raises(ValueError, match=rf"^{name}: expected .*, got .*{value}"):
        TrainConfig(**settings)


def test_action_is_a_dose():
    with pytest.raises(ValueError, match=r"^action: expected a dose from 0 to 1, got 1.5"):
        medical_task(TrainConfig(method="constant", action=1.5))


def test_choices_are_those_of_the_environment():
    hints = get_type_hints(TrainConfig)
    assert hints["hazard"] == medical.Hazard
    assert hints["coefficients"] == medical.Coefficients
    assert get_args(hints["reward"]) == tuple(medical.RETURN_RANGE)
    assert get_args(Method) == tuple(METHODS)


def test_task_follows_the_config():
    task = medical_task(TrainConfig(hazard="B", coefficients="furnkranz2012", reward="printed"))
    expected = medical.Medical.make_params("furnkranz2012", "B")
    assert jax.tree.map(float, task.env_params) == jax.tree.map(float, expected)
    assert task.env == medical.Medical(reward="printed")
    assert task.value_range == medical.RETURN_RANGE["printed"]


def test_catalogue_is_complete():
    there_is = catalogue()
    assert set(there_is["environments"]) == set(TASKS)
    assert set(there_is["bounds"]) == set(kernels.RACE_BOUNDS)
    public_races = {name for name in vars(racing) if name.endswith("Race")}
    assert set(there_is["races"]) == public_races - {
        "Race",
        "ValueRace",
        "CertifiedRace",
        "ComparingRace",
    }
    public_policies = {
        name
        for name, item in vars(policies).items()
        if isinstance(item, type) and item.__module__ == policies.__name__
    }
    assert set(there_is["policies"]) == public_policies - {"Policy"}


def metrics_of_two(task, policy, key, generation, thetas):
    """Metrics of two policies in 40 episodes."""
    played = rollout.Rollout(task.env, policy, Both(task.fold, Return()))

    def of_one(number, theta):
        option = rollout.PolicyInTask(theta, task.env_params)
        return evaluated((played, task.measure, 40), key, generation, number, option)

    return jax.vmap(of_one)(np.arange(2), thetas)


def test_evaluation_agrees_with_plain_rollouts():
    task, key = medical_task(TrainConfig()), jax.random.key(3)
    thetas = np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 0.5]], np.float32)
    metrics = metrics_of_two(task, task.policy, key, 5, thetas)
    for number, theta in enumerate(thetas):
        own_key = jax.random.fold_in(jax.random.fold_in(key, 5), number)
        option = rollout.PolicyInTask(theta, task.env_params)
        outcomes, returns = (
            rollout.evaluate(rollout.Rollout(task.env, task.policy, fold), own_key, option, 40)
            for fold in (task.fold, Return())
        )
        expected = {
            "death_rate": 1 - np.mean(outcomes.alive),
            "tumour_size": np.mean(outcomes.tumour_size),
            "max_toxicity": np.mean(outcomes.worst_toxicity),
            "mean_reward": np.mean(returns),
        }
        for name, value in expected.items():
            assert metrics[name][number] == pytest.approx(float(value), rel=1e-5), name


def test_a_constant_is_a_choice_among_equals():
    task, key = medical_task(TrainConfig()), jax.random.key(3)
    doses = np.array([0.4, 0.7], np.float32)
    constant = metrics_of_two(task, policies.Constant(), key, 0, doses)
    equals = metrics_of_two(
        task, policies.UniformChoice(4), key, 0, np.repeat(doses[:, None], 4, 1)
    )
    for name in task.labels:
        np.testing.assert_allclose(equals[name], constant[name], rtol=1e-5)
