"""The job `python -m papers.duels`: bandits on a matrix. Axes: R repeats, T records of each."""

import dataclasses
from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console

from jaxrace import dueling, runs
from jaxrace.answers import style
from jaxrace.commands.job import Job
from jaxrace.commands.printing import say
from jaxrace.commands.report import print_answer
from jaxrace.core.validation import BadArgument
from jaxrace.judging.standing import duel as duel_of
from jaxrace.runs import plots
from papers.duels.config import DuelsConfig
from papers.duels.lineup import Entrant, entrant, matrix_of
from papers.duels.regrets import Bandit, Regrets
from papers.duels.runs import Runs, run_entrant, stack_problems
from papers.workbench import Columns, Workbench, run_job

FIGURE, MATRIX = "regret.png", "matrix.png"

# Records of a run: most, and how few will do where no more divide the horizon.
_RECORDS, _FEW_RECORDS = 100, 20


def duel(job: Job) -> Path:
    """Run dueling bandits, and write a run folder with a log of their records."""
    asked: DuelsConfig = job.config
    named = matrix_of(asked)
    matrix = dueling.check_matrix(named.probabilities)
    config = dataclasses.replace(asked, horizon=rounded(asked.horizon))
    lineup = _lineup(config, len(matrix))
    if config.horizon != asked.horizon:
        job.on_note(
            f"horizon: {config.horizon:,} duels a run, not {asked.horizon:,}, for "
            f"{_RECORDS} records at equal intervals"
        )
    for name, one in lineup.items():
        if (text := dueling.note_without_winner(name, one.algorithm, matrix)) is not None:
            job.on_note(text)

    def work(bench: Workbench) -> None:
        problems, horizon = stack_problems([dueling.duels(matrix)]), config.horizon
        sizes = config.repeats, horizon, record_count(horizon)
        of_matrix = duel_of(named)
        found = {
            name: run_entrant(bench, name, one, problems, *sizes) for name, one in lineup.items()
        }
        runs.write_log(bench.folder, [_columns(name, one) for name, one in found.items()])
        known = {
            field.name: getattr(of_matrix, field.name) for field in dataclasses.fields(of_matrix)
        }
        shown = Regrets(
            **known,
            bandits=tuple(_bandit(name, one, named.names) for name, one in found.items()),
            about=f"{config.repeats} repeats of {horizon:,} duels",
        )
        figure = _figure(found, "strong" if shown.condorcet else "copeland")
        plots.save_twice(figure, bench.folder / FIGURE)
        if config.inputs:
            plots.save_twice(shown.plot(), bench.folder / MATRIX)
        runs.write_summary(bench.folder, shown.to_dict())

    return run_job("duels", job, work)


def _lineup(config: DuelsConfig, num_arms: int) -> dict[str, Entrant]:
    delta = 1 / config.horizon if config.delta is None else config.delta
    # A horizon of one duel has no such probability.
    delta = min(delta, 0.5)
    key = jax.random.key(np.uint32(config.seed))
    lineup = {}
    for name in config.algorithms:
        try:
            lineup[name] = entrant(name, num_arms, config.horizon, delta, key)
        except ValueError as error:
            raise BadArgument(
                "algorithm", f"some for {num_arms} arms", f"{name!r} ({error})"
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
        "decided_at": np.repeat(found.decided_at[0], records),
    }


def _bandit(name: str, found: Runs, names: tuple[str, ...]) -> Bandit:
    """What the last records say."""
    regrets: dict[str, Any] = {}
    for measure, values in zip(dueling.MEASURES, found.regret[0, :, -1].T, strict=True):
        if np.isfinite(values).all():
            one = runs.mean_and_stderr(values)
            regrets |= {measure: one["mean"], f"{measure}_stderr": one["stderr"]}
    settled = found.decided_at[0]
    return Bandit(
        name,
        correct=float(found.is_best[0, :, -1].mean()),
        explored=float(settled[settled > 0].mean()) if settled.any() else None,
        sure=float((settled > 0).mean()),
        favourite=names[int(np.bincount(found.recommended[0, :, -1]).argmax())],
        **regrets,
    )


def _figure(logs: dict[str, Runs], measure: str) -> "plots.Figure":
    """Regret and accuracy over the duels, a curve for each algorithm."""
    figure, [panels] = plots.new_figure((10, 4.2), 1, 2)
    for number, (name, found) in enumerate(logs.items()):
        regrets = found.regret[0, :, :, dueling.MEASURES.index(measure)]
        panels[0].plot(found.time, regrets.mean(0), label=name, **style.line(number))
        if len(regrets) > 1:
            middle = np.quantile(regrets, [0.25, 0.75], axis=0)
            panels[0].fill_between(
                found.time, *middle, color=style.colour(number), alpha=0.15, lw=0
            )
        panels[1].plot(found.time, found.is_best[0].mean(0), label=name, **style.line(number))
    label = {"strong": "strong", "copeland": "Copeland"}[measure]
    panels[0].set(ylabel=f"{label} regret so far", title="mean of the repeats, and the middle half")
    panels[1].set(ylabel="share recommending a best arm", ylim=(-0.02, 1.02))
    for panel in panels:
        plots.tidy(panel, "x", xlabel="duels")
    plots.legend_below(figure, 4)
    return figure


def print_regrets(console: Console, folder: Path) -> None:
    """Print the regrets of a run folder, and what its matrix is like."""
    found = Regrets.from_dict(runs.read_summary(folder))
    print_answer(console, found)
    say(
        console,
        found.headline(),
        *found.meaning().split("; "),
        f"means of {found.about}; correct: in the end recommends a Copeland winner (with -borda in "
        f"the name: a Borda winner); {folder}",
    )
