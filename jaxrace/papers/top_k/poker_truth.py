"""What all stored hands of hold'em players say: Groves and Branke, figure 7.

Axes: P populations, K players, S scores of a pair.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import plots
from jaxrace.commands.workbench import Columns, mean_and_error, mean_in_words
from jaxrace.selection import borda_top

PUBLISHED_PAIRS = 11.1


class Truth(NamedTuple):
    """What all stored hands say."""

    means: np.ndarray  # float64 [P, K, K], big blinds per deck
    errors: np.ndarray  # float64 [P, K, K], standard errors
    variances: np.ndarray  # float64 [P, K, K]
    order: np.ndarray  # int [P, K], players from the best by all winnings to the worst
    best: np.ndarray  # bool [P, K]


def truth_of(scores: np.ndarray, top: int) -> Truth:
    """Ranks the players by what they have won from all others together: scores [P, K, K, S]."""
    wide = scores.astype(np.float64)
    means, errors = mean_and_error(wide)
    order = np.argsort(-means.sum(-1), axis=-1, kind="stable")
    best = np.asarray(jax.vmap(lambda one: borda_top(one, top))(jnp.asarray(means, jnp.float32)))
    return Truth(means, errors, wide.var(-1, ddof=1), order, best)


def against_the_order(truth: Truth) -> np.ndarray:
    """How many pairs of each population are lost by the one with the better rank: int [P]."""
    return (np.triu(_in_order(truth.means, truth.order), 1) < 0).sum((-1, -2))


def _in_order(matrices: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Rows and columns of [P, K, K] by rank."""
    rows = np.take_along_axis(matrices, order[:, :, None], 1)
    return np.take_along_axis(rows, order[:, None, :], 2)


def matrix_columns(truth: Truth) -> Columns:
    """A row for each pair, by rank."""
    count, players = truth.order.shape
    upper = np.triu_indices(players, 1)
    first, second = (truth.order[:, places] for places in upper)
    populations = np.repeat(np.arange(count), len(upper[0]))
    pair = populations, first.ravel(), second.ravel()
    return {
        "population": populations + 1,
        "rank": np.tile(upper[0] + 1, count),
        "other_rank": np.tile(upper[1] + 1, count),
        "big_blinds_per_deck": truth.means[pair],
        "stderr": truth.errors[pair],
        "variance": truth.variances[pair],
    }


def heat_maps(truth: Truth) -> "plots.Figure":
    """The means of all pairs by rank, a panel for each population."""
    from matplotlib.colors import AsinhNorm

    count = len(truth.order)
    figure, panels = plots.grid(count, 5, (2.9, 2.9), (1, 0.5))
    means, wrong = _in_order(truth.means, truth.order), against_the_order(truth)
    limit = float(np.abs(means).max())
    image = None
    for number, panel in enumerate(panels):
        norm = AsinhNorm(0.1, -limit, limit)
        image = panel.imshow(means[number], cmap="RdBu", norm=norm)
        panel.set_title(f"{number + 1}: {wrong[number]} pairs against the order", fontsize=9)
        panel.set(xlabel="rank of the opponent", ylabel="rank")
        ticks = np.arange(means.shape[-1])
        panel.set_xticks(ticks, ticks + 1, fontsize=7)
        panel.set_yticks(ticks, ticks + 1, fontsize=7)
    if image is not None:
        figure.colorbar(image, ax=panels, label="big blinds per deck, two hands")
    return figure


def sentences(truth: Truth) -> str:
    """How many pairs go against the order, how surely, and how much variances differ."""
    players = truth.order.shape[1]
    wrong, pairs = against_the_order(truth), players * (players - 1) // 2
    upper = np.triu_indices(players, 1)
    means, errors = (_in_order(x, truth.order) for x in (truth.means, truth.errors))
    sure = (means < -2 * errors)[:, upper[0], upper[1]].sum(-1)
    variances = truth.variances[:, upper[0], upper[1]]
    ratios = variances.max(-1) / np.maximum(variances.min(-1), 1e-12)
    return (
        "Pairs in which the player with the better rank loses: "
        f"{mean_in_words(wrong.astype(float), 1)} of {pairs} on average (published: "
        f"{PUBLISHED_PAIRS} of 45), by population {', '.join(map(str, wrong))}. By more than two "
        f"standard errors: {sure.mean():.1f}. The largest variance of a pair is, in the median "
        f"population, {np.median(ratios):,.0f} times the smallest (the paper: up to 40,000); "
        f"{int((variances == 0).sum())} pairs never scored anything but the same."
    )
