"""Selections from wins and from single performances. Axes: J selections, K options."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import selection
from jaxrace.commands.select.config import SelectConfig
from jaxrace.commands.select.runs import Task, problem_keys
from jaxrace.envs.options import Normal
from jaxrace.papers.preference_racing.trials import AnyTask

# How much a circle adds to the chances of its problem.
CIRCLE = 0.1

# See ``ScoreSelector``. Of wins 1, 2 and 4 are about as good and 0 is not; of scores it helps some
# methods and makes hardly a difference to the others (docs/top_k_selection.md).
POOLED_SAMPLES = SelectConfig.pooled_samples

# k of the normal task of races.
COMPLEXITY = 2.0


def chances(key: jax.Array, num_options: int, cycle: float) -> jax.Array:
    """p_ij of wins, [K, K]: of a total order, or with a circle that hides it.

    Options have qualities uniform in [0, 1], and p_ij = 1 / (1 + exp(-2 (q_i - q_j))) + a circle:
    everybody beats the half that follows it by ``cycle`` more, at most .1. The circle adds nothing
    to Borda's scores, so that the best remain the same.

    >>> found = chances(jax.random.key(0), 5, 0.1)
    >>> bool((abs(found + found.T - 1) < 1e-6).all())
    True
    """
    quality_key, order_key = jax.random.split(key)
    qualities = jax.random.uniform(quality_key, (num_options,), jnp.float32)
    place = jax.random.permutation(order_key, num_options)
    ahead = (place[None, :] - place[:, None]) % num_options
    follows = jnp.where(2 * ahead < num_options, 1.0, -1.0)
    circle = jnp.where((ahead == 0) | (2 * ahead == num_options), 0.0, follows) * cycle
    order = jax.nn.sigmoid(2 * (qualities[:, None] - qualities[None, :]))
    return order + circle


def wins_task(
    name: str,
    seed: int,
    repeats: int,
    sizes: tuple[int, int],
    budget: int,
    interval: int,
    cycle: float,
) -> Task:
    """Selections from wins; the same problems for all methods.

    Args:
        name: Of the task.
        seed: Of the problems.
        repeats: J.
        sizes: K and k.
        budget: Comparisons.
        interval: Of the records.
        cycle: See ``chances``.

    >>> wins_task("1 of 3", 0, 5, (3, 1), 30, 5, 0.0).truth.sum(1).tolist()
    [1, 1, 1, 1, 1]
    """
    make = jax.vmap(functools.partial(chances, num_options=sizes[0], cycle=cycle))
    problems = make(problem_keys(seed, repeats))
    truth = jax.vmap(functools.partial(selection.borda_top, top=sizes[1]))(problems)
    return Task(name, selection.win, problems, np.asarray(truth), budget, interval)


def performance_task(
    name: str, seed: int, repeats: int, sizes: tuple[int, int], budget: int, interval: int
) -> Task:
    """Every comparison is of two fresh performances, N(m_i, v_i) with m, v ~ U[0, 1].

    The problems are those of races: see ``RaceTrials``.

    Args:
        name: Of the task.
        seed: Of the problems.
        repeats: J.
        sizes: K and k.
        budget: Comparisons.
        interval: Of the records.

    >>> performance_task("1 of 3", 0, 5, (3, 1), 30, 5).truth.sum(1).tolist()
    [1, 1, 1, 1, 1]
    """
    options = _performers(np.uint32(seed), repeats, sizes[0])
    means = options.mean[:, :, None] - options.mean[:, None, :]
    deviations = jnp.sqrt(options.variance[:, :, None] + options.variance[:, None, :])
    truth = jax.vmap(functools.partial(selection.borda_top, top=sizes[1]))(means)
    problems = selection.NormalScores(means, deviations)
    return Task(name, selection.normal_score, problems, np.asarray(truth), budget, interval)


@functools.partial(jax.jit, static_argnums=(1, 2))
def _performers(seed: jax.Array, repeats: int, num_options: int) -> Any:
    """The options that ``RaceTrials`` draws, so that races have the same ones."""

    def draw(number: jax.Array) -> Any:
        own = jax.random.split(jax.random.fold_in(jax.random.key(seed), number))[0]
        task = AnyTask((Normal(),))
        return task.draw(own, jnp.int32(0), jnp.float32(COMPLEXITY), num_options)[1][0]

    return jax.vmap(draw)(jnp.arange(repeats, dtype=jnp.uint32))
