"""The job `python -m papers.improvements`. Axes: J repeats, B tests."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console

from jaxrace import improvement, runs
from jaxrace.answers import style
from jaxrace.commands.job import Job
from jaxrace.commands.printing import say
from jaxrace.judging.policies.result import worth
from jaxrace.runs import files, plots
from papers.improvements.config import ImprovementsConfig
from papers.improvements.domains import DOMAINS, Worth, floor_of, run_trials
from papers.workbench import Workbench, run_job

FIGURE, POLICY = "performance.png", "policy.npz"


# What a job has come to: columns of log.csv [J, B], arrays of policy.npz, a figure, a summary.
Done = tuple[dict[str, np.ndarray], dict[str, Any], "plots.Figure", dict[str, Any]]


def improve(job: Job) -> Path:
    """Improve a simulated policy, and write a run folder.

    Its policy.npz has theta and alpha of the policy in the end, of every repeat.
    """
    config: ImprovementsConfig = job.config

    def work(bench: Workbench) -> None:
        tests, policy, figure, summary = _simulate(config, bench)
        repeats, count = tests["passed"].shape
        columns = {name: values.reshape(-1) for name, values in tests.items()}
        runs.write_log(bench.folder, {"repeat": np.repeat(np.arange(repeats), count), **columns})
        with files.new_file(bench.folder / POLICY) as file:
            np.savez(file, **policy)
        plots.save_twice(figure, bench.folder / FIGURE)
        runs.write_summary(bench.folder, summary)

    return run_job("improvements", job, work)


def _simulate(config: ImprovementsConfig, bench: Workbench) -> Done:
    domain = DOMAINS[config.task]
    start = floor_of(domain, config.seed)
    start = start._replace(mean=round(start.mean, 6))
    floor = start if config.floor is None else Worth(config.floor, 0.0)
    search = improvement.CandidateSearch(config.candidates, config.evaluations)
    bound = improvement.BOUNDS[config.bound]
    method = improvement.PolicyImprovement(domain.softmax, domain.returns, bound, search)
    # A single batch is a run of Daedalus that ends after its first test.
    is_batch = config.method == "batch"
    size = config.trajectories if is_batch else config.chosen_batch
    keeps = config.method == "daedalus2"
    daedalus = improvement.Daedalus(method, size, config.trajectories // size, keeps, config.spend)
    trials = run_trials(
        bench, config.task, domain, daedalus, config.delta, floor, start, config.repeats
    )
    row = trials.row
    columns = {
        "trajectories": row.trajectories,
        "passed": row.is_found,
        "added": row.is_added,
        **{name: getattr(row, name) for name in ("lower_bound", "estimate", "delta")},
        "performance": trials.performance,  # of the policy then in use
    }
    columns = {name: np.asarray(values) for name, values in columns.items()}
    theta, alpha = jax.tree.map(lambda x: np.asarray(x[:, -1]), row.current)
    passed, is_safe = columns["passed"], bound.is_safe
    is_whole = config.spend or passed.size == 1
    summary = {
        "method": config.method,
        "bound": config.bound,
        "bound_is_safe": is_safe,
        "is_safe": is_safe and not keeps,
        "delta": config.delta,
        "delta_holds_for": "the whole run" if is_whole else "a test",
        "floor": floor.mean,
        "floor_stderr": floor.stderr,
        "tests": passed.shape[1],
        "repeats": passed.shape[0],
        "passed": runs.mean_and_stderr(passed.any(1).astype(float)),
        "start": start.mean,
        "performance": runs.mean_and_stderr(trials.performance[:, -1]),
        "worse_than_floor": int(trials.is_worse[:, -1].sum()),
    }
    figure = _figure(config, columns, start.mean)
    return columns, {"theta": theta, "alpha": alpha}, figure, summary


def _figure(
    config: ImprovementsConfig, tests: dict[str, np.ndarray], start: float
) -> "plots.Figure":
    figure, [[panel]] = plots.new_figure((7, 4.4))
    performance = tests["performance"]
    x = np.append(0, tests["trajectories"][0])
    curves = np.concatenate([np.full((len(performance), 1), start), performance], 1)
    panel.plot(x, curves.T, color=style.BLUE, alpha=0.25, lw=1)
    panel.plot(x, curves.mean(0), color=style.BLUE, lw=2, label="mean of the repeats")
    panel.axhline(start, color=style.EDGE, lw=0.8, label="the policy at the start")
    plots.tidy(
        panel,
        "x",
        xlabel="trajectories",
        ylabel="performance of the policy in use",
        title=f"{config.task}: {config.method}, bound {config.bound}",
    )
    panel.legend(frameon=False)
    return figure


def print_improvement(console: Console, folder: Path) -> None:
    """Say of a run folder what was found, and what it is worth."""
    summary = runs.read_summary(folder)
    performance = summary["performance"]
    error = "" if performance["stderr"] is None else f" +- {performance['stderr']:.3f}"
    say(
        console,
        f"policy at the start: performance {summary['start']:.3f}",
        f"policy in the end:   performance {performance['mean']:.3f}{error}, mean of "
        f"{summary['repeats']} repeats of {summary['tests']} tests",
        f"found something in {summary['passed']['mean']:.0%} of the repeats; "
        f"worse than the floor, {summary['floor']:.3f}, in the end: {summary['worse_than_floor']}",
        worth(summary),
        f"policies and all tests: {folder}",
    )
