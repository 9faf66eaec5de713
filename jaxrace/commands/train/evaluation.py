"""Policies on fresh episodes, learned or fixed. Axes: B policies (one per repeat), n episodes."""

import dataclasses
import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.tasks import Task
from jaxrace.compilation import bounded_jit, brief, compile_ahead
from jaxrace.outcomes import Both, Return
from jaxrace.policies import Policy, UniformChoice
from jaxrace.racing import drawing
from jaxrace.rollout import PolicyInTask, Rollout, evaluate
from jaxrace.sweep import SweepLog

Metrics = dict[str, np.ndarray]
# Take less long than to compile them well.
_FEW_EPISODES = 300_000
_ROUNDS = 30  # episodes of a policy that are drawn at once
_RATES = "episodes_per_second", "searches_per_second", "lane_utilisation"


@dataclasses.dataclass
class Seconds:
    """Seconds by what they were spent on."""

    compile: float = 0.0
    run: float = 0.0

    @contextmanager
    def spent(self, what: str) -> Iterator[None]:
        """Add the time that the block takes to what it is spent on: "compile" or "run"."""
        started = time.perf_counter()
        yield
        setattr(self, what, getattr(self, what) + time.perf_counter() - started)

    def timing(self, log: SweepLog | None, episodes: int) -> dict[str, float | None]:
        """What timing.json holds of a sweep, if there was one, and of what came after it."""
        found = {"compile_seconds": self.compile, "run_seconds": self.run}
        if log is None:
            return found | dict.fromkeys(_RATES)
        if log.compiles_as_it_runs:
            seconds = self.compile + self.run + log.compile_seconds + log.run_seconds
            return {"compile_seconds": None, "run_seconds": seconds} | dict.fromkeys(_RATES)
        found["compile_seconds"] += log.compile_seconds
        found["run_seconds"] += log.run_seconds
        # Of a job that was resumed, nobody knows which episodes were played since.
        rate = None if log.is_resumed else episodes / log.run_seconds
        rates = rate, log.jobs_per_second, log.utilisation
        return found | dict(zip(_RATES, rates, strict=True))


def evaluator(
    task: Task, policy: Policy, key: jax.Array, num_policies: int, episodes: int
) -> Callable[[int, Any], dict[str, jax.Array]]:
    """A compiled function of a generation and B policies, leaves [B, ...]: their metrics by name.

    These are averages over n episodes of each, float32 [B]. The episodes depend on the key, the
    generation and the number of the policy, nothing else: policies of two classes meet the same
    patients under one key and generation.
    """
    example = jax.tree.map(
        lambda x: jax.ShapeDtypeStruct((num_policies, *x.shape), x.dtype), policy.example()
    )
    rollout = Rollout(task.env, policy, Both(task.fold, Return()))
    sizes = rollout, task.measure, episodes
    if num_policies * episodes <= _FEW_EPISODES:
        return functools.partial(_measure_few, sizes, task.env_params, key, num_policies)
    arguments = key, np.uint32(0), example, task.env_params
    program = compile_ahead(_evaluate, *sizes, *arguments)
    return lambda generation, thetas: program(key, np.uint32(generation), thetas, task.env_params)


def _measure_few(
    sizes: Any, env_params: Any, key: jax.Array, num_policies: int, generation: int, thetas: Any
) -> dict[str, jax.Array]:
    numbers = np.arange(num_policies, dtype=np.uint32)
    chance = key, np.full_like(numbers, generation), numbers
    wanted, policies = np.ones(num_policies, bool), PolicyInTask(thetas, env_params)
    return evaluate_lanes(sizes, _ROUNDS, chance, policies, wanted)


@dataclasses.dataclass(frozen=True)
class _Several:
    """Policies that meet the same chance, which is drawn once: theta, and outcomes, are [P, ...].

    So there is little left to do, and what is compiled in haste will do.
    """

    rollout: Rollout
    level: ClassVar[int] = 0  # of XLA, as ``draw_rows`` asks for it

    def __call__(self, key: jax.Array, option: PolicyInTask) -> Any:
        def play(theta: Any) -> Any:
            return self.rollout(key, PolicyInTask(theta, option.env_params))

        return jax.vmap(play)(option.theta)


def _measure_each(measure: Callable[..., dict[str, jax.Array]], *met: Any) -> dict[str, jax.Array]:
    """The metrics, [P], of what P policies met, [n, P, ...]."""
    return jax.vmap(measure, 1)(*met)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _evaluate(
    rollout: Rollout,
    measure: Any,
    episodes: int,
    key: jax.Array,
    generation: jax.Array,
    thetas: Any,
    env_params: Any,
) -> dict[str, jax.Array]:
    def evaluate_one(number: jax.Array, theta: Any) -> dict[str, jax.Array]:
        own_key = jax.random.fold_in(jax.random.fold_in(key, generation), number)
        return measure(*evaluate(rollout, own_key, PolicyInTask(theta, env_params), episodes))

    num_policies = jax.tree.leaves(thetas)[0].shape[0]
    return jax.vmap(evaluate_one)(jnp.arange(num_policies, dtype=jnp.uint32), thetas)


