"""The policies that learn nothing, on patients of their own: those of generation 0.

Axes: B repeats.
"""

import jax
import numpy as np

from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.evaluation import Evaluator
from jaxrace.commands.train.tasks import Task
from jaxrace.commands.train.timing import Seconds
from jaxrace.policies import UniformChoice

Metrics = dict[str, np.ndarray]


def evaluate_fixed(
    config: TrainConfig,
    task: Task,
    key: jax.Array,
    seconds: Seconds,
    further: tuple[float, ...] = (),
) -> dict[str, Metrics]:
    """Metrics [B], by policy, of the baselines and of the method itself if it learns nothing.

    All of them meet the same patients, which are others than those of the learned policies.
    """
    own = (config.action,) if config.method == "constant" else ()
    actions = {*task.actions, *own, *further}
    # One program for all: a constant action is a choice among equal ones.
    size = len(task.actions)
    choices = {_constant_name(action): (action,) * size for action in sorted(actions)}
    choices["random"] = task.actions
    with seconds.spent("compile"):
        policy = UniformChoice(size)
        evaluate = Evaluator(task, policy, key, config.repeats, config.test_patients)
    with seconds.spent("run"):
        metrics = {
            name: evaluate(0, np.tile(np.array(choice, np.float32), (config.repeats, 1)))
            for name, choice in choices.items()
        }
        return {
            name: {metric: np.asarray(values[metric]) for metric in task.labels}
            for name, values in metrics.items()
        }


def fixed_name(config: TrainConfig) -> str:
    """The policy of a method, in words.

    >>> fixed_name(TrainConfig(method="constant", action=0.7)), fixed_name(TrainConfig())
    ('constant 0.7', 'pb-edps')
    """
    return _constant_name(config.action) if config.method == "constant" else config.method


def _constant_name(action: float) -> str:
    return f"constant {action:g}"
