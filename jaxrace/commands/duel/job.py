"""The job `jaxrace duel`: dueling bandits on a matrix. Axes: R repeats, T records of each."""

import dataclasses
from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console
from rich.table import Column

from jaxrace import dueling, plots, runs
from jaxrace.commands.duel.config import DuelConfig
from jaxrace.commands.duel.lineup import Entrant, arms_of, entrant
from jaxrace.commands.duel.runs import Runs, run_entrant, stack_problems
from jaxrace.commands.job import Job
from jaxrace.commands.printing import plus_minus, print_table, say
from jaxrace.commands.workbench import Columns, Workbench, run_job
from jaxrace.dueling.driver import note_without_winner

FIGURE, MATRIX = "regret.png", "matrix.png"
_MOST_DRAWN = 40  # arms of a matrix that has room on a page

# Records of a run: most, and how few will do where no more divide the horizon.
_RECORDS, _FEW_RECORDS = 100, 20


def duel(job: Job) -> Path:
    """Run dueling bandits, and write a run folder with a log of their records."""
    asked: DuelConfig = job.config
    matrix, names, said = arms_of(asked)
    config = dataclasses.replace(asked, horizon=rounded(asked.horizon))
    lineup = _lineup(config, len(matrix))
    if config.horizon != asked.horizon:
        job.on_note(
            f"horizon: {config.horizon:,} duels a run, not {asked.horizon:,}, for "
            f"{_RECORDS} records at equal intervals"
        )
    for name, one in lineup.items():
        if (text := note_without_winner(name, one.algorithm, matrix)) is not None:
            job.on_note(text)

    def work(bench: Workbench) -> None:
        problems, horizon = stack_problems([dueling.duels(matrix)]), config.horizon
        sizes = config.repeats, horizon, record_count(horizon)
        found = {
            name: run_entrant(bench, name, one, problems, *sizes) for name, one in lineup.items()
        }
        runs.write_log(bench.folder, [_columns(name, one) for name, one in found.items()])
        has_winner = dueling.condorcet_winner(matrix) is not None
        figure = _figure(found, "strong" if has_winner else "copeland")
        plots.save_twice(figure, bench.folder / FIGURE)
        if names is not None and len(names) <= _MOST_DRAWN:
            plots.save_twice(_picture_of(matrix, names), bench.folder / MATRIX)
        facts = {
            "arms": len(matrix),
            "condorcet_winner": dueling.condorcet_winner(matrix),
            "copeland_winners": np.flatnonzero(dueling.copeland_winners(matrix)).tolist(),
            "borda_winners": np.flatnonzero(dueling.borda_winners(matrix)).tolist(),
            "smith_set": np.flatnonzero(dueling.smith_set(matrix)).tolist(),
            "von_neumann_winner": dueling.von_neumann_winner(matrix).round(6).tolist(),
        }
        if names is not None:
            facts |= {"names": names, "said": list(said), "by_name": _by_name(facts, names)}
        summary = {"horizon": horizon, "repeats": config.repeats, "matrix": facts}
        summary |= {name: _result(one) for name, one in found.items()}
        runs.write_summary(bench.folder, summary)

    return run_job("duel", job, work)


