"""Figures and tables of the papers: ``jaxrace reproduce NAME``."""

import dataclasses
import importlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from jaxrace import runs
from jaxrace.commands.run_options import ANY_LANES, Lanes
from jaxrace.commands.train.config import MOST_SEED
from jaxrace.commands.workbench import (
    CHECKPOINT,
    REPORT,
    OnStage,
    Workbench,
    ignore_stages,
    run_folder,
)
from jaxrace.papers.figures import FIGURES
from jaxrace.validation import require_choice, require_integer

ALL = "all"


def reproduce(
    name: str,
    out: str | os.PathLike[str] | None = None,
    quick: bool = False,
    seed: int = 0,
    resume: bool = False,
    stop: Callable[[], bool] | None = None,
    on_stage: OnStage = ignore_stages,
    lanes: Lanes = ANY_LANES,
) -> Path:
    """Make the figures and tables of an experiment, and a report that sets them beside the paper's.

    Args:
        name: One of ``FIGURES``, or "all" for a folder with a folder for each.
        out: The folder; ``runs/reproduce-NAME-1`` or the next free number unless given.
        quick: At a fraction of the size: to see that it works, not what comes out.
        seed: Of all random numbers, 0 to 2^32 - 1.
        resume: Go on with what was interrupted in the folder ``out``.
        stop: Called now and then; once it says so, what has been done is saved and the run ends.
        on_stage: See ``Workbench``.
        lanes: How wide the sweeps are to be.

    Returns:
        The folder.

    Raises:
        ValueError: An argument is not what it should be.
        RuntimeError: Something went wrong in the computations.
        sweep.Interrupted: ``stop`` said so; its argument is the folder.

    >>> reproduce("figure 99")
    Traceback (most recent call last):
    ValueError: name: expected one of ..., got 'figure 99'
    """
    require_choice("name", name, (*FIGURES, ALL))
    require_integer("seed", seed, 0, MOST_SEED)
    asked = {"command": "reproduce", "config": {"name": name, "quick": quick, "seed": seed}}
    with run_folder(out, resume, f"reproduce-{name}", asked) as folder:
        _run(name, Workbench(folder, quick, seed, resume, stop, on_stage, lanes))
    return folder


def _run(name: str, bench: Workbench) -> None:
    if name == ALL:
        for one in (name for name, figure in FIGURES.items() if not figure.on_demand):
            folder = bench.folder / one
            folder.mkdir(exist_ok=True)
            if not (folder / runs.CONFIG).exists():
                config = {"name": one, "quick": bench.quick, "seed": bench.seed}
                runs.write_config(folder, {"command": "reproduce", "config": config})
            _run(one, dataclasses.replace(bench, folder=folder))
    elif not (bench.folder / REPORT).exists():
        maker(name)(bench)
        shutil.rmtree(bench.folder / CHECKPOINT, ignore_errors=True)


def maker(name: str) -> Callable[[Workbench], None]:
    """What makes a figure; its module is imported now.

    >>> maker("hcpi-bounds")
    <function run at ...>
    """
    figure = FIGURES[name]
    return getattr(importlib.import_module(f"jaxrace.papers.{figure.module}"), figure.function)
