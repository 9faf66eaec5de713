"""The best 4 of 10 hold'em players: Groves and Branke, figures 7 and 8.

Axes: P populations, K players, S scores of a pair, R selections of each population.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.experiments.config import EXPERIMENTS
from jaxrace.experiments.poker_matches import ASHE, PASSES, draw_players, play_sets
from jaxrace.experiments.race_curves import mean_and_error
from jaxrace.experiments.thurstone_topk import TOP as SELECT_TOP
from jaxrace.experiments.topk_curves import Curve, draw_curves, success_at, table_of
from jaxrace.experiments.topk_runs import Task, run_selector, run_top
from jaxrace.experiments.topk_tasks import POOLED_SAMPLES
from jaxrace.experiments.workbench import Columns, Workbench, markdown_table, with_error
from jaxrace.selection import (
    ByNumber,
    HybridPocbam,
    KnowledgeGradient,
    PairwiseRace,
    Pocbam,
    Selector,
    Uniform,
    borda_top,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POPULATIONS, PLAYERS, TOP, DECKS = 10, 10, 4, 5_000
SELECTIONS, BUDGET, INTERVAL = 500, 1_000, 10

# Selections of each population with hands that are really played, and their comparisons.
LIVE_SELECTIONS, LIVE_BUDGET = 10, 400

# Index beyond which the hybrid does not trust its model (section 7 of the paper).
MAX_INTRANSITIVITY = 0.17

PUBLISHED_PAIRS = 11.1

# A score is at most the stacks of two hands.
_MAX_SCORE = 2 * ASHE.rules.stack / ASHE.rules.big_blind


class Truth(NamedTuple):
    """What all stored hands say."""

    means: np.ndarray  # float64 [P, K, K], big blinds per deck
    errors: np.ndarray  # float64 [P, K, K], standard errors
    variances: np.ndarray  # float64 [P, K, K]
    order: np.ndarray  # int [P, K], players from the best by all winnings to the worst
    best: np.ndarray  # bool [P, K]


def truth_of(scores: np.ndarray, top: int) -> Truth:
    """Ranks the players by what they have won from all others together.

    Args:
        scores: float [P, K, K, S].
        top: k.

    >>> scores = np.array([[[[0, 0], [1, 3], [2, 2]], [[-1, -3], [0, 0], [-4, -4]],
    ...                     [[-2, -2], [4, 4], [0, 0]]]], float)
    >>> truth_of(scores, 1).order.tolist()
    [[0, 2, 1]]
    """
    wide = scores.astype(np.float64)
    means, errors = mean_and_error(wide)
    order = np.argsort(-means.sum(-1), axis=-1, kind="stable")
    best = np.asarray(jax.vmap(lambda one: borda_top(one, top))(jnp.asarray(means, jnp.float32)))
    return Truth(means, errors, wide.var(-1, ddof=1), order, best)


def against_the_order(truth: Truth) -> np.ndarray:
    """How many pairs of each population are lost by the one with the better rank: int [P].

    >>> scores = np.zeros((1, 3, 3, 2))
    >>> scores[0, 0, 1], scores[0, 1, 0] = 9, -9
    >>> scores[0, 2, 0], scores[0, 0, 2] = 1, -1
    >>> against_the_order(truth_of(scores, 1)).tolist()
    [1]
    """
    return (np.triu(_in_order(truth.means, truth.order), 1) < 0).sum((-1, -2))


def _in_order(matrices: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Rows and columns of [P, K, K] by rank."""
    rows = np.take_along_axis(matrices, order[:, :, None], 1)
    return np.take_along_axis(rows, order[:, None, :], 2)


def stored_score(
    key: jax.Array, problem: tuple[jax.Array, jax.Array], first: jax.Array, second: jax.Array
) -> jax.Array:
    """One of the stored scores of a pair, drawn with replacement: float32 [].

    Args:
        key: Used once.
        problem: float32 [P, K, K, S], and which population, int32 [].
        first: int32 [].
        second: int32 [].

    >>> print(stored_score(jax.random.key(0), (jnp.full((1, 2, 2, 5), 3.0), 0), 0, 1))
    3.0
    """
    scores, population = problem
    place = jax.random.randint(key, (), 0, scores.shape[-1])
    return scores[population, first, second, place]


def live_score(
    number: jax.Array, scores: jax.Array, first: jax.Array, second: jax.Array
) -> jax.Array:
    """The next score of a pair in its own match, float32 [].

    Args:
        number: Of the pair's comparisons before, int32 [].
        scores: float32 [K, K, S], in the order of the match.
        first: int32 [].
        second: int32 [].
    """
    return scores[first, second, number]


