"""Figures and tables of the papers: ``jaxrace reproduce NAME``."""

import dataclasses
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from jaxrace import runs
from jaxrace.experiments import (
    bf13_variants,
    hcpi_bounds,
    hcpi_daedalus,
    hcpi_mountain_car,
    medical_choices,
    medical_convergence,
    medical_grid,
    medical_outcomes,
    pbr_synthetic,
    poker_topk,
    racing_pays,
    savage_bandits,
    savage_dueling,
    sup_klucb,
    thurstone_large,
    thurstone_noise,
    thurstone_topk,
    topk_batches,
    topk_pooled,
    topk_shootout,
)
from jaxrace.experiments.config import EXPERIMENTS, MOST_SEED, ON_DEMAND
from jaxrace.experiments.run_options import ANY_LANES, Lanes
from jaxrace.experiments.workbench import (
    CHECKPOINT,
    REPORT,
    OnStage,
    Workbench,
    ignore_stages,
    run_folder,
)
from jaxrace.validation import require_choice, require_integer

RUN: dict[str, Callable[[Workbench], None]] = {
    "pbr-synthetic": pbr_synthetic.run,
    "bf13-variants": bf13_variants.run,
    "medical-outcomes": medical_outcomes.run,
    "medical-convergence": medical_convergence.run,
    "medical-choices": medical_choices.run,
    "racing-pays": racing_pays.run,
    "medical-grid": medical_grid.run,
    "savage-bandits": savage_bandits.run,
    "savage-dueling": savage_dueling.run,
    "sup-klucb": sup_klucb.run,
    "hcpi-bounds": hcpi_bounds.run,
    "hcpi-mountain-car": hcpi_mountain_car.run,
    "hcpi-daedalus": hcpi_daedalus.run,
    "thurstone-topk": thurstone_topk.run,
    "thurstone-large": thurstone_large.run,
    "thurstone-noise": thurstone_noise.run,
    "topk-batches": topk_batches.run,
    "topk-pooled": topk_pooled.run,
    "topk-shootout": topk_shootout.run,
    "poker-topk": poker_topk.run,
    "savage-dueling-400": savage_dueling.run_400,
    "thurstone-topk-4": thurstone_topk.run_published,
    "sup-klucb-25": sup_klucb.run_first,
}

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
        name: One of ``config.EXPERIMENTS``, or "all" for a folder with a folder for each.
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
    require_choice("name", name, (*EXPERIMENTS, ALL))
    require_integer("seed", seed, 0, MOST_SEED)
    asked = {"command": "reproduce", "config": {"name": name, "quick": quick, "seed": seed}}
    with run_folder(out, resume, f"reproduce-{name}", asked) as folder:
        _run(name, Workbench(folder, quick, seed, resume, stop, on_stage, lanes))
    return folder


def _run(name: str, bench: Workbench) -> None:
    if name == ALL:
        for one in (name for name in EXPERIMENTS if name not in ON_DEMAND):
            folder = bench.folder / one
            folder.mkdir(exist_ok=True)
            if not (folder / runs.CONFIG).exists():
                config = {"name": one, "quick": bench.quick, "seed": bench.seed}
                runs.write_config(folder, {"command": "reproduce", "config": config})
            _run(one, dataclasses.replace(bench, folder=folder))
    elif not (bench.folder / REPORT).exists():
        RUN[name](bench)
        shutil.rmtree(bench.folder / CHECKPOINT, ignore_errors=True)
