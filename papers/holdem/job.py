"""The job `python -m papers.holdem`: players that evolve by playing against each other."""

import functools
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Column

from jaxrace import runs, sweep
from jaxrace.answers import style
from jaxrace.commands.job import Job
from jaxrace.commands.printing import confidence_scale, print_table, say
from jaxrace.envs.holdem import Deals, Rules
from jaxrace.kernels import total_order
from jaxrace.racing import DominanceRace
from jaxrace.runs import files, plots
from jaxrace.search.strategies import Strategy
from jaxrace.selection.driver import fitting_interval
from papers.holdem import evolution, matches
from papers.holdem.ashe import Ashe
from papers.holdem.config import WARM_UP, HoldemConfig
from papers.holdem.evolution import RaceSelection, SelectorSelection
from papers.holdem.matches import Course, Evaluation, ShortMatch
from papers.holdem.networks import NUM_WEIGHTS
from papers.selections.config import POOLED_SAMPLES
from papers.selections.runs import BY_SCORES
from papers.workbench import Workbench, band, run_job

EVALUATION, PLAYERS, CURVE = "evaluation.csv", "players.npz", "learning_curve.png"
_POINTS = 10  # generations of a search that are evaluated, its start included
_DELTA = 0.05  # error probability of a race
_SET = 256  # decks of the pool that are prepared in one go
_PIPE_WIDTH = 120  # nothing is cut off where there is no screen


