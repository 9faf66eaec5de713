"""Dueling bandits that explore, then exploit: Urvoy et al. 2013, section 5.2 and supplement B.6."""

import dataclasses
import functools
from collections.abc import Mapping

import jax
import numpy as np

from jaxrace import dueling
from jaxrace.answers import style
from jaxrace.dueling import matrices
from jaxrace.runs import plots
from papers.duels.lineup import entrant
from papers.duels.runs import Runs, run_entrant, stack_problems
from papers.savage.bandits import ended_columns, without_end
from papers.workbench import Workbench, mean_columns, report_table

_RECORDS = 100
_SHOWN = "algorithm runs regret twice_copeland accuracy ended decided_at"


@dataclasses.dataclass(frozen=True)
class Setting:
    """A family of matrices, and how long they are played."""

    title: str  # for the report
    arms: int  # K
    runs: int  # at full size
    horizon: int  # at full size
    algorithms: tuple[str, ...]  # names of ``duel_config.ALGORITHMS``
    measure: str  # of ``dueling.MEASURES``
    paper: str = ""  # what it does more, and what can be read off its figure, in words
    # Most runs of algorithms that take long.
    fewer: Mapping[str, int] = dataclasses.field(default_factory=dict)


_FIELD = ("interleaved-filter", "beat-the-mean", "uniform")
_SAVAGE = ("savage", "savage-condorcet")
_TITLE_400 = "Hard Condorcet matrix, 400 arms (figure 5)"

SETTINGS: dict[str, Setting] = {
    "condorcet-30": Setting(
        "Hard Condorcet matrix, 30 arms (figure 4)",
        *(30, 500, 2_000_000),
        (*_SAVAGE, "savage-sampled", "savage-borda", "borda-elimination", *_FIELD),
        "strong",
        "The paper has 500 runs of each. SAVAGE and its variants are right from between 150,000 "
        "and 230,000 duels on; regret in the end about 90,000 (SAVAGE), 80,000 (Condorcet and "
        "sampled), 200,000 (uniform).",
        {"savage-borda": 100, "borda-elimination": 10},
    ),
    "random-30": Setting(
        "Random matrices, 30 arms (figure 6)",
        *(30, 30, 1_000_000),
        (*_SAVAGE, "savage-borda", "borda-elimination", *_FIELD),
        "copeland",
        "The Condorcet variant stalls at an accuracy of .44, IF and BTM at .08 to .10.",
        {"beat-the-mean": 15, "savage-borda": 5, "borda-elimination": 5},
    ),
    "random-50": Setting(
        "Random matrices, 50 arms (supplement)",
        *(50, 10, 500_000),
        (*_SAVAGE, "savage-borda", *_FIELD),
        "copeland",
        fewer={"savage-borda": 2},
    ),
    "flat-100": Setting(
        "Every better arm wins with .6, 100 arms (supplement)",
        *(100, 2, 10_000_000),
        (*_SAVAGE, *_FIELD),
        "strong",
    ),
    "condorcet-400": Setting(
        f"{_TITLE_400}, at a fortieth of the paper's horizon",
        *(400, 2, 2_500_000),
        (*_SAVAGE, *_FIELD),
        "strong",
        "The paper has at 100,000,000 duels about 2e8 (SAVAGE), 1.6e8 (Condorcet), 1.3e8 (BTM), "
        "3.4e8 (uniform), 4.5e8 (IF).",
    ),
}

FULL_400 = dataclasses.replace(
    SETTINGS["condorcet-400"], title=_TITLE_400, runs=4, horizon=100_000_000
)


