"""Selections that are simulated: from wins, and from scores. Axes: J selections, K options."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels, selection
from jaxrace.selection.driver import Compare
from papers.selections.runs import Task, problem_keys

CIRCLE = 0.1  # how much a circle adds to the chances of its problem


def chances(key: jax.Array, num_options: int, cycle: float) -> jax.Array:
    """p_ij = 1 / (1 + exp(-2 (q_i - q_j))) of qualities uniform in [0, 1], and a circle: [K, K].

    Everybody beats the half that follows it by ``cycle`` more, at most .1. The circle adds nothing
    to Borda's scores, so that the best remain the same.
    """
    quality_key, order_key = jax.random.split(key)
    qualities = jax.random.uniform(quality_key, (num_options,), jnp.float32)
    place = jax.random.permutation(order_key, num_options)
    ahead = (place[None, :] - place[:, None]) % num_options
    follows = jnp.where(2 * ahead < num_options, 1.0, -1.0)
    circle = jnp.where((ahead == 0) | (2 * ahead == num_options), 0.0, follows) * cycle
    order = jax.nn.sigmoid(2 * (qualities[:, None] - qualities[None, :]))
    return order + circle


class Plan(NamedTuple):
    """How much is selected from what, and how often."""

    seed: int
    repeats: int  # J
    options: int  # K
    top: int  # k
    budget: int  # as in ``Task``
    interval: int


def wins_task(name: str, plan: Plan, cycle: float = 0.0) -> Task:
    """J selections from wins by ``chances``."""
    make = jax.vmap(functools.partial(chances, num_options=plan.options, cycle=cycle))
    problems = make(problem_keys(plan.seed, plan.repeats))
    return task_of(name, plan, selection.win, problems, problems)


def thurstone_task(
    name: str,
    plan: Plan,
    noise: float = 0.0,
    first: float | None = None,
    uniform: Any = "variance",  # or "deviation"
) -> Task:
    """J selections from the scores of ``selection.thurstone``."""
    make = functools.partial(
        selection.thurstone, num_options=plan.options, first=first, uniform=uniform
    )
    keys = problem_keys(plan.seed, plan.repeats)
    problems: Any = jax.vmap(lambda key: make(key, noise=noise))(keys)
    if first is not None:
        # The best is not always the first: places matter in a tournament.
        problems = jax.jit(jax.vmap(_shuffled))(keys, problems)
    return task_of(name, plan, selection.normal_score, problems, problems.means)


def task_of(name: str, plan: Plan, compare: Compare, problems: Any, means: jax.Array) -> Task:
    """A task whose best k are those by Borda's score of scores or chances to win [J, K, K]."""
    best = jax.vmap(functools.partial(selection.borda_top, top=plan.top))(means)
    return Task(name, compare, problems, np.asarray(best), plan.budget, plan.interval)


def _shuffled(key: jax.Array, problem: selection.NormalScores) -> selection.NormalScores:
    key = jax.random.fold_in(key, jnp.uint32(2))
    order = jax.random.permutation(key, problem.means.shape[0])
    return jax.tree.map(lambda x: x[order][:, order], problem)


def with_own_target(task: Task, selector: selection.Selector) -> Task:
    """The same, with the best by the selector's own target.

    ``ActiveRanking`` and ``PairwiseRace`` count wins alone: they do not look for the best mean
    score, but for those that win most often, or what else the race's ranking says.
    """
    if (
        not isinstance(selector, selection.ActiveRanking | selection.PairwiseRace)
        or selector.outcome != "wins"
    ):
        return task
    if isinstance(task.problems, selection.NormalScores):
        means, deviations = task.problems.means, task.problems.deviations
        chances = jax.scipy.stats.norm.cdf(means / jnp.where(deviations > 0, deviations, 1))
    elif task.compare is selection.win:
        chances = task.problems
    else:
        return task
    ranking = selector.ranking if isinstance(selector, selection.PairwiseRace) else "borda"
    best = jax.vmap(functools.partial(best_by, ranking=ranking, top=task.top))(chances)
    return dataclasses.replace(task, truth=np.asarray(best))


def best_by(chances: jax.Array, ranking: str, top: int) -> jax.Array:
    """The best k by a ranking of ``PairwiseRace``, from how likely i wins against j: bool [K]."""
    if ranking == "borda":
        return selection.borda_top(chances, top)
    apart = ~jnp.eye(chances.shape[-1], dtype=bool)
    if ranking == "random_walk":
        walk = kernels.transition_matrix(jnp.where(apart, chances, 0.5))
        return kernels.in_top(kernels.long_run(walk)[0], top)
    beaten = jnp.where(apart, chances > 0.5, False).sum(-1)
    # Of options that beat as many others, the better one by Borda, as the race selects.
    shares = jnp.where(apart, chances, 0).mean(-1)
    return kernels.in_top(beaten.astype(shares.dtype) + shares, top)
