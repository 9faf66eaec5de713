"""The results of a training job, in files and on the screen. Axes: n rows, p weights."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console
from rich.table import Column

from jaxrace import runs, sweep
from jaxrace.commands.printing import confidence_scale, plus_minus, print_table, say
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.tasks import Metrics, Task, fixed_name
from jaxrace.runs import files

_MOST_WEIGHTS = 8  # in a line

Columns = dict[str, np.ndarray]
Summary = dict[str, Any]  # as JSON has it

# Rates of a sweep, and how they are written.
RATES = {
    "episodes_per_second": "{:,.0f} episodes/s",
    "searches_per_second": "{:,.0f} searches/s",
    "lane_utilisation": "{:.0%} of the lanes busy",
}

# In words, by a race's certificate.
_CERTIFIED = {
    "dominance": "certified to beat every other setting",
    "counts": "certified to beat the most other settings",
}


def write_rows(config: TrainConfig, task: Task, log: sweep.SweepLog, folder: Path) -> Columns:
    """Write log.csv, and return the last rows of the searches that did not fail, by setting."""
    last: list[Columns] = []

    def pieces() -> Iterator[Columns]:
        for rows in log.in_order():
            columns = _columns(config, task, rows)
            ends = rows.is_last & ~np.isin(rows.job, log.failed)
            with_setting = {"setting": rows.job // config.repeats, **columns}
            last.append({name: column[ends] for name, column in with_setting.items()})
            yield columns

    runs.write_log(folder, pieces())
    return {name: np.concatenate([piece[name] for piece in last]) for name in last[0]}


def _columns(config: TrainConfig, task: Task, rows: sweep.Rows) -> Columns:
    search = rows.row.search._asdict()
    setting, repeat = np.divmod(rows.job, config.repeats)
    swept = {}
    if config.is_grid:
        values = np.array(config.settings, np.float64)  # None is nan
        swept = {"sigma": values[setting, 0], "delta": values[setting, 1]}
    leaves = [leaf.reshape(len(repeat), -1) for leaf in jax.tree.leaves(search["best"])]
    hidden = ("ran", "best", "valid")  # failures are in the summary
    return {
        **swept,
        "repeat": repeat,
        **{name: column for name, column in search.items() if name not in hidden},
        **{f"theta_{i}": column for i, column in enumerate(np.concatenate(leaves, -1).T)},
        **{name: rows.row.metrics[name] for name in task.labels},
    }


def summarise(
    config: TrainConfig,
    task: Task,
    last: Columns,
    baselines: dict[str, Metrics],
    failed: list[Summary],
    raced: Summary | None,
) -> Summary:
    """The content of summary.json: the last policy of every repeat, and the baselines."""
    shared = {
        "env": config.env,
        "method": config.method,
        "policy": fixed_name(config),
        "repeats": config.repeats,
        "episodes": config.episodes,
        "metrics": {name: task.labels[name] for name in task.shown},
        "smaller": [name for name in task.shown if name in task.smaller],
        "baselines": {
            policy: {name: runs.mean_and_stderr(metrics[name]) for name in task.labels}
            for policy, metrics in baselines.items()
        },
        "failed": failed,
    }
    if task.preference and config.method in ("pb-edps", "pb-edps-fast"):
        shared["preference"] = task.preference
    if not config.is_grid:
        return {**shared, **_found(task, last), **_learned(config, task, last)}
    found = {**shared, "objective": task.objective, "settings": _ranked(config, task, last, raced)}
    return found if raced is None else {**found, "race": raced}


def _learned(config: TrainConfig, task: Task, last: Columns) -> Summary:
    """The weights of the learned policies by name, and generations: means over the repeats."""
    if not (config.learns and last["generation"].size):
        return {}
    columns = [column for column in last if column.startswith("theta_")]
    names = getattr(task.policy, "weight_names", columns)
    return {
        "weights": {
            name: runs.mean_and_stderr(last[column])
            for name, column in zip(names, columns, strict=True)
        },
        "generations": runs.mean_and_stderr(last["generation"]),
    }


def _ranked(config: TrainConfig, task: Task, last: Columns, raced: Summary | None) -> list[Summary]:
    """The settings, the best first; those whose searches all failed come last."""
    found = []
    for number, setting in enumerate(config.settings):
        own = {name: column[last["setting"] == number] for name, column in last.items()}
        found.append({**setting._asdict(), **_found(task, own)})
    if raced is not None:  # its order: means of a few repeats may be lucky ones
        return [found[number] for number in raced["ranking"]]
    means = [setting[task.objective]["mean"] for setting in found]
    order = np.argsort([np.inf if mean is None else -mean for mean in means], kind="stable")
    return [found[number] for number in order]


def _found(task: Task, last: Columns) -> Summary:
    """Mean and standard error over repeats, unless all of them failed."""
    own = {"episodes_used": last["episodes"], **{name: last[name] for name in task.labels}}
    none = {"mean": None, "stderr": None, "count": 0}
    return {name: runs.mean_and_stderr(x) if x.size else none for name, x in own.items()}


def failures(config: TrainConfig, log: sweep.SweepLog) -> list[Summary]:
    """The settings and repeats of the searches that failed."""
    setting, repeat = np.divmod(log.failed, config.repeats)
    return [
        {**config.settings[s]._asdict(), "repeat": int(r)}
        for s, r in zip(setting, repeat, strict=True)
    ]


def describe_failures(config: TrainConfig, found: Summary, folder: Path) -> str:
    """One line on what failed, by the summary."""
    failed, errors = found["failed"], found.get("errors", {})
    first = ", ".join(f"{name} {value}" for name, value in failed[0].items())
    total = len(config.settings) * config.repeats
    why = "; ".join(f"{shard}: {error}" for shard, error in errors.items())
    why = why or "NaN or infinite outcomes"
    return (
        f"{len(failed)} of {total} searches failed ({why}), first {first}; "
        f"{folder.as_posix()} has the others"
    )


def _print_table(console: Console, summary: Summary) -> None:
    """Print the method or its settings, and the baselines; a grid has 95 % intervals."""
    own, sign, is_grid = {summary["policy"]: summary}, plus_minus(console), "settings" in summary
    if is_grid:
        own = {_setting_name(one): one for one in summary["settings"]}
    rows = [
        [name, *(_cell(found[metric], sign, is_grid) for metric in summary["metrics"])]
        for name, found in (own | summary["baselines"]).items()
    ]
    metrics = (Column(label, justify="right") for label in summary["metrics"].values())
    print_table(console, [Column("sigma, delta" if is_grid else ""), *metrics], rows, "bold")


def _setting_name(setting: Summary) -> str:
    sigma = "-" if setting["sigma"] is None else f"{setting['sigma']:g}"
    return f"{sigma}, {setting['delta']:g}"


def _cell(statistic: Summary, sign: str, is_grid: bool) -> str:
    """A mean with as many digits as its standard error makes sensible."""
    mean, stderr = statistic["mean"], statistic["stderr"]
    if mean is None:
        return "failed"
    if stderr is None:
        return f"{mean:.3g}"
    error = confidence_scale(statistic["count"]) * stderr if is_grid else stderr
    return f"{mean:.3f} {sign} {error:.3f}" if abs(mean) < 10 else f"{mean:.2f} {sign} {error:.2f}"


def print_results(console: Console, folder: Path) -> None:
    """Print the table of a run folder of ``train``, and a line with the times and the folder."""
    summary, timing = runs.read_summary(folder), files.read_json(folder / runs.TIMING)
    _print_table(console, summary)
    if "settings" in summary:
        best = f"settings ranked by {summary['metrics'][summary['objective']]}, best first"
        say(console, f"{best}; 95 % confidence intervals")
    elif summary["repeats"] > 1:
        say(console, f"means of {summary['repeats']} repeats and their standard errors")
    if "preference" in summary:
        say(console, f"learned by {summary['preference']}, not by these means")
    if "weights" in summary:
        say(console, _learned_line(summary, plus_minus(console)))
    if "race" in summary:
        label = summary["metrics"][summary["objective"]]
        say(console, f"race by {label}: {race_line(summary['race'], timing)}")
    compiling, times = timing["compile_seconds"], f"run {timing['run_seconds']:.1f} s"
    is_apart = compiling is not None
    times = f"compile {compiling:.1f} s, {times}" if is_apart else f"{times}, compiling included"
    # Rates of a job that was resumed, or that compiles as it runs, are not known.
    for name, text in RATES.items():
        if (rate := timing[name]) is not None:
            times += f", {text.format(rate)}"
    say(console, f"{times}; {folder}")


def _learned_line(summary: Summary, sign: str) -> str:
    """What was learned, and how the budget went."""
    used, generations = summary["episodes_used"]["mean"], summary["generations"]["mean"]
    spent = f"{used:,.0f} episodes of a search, in {generations:.3g} generations"
    weights = summary["weights"]
    if len(weights) > _MOST_WEIGHTS:
        return f"{spent}; {len(weights)} weights of each policy are in {runs.LOG}"
    told = ", ".join(f"{name} {_cell(one, sign, False)}" for name, one in weights.items())
    return f"{spent}; weights learned: {told}"


def race_line(race: Summary, timing: Summary) -> str:
    """What the race between the settings found, and what it saved."""
    best = _setting_name(race["best"])
    found = (
        f"sigma, delta {best}: {_CERTIFIED[race['certificate']]}; to certify a wrong one has "
        f"probability at most {race['delta']:g}"
        if race["certified"]
        else f"NOT certified which setting is best; {best} leads"
    )
    made, without, most = (
        race[name] for name in ("searches", "searches_without_race", "most_searches_of_race")
    )
    saved = f"{made:,} of {without:,} searches made, {1 - made / without:.0%} saved"
    if most != without:
        saved += f" ({1 - made / most:.0%} of the {most:,} that its blocks can use)"
    return f"{found}; {saved}; took {timing['race_seconds']:.1f} s"
