"""The best 4 of 10 hold'em players: Groves and Branke, figures 7 and 8. Axes: K players."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import selection
from jaxrace.core.protocol import pytree
from papers.holdem.matches import STRENGTH_ERROR, STRENGTH_SAMPLES
from papers.selections.config import POOLED_SAMPLES
from papers.selections.curves import Curve, figure_of, success_table, table_of
from papers.selections.runs import Task, run_selector, run_top
from papers.top_k import poker_matches, poker_report
from papers.top_k.thurstone_noise import PUBLISHED_CROSSING, run_with_index
from papers.top_k.thurstone_topk import TOP as SELECT_TOP
from papers.workbench import Workbench

POPULATIONS, PLAYERS, TOP, DECKS = 10, 10, 4, 5_000
SELECTIONS, BUDGET, INTERVAL = 500, 1_000, 10

# Selections of each population with hands that are really played, and their comparisons.
LIVE_SELECTIONS, LIVE_BUDGET = 10, 400
LIVE = ("hybrid ML-POCBAm", "POCBAm", "uniform", "PKG, pooled")

# Most samples of a player in the dominance race: whole blocks.
CAPACITIES = (11, 31, 61, 101, 151, 201)
DOMINANCE_RACE = "dominance race"

# A score is at most the stacks of two hands.
_MAX_SCORE = 2 * poker_matches.ASHE.rules.stack / poker_matches.ASHE.rules.big_blind


def stored_score(
    key: jax.Array, problem: tuple[jax.Array, jax.Array], first: jax.Array, second: jax.Array
) -> jax.Array:
    """A stored score of a pair, drawn with replacement from a population of [P, K, K, S]."""
    scores, population = problem
    place = jax.random.randint(key, (), 0, scores.shape[-1], jnp.int32)
    return scores[population, first, second, place]


@pytree
class MatchWork(selection.SelectionWork):
    """Each pair plays a match of its own: its comparisons come out in order.

    ``compare(number, problem, first, second)`` is given the number of a comparison, from 0.
    """

    def score(
        self, job: selection.SelectionJob, number: jax.Array, first: jax.Array, second: jax.Array
    ) -> jax.Array:
        """See ``SelectionWork``."""
        return self.compare(number, job.problem, first, second)


def live_score(
    number: jax.Array, scores: jax.Array, first: jax.Array, second: jax.Array
) -> jax.Array:
    """The next score of a pair in its own match, of scores [K, K, S]: float32 []."""
    return scores[first, second, number]


def lineup(players: int, top: int) -> dict[str, tuple[selection.Selector, Any]]:
    """The paper's methods, and ours; with their numbers."""
    sizes, pooled = (players, top), POOLED_SAMPLES
    hybrids = {
        "hybrid ML-POCBAm": selection.HybridPocbam(*sizes),
        "hybrid, pooled": selection.HybridPocbam(*sizes, pooled_samples=pooled),
    }
    others = {
        "POCBAm": selection.Pocbam(*sizes),
        "POCBAm, pooled": selection.Pocbam(*sizes, pooled_samples=pooled),
        "uniform": selection.Uniform(*sizes),
        "PKG, pooled": selection.KnowledgeGradient(*sizes, pooled_samples=pooled),
    }
    race = selection.PairwiseRace(*sizes, outcome="scores")
    return {
        **{name: (one, one.params(limit=PUBLISHED_CROSSING)) for name, one in hybrids.items()},
        **{name: (one, one.params()) for name, one in others.items()},
        "race of pairs": (race, race.params(max_rounds=10_000, max_score=_MAX_SCORE)),
    }


