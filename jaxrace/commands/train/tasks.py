"""The environments of the command: simulator, policies and metrics, by name."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

from jaxrace.agents.policies import Policy, Sigmoid
from jaxrace.commands.train.config import ENVIRONMENTS, TrainConfig
from jaxrace.core.validation import BadArgument
from jaxrace.envs import Environment, OutcomeFold, medical


@dataclasses.dataclass(frozen=True)
class Task:
    """What a training job needs of an environment."""

    env: Environment
    env_params: Any
    policy: Policy  # the policies that a search tries
    fold: OutcomeFold  # makes the outcome that ``compare`` and ``measure`` look at
    compare: Callable[[Any, Any], jax.Array]  # see ``racing.PreferenceRace``
    value_range: float  # width of the interval of possible returns
    # ``measure(outcomes, returns) -> {metric: []}``, averages over a leading axis [n].
    measure: Callable[[Any, jax.Array], dict[str, jax.Array]]
    labels: dict[str, str]  # each metric of ``measure`` in words
    shown: tuple[str, ...]  # the metrics of tables and figures
    objective: str  # the metric by which settings are ranked; more is better
    actions: tuple[float, ...]  # those of discrete policies, as the constant ones of the baselines


def medical_task(config: TrainConfig) -> Task:
    """Cancer treatment (Busa-Fekete et al. 2014, section 6.2)."""
    if not 0 <= config.action <= 1:
        raise BadArgument("action", "a dose from 0 to 1", repr(config.action))
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
    )


def _measure_treatments(outcomes: medical.Outcome, returns: jax.Array) -> dict[str, jax.Array]:
    """Averages over all patients, the dead included, as in the papers."""
    return {
        "survival_rate": outcomes.alive.mean(),
        "death_rate": 1 - outcomes.alive.mean(),
        "tumour_size": outcomes.tumour_size.mean(),
        "max_toxicity": outcomes.worst_toxicity.mean(),
        "mean_reward": returns.mean(),
    }


TASKS: dict[str, Callable[[TrainConfig], Task]] = {"medical": medical_task}
assert TASKS.keys() == ENVIRONMENTS.keys()
