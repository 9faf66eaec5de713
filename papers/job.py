"""The job `python -m papers`: figures and tables of the papers."""

import dataclasses
import pkgutil
import shutil
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from jaxrace import runs
from jaxrace.commands.job import CHECKPOINT, Job, run_folder
from jaxrace.commands.printing import say
from papers.config import ALL, ReproduceConfig
from papers.figures import FIGURES, IN_ALL, MAKERS
from papers.workbench import REPORT, Workbench


def reproduce(job: Job) -> Path:
    """Make figures and tables again, and a report that sets them beside the paper's."""
    config: ReproduceConfig = job.config
    with run_folder(job, f"reproduce-{config.name}", _asked(config)) as folder:
        _run(config, _bench_of(config, folder, job))
    return folder


def _bench_of(config: ReproduceConfig, folder: Path, job: Job) -> Workbench:
    numbers = config.quick, config.seed
    return Workbench(folder, *numbers, job=job, uniform=config.uniform, problems=config.problems)


def _asked(config: ReproduceConfig) -> dict[str, object]:
    return {"command": "reproduce", "config": dataclasses.asdict(config)}


def _run(config: ReproduceConfig, bench: Workbench) -> None:
    if config.name == ALL:
        for one in IN_ALL:
            folder, own = bench.folder / one, dataclasses.replace(config, name=one)
            folder.mkdir(exist_ok=True)
            if not (folder / runs.CONFIG).exists():
                runs.write_config(folder, _asked(own))
            _run(own, dataclasses.replace(bench, folder=folder))
    elif not (bench.folder / REPORT).exists():
        maker(config.name)(dataclasses.replace(bench, title=FIGURES[config.name]))
        shutil.rmtree(bench.folder / CHECKPOINT, ignore_errors=True)


def maker(name: str) -> Callable[[Workbench], None]:
    """The function that makes a figure; imports its module."""
    return pkgutil.resolve_name(f"papers.{MAKERS[name]}")


def print_report(console: Console, folder: Path) -> None:
    """Say where the report is, or the folders of several."""
    report = folder / REPORT
    say(console, str(report if report.exists() else folder))