def lineup(players: int, top: int) -> dict[str, tuple[Selector, Any]]:
    """The paper's methods, and ours; with their numbers.

    >>> list(lineup(10, 4))[0]
    'hybrid ML-POCBAm'
    """
    hybrid = HybridPocbam(players, top, fit="swept")
    # Without it a pair that came out equally three times passes for certain; see ScoreSelector.
    pooled = KnowledgeGradient(players, top, pooled_samples=POOLED_SAMPLES)
    race = PairwiseRace(players, top, outcome="scores")
    plain = (Pocbam(players, top), Uniform(players, top))
    return {
        "hybrid ML-POCBAm": (hybrid, hybrid.params(limit=MAX_INTRANSITIVITY)),
        "POCBAm": (plain[0], plain[0].params()),
        "uniform": (plain[1], plain[1].params()),
        "PKG": (pooled, pooled.params()),
        "race": (race, race.params(max_rounds=10_000, max_score=_MAX_SCORE)),
    }


def run(bench: Workbench) -> None:
    """Leaves matrices.csv, success.csv, figure_7.png, figure_8.png and report.md."""
    populations, decks = bench.size(POPULATIONS, 2), bench.size(DECKS, 10)
    weights = draw_players(bench.seed, populations, bench.size(PLAYERS, 4))
    scores = play_sets(bench, "ground truth", weights, np.arange(populations), decks)
    truth = truth_of(scores, bench.size(TOP, 2))
    bench.write_table("matrices.csv", [_matrix_columns(truth)])
    bench.write_figure("figure_7.png", _heat_maps(truth))
    stored = _run_all(bench, _stored_task(bench, scores, truth))
    live = _run_live(bench, weights, truth)
    curves = {
        f"population {number + 1}": _of_population(stored, number, populations)
        for number in range(populations)
    }
    bench.write_table("success.csv", table_of({**curves, "all, live": live}))
    bench.write_figure("figure_8.png", _curves_figure(curves))
    said = _paragraphs(truth, stored, live, decks)
    bench.write_report(EXPERIMENTS["poker-topk"], said)


def _stored_task(bench: Workbench, scores: np.ndarray, truth: Truth) -> Task:
    """Selections of one population after the other."""
    repeats = bench.size(SELECTIONS, 8)
    population = np.repeat(np.arange(len(truth.best), dtype=np.int32), repeats)
    return Task(
        "stored hands",
        stored_score,
        population,
        truth.best[population],
        bench.size(BUDGET, 60),
        bench.size(INTERVAL, 6),
        jnp.asarray(scores),
    )


def _run_all(bench: Workbench, task: Task) -> dict[str, Curve]:
    methods = lineup(task.num_options, task.top)
    # To see that it works, a few will do.
    chosen = list(methods)[: bench.size(len(methods), 2)]
    found = {name: run_selector(bench, task, name, *methods[name]) for name in chosen}
    found[SELECT_TOP] = run_top(bench, task, bench.size(6, 2))
    return found


def _run_live(bench: Workbench, weights: jax.Array, truth: Truth) -> dict[str, Curve]:
    """The same from hands that every selection plays for itself: in a match of each pair."""
    repeats, budget = bench.size(LIVE_SELECTIONS, 2), bench.size(LIVE_BUDGET, 30)
    players = weights.shape[1]
    population = np.repeat(np.arange(len(truth.best)), repeats)
    methods = lineup(players, int(truth.best[0].sum()))
    chosen = {name: methods[name] for name in ("hybrid ML-POCBAm", "POCBAm")}
    # Of one pair, if all that follows the warm-up, which both have, were its own.
    pocbam = Pocbam(players, 1)
    most = budget - pocbam.opening + pocbam.warm_up
    scores = play_sets(bench, "live hands", weights, population, most, sides=(0,))
    task = Task(
        "live hands",
        ByNumber(live_score),
        jnp.asarray(scores),
        truth.best[population],
        budget,
        bench.size(INTERVAL, 6),
    )
    return {name: run_selector(bench, task, name, *own) for name, own in chosen.items()}


def _of_population(curves: dict[str, Curve], number: int, populations: int) -> dict[str, Curve]:
    """Of all selections, those of one population."""
    return {
        name: curve._replace(correct=np.split(curve.correct, populations)[number])
        for name, curve in curves.items()
    }


def _matrix_columns(truth: Truth) -> Columns:
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