def evaluate_lanes(
    sizes: tuple[Any, Callable[..., dict[str, jax.Array]], int],
    num_rounds: int,
    chance: tuple[jax.Array, Any, Any],
    policies: PolicyInTask,
    wanted: np.ndarray,
) -> dict[str, jax.Array]:
    """The metrics of B policies as ``evaluator`` finds them, by the program that draws for races.

    Args:
        sizes: What is played, ``Task.measure`` of it, and n.
        num_rounds: Episodes of a policy that are drawn at once.
        chance: The key of all evaluations, and the generation and number of each policy, [B].
        policies: Theta with leaves [B, ...], and the simulator's params of all.
        wanted: bool [B]; the metrics of others are those of zeros.
    """
    rollout, measure, episodes = sizes
    pieces = -(-episodes // num_rounds)
    shape = len(wanted), pieces

    def of_pieces(x: Any) -> np.ndarray:
        x = np.asarray(x)
        return np.broadcast_to(x[:, None], (*shape, *x.shape[1:]))

    thetas = jax.tree.map(of_pieces, policies.theta)
    env_params = jax.tree.map(
        lambda x: np.broadcast_to(x, (*shape, *np.shape(x))), policies.env_params
    )
    first = np.broadcast_to(np.arange(0, episodes, num_rounds, dtype=np.int32), shape)
    rows = _piece_keys(pieces, *chance), PolicyInTask(thetas, env_params), first
    drawn = drawing.draw_rows(rollout, num_rounds, rows, of_pieces(wanted))
    return _measure_lanes(measure, episodes, drawn)


@bounded_jit(1, work=brief)
def _piece_keys(
    pieces: int, key: jax.Array, generations: jax.Array, numbers: jax.Array
) -> jax.Array:
    """[B, pieces]."""

    def of_policy(generation: jax.Array, number: jax.Array) -> jax.Array:
        own = jax.random.fold_in(jax.random.fold_in(key, generation), number)
        return jnp.broadcast_to(own, pieces)

    return jax.vmap(of_policy)(generations, numbers)


@bounded_jit(2, work=brief)
def _measure_lanes(
    measure: Callable[..., dict[str, jax.Array]], episodes: int, drawn: Any
) -> dict[str, jax.Array]:
    """The metrics of what B policies met in their pieces, [B, pieces, rounds, ...]."""

    def of_policy(drawn: Any) -> dict[str, jax.Array]:
        joined = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:])[:episodes], drawn)
        return measure(*joined)

    return jax.vmap(of_policy)(drawn)


def evaluate_fixed(
    config: TrainConfig,
    task: Task,
    key: jax.Array,
    seconds: Seconds,
    further: tuple[float, ...] = (),
) -> dict[str, Metrics]:
    """Metrics [B], by policy, of the baselines and of the method itself if it learns nothing.

    All of them meet the same patients, those of generation 0, which no learned policy meets.
    """
    own = (config.action,) if config.method == "constant" else ()
    actions = {*task.actions, *own, *further}
    # One program for all: a constant action is a choice among equal ones.
    size = len(task.actions)
    choices = {_constant_name(action): (action,) * size for action in sorted(actions)}
    choices["random"] = task.actions
    policy = UniformChoice(size)
    if config.repeats * config.test_patients <= _FEW_EPISODES:
        several = _Several(Rollout(task.env, policy, Both(task.fold, Return())))
        sizes = several, functools.partial(_measure_each, task.measure), config.test_patients
        thetas = np.array(list(choices.values()), np.float32)
        thetas = np.broadcast_to(thetas, (config.repeats, *thetas.shape))
        with seconds.spent("run"):
            found = _measure_few(sizes, task.env_params, key, config.repeats, 0, thetas)
            columns = {metric: np.asarray(found[metric]) for metric in task.labels}
        return {
            name: {metric: column[:, number] for metric, column in columns.items()}
            for number, name in enumerate(choices)
        }
    with seconds.spent("compile"):
        measure = evaluator(task, policy, key, config.repeats, config.test_patients)
    with seconds.spent("run"):
        metrics = {
            name: measure(0, np.tile(np.array(choice, np.float32), (config.repeats, 1)))
            for name, choice in choices.items()
        }
        return {
            name: {metric: np.asarray(values[metric]) for metric in task.labels}
            for name, values in metrics.items()
        }


def fixed_name(config: TrainConfig) -> str:
    """The policy of a method, in words."""
    return _constant_name(config.action) if config.method == "constant" else config.method


def _constant_name(action: float) -> str:
    return f"constant {action:g}"
