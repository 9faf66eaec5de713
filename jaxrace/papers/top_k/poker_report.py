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


def _sentences(truth: Truth) -> str:
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
    selections = len(found.races.selected)
    return [
        f"{count} populations of {players} players with random weights, "
        f"{PASSES * 2 * found.decks:,} hands of each pair: {found.decks:,} decks, played with "
        "players and cards exchanged, in two passes with the other hand on the button. Players "
        "forget between the passes. A comparison is one deck, played twice; its score is in big "
        f"blinds. The strength of a hand before the turn is estimated from {STRENGTH_SAMPLES:,} "
        f"boards and hands of the opponent (standard error at most {STRENGTH_ERROR:.3f}).",
        "![Means of all pairs](figure_7.png)",
        _sentences(found.truth),
        f"## Success rate, top {_top(found)} of {players}",
        "![Success rates](figure_8.png)",
        f"Means of all populations, {selections // count:,} selections of each, from stored hands "
        "drawn with replacement; of methods that end by themselves, on the straight line between "
        "two settings:",
        _rates(found.stored),
        "The paper has figures, no numbers.",
        *(_index(name, beyond) for name, beyond in found.beyond.items()),
        "## The dominance race",
        *_race(found),
        "## Stored hands and hands that are played",
        *_live(found),
    ]


def _top(found: Findings) -> int:
    return int(found.truth.best[0].sum())


def _rates(curves: dict[str, Curve]) -> str:
    times = next(iter(curves.values())).time
    looks = [int(time) for time in np.quantile(times, (0, 0.25, 0.5, 1))]
    return success_table(curves, looks, "comparisons")


def _index(name: str, beyond: np.ndarray) -> str:
    places = np.linspace(0, beyond.shape[1] - 1, 3).astype(int)
    shares = ", ".join(f"{share:.1%}" for share in beyond[:, places].mean(0))
    return (
        f"Intransitivity index beyond the limit, {name}: {beyond.mean():.1%} of all records; at "
        f"the first, the middle and the last record {shares}."
    )


def _race(found: Findings) -> list[str]:
    races, count = found.races, len(found.preferred)
    repeats = len(races.selected) // count
    curve = races.curve(found.truth.best.repeat(repeats, axis=0))
    own = races.curve(found.preferred.repeat(repeats, axis=0))
    rows = [
        [
            str(capacity),
            f"{curve.time[place]:,.0f}",
            with_error(*(x[place] for x in curve.success), digits=3),
            with_error(*(x[place] for x in own.success), digits=3),
            f"{races.certified[:, place].mean():.1%}",
            f"{(races.certified & ~own.correct)[:, place].mean():.1%}",
        ]
        for place, capacity in enumerate(races.capacities)
    ]
    same = int((found.preferred == found.truth.best).all(1).sum())
    heads = ("most samples of a player", "comparisons, mean", "finds who wins most")
    return [
        "A sample of a player is a score against another one, drawn at random, and is one "
        "comparison. The race looks for players whose scores are larger than those of others more "
        "often than not, which need not be those who win the most chips: the same "
        f"{_top(found)} in {same} of {count} populations. A certificate may be wrong with "
        f"probability {DELTA}.",
        markdown_table((*heads, "finds what it looks for", "certified", "certified wrongly"), rows),
    ]


def _live(found: Findings) -> list[str]:
    live, (count, players) = found.live, found.truth.order.shape
    first = next(iter(live.values()))
    end, pairs = first.time[-1], players * (players - 1) // 2
    # A quick look has left some methods out.
    stored = {name: success_in_words(curve, end) for name, curve in found.stored.items()}
    rows = [[name, stored.get(name, ""), success_in_words(live[name], end)] for name in live]
    return [
        "A stored hand is drawn whenever it was played, so that players know each other as they "
        "did then; a selection that plays has a match of each pair from its first hand on, with "
        f"decks of its own. After {end:,.0f} comparisons a pair has played {end / pairs:.0f} decks "
        f"on average. {len(first.correct) // count:,} selections of each population play (the "
        "paper repeats 500 times):",
        markdown_table(("method", "stored", f"played, {len(first.correct):,} selections"), rows),
    ]
