"""Figures of Agrawal and Chaporkar 2019, with more algorithms. Axes: G games, R runs, T records."""

import functools
import itertools

import jax
import numpy as np

from jaxrace import dueling
from jaxrace.answers import style
from jaxrace.dueling import matrices
from jaxrace.runs import plots
from jaxrace.runs.tables import markdown_table
from papers.duels.lineup import entrant
from papers.duels.runs import run_entrant, stack_problems
from papers.workbench import Columns, Workbench, mean_columns, mean_in_words

# The paper's, and three that need a Condorcet winner, as RUCB does.
ALGORITHMS = ("rucb", "dts", "sup-klucb", "rmed1", "merge-rucb", "self-sparring")
_LEAST_ARMS, _MOST_ARMS = 3, 36
_RECORDS = 50
_FIRST_GAMES = 25  # the first figure shows as many games, the second one all of them
_COPELAND = dueling.MEASURES.index("copeland")
Found = dict[str, tuple[np.ndarray, np.ndarray]]  # by algorithm, see ``_measure``


def draw_games(seed: int, count: int) -> list[np.ndarray]:
    """Random matrices with 3 to 36 arms and a single Copeland winner."""
    found = []
    key = jax.random.key(np.uint32(seed))
    for number in range(count):
        size_key, matrix_key = jax.random.split(jax.random.fold_in(key, number))
        arms = int(jax.random.randint(size_key, (), _LEAST_ARMS, _MOST_ARMS + 1, np.int32))
        # Drawn again until there is a single winner.
        attempts = map(jax.random.fold_in, itertools.repeat(matrix_key), itertools.count())
        drawn = (np.asarray(matrices.random(attempt, arms)) for attempt in attempts)
        single = (matrix for matrix in drawn if dueling.copeland_winners(matrix).sum() == 1)
        found.append(next(single))
    return found


def run(bench: Workbench, count: int = 100) -> None:
    """Leaves games.csv, curves.csv, regret.png, by_arms.png and report.md."""
    drawn = draw_games(bench.seed, bench.size(count, 2))
    horizon, runs = bench.size(100_000, 2_000), bench.size(25, 3)
    found = {name: _measure(bench, name, drawn, horizon, runs) for name in ALGORITHMS}
    games, curves = [], []
    for name, (time, regret) in found.items():
        for game, matrix in enumerate(drawn):
            condorcet = dueling.condorcet_winner(matrix) is not None
            own = {"algorithm": name, "game": game, "arms": len(matrix), "condorcet": condorcet}
            games.append({**own, **mean_columns("regret", regret[game, :, -1])})
        shown = regret[:_FIRST_GAMES]
        lower, upper = np.quantile(shown, (0.25, 0.75), axis=(0, 1))
        own = {"algorithm": name, "duels": time, "regret": shown.mean((0, 1))}
        curves.append({**own, "lower_quartile": lower, "upper_quartile": upper})
    bench.write_table("games.csv", games)
    bench.write_table("curves.csv", curves)
    bench.write_figure("regret.png", _regret_figure(curves))
    bench.write_figure("by_arms.png", _arms_figure(drawn, found))
    bench.write_report(
        f"{len(drawn)} random matrices with a single Copeland winner, 3 to 36 arms, {runs} runs "
        f"each of {horizon:,} duels. Regret by Copeland's score (eq. 9), ± one standard error over "
        "the matrices.",
        _by_group(drawn, found),
        "![Regret over time](regret.png)",
        "![Regret by the number of arms](by_arms.png)",
    )


run_first = functools.partial(run, count=_FIRST_GAMES)  # the games of the first figure alone


def _measure(
    bench: Workbench, name: str, drawn: list[np.ndarray], horizon: int, runs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Records [T], and regret by Copeland's score, [G, R, T]; games of one size run together."""
    regret = np.zeros((len(drawn), runs, _RECORDS))
    time = np.zeros(_RECORDS)
    sizes = np.array([len(matrix) for matrix in drawn])
    for arms in np.unique(sizes):
        chosen = np.flatnonzero(sizes == arms)
        problems = stack_problems([dueling.duels(drawn[game]) for game in chosen])
        one = entrant(name, int(arms), horizon, 1 / horizon, jax.random.key(0))
        stage = f"{name} {arms} arms"
        log = run_entrant(bench, stage, one, problems, runs, horizon, _RECORDS)
        time, regret[chosen] = log.time, log.regret[..., _COPELAND]
    return time, regret


def _by_group(drawn: list[np.ndarray], found: Found) -> str:
    """Regrets of groups of games, which differ: so they, and not runs, make the standard error."""
    sizes = np.array([len(matrix) for matrix in drawn])
    has_winner = np.array([dueling.condorcet_winner(matrix) is not None for matrix in drawn])
    groups = {
        f"first {min(len(drawn), _FIRST_GAMES)} games": np.arange(len(drawn)) < _FIRST_GAMES,
        "all games": sizes > 0,
        "3 to 10 arms": sizes <= 10,
        "11 to 20 arms": (sizes > 10) & (sizes <= 20),
        "21 to 36 arms": sizes > 20,
        "with a Condorcet winner": has_winner,
        "without": ~has_winner,
    }
    rows = []
    for group, chosen in groups.items():
        finals = [regret[chosen, :, -1].mean(-1) for _, regret in found.values()]
        cells = [mean_in_words(final) if final.size > 1 else "" for final in finals]
        rows.append([group, int(chosen.sum()), *cells])
    return markdown_table(["games", "number", *found], rows)


def _regret_figure(curves: list[Columns]) -> "plots.Figure":
    figure, [[panel]] = plots.new_figure((7, 4.6))
    for number, piece in enumerate(curves):
        looks = style.line(number)
        panel.plot(piece["duels"], piece["regret"], label=piece["algorithm"], **looks)
        band = piece["lower_quartile"], piece["upper_quartile"]
        panel.fill_between(piece["duels"], *band, color=looks["color"], alpha=0.15, lw=0)
    title = "Random matrices, 3 to 36 arms: mean, and the middle half of the runs"
    plots.tidy(panel, "x", title=title, xlabel="duels", ylabel="Copeland regret so far")
    panel.legend(frameon=False)
    return figure


def _arms_figure(drawn: list[np.ndarray], found: Found) -> "plots.Figure":
    figure, [[panel]] = plots.new_figure((7, 4.6))
    sizes = np.array([len(matrix) for matrix in drawn])
    for number, (name, (_, regret)) in enumerate(found.items()):
        final = regret[..., -1].mean(-1)
        panel.scatter(sizes, final, s=14, alpha=0.45, color=style.colour(number))
        each = np.unique(sizes)
        means = [final[sizes == size].mean() for size in each]
        panel.plot(each, means, label=name, **style.line(number))
    panel.set(xlabel="arms", ylabel="Copeland regret in the end", yscale="log")
    plots.tidy(panel, title="A dot for each matrix, mean of its runs; lines: means by size")
    panel.legend(frameon=False)
    return figure