def _by_name(facts: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Who wins, and how likely each is to be played by who knows the matrix, by name."""
    winner = facts["condorcet_winner"]
    sets = ("copeland_winners", "borda_winners", "smith_set")
    return {
        "condorcet_winner": None if winner is None else names[winner],
        **{key: [names[arm] for arm in facts[key]] for key in sets},
        "von_neumann_winner": dict(zip(names, facts["von_neumann_winner"], strict=True)),
    }


def _picture_of(matrix: np.ndarray, names: list[str]) -> "plots.Figure":
    """Who beats whom: rows against columns, who beats the most others first."""
    order = np.lexsort((-matrix.mean(1), -(matrix > 0.5).sum(1)))
    shown, size = [names[arm] for arm in order], 0.45 * len(names)
    figure, [[panel]] = plots.panels((size + 2.5, size + 1.5))
    shares = matrix[np.ix_(order, order)].astype(float)
    np.fill_diagonal(shares, np.nan)
    plots.draw_heat(panel, shares)
    panel.invert_yaxis()
    panel.set_xticks(range(len(shown)), shown, rotation=90)
    panel.set_yticks(range(len(shown)), shown)
    panel.set(title="how likely the row beats the column")
    return figure


def _lineup(config: DuelConfig, num_arms: int) -> dict[str, Entrant]:
    delta = 1 / config.horizon if config.delta is None else config.delta
    # A horizon of one duel has no such probability.
    delta = min(delta, 0.5)
    key = jax.random.key(np.uint32(config.seed))
    lineup = {}
    for name in config.algorithms:
        try:
            lineup[name] = entrant(name, num_arms, config.horizon, delta, key)
        except ValueError as error:
            raise ValueError(
                f"algorithm: expected some for {num_arms} arms, got {name!r} ({error})"
            ) from error
    for one in lineup.values():
        dueling.require_horizon(one.algorithm, config.horizon)
    return lineup


def record_count(horizon: int) -> int:
    """How many records at equal distances: a divisor of the horizon, near 100."""
    return max(count for count in range(1, _RECORDS + 1) if horizon % count == 0)


def rounded(horizon: int) -> int:
    """The horizon, or the next multiple of 100 below if hardly any records divide it."""
    if horizon <= _RECORDS or record_count(horizon) >= _FEW_RECORDS:
        return horizon
    return horizon // _RECORDS * _RECORDS


def _columns(name: str, found: Runs) -> Columns:
    """The runs on a single problem, [R T]."""
    _, repeats, records = found.recommended.shape
    regret = found.regret.reshape(repeats * records, -1)
    return {
        "algorithm": name,
        "repeat": np.repeat(np.arange(repeats), records),
        "duels": np.tile(found.time, repeats),
        **dict(zip(dueling.MEASURES, regret.T, strict=True)),
        "recommended": found.recommended.reshape(-1),
        "correct": found.is_best.reshape(-1),
        "settled_at": np.repeat(found.settled_at[0], records),
    }


def _result(found: Runs) -> dict[str, Any]:
    """What the summary says of the last records."""
    regrets = dict(zip(dueling.MEASURES, found.regret[0, :, -1].T, strict=True))
    settled = found.settled_at[0]
    return {
        "regret": {
            measure: runs.mean_and_stderr(values)
            for measure, values in regrets.items()
            if np.isfinite(values).all()
        },
        "correct": runs.mean_and_stderr(found.is_best[0, :, -1].astype(float)),
        "recommended_most": int(np.bincount(found.recommended[0, :, -1]).argmax()),
        "exploration_ended": float((settled > 0).mean()),
        "exploration_duels": runs.mean_and_stderr(settled[settled > 0]) if settled.any() else None,
    }


def _figure(logs: dict[str, Runs], measure: str) -> "plots.Figure":
    """Regret and accuracy over the duels, a curve for each algorithm."""
    figure, [panels] = plots.panels((10, 4.2), 1, 2)
    for number, (name, found) in enumerate(logs.items()):
        regrets = found.regret[0, :, :, dueling.MEASURES.index(measure)]
        panels[0].plot(found.time, regrets.mean(0), color=f"C{number}", label=name)
        if len(regrets) > 1:
            middle = np.quantile(regrets, [0.25, 0.75], axis=0)
            panels[0].fill_between(found.time, *middle, color=f"C{number}", alpha=0.15, lw=0)
        panels[1].plot(found.time, found.is_best[0].mean(0), color=f"C{number}", label=name)
    label = {"strong": "strong", "copeland": "Copeland"}[measure]
    panels[0].set(ylabel=f"{label} regret so far", title="mean of the repeats, and the middle half")
    panels[1].set(ylabel="share recommending a best arm", ylim=(-0.02, 1.02))
    for panel in panels:
        panel.set_xlabel("duels")
        plots.tidy(panel, "x")
    plots.legend_below(figure, 4)
    return figure


def print_regrets(console: Console, folder: Path) -> None:
    """Print the regrets of a run folder of ``duel``, and what its matrix is like."""
    summary = runs.read_summary(folder)
    facts = summary["matrix"]
    winner = facts["condorcet_winner"]
    names = facts.get("names", [str(arm) for arm in range(facts["arms"])])
    sets = (
        f"{kind} {_listed([names[arm] for arm in facts[key]])}"
        for kind, key in (
            ("Copeland winners", "copeland_winners"),
            ("Borda winners", "borda_winners"),
            ("Smith set", "smith_set"),
        )
    )
    say(
        console,
        *facts.get("said", ()),
        f"{facts['arms']} arms; Condorcet winner {'none' if winner is None else names[winner]}, "
        f"{', '.join(sets)}",
    )
    # The others are in summary.json.
    measures = ("copeland", "borda") if winner is None else ("strong", "copeland")
    others = (Column(head, justify="right") for head in ("correct", "explored in", "favourite"))
    heads = [Column("", no_wrap=True), *(f"{measure} regret" for measure in measures), *others]
    sign, rows = plus_minus(console), []
    for name, one in summary.items():
        if name in ("horizon", "repeats", "matrix"):
            continue
        cells = [_number(one["regret"][measure], sign) for measure in measures]
        duels = one["exploration_duels"]
        explored = "-" if duels is None else f"{duels['mean']:,.0f}"
        if duels is not None and one["exploration_ended"] < 1:
            explored += f" ({one['exploration_ended']:.0%})"
        right = f"{one['correct']['mean']:.3f}"
        rows.append([name, *cells, right, explored, names[one["recommended_most"]]])
    print_table(console, heads, rows)
    say(
        console,
        f"means of {summary['repeats']} repeats of {summary['horizon']:,} duels; correct: in the "
        f"end recommends a Copeland winner (with -borda in the name: a Borda winner); {folder}",
    )


def _number(statistic: dict[str, Any], sign: str) -> str:
    mean, stderr = statistic["mean"], statistic["stderr"]
    digits = 0 if mean >= 100 else 1
    return f"{mean:,.{digits}f}" + ("" if stderr is None else f" {sign} {stderr:,.{digits}f}")


def _listed(arms: list[str]) -> str:
    return ", ".join(arms) if len(arms) <= 8 else f"{len(arms)} arms"
