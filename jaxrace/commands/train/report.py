"""What a training job shows while it runs, and its table at the end."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from jaxrace.commands.printing import say

# On a pipe a line comes after this many seconds and this share of the episodes, or later.
_SECONDS_PER_LINE = 2.0
_SHARE_PER_LINE = 0.125


class ProgressLines:
    """Plain lines now and then, for a pipe; called as ``train`` calls its ``on_progress``.

    Args:
        console: Where to write.
        total: Episodes of the whole job.

    >>> lines = ProgressLines(Console(), total=1000)
    >>> lines("compiling", 0)
    compiling ...
    >>> lines("training", 0)
    training on 1,000 episodes ...
    >>> lines("training", 1000)
    >>> lines("evaluating", 1000)
    evaluating ...
    """

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._stage = ""
        self._started = self._last_line = 0.0
        self._first_done = self._last_done = 0

    def __call__(self, stage: str, done: int) -> None:
        """Perhaps write a line."""
        now = time.perf_counter()
        total = self._total
        if stage != self._stage:
            self._stage, self._started, self._last_line = stage, now, now
            self._first_done = self._last_done = done  # more than 0 if it was resumed
            self._say(
                f"{stage} on {total:,} episodes ..." if stage == "training" else f"{stage} ..."
            )
        elif (
            now - self._last_line >= _SECONDS_PER_LINE
            and done - self._last_done >= _SHARE_PER_LINE * total
        ):
            rate = (done - self._first_done) / (now - self._started)
            left = (total - done) / rate
            self._say(f"{done:,} of {total:,} episodes, {rate:,.0f}/s, {left:,.0f} s left")
            self._last_line, self._last_done = now, done

    def _say(self, text: str) -> None:
        say(self._console, text)


class ProgressBar:
    """A bar with episodes per second and time left; called as ``train`` calls ``on_progress``.

    Args:
        progress: Drawn by the caller.
        total: Episodes of the whole job.

    >>> with Progress(disable=True) as progress:
    ...     bar = ProgressBar(progress, total=1000)
    ...     bar("training", 0)
    ...     bar("training", 1000)
    >>> progress.finished
    True
    """

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        # A bar without a total pulses.
        self._task = progress.add_task("starting", total=None, detail="")
        self._stage = ""
        self._started = 0.0
        self._first_done = 0

    def __call__(self, stage: str, done: int) -> None:
        """Move the bar."""
        now = time.perf_counter()
        if stage != self._stage:
            self._stage, self._started, self._first_done = stage, now, done
            total = self._total if stage == "training" else None
            self._progress.reset(self._task, description=stage, total=total, detail="")
        elif stage == "training":
            rate = (done - self._first_done) / (now - self._started)
            detail = f"{done:,} of {self._total:,} episodes, {rate:,.0f}/s"
            self._progress.update(self._task, completed=done, detail=detail)


@contextmanager
def shown_progress(console: Console, total: int) -> Iterator[ProgressLines | ProgressBar]:
    """An ``on_progress`` for ``train``: a bar on a terminal, else plain lines.

    Args:
        console: Where to show it.
        total: Episodes of the whole job.

    >>> with shown_progress(Console(), total=1000) as on_progress:
    ...     on_progress("compiling", 0)
    compiling ...
    """
    if not console.is_interactive:
        yield ProgressLines(console, total)
        return
    columns = (
        TextColumn("{task.description:10}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[detail]}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield ProgressBar(progress, total)


@contextmanager
def shown_stages(console: Console, unit: str = "jobs") -> Iterator[Callable[[str, int, int], None]]:
    """An ``on_stage`` for a ``Workbench``: a bar on a terminal, else a line for every stage.

    Args:
        console: Where to show it.
        unit: What is counted.

    >>> with shown_stages(Console()) as on_stage:
    ...     on_stage("HR plain", 0, 40000)
    ...     on_stage("HR plain", 40000, 40000)
    HR plain: 40,000 jobs ...
    """
    if not console.is_interactive:

        def show_line(stage: str, done: int, total: int) -> None:
            if done == 0:
                say(console, f"{stage}: {total:,} {unit} ...")

        yield show_line
        return
    columns = (TextColumn("{task.description:24}"), BarColumn(bar_width=None), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("starting", total=None)

        def show(stage: str, done: int, total: int) -> None:
            if done == 0:
                progress.reset(bar, description=stage, total=total)
            progress.update(bar, completed=done)

        yield show


def results_table(summary: dict[str, Any], console: Console) -> Table:
    """The method, or its settings, and the baselines, each metric as mean and standard error.

    The error of a setting of a grid is that of its 95 % confidence interval.

    Args:
        summary: Of a training job.
        console: Where it will be printed: rules are drawn on a terminal only, and the sign
            between mean and error is one that its encoding has.

    >>> number = {"mean": 0.25, "stderr": 0.01, "count": 5}
    >>> summary = {"policy": "edps", "repeats": 5, "metrics": {"cost": "cost per game"},
    ...            "cost": number, "baselines": {"random": {"cost": number}}}
    >>> [column.header for column in results_table(summary, Console()).columns]
    ['', 'cost per game']
    """
    utf = console.encoding.startswith("utf")
    sign = "\N{PLUS-MINUS SIGN}" if utf else "+-"
    table = Table(box=SIMPLE_HEAD if console.is_terminal else None, pad_edge=False)
    is_grid = "settings" in summary
    table.add_column("sigma, delta" if is_grid else "")
    for label in summary["metrics"].values():
        table.add_column(label, justify="right")
    own = {summary["policy"]: summary}
    if is_grid:
        own = {_setting_name(one): one for one in summary["settings"]}
    for number, (name, statistics) in enumerate({**own, **summary["baselines"]}.items()):
        scale = confidence_scale if is_grid else _unscaled
        cells = [_cell(statistics[metric], sign, scale) for metric in summary["metrics"]]
        table.add_row(name, *cells, style="bold" if number == 0 else "")
    return table


def _setting_name(setting: dict[str, Any]) -> str:
    sigma = "-" if setting["sigma"] is None else f"{setting['sigma']:g}"
    return f"{sigma}, {setting['delta']:g}"


def _unscaled(count: int) -> float:
    del count
    return 1.0


def confidence_scale(count: int) -> float:
    """Half the 95 % confidence interval of a mean of so many, in standard errors.

    >>> f"{confidence_scale(5):.3f}"
    '2.776'
    """
    from scipy import stats

    return float(stats.t.ppf(0.975, count - 1))


def _cell(statistic: dict[str, Any], sign: str, scale: Callable[[int], float]) -> str:
    """As many digits as the standard error makes sensible."""
    mean, stderr = statistic["mean"], statistic["stderr"]
    if mean is None:
        return "failed"
    if stderr is None:
        return f"{mean:.3g}"
    error = scale(statistic["count"]) * stderr
    return f"{mean:.3f} {sign} {error:.3f}" if abs(mean) < 10 else f"{mean:.2f} {sign} {error:.2f}"


def print_results(
    console: Console, folder: Path, summary: dict[str, Any], timing: dict[str, Any]
) -> None:
    """Print the table, and a line with the times and the run's folder.

    >>> number = {"mean": 0.25, "stderr": None, "count": 1}
    >>> summary = {"policy": "random", "repeats": 1, "metrics": {"cost": "cost"}, "cost": number,
    ...            "baselines": {}}
    >>> timing = {"compile_seconds": 1.0, "run_seconds": 2.0, "episodes_per_second": None,
    ...           "searches_per_second": None, "lane_utilisation": None}
    >>> print_results(Console(), Path("runs/medical-random-1"), summary, timing)
               cost
    random     0.25
    compile 1.0 s, run 2.0 s; runs/medical-random-1
    """
    console.print(results_table(summary, console))
    if "settings" in summary:
        best = f"settings ranked by {summary['metrics'][summary['objective']]}, best first"
        say(console, f"{best}; 95 % confidence intervals")
    elif summary["repeats"] > 1:
        say(console, f"means of {summary['repeats']} repeats and their standard errors")
    if "race" in summary:
        say(console, race_line(summary["race"], timing))
    times = f"compile {timing['compile_seconds']:.1f} s, run {timing['run_seconds']:.1f} s"
    # Of a job that was resumed, the episodes per second are not known.
    for name, text in _RATES.items():
        if (rate := timing[name]) is not None:
            times += f", {text.format(rate)}"
    say(console, f"{times}; {folder}")


# What may be known of a sweep, and how it is written.
_RATES = {
    "episodes_per_second": "{:,.0f} episodes/s",
    "searches_per_second": "{:,.0f} searches/s",
    "lane_utilisation": "{:.0%} of the lanes busy",
}

# By the certificates of a race for the best one.
_CERTIFIED = {
    "dominance": "certified to beat every other setting",
    "counts": "certified to beat the most other settings",
}


def race_line(race: dict[str, Any], timing: dict[str, Any]) -> str:
    """What the race between the settings found, and what it saved.

    Args:
        race: Of the summary.
        timing: See ``SettingsRace.timing``.

    >>> race = {"best": {"sigma": 10.0, "delta": 0.1}, "certified": False, "searches": 110,
    ...         "searches_without_race": 200, "most_searches_of_race": 192}
    >>> race_line(race, {"race_seconds": 1.0}).partition("leads; ")[2]
    '110 of 200 searches made, 45% saved (43% of the 192 that its blocks can use); took 1.0 s'
    """
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
    return f"race: {found}; {saved}; took {timing['race_seconds']:.1f} s"
