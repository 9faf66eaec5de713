"""What stored hands say: the report. Axes: P populations, K players, S scores, J selections."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import plots
from jaxrace.commands.holdem.matches import STRENGTH_ERROR, STRENGTH_SAMPLES
from jaxrace.commands.select.curves import Curve, success_in_words, success_table
from jaxrace.commands.workbench import Columns, mean_and_error, mean_in_words, with_error
from jaxrace.papers.top_k.poker_matches import DELTA, PASSES, Races
from jaxrace.selection import borda_top
from jaxrace.tables import markdown_table


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
        panel.imshow(means[number], cmap="RdBu", norm=norm)
        panel.set_title(f"{number + 1}: {wrong[number]} pairs against the order", fontsize=9)
        panel.set(xlabel="rank of the opponent", ylabel="rank")
        ticks = np.arange(means.shape[-1])
        panel.set_xticks(ticks, ticks + 1, fontsize=7)
        panel.set_yticks(ticks, ticks + 1, fontsize=7)
    figure.colorbar(panels[-1].images[0], ax=panels, label="big blinds per deck, two hands")
    return figure


def _pairs(truth: Truth) -> str:
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


class Findings(NamedTuple):
    """What is reported."""

    truth: Truth
    decks: int  # of a pass
    stored: dict[str, Curve]  # selections from stored hands, by method
    beyond: dict[str, np.ndarray]  # by hybrid, of records [J, T]: is the index beyond its limit?
    races: Races  # one of each selection and capacity
    preferred: np.ndarray  # bool [P, K], whom a race looks for
    live: dict[str, Curve]  # selections that play for themselves


def paragraphs(found: Findings) -> list[str]:
    """The text, with what was measured in it."""
    count, players = found.truth.order.shape
    top = int(found.truth.best[0].sum())
    looks = np.quantile(next(iter(found.stored.values())).time, (0, 0.25, 0.5, 1)).astype(int)
    return [
        f"{count} populations of {players} players with random weights, "
        f"{PASSES * 2 * found.decks:,} hands of each pair. A comparison is one deck, played twice; "
        "its score is in big blinds. The strength of a hand before the turn is estimated from "
        f"{STRENGTH_SAMPLES:,} boards and hands of the opponent (standard error at most "
        f"{STRENGTH_ERROR:.3f}).",
        "![Means of all pairs](figure_7.png)",
        _pairs(found.truth),
        f"## Success rate, top {top} of {players}",
        "![Success rates](figure_8.png)",
        f"Means of all populations, {len(found.races.selected) // count:,} selections of each, "
        "from stored hands drawn with replacement:",
        success_table(found.stored, looks.tolist(), "comparisons"),
        "Records with an intransitivity index beyond the limit:",
        _index(found.beyond),
        "## The dominance race",
        "It looks for players whose scores are larger than those of others more often than not, "
        f"which are those who win the most in {int(_are_same(found).sum())} of {count} "
        f"populations. A certificate may be wrong with probability {DELTA}.",
        _race(found),
        "## Stored hands and hands that are played",
        _live(found),
    ]


def _index(beyond: dict[str, np.ndarray]) -> str:
    rows = []
    for name, records in beyond.items():
        places = np.linspace(0, records.shape[1] - 1, 3).astype(int)
        shares = records.mean(), *records[:, places].mean(0)
        rows.append([name, *(f"{share:.1%}" for share in shares)])
    return markdown_table(("method", "all", "first", "middle", "last"), rows)


def _are_same(found: Findings) -> np.ndarray:
    return (found.preferred == found.truth.best).all(1)


def _race(found: Findings) -> str:
    races = found.races
    repeats = len(races.selected) // len(found.preferred)
    curve, own = (races.curve(x.repeat(repeats, 0)) for x in (found.truth.best, found.preferred))
    rows = [
        [
            str(capacity),
            f"{curve.time[place]:,.0f}",
            *(with_error(*(x[place] for x in one.success), digits=3) for one in (curve, own)),
            f"{races.certified[:, place].mean():.1%}",
            f"{(races.certified & ~own.correct)[:, place].mean():.1%}",
        ]
        for place, capacity in enumerate(races.capacities)
    ]
    heads = ("most samples of a player", "comparisons, mean", "finds who wins most")
    return markdown_table(
        (*heads, "finds what it looks for", "certified", "certified wrongly"), rows
    )


def _live(found: Findings) -> str:
    """Where a selection plays, it has a match of each pair from its first hand on."""
    first = next(iter(found.live.values()))
    end = first.time[-1]
    # A quick look has left some methods out.
    stored = {name: success_in_words(curve, end) for name, curve in found.stored.items()}
    rows = [
        [name, stored.get(name, ""), success_in_words(curve, end)]
        for name, curve in found.live.items()
    ]
    played = f"played, {len(first.correct):,} selections"
    return markdown_table((f"after {end:,.0f} comparisons", "stored", played), rows)