def train_holdem(job: Job) -> Path:
    """Evolve hold'em players, evaluate them against fixed opponents, and write a run folder.

    Its players.npz has the last means of the searches, float32 [R, 1449], by selection.
    """
    config: HoldemConfig = job.config
    strategy = Strategy(config.strategy, config.population)
    # What the strategy does not take is said before a folder is made.
    params = strategy.params(np.zeros(NUM_WEIGHTS, np.float32), config.step_size)

    def work(bench: Workbench) -> None:
        search_key, test_key = jax.random.split(jax.random.key(np.uint32(config.seed)))
        # The same searches for every selection: from a player with random weights.
        keys = jax.vmap(jax.random.split)(jax.random.split(search_key, config.repeats))
        draw = functools.partial(jax.random.uniform, shape=(NUM_WEIGHTS,), dtype=jnp.float32)
        means = jax.vmap(lambda key: draw(key, minval=-1, maxval=1))(keys[:, 0])
        jobs = evolution.EvolutionJob(keys[:, 1], means)
        pool = _make_pool(config, bench)
        budget = jnp.int32(-(-config.hands // config.hands_of_match))
        # A race that ends early leaves room for more; its progress stops at the end then.
        generations = -(-int(budget) // config.budget)
        logs, courses = {}, {}
        for name in config.selections:
            ranking = selection_of(config, name)
            search = evolution.EvolutionWork(strategy, ranking, params, pool, budget)
            logs[name] = bench.sweep(name, search, sweep.stacked(jobs), 1, generations)
            courses[name] = _course(config, np.asarray(jobs.mean), logs[name])
        _leave(config, bench, logs, matches.evaluate(config, bench, test_key, courses))

    return run_job("train-holdem", job, work)


def selection_of(config: HoldemConfig, name: str) -> RaceSelection | SelectorSelection:
    """How a generation is ranked."""
    match = ShortMatch(Ashe(Rules(stack=config.stack)), config.decks, config.block)
    size, parents = config.population, config.population // 2
    if name == "race":
        # With as many samples as fit into the budget of all together.
        race = DominanceRace(size, parents, config.budget // size, total_order)
        return RaceSelection(race, match, _DELTA)
    # Of matches that end with folds many come out equally.
    pooled = 0.0 if name == "uniform" else POOLED_SAMPLES
    selector = BY_SCORES[name](size, parents, min(WARM_UP, config.matches), pooled)
    batch = fitting_interval(config.budget - selector.opening, config.block)
    return SelectorSelection(selector, match, config.budget, batch)


def _make_pool(config: HoldemConfig, bench: Workbench) -> Deals:
    """At least as many decks as wanted, in whole sets."""
    size = min(_SET, config.pool)
    sets = matches.deal_sets(bench, "decks", -(-config.pool // size), size)
    return jax.tree.map(lambda x: jnp.moveaxis(x, 0, -2).reshape(*x.shape[1:-1], -1), sets)


def _course(config: HoldemConfig, starts: np.ndarray, log: sweep.SweepLog) -> Course:
    """Generations at about equal distances: after each share of the hands, the last one so far."""
    wanted = np.linspace(0, config.hands, _POINTS)
    picked = []
    for repeat, start in enumerate(starts):
        of_repeat = log.rows.job == repeat
        matches = log.rows.row.comparisons[of_repeat].astype(np.int64)
        hands = np.append(0, matches * config.hands_of_match)
        means = np.concatenate([start[None], log.rows.row.mean[of_repeat]])
        places = np.searchsorted(hands, wanted, side="right") - 1
        places[-1] = len(hands) - 1
        picked.append(Course(places, hands[places], means[places]))
    return Course(*(np.stack(leaves) for leaves in zip(*picked, strict=True)))


def _leave(
    config: HoldemConfig,
    bench: Workbench,
    logs: dict[str, sweep.SweepLog],
    evaluations: dict[str, Evaluation],
) -> None:
    """Write what the run leaves; the summary last, since it says that all is there."""
    pieces, selections = [], {}
    for name, log in logs.items():
        row, one = log.rows.row, evaluations[name]
        hands = row.comparisons.astype(np.int64) * config.hands_of_match
        own = {"selection": name, "repeat": log.rows.job, "generation": row.generation}
        more = {"hands": hands, "matches": row.used, "certified": row.certified}
        pieces.append(own | more)
        selections[name] = {
            "generations": runs.mean_and_stderr(one.course.generation[:, -1]),
            "matches_per_generation": float(row.used.mean()),
            "certified": float(row.certified.mean()),
            "opponents": _winnings(one, -1),
        }
    runs.write_log(bench.folder, pieces)
    bench.write_table(EVALUATION, map(matches.table_of, evaluations, evaluations.values()))
    players = {name: one.course.players[:, -1] for name, one in evaluations.items()}
    with files.new_file(bench.folder / PLAYERS) as file:
        np.savez(file, allow_pickle=False, **players)
    bench.write_figure(CURVE, curve_figure(evaluations))
    # All selections begin with the same players.
    start = _winnings(next(iter(evaluations.values())), 0)
    sizes = {"repeats": config.repeats, "hands": config.hands, "matches": config.test_matches}
    runs.write_summary(bench.folder, {**sizes, "start": start, "selections": selections})


def _winnings(evaluation: Evaluation, point: int) -> dict[str, Any]:
    """In milli big blinds per hand, by opponent, at one of the generations looked at."""
    return {name: statistic(won[:, point]) for name, won in evaluation.scores.items()}


def statistic(winnings: np.ndarray) -> dict[str, Any]:
    """Mean, standard error and count of winnings [R, S] over the repeats; of one, over matches."""
    return runs.mean_and_stderr(winnings.mean(-1) if len(winnings) > 1 else winnings[0])


def curve_figure(evaluations: dict[str, Evaluation]) -> "plots.Figure":
    """Winnings against the hands played so far: a panel per opponent, a line per selection."""
    opponents = list(next(iter(evaluations.values())).scores)
    figure, panels = plots.grid(len(opponents), 2, (4.8, 3.1), (0, 0.6))
    for panel, opponent in zip(panels, opponents, strict=True):
        for number, (name, evaluation) in enumerate(evaluations.items()):
            found = [statistic(won) for won in evaluation.scores[opponent].swapaxes(0, 1)]
            mean = np.array([one["mean"] for one in found])
            half = np.array([_half_width(one) for one in found])
            hands = evaluation.course.hands.mean(0)
            band(panel, hands, mean, half, name, marker="o", ms=3, **style.line(number))
        panel.set(title=f"against {opponent}", xlabel="hands played by a search")
        panel.set_ylabel("milli big blinds won per hand")
        panel.locator_params(axis="x", nbins=5)
        plots.tidy(panel, "xy")
    plots.legend_below(figure, 4)
    return figure


def print_evolution(console: Console, folder: Path) -> None:
    """Say of a run folder of ``train holdem`` what its players win."""
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    summary = runs.read_summary(folder)
    selections = summary["selections"]
    rows = []
    for opponent, start in summary["start"].items():
        ends = (found["opponents"][opponent] for found in selections.values())
        won = (f"{one['mean']:,.0f} ± {_half_width(one):,.0f}" for one in (start, *ends))
        rows.append([opponent, *won])
    generations = (f"{found['generations']['mean']:,.0f}" for found in selections.values())
    rows.append(["generations", "0", *generations])
    print_table(console, [Column("", no_wrap=True), "start", *selections], rows)
    repeats, played = summary["repeats"], summary["matches"]
    count = f"{played} matches" if repeats == 1 else f"{repeats} searches"
    won = "milli big blinds won per hand from opponents that are always the same"
    say(console, f"{won}; 95 % confidence intervals over {count}")
    for name, found in selections.items():
        text = f"{name}: {found['matches_per_generation']:,.0f} matches per generation"
        if name == "race":
            text += f"; the better half was certain in {found['certified']:.0%} of them"
        say(console, text)
    say(console, f"{summary['hands']:,} hands by each search; {folder}")


def _half_width(found: dict[str, Any]) -> float:
    """Of the 95 % confidence interval."""
    return confidence_scale(found["count"]) * found["stderr"]
