"""Policies on fresh episodes, learned or fixed. Axes: B policies (one per repeat), n episodes."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxrace.agents.outcomes import Both, Return
from jaxrace.agents.policies import UniformChoice
from jaxrace.agents.rollout import PolicyInTask, Rollout
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.tasks import Task
from jaxrace.core.compilation import MIDDLING, SMALL, jit
from jaxrace.core.keys import with_keys, without_keys
from jaxrace.search import small

Metrics = dict[str, np.ndarray]
_FEW_EPISODES = 300_000  # of a policy: drawn at once, by a program that compiles fast
_ROUNDS = 30  # episodes of a policy that are drawn at once


@dataclasses.dataclass(frozen=True)
class _Several:
    """Policies that meet the same chance: theta, and outcomes, are [P, ...]."""

    rollout: Rollout
    work: float  # see ``draw_rows``

    def __call__(self, key: jax.Array, option: PolicyInTask) -> Any:
        def play(theta: Any) -> Any:
            return self.rollout(key, PolicyInTask(theta, option.env_params))

        return jax.vmap(play)(option.theta)


def evaluate_lanes(
    sizes: tuple[Any, Callable[..., dict[str, jax.Array]], int],
    num_rounds: int,
    chance: tuple[jax.Array, Any, Any],
    policies: PolicyInTask,
    wanted: np.ndarray,
) -> dict[str, jax.Array]:
    """The metrics of B policies, float32 [B], by the program that draws for races.

    Averages over n episodes of each, which depend only on the key, the generation and the number of
    the policy: policies of two classes meet the same patients.

    Args:
        sizes: What is played, ``Task.measure`` of it, and n.
        num_rounds: Episodes of a policy that are drawn at once.
        chance: The key of all evaluations, and the generation and number of each policy, [B].
        policies: Theta with leaves [B, ...], and the simulator's params of all.
        wanted: bool [B]; other policies get the metrics of zeros.
    """
    rollout, measure, episodes = sizes
    drawn = _draw_lanes(rollout, episodes, num_rounds, chance, policies, wanted)
    return _measure_lanes(measure, episodes, drawn)


def _draw_lanes(
    rollout: Any,
    episodes: int,
    num_rounds: int,
    chance: tuple[jax.Array, Any, Any],
    policies: PolicyInTask,
    wanted: np.ndarray,
) -> Any:
    """Outcomes of B policies in n episodes or more: arrays of NumPy, [B, pieces, rounds, ...]."""
    pieces = -(-episodes // num_rounds)
    shape = len(wanted), pieces

    def of_pieces(x: Any) -> np.ndarray:
        x = np.asarray(x)
        return np.broadcast_to(x[:, None], (*shape, *x.shape[1:]))

    key, generations, numbers = chance
    same = np.asarray(without_keys(key))
    keys = with_keys(np.broadcast_to(same, (len(wanted), *same.shape)), key)
    for number in (generations, numbers):
        keys = _fold_in(keys, np.asarray(number))
    env_params = jax.tree.map(
        lambda x: np.broadcast_to(x, (*shape, *np.shape(x))), policies.env_params
    )
    rows = (
        with_keys(of_pieces(without_keys(keys)), key),
        PolicyInTask(jax.tree.map(of_pieces, policies.theta), env_params),
        np.broadcast_to(np.arange(0, episodes, num_rounds, dtype=np.int32), shape),
    )
    return small.draw_rows(rollout, num_rounds, rows, of_pieces(wanted))


_fold_in = jit(0)(jax.vmap(jax.random.fold_in))


@jit(2)
def _measure_lanes(
    measure: Callable[..., dict[str, jax.Array]], episodes: int, drawn: Any
) -> dict[str, jax.Array]:
    """The metrics of outcomes of B policies, [B, pieces, rounds, ...]."""
    joined = jax.tree.map(lambda x: x.reshape(len(x), -1, *x.shape[3:])[:, :episodes], drawn)
    return jax.vmap(lambda outcomes: measure(*outcomes))(joined)


def evaluate_fixed(
    config: TrainConfig, task: Task, key: jax.Array, further: tuple[float, ...] = ()
) -> dict[str, Metrics]:
    """Metrics [B], by policy, of the baselines, and of the method itself if it learns nothing.

    All meet the same patients, those of generation 0, which no learned policy meets.
    """
    own = (config.action,) if config.method == "constant" else ()
    # One program for all: a constant action is a choice among equal ones.
    size = len(task.actions)
    actions = sorted({*task.actions, *own, *further})
    choices = {_constant_name(action): (action,) * size for action in actions}
    choices["random"] = task.actions
    count, episodes = config.repeats, config.test_patients
    work = SMALL if count * episodes <= _FEW_EPISODES else MIDDLING
    several = _Several(Rollout(task.env, UniformChoice(size), Both(task.fold, Return())), work)
    thetas = np.array(list(choices.values()), np.float32)
    block = max(_FEW_EPISODES // episodes, 1)
    found: dict[str, list[Metrics]] = {name: [] for name in choices}
    for numbers in np.split(np.arange(count, dtype=np.uint32), range(block, count, block)):
        chance = key, np.zeros_like(numbers), numbers
        same = np.broadcast_to(thetas, (len(numbers), *thetas.shape))
        policies, wanted = PolicyInTask(same, task.env_params), np.ones(len(numbers), bool)
        drawn = _draw_lanes(several, episodes, _ROUNDS, chance, policies, wanted)
        for number, name in enumerate(choices):
            own = jax.tree.map(lambda x, number=number: x[:, :, :, number], drawn)
            found[name].append(_measure_lanes(task.measure, episodes, own))
    return {
        name: {metric: np.concatenate([one[metric] for one in parts]) for metric in task.labels}
        for name, parts in found.items()
    }


def fixed_name(config: TrainConfig) -> str:
    """The policy of a method, in words."""
    return _constant_name(config.action) if config.method == "constant" else config.method


def _constant_name(action: float) -> str:
    return f"constant {action:g}"
