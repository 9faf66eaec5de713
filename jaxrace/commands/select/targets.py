"""Who is best by what a selector with a guarantee looks for. Axes: J selections, K options."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels, selection
from jaxrace.commands.select.runs import Task


def with_own_target(task: Task, selector: selection.Selector) -> Task:
    """The same, with the best by the selector's own target.

    Selectors that count wins alone look for other options than those of the best mean score:
    ``ActiveRanking`` and ``PairwiseRace`` for those that win most often, or whatever else the
    race's ranking says. All others look for what the task says.
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
    """The best k by a ranking of ``PairwiseRace``, bool [K].

    Of p_ij, how likely i wins against j; ``ranking`` is "borda", "copeland" or "random_walk".
    """
    if ranking == "borda":
        return selection.borda_top(chances, top)
    apart = ~jnp.eye(chances.shape[-1], dtype=bool)
    if ranking == "random_walk":
        walk = kernels.long_run(kernels.transition_matrix(jnp.where(apart, chances, 0.5)))
        return kernels.in_top(walk.visits, top)
    beaten = jnp.where(apart, chances > 0.5, False).sum(-1)
    # Of options that beat as many others, the better one by Borda, as the race selects.
    shares = jnp.where(apart, chances, 0).mean(-1)
    return kernels.in_top(beaten.astype(shares.dtype) + shares, top)
