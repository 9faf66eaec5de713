"""The environments of the command, and evaluations in them. Axes: B repeats, P policies."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.typing import ArrayLike

from jaxrace.agents.outcomes import Both, Return
from jaxrace.agents.policies import Policy, Sigmoid, UniformChoice
from jaxrace.agents.rollout import PolicyInTask, Rollout, evaluate
from jaxrace.commands.train.config import ENVIRONMENTS, TrainConfig
from jaxrace.core.compilation import MIDDLING, SMALL, jit
from jaxrace.core.validation import BadArgument
from jaxrace.envs import Environment, OutcomeFold, medical

Metrics = dict[str, np.ndarray]
_FEW_EPISODES = 300_000  # that are evaluated at once, or by a program that compiles fast


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
    smaller: tuple[str, ...]  # the metrics of which less is better
    # Those of discrete policies, as the constant ones of the baselines; none if none are known.
    actions: tuple[float, ...]
    preference: str = ""  # the user's own, which no metric may show, in words


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
        smaller=("death_rate", "tumour_size", "max_toxicity"),
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


def evaluated(
    sizes: tuple[Rollout, Callable[..., dict[str, jax.Array]], int],
    key: jax.Array,
    generation: ArrayLike,
    number: ArrayLike,
    policy: PolicyInTask,
) -> dict[str, jax.Array]:
    """The metrics of one policy, float32 []; ``sizes`` are what is played, ``measure`` and n.

    Averages over n episodes, which depend only on the key, the generation and the number: policies
    of two classes meet the same patients.
    """
    rollout, measure, episodes = sizes
    own = jax.random.fold_in(jax.random.fold_in(key, generation), number)
    return measure(*evaluate(rollout, own, policy, episodes))


def evaluate_fixed(
    config: TrainConfig, task: Task, key: jax.Array, further: tuple[float, ...] = ()
) -> dict[str, Metrics]:
    """Metrics [B], by policy, of the baselines, and of the method itself if it learns nothing.

    All meet the same patients, those of generation 0, which no learned policy meets.
    """
    if not task.actions:
        return {}
    own = (config.action,) if config.method == "constant" else ()
    # One program for all: a constant action is a choice among equal ones.
    size = len(task.actions)
    actions = sorted({*task.actions, *own, *further})
    choices = {_constant_name(action): (action,) * size for action in actions}
    choices["random"] = task.actions
    is_whole = isinstance(task.actions[0], int)
    thetas = np.array(list(choices.values()), np.int32 if is_whole else np.float32)
    count, episodes = config.repeats, config.test_patients
    work = SMALL if count * episodes <= _FEW_EPISODES else MIDDLING
    rollout = Rollout(task.env, UniformChoice(size), Both(task.fold, Return()))
    sizes, block = (rollout, task.measure, episodes), max(_FEW_EPISODES // episodes, 1)
    parts = [
        _evaluate_all(work, sizes, key, numbers, thetas, task.env_params)
        for numbers in np.split(np.arange(count, dtype=np.uint32), range(block, count, block))
    ]
    found = {name: np.concatenate([part[name] for part in parts], -1) for name in task.labels}
    return {
        name: {metric: values[number] for metric, values in found.items()}
        for number, name in enumerate(choices)
    }


@jit(2, work=lambda work, *_: work)
def _evaluate_all(
    work: float, sizes: Any, key: jax.Array, numbers: jax.Array, thetas: Any, env_params: Any
) -> dict[str, jax.Array]:
    """Metrics [P, B] of policies that meet the same patients."""

    def of_one(theta: jax.Array, number: jax.Array) -> dict[str, jax.Array]:
        return evaluated(sizes, key, np.uint32(0), number, PolicyInTask(theta, env_params))

    return jax.vmap(jax.vmap(of_one, (None, 0)), (0, None))(thetas, numbers)


def fixed_name(config: TrainConfig) -> str:
    """The policy of a method, in words."""
    return _constant_name(config.action) if config.method == "constant" else config.method


def _constant_name(action: float) -> str:
    return f"constant {action:g}"
