"""What stored hands say. Axes: P populations, K players, S scores, J selections, T records."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.answers import style
from jaxrace.runs import plots
from jaxrace.runs.tables import markdown_table
from jaxrace.selection import borda_top
from papers.top_k.poker_matches import Races
from papers.workbench import Columns, mean_and_error, mean_in_words, with_error


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
    for number, panel in enumerate(panels):
        norm = AsinhNorm(0.1, -limit, limit)
        panel.grid(visible=False)
        panel.imshow(means[number], cmap=style.FOR_AND_AGAINST, norm=norm)
        panel.set_title(f"{number + 1}: {wrong[number]} pairs against the order", fontsize=9)
        panel.set(xlabel="rank of the opponent", ylabel="rank")
        ticks = np.arange(means.shape[-1])
        panel.set_xticks(ticks, ticks + 1, fontsize=7)
        panel.set_yticks(ticks, ticks + 1, fontsize=7)
    figure.colorbar(panels[-1].images[0], ax=panels, label="big blinds per deck, two hands")
    return figure


def pairs_table(truth: Truth) -> str:
    """How many pairs go against the order, how surely, and how much variances differ."""
    players = truth.order.shape[1]
    wrong, upper = against_the_order(truth), np.triu_indices(players, 1)
    means, errors = (_in_order(x, truth.order) for x in (truth.means, truth.errors))
    sure = (means < -2 * errors)[:, upper[0], upper[1]].sum(-1)
    variances = truth.variances[:, upper[0], upper[1]]
    ratios = variances.max(-1) / np.maximum(variances.min(-1), 1e-12)
    rows = [
        ("lost by the better rank", mean_in_words(wrong.astype(float), 1), "11.1 of 45"),
        ("by more than two standard errors", f"{sure.mean():.1f}", ""),
        ("largest variance by the smallest, median", f"{np.median(ratios):,.0f}", "up to 40,000"),
        ("never scored anything but the same", int((variances == 0).sum()), ""),
    ]
    return markdown_table((f"of {players * (players - 1) // 2} pairs", "here", "published"), rows)


def index_table(beyond: dict[str, np.ndarray]) -> str:
    """How often the index of hybrids is beyond its limit, of records [J, T]."""
    rows = []
    for name, records in beyond.items():
        places = np.linspace(0, records.shape[1] - 1, 3).astype(int)
        shares = records.mean(), *records[:, places].mean(0)
        rows.append([name, *(f"{share:.1%}" for share in shares)])
    return markdown_table(("method", "all", "first", "middle", "last"), rows)


def races_table(races: Races, best: np.ndarray, preferred: np.ndarray) -> str:
    """What races find, given who wins most and whom a race looks for: bool [P, K] each."""
    repeats = len(races.selected) // len(best)
    curve, own = (races.curve(x.repeat(repeats, 0)) for x in (best, preferred))
    rows = []
    for place, capacity in enumerate(races.capacities):
        found = (with_error(*(x[place] for x in one.success), digits=3) for one in (curve, own))
        certified = races.certified[:, place]
        wrong = certified & ~own.correct[:, place]
        shares = f"{certified.mean():.1%}", f"{wrong.mean():.1%}"
        rows.append([capacity, f"{curve.time[place]:,.0f}", *found, *shares])
    heads = ("most samples of a player", "comparisons, mean", "finds who wins most")
    more = ("finds what it looks for", "certified", "certified wrongly")
    return markdown_table((*heads, *more), rows)
