"""The user's own environment, `module:name`, as a training task. A actions, d numbers observed."""

import dataclasses
import functools
import importlib
import os
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.agents.bases import PerAction
from jaxrace.agents.outcomes import Return
from jaxrace.agents.policies import Policy, Softmax
from jaxrace.agents.rollout import PolicyInTask, Rollout
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.tasks import Task
from jaxrace.core.inputs import require_default
from jaxrace.core.validation import BadArgument, require_integer
from jaxrace.envs import Environment, check

_MOST_ACTIONS = 1_000
_MOST_SHOWN = 5  # numbers of an outcome in the table and the figure; log.csv has all


def own_task(config: TrainConfig) -> Task:
    """A search by returns, or by a preference for larger ones, unless the environment says more.

    It needs ``num_actions``, for actions 0 to A - 1, or a ``policy``; it may have ``fold`` and
    ``compare``, and a ``return_range`` for method edps. ValueError if it breaks the contract.
    """
    for name in ("hazard", "coefficients", "reward"):
        require_default(name, config, f"with {config.env}: it is of the medical task")
    env = load_environment(config.env)
    count = getattr(env, "num_actions", getattr(getattr(env, "env", None), "num_actions", None))
    if count is not None:
        require_integer("num_actions", count, 2, _MOST_ACTIONS)
    actions = tuple(range(count or 0))
    policy = _checked_policy(env, config.env, count)
    if not config.learns and not actions:
        wanted = f"a method that learns, as {config.env} has no num_actions"
        raise BadArgument("method", wanted, repr(config.method))
    if config.method == "constant" and config.action not in actions:
        raise BadArgument("action", f"an integer from 0 to {len(actions) - 1}", repr(config.action))
    fold, measure = getattr(env, "fold", Return()), _Means()
    if not isinstance(fold, Return):
        measure = _means_of(Rollout(env, policy, fold))
    names = dict(zip(measure.columns, measure.labels, strict=True))
    # The larger of two outcomes that are one number is better, unless the environment compares.
    is_score = names.keys() == {"outcome"} and not hasattr(env, "compare")
    ends = getattr(env, "return_range", None)
    if config.method == "edps" and ends is None:
        raise BadArgument(
            "env", "a return_range (low, high) for method edps", f"none, {config.env}"
        )
    return Task(
        env=env,
        env_params=env.default_params,
        policy=policy,
        fold=fold,
        compare=getattr(env, "compare", kernels.total_order),
        value_range=1.0 if ends is None else float(ends[1] - ends[0]),
        measure=measure,
        labels={**names, "mean_return": "return"},
        shown=(*measure.columns[:_MOST_SHOWN], "mean_return"),
        objective="outcome" if is_score else "mean_return",
        smaller=(),
        actions=actions,
        preference=f"`compare` of {config.env}" if hasattr(env, "compare") else "",
    )


def load_environment(path: str) -> Any:
    """The object `module:name`, or what a function or class of that name returns.

    Modules are looked for in the current folder, too. Other errors of a module are not caught.
    """
    module, _, name = path.partition(":")
    if (here := os.getcwd()) not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        got = f"no module {error.name}, neither installed nor in {here}"
        raise BadArgument("env", "module:name of an environment", got) from error
    try:
        found: Any = functools.reduce(getattr, name.split("."), found)
    except AttributeError as error:
        raise BadArgument("env", f"{name} in {module}", f"none: {error}") from error
    if isinstance(found, type) or not hasattr(found, "reset"):
        try:
            found = found()
        except TypeError as error:
            wanted = f"an environment, or what makes one without arguments, as {name}"
            raise BadArgument("env", wanted, str(error)) from error
    return found


def _checked_policy(env: Environment, path: str, count: int | None) -> Policy:
    """The environment's policy, or a softmax of linear utilities; the contract is checked."""
    policy, seen = getattr(env, "policy", None), None
    if policy is None and count is None:
        hint = ", nor a policy, as of jaxrace.agents.policies"
        raise BadArgument("env", "num_actions, for actions 0, 1, ...", f"none in {path}", hint)
    try:
        seen = env.observe(env.reset(jax.random.key(0), env.default_params), env.default_params)
        policy = policy or Softmax(PerAction(count or 0), ((count or 0) - 1) * (jnp.size(seen) + 1))
        theta = jax.tree.map(jnp.asarray, policy.example())
        action = policy(theta, seen, jax.random.key(0))
    except Exception:
        check(env, 0)  # says what is missing in the environment, if it is that
        raise
    check(env, action)
    return policy


@dataclasses.dataclass(frozen=True)
class _Means:
    """What is measured: the return, and those leaves of an outcome that are a number each."""

    leaves: tuple[int, ...] = ()  # their places in the outcome
    columns: tuple[str, ...] = ()  # their names in log.csv
    labels: tuple[str, ...] = ()  # and in the table

    def __call__(self, outcomes: Any, returns: jax.Array) -> dict[str, jax.Array]:
        """Averages, float32 [], of outcomes, leaves [n, ...], and returns [n]."""
        every = jax.tree.leaves(outcomes)
        found = {
            name: every[place].astype(jnp.float32).mean()
            for name, place in zip(self.columns, self.leaves, strict=True)
        }
        return {**found, "mean_return": returns.mean()}


def _means_of(rollout: Rollout) -> _Means:
    """What is measured of the outcomes of a rollout."""
    theta = jax.tree.map(jnp.asarray, rollout.policy.example())
    option = PolicyInTask(theta, rollout.env.default_params)
    outcome = jax.eval_shape(rollout, jax.random.key(0), option)
    found = {}
    for place, (path, leaf) in enumerate(jax.tree_util.tree_leaves_with_path(outcome)):
        if not leaf.shape and np.dtype(leaf.dtype).kind in "biuf":
            found[place] = jax.tree_util.keystr(path, simple=True, separator=".")
    columns = [f"outcome_{name}" if name else "outcome" for name in found.values()]
    labels = [name or "outcome" for name in found.values()]
    return _Means(tuple(found), tuple(columns), tuple(labels))