def _heat_maps(truth: Truth) -> "Figure":
    from matplotlib.colors import AsinhNorm
    from matplotlib.figure import Figure

    count = len(truth.order)
    columns = min(count, 5)
    rows = -(-count // columns)
    figure = Figure(figsize=(2.9 * columns + 1, 2.9 * rows + 0.5), layout="constrained")
    panels = np.atleast_1d(figure.subplots(rows, columns)).ravel()
    means, wrong = _in_order(truth.means, truth.order), against_the_order(truth)
    limit = float(np.abs(means).max())
    image = None
    for number, panel in enumerate(panels[:count]):
        norm = AsinhNorm(0.1, -limit, limit)
        image = panel.imshow(means[number], cmap="RdBu", norm=norm)
        panel.set_title(f"{number + 1}: {wrong[number]} pairs against the order", fontsize=9)
        panel.set(xlabel="rank of the opponent", ylabel="rank")
        ticks = np.arange(means.shape[-1])
        panel.set_xticks(ticks, ticks + 1, fontsize=7)
        panel.set_yticks(ticks, ticks + 1, fontsize=7)
    if image is not None:
        figure.colorbar(image, ax=panels.tolist(), label="big blinds per deck, two hands")
    return figure


def _curves_figure(curves: dict[str, dict[str, Curve]]) -> "Figure":
    from matplotlib.figure import Figure

    columns = min(len(curves), 5)
    rows = -(-len(curves) // columns)
    figure = Figure(figsize=(3.6 * columns, 3.2 * rows + 0.5), layout="constrained")
    panels = np.atleast_1d(figure.subplots(rows, columns, sharex=True, sharey=True)).ravel()
    for panel, (name, found) in zip(panels, curves.items(), strict=False):
        draw_curves(panel, found, name)
        panel.set_ylim(0, 1)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=6, frameon=False)
    return figure


def _paragraphs(
    truth: Truth, stored: dict[str, Curve], live: dict[str, Curve], decks: int
) -> list[str]:
    count, players = truth.order.shape
    wrong, pairs = against_the_order(truth), players * (players - 1) // 2
    mean, error = mean_and_error(wrong.astype(float))
    looks = [int(time) for time in np.quantile(stored["POCBAm"].time, (0, 0.25, 0.5, 1))]
    rates = [
        [name, *(with_error(*success_at(curve, look), digits=3) for look in looks)]
        for name, curve in stored.items()
    ]
    end = live["POCBAm"].time[-1]
    both = [
        [name, *(with_error(*success_at(found[name], end), digits=3) for found in (stored, live))]
        for name in live
    ]
    top = int(truth.best[0].sum())
    return [
        f"{count} populations of {players} players with random weights, "
        f"{PASSES * 2 * decks:,} hands of each pair: {decks:,} decks, played with players and "
        "cards exchanged, in two passes with the other hand on the button. Players forget "
        "between the passes. A comparison is one deck, played twice; its score is in big blinds.",
        "![Means of all pairs](figure_7.png)",
        f"Pairs in which the player with the better rank loses: {with_error(mean, error, 1)} of "
        f"{pairs} on average (published: {PUBLISHED_PAIRS} of 45), by population "
        f"{', '.join(map(str, wrong))}. {_sure(truth)}",
        _spread(truth),
        f"## Success rate, top {top} of {players}",
        "![Success rates](figure_8.png)",
        f"Means of all populations, {len(stored['POCBAm'].correct) // count:,} selections of "
        "each, from stored hands drawn with replacement:",
        markdown_table(("method", *(f"{look:,} comparisons" for look in looks)), rates),
        "The race counts scores, which are bounded by the stacks; its bounds say little at this "
        "size, and it is uniform in all but name. The paper has figures, no numbers.",
        "## Stored hands and hands that are played",
        "A stored hand is drawn whenever it was played, so that players know each other as they "
        "did then; a selection that plays has a match of each pair from its first hand on, with "
        f"decks of its own. After {end:,.0f} comparisons a pair has played {end / pairs:.0f} decks "
        "on average. Players who have hardly met play otherwise than those who know each other, "
        "on whom the ranking is based:",
        markdown_table(
            ("method", "stored", f"played, {len(live['POCBAm'].correct)} selections"), both
        ),
    ]


def _sure(truth: Truth) -> str:
    """How many of these pairs are sure."""
    means, errors = (_in_order(x, truth.order) for x in (truth.means, truth.errors))
    sure = np.triu(means < -2 * errors, 1).sum((-1, -2))
    return f"By more than two standard errors: {sure.mean():.1f}."


def _spread(truth: Truth) -> str:
    upper = np.triu_indices(truth.order.shape[1], 1)
    variances = truth.variances[:, upper[0], upper[1]]
    ratios = variances.max(-1) / np.maximum(variances.min(-1), 1e-12)
    silent = int((variances == 0).sum())
    return (
        "The largest variance of a pair is, in the median population, "
        f"{np.median(ratios):,.0f} times the smallest (the paper: up to 40,000); {silent} pairs "
        "never scored anything but the same."
    )