def run(bench: Workbench, settings: dict[str, Setting] = SETTINGS) -> None:
    """Leaves duels.csv, curves.csv, a figure for each setting and report.md."""
    rows, curves, sections = [], [], []
    for name in bench.few(settings, 1):
        setting = settings[name]
        if bench.quick:
            arms, algorithms = setting.arms // 10 + 2, setting.algorithms[:2]
            smaller = {"arms": arms, "runs": 6, "horizon": 5_000, "algorithms": algorithms}
            setting = dataclasses.replace(setting, **smaller)
        found = _measure(bench, name, setting)
        bench.write_figure(f"{name}.png", _figure(setting, found))
        ends = []
        for algorithm, log in found.items():
            regret, is_best = _curves_of(log, setting.measure)
            own = {"problem": name, "algorithm": algorithm}
            means = {"regret": regret.mean(0), "accuracy": is_best.mean(0)}
            curves.append({**own, "duels": log.time, **means})
            size = {"runs": len(regret), "horizon": setting.horizon, "measure": setting.measure}
            end = {**mean_columns("regret", regret[:, -1]), "accuracy": is_best[:, -1].mean()}
            copeland, _ = _curves_of(log, "copeland")
            # Of both arms, not the mean of the two.
            twice = mean_columns("twice_copeland", 2 * copeland[:, -1])
            ends.append({**own, **size, **end, **twice, **ended_columns(log)})
        rows += ends
        sections += [
            f"## {setting.title}",
            f"{setting.horizon:,} duels a run, {setting.measure} regret. {setting.paper}",
            report_table(map(without_end, ends), _SHOWN),
            f"![{setting.title}]({name}.png)",
        ]
    bench.write_table("duels.csv", rows)
    bench.write_table("curves.csv", curves)
    bench.write_report(
        "Algorithms that stop exploring play the arm that they have found against itself from then "
        "on; SAVAGE has delta = 1 / horizon. Every run has the arms in another order. Accuracy: "
        "the share that recommends a Copeland winner in the end, for savage-borda and "
        "borda-elimination a Borda winner. Twice Copeland: the Copeland regret of both arms, not "
        "their mean. ± is one standard error.",
        *sections,
    )


run_400 = functools.partial(run, settings={"condorcet-400": FULL_400})


def _measure(bench: Workbench, name: str, setting: Setting) -> dict[str, Runs]:
    key = jax.random.key(np.uint32(bench.seed))
    if name.startswith("random"):
        keys = [jax.random.fold_in(key, number) for number in range(setting.runs)]
        drawn = [matrices.random(key, setting.arms) for key in keys]
    else:
        kind = matrices.flat if name.startswith("flat") else matrices.hard_condorcet
        drawn = [kind(setting.arms)]
    problems = stack_problems([dueling.duels(matrix) for matrix in drawn])
    # Explore with delta = 1 / T, then exploit (section 3.4).
    delta = 1 / setting.horizon
    found = {}
    for algorithm in setting.algorithms:
        one = entrant(algorithm, setting.arms, setting.horizon, delta, key)
        runs = min(setting.runs, setting.fewer.get(algorithm, setting.runs))
        stage = f"{name} {algorithm}"
        # A run on each of the first matrices, or all on the only one.
        own = jax.tree.map(lambda leaf: leaf[:runs], problems)  # noqa: B023
        repeats = runs // own.probabilities.shape[0]
        found[algorithm] = run_entrant(bench, stage, one, own, repeats, setting.horizon, _RECORDS)
    return found


def _curves_of(log: Runs, measure: str) -> tuple[np.ndarray, np.ndarray]:
    """The regret, and whether a run recommends a best arm (``Runs.is_best``), [G R, T] each."""
    count = len(log.time)
    regret = log.regret[..., dueling.MEASURES.index(measure)]
    return regret.reshape(-1, count), log.is_best.reshape(-1, count)


def _figure(setting: Setting, logs: dict[str, Runs]) -> "plots.Figure":
    figure, [panels] = plots.new_figure((10, 4.4), 1, 2)
    for number, (algorithm, log) in enumerate(logs.items()):
        for panel, curves in zip(panels, _curves_of(log, setting.measure), strict=True):
            panel.plot(log.time, curves.mean(0), label=algorithm, **style.line(number))
    panels[0].set(ylabel=f"{setting.measure} regret so far")
    panels[0].yaxis.set_major_formatter("{x:,.0f}")
    panels[1].set(ylabel="share recommending a winner", ylim=(-0.02, 1.02))
    for panel in panels:
        panel.set_xlabel("duels")
        panel.tick_params(axis="x", labelrotation=20)
        plots.tidy(panel, "x")
    figure.suptitle(setting.title)
    plots.legend_below(figure, 3)
    return figure