def run(bench: Workbench) -> None:
    """Leaves matrices.csv, success.csv, figure_7.png, figure_8.png and report.md."""
    populations, decks = bench.size(POPULATIONS, 2), bench.size(DECKS, 10)
    weights = poker_matches.draw_players(bench.seed, populations, bench.size(PLAYERS, 4))
    scores = poker_matches.play_sets(bench, "ground truth", weights, np.arange(populations), decks)
    truth = poker_report.truth_of(scores, bench.size(TOP, 2))
    bench.write_table("matrices.csv", [poker_report.matrix_columns(truth)])
    bench.write_figure("figure_7.png", poker_report.heat_maps(truth))
    stored, beyond, races = _run_stored(bench, scores, truth)
    live = _run_live(bench, weights, truth)
    # Of all selections, those of one population.
    parts = {name: np.split(curve.correct, populations) for name, curve in stored.items()}
    curves = {
        f"population {number + 1}": {
            name: curve._replace(correct=parts[name][number]) for name, curve in stored.items()
        }
        for number in range(populations)
    }
    bench.write_table("success.csv", table_of({**curves, "all, live": live}))
    figure = figure_of(curves, 5, (3, 3), "", sharex=True, sharey=True)
    figure.axes[0].set_ylim(0, 1)
    bench.write_figure("figure_8.png", figure)
    preferred = poker_matches.preferred(scores, int(truth.best[0].sum()))
    same, players = (preferred == truth.best).all(1).sum(), truth.order.shape[1]
    looks = np.quantile(next(iter(stored.values())).time, (0, 0.25, 0.5, 1)).astype(int)
    first = next(iter(live.values()))
    # Where a selection plays, it has a match of each pair from its first hand on.
    both = {f"{name}, stored": stored[name] for name in live if name in stored}
    both |= {f"{name}, played": curve for name, curve in live.items()}
    bench.write_report(
        f"{populations} populations of {players} players with random weights, "
        f"{poker_matches.PASSES * 2 * decks:,} hands of each pair. A comparison is one deck, "
        "played twice; its score is in big blinds. The strength of a hand before the turn is "
        f"estimated from {STRENGTH_SAMPLES:,} boards and hands of the opponent (standard error at "
        f"most {STRENGTH_ERROR:.3f}).",
        "![Means of all pairs](figure_7.png)",
        poker_report.pairs_table(truth),
        f"## Success rate, top {int(truth.best[0].sum())} of {players}",
        "![Success rates](figure_8.png)",
        f"Means of all populations, {len(races.selected) // populations:,} selections of each, "
        "from stored hands drawn with replacement:",
        success_table(stored, looks.tolist(), "comparisons"),
        "Records with an intransitivity index beyond the limit:",
        poker_report.index_table(beyond),
        "## The dominance race",
        "It looks for players whose scores are larger than those of others more often than not, "
        f"which are those who win the most in {same} of {populations} populations. A certificate "
        f"may be wrong with probability {poker_matches.DELTA}.",
        poker_report.races_table(races, truth.best, preferred),
        "## Stored hands and hands that are played",
        f"{len(first.correct):,} selections with hands that they play:",
        success_table(both, [int(first.time[-1])], "comparisons"),
    )


def _run_stored(
    bench: Workbench, scores: np.ndarray, truth: poker_report.Truth
) -> tuple[dict[str, Curve], dict[str, np.ndarray], poker_matches.Races]:
    """Curves; of the hybrids, whether the index is beyond its limit, [J, T]; and the races."""
    # Selections of one population after the other.
    population = np.repeat(np.arange(len(truth.best), dtype=np.int32), bench.size(SELECTIONS, 8))
    sizes = bench.size(BUDGET, 60), bench.size(INTERVAL, 6)
    own = population, truth.best[population]
    task = Task("stored hands", stored_score, *own, *sizes, jnp.asarray(scores))
    methods = lineup(task.num_options, task.top)
    curves, beyond = {}, {}
    for name in bench.few(methods, 2):
        selector, params = methods[name]
        if isinstance(selector, selection.HybridPocbam):
            curves[name], index = run_with_index(bench, task, name, selector, params)
            beyond[name] = index > PUBLISHED_CROSSING
        else:
            curves[name] = run_selector(bench, task, name, selector, params)
    races = poker_matches.run_races(bench, task, bench.few(CAPACITIES, 2))
    curves[DOMINANCE_RACE] = races.curve(task.truth)
    curves[SELECT_TOP] = run_top(bench, task, bench.size(6, 2))
    return curves, beyond, races


def _run_live(bench: Workbench, weights: jax.Array, truth: poker_report.Truth) -> dict[str, Curve]:
    """The same from hands that every selection plays for itself: in a match of each pair."""
    repeats, budget = bench.size(LIVE_SELECTIONS, 2), bench.size(LIVE_BUDGET, 30)
    players = weights.shape[1]
    population = np.repeat(np.arange(len(truth.best)), repeats)
    methods = lineup(players, int(truth.best[0].sum()))
    # Of one pair, if all that follows the warm-up, which is the same for all, were its own.
    pocbam = selection.Pocbam(players, 1)
    most = budget - pocbam.opening + pocbam.warm_up
    scores = poker_matches.play_sets(bench, "live hands", weights, population, most, sides=(0,))
    own = jnp.asarray(scores), truth.best[population]
    task = Task("live hands", live_score, *own, budget, bench.size(INTERVAL, 6), kind=MatchWork)
    return {name: run_selector(bench, task, name, *methods[name]) for name in LIVE}
