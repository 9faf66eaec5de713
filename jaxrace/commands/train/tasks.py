"""The environments of the command: a simulator, a policy class and what is measured, by name."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

from jaxrace.commands.train.config import ENVIRONMENTS, TrainConfig
from jaxrace.envs import Environment, OutcomeFold, medical
from jaxrace.policies import Policy, Sigmoid
from jaxrace.tabular import Grid


@dataclasses.dataclass(frozen=True)
class Task:
    """What a training job needs to know of an environment.

    Attributes:
        env: The environment.
        env_params: Its parameters.
        policy: The policies that a search tries.
        fold: Makes the outcome that ``compare`` and ``measure`` look at.
        compare: Which of two outcomes is preferred; see ``racing.PreferenceRace``.
        value_range: Width of the interval of possible returns.
        measure: ``measure(outcomes, returns) -> {metric: []}``, averages over a leading axis [n].
        labels: What each metric of ``measure`` is, in words.
        shown: The metrics of tables and figures.
        objective: The metric by which settings are ranked; more is better.
        actions: Those of discrete policies, as the constant ones of the baselines.
        grid: How tabular learners divide the observations.

    >>> task = medical_task(TrainConfig(hazard="B"))
    >>> float(task.env_params.hazard_intercept), task.actions
    (-8.0, (0.1, 0.4, 0.7, 1.0))
    """

    env: Environment
    env_params: Any
    policy: Policy
    fold: OutcomeFold
    compare: Callable[[Any, Any], jax.Array]
    value_range: float
    measure: Callable[[Any, jax.Array], dict[str, jax.Array]]
    labels: dict[str, str]
    shown: tuple[str, ...]
    objective: str
    actions: tuple[float, ...]
    grid: Grid


def medical_task(config: TrainConfig) -> Task:
    """Cancer treatment (Busa-Fekete et al. 2014, section 6.2).

    Args:
        config: Its ``hazard``, ``coefficients``, ``reward`` and ``action`` count.

    Raises:
        ValueError: The action is not a dose.

    >>> medical_task(TrainConfig(reward="printed")).value_range
    260.0
    """
    if not 0 <= config.action <= 1:
        raise ValueError(f"action: expected a dose from 0 to 1, got {config.action!r}")
    return Task(
        env=medical.Medical(reward=config.reward),
        env_params=medical.Medical.make_params(config.coefficients, config.hazard),
        policy=Sigmoid(2),
        fold=medical.TreatmentOutcome(),
        compare=medical.prefer,
        value_range=medical.RETURN_RANGE[config.reward],
        measure=_measure_treatments,
        labels={
            "survival_rate": "survival",
            "death_rate": "death rate",
            "tumour_size": "final tumour size C_S",
            "max_toxicity": "worst toxicity C_X",
            "mean_reward": "reward per patient",
        },
        shown=("survival_rate", "tumour_size", "max_toxicity", "mean_reward"),
        objective="mean_reward",
        actions=medical.DOSES,
        # The limits are not in the papers; few patients leave them.
        grid=Grid(low=(0.0, -2.0), high=(8.0, 8.0), bins=20),
    )


def _measure_treatments(outcomes: medical.Outcome, returns: jax.Array) -> dict[str, jax.Array]:
    """The dead count in all of them, as in the papers."""
    return {
        "survival_rate": outcomes.alive.mean(),
        "death_rate": 1 - outcomes.alive.mean(),
        "tumour_size": outcomes.tumour_size.mean(),
        "max_toxicity": outcomes.worst_toxicity.mean(),
        "mean_reward": returns.mean(),
    }


TASKS: dict[str, Callable[[TrainConfig], Task]] = {"medical": medical_task}
assert TASKS.keys() == ENVIRONMENTS.keys()
