"""The job `jaxrace improve`: a policy that is certainly no worse than the one in use.

Axes: J repeats, B tests of each.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from jaxrace import files, plots, runs
from jaxrace.bases import Affine, Fourier
from jaxrace.experiments.hcpi_domains import DOMAINS, floor_of
from jaxrace.experiments.hcpi_trials import run_trials
from jaxrace.experiments.improve_config import ImproveConfig
from jaxrace.experiments.workbench import OnStage, Workbench, ignore_stages, run_job
from jaxrace.improvement import (
    CandidateSearch,
    Daedalus,
    LinearSoftmax,
    Mixed,
    PolicyImprovement,
    ReturnRange,
    bound_called,
)
from jaxrace.improvement.loading import load

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE, POLICY = "performance.png", "policy.npz"


class Tested(NamedTuple):
    """What the tests have come to; leaves [J, B]."""

    trajectories: np.ndarray  # so far
    is_found: np.ndarray
    is_added: np.ndarray
    lower_bound: np.ndarray
    estimate: np.ndarray
    delta: np.ndarray
    performance: np.ndarray | None  # of the policy then in use; None if there is no simulator


def improve(
    config: ImproveConfig,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    stop: Callable[[], bool] | None = None,
    on_stage: OnStage = ignore_stages,
) -> Path:
    """Improve a policy, and write a run folder.

    It has config.json, log.csv (a row per repeat and test), summary.json, policy.npz (theta and
    alpha of the policy in the end, of every repeat) and, of a simulation, performance.png.

    Args:
        config: The job.
        out: The run's folder; ``runs/improve-1`` or the next free number unless given.
        resume: Go on with the job that left the folder ``out``.
        stop: Called now and then; once it says so, the trials are saved and the job ends.
        on_stage: See ``Workbench``.

    Returns:
        The run's folder.

    Raises:
        ValueError: ``config``, ``out`` or the data cannot be used; nothing is left behind.
        OSError: There is no such file.
        sweep.Interrupted: ``stop`` said so; its argument is the folder.

    >>> config = ImproveConfig("gridworld", bound="t", candidates="none", trajectories=200,
    ...                        repeats=1)
    >>> folder = improve(config)
    >>> runs.read_summary(folder)["floor"]
    0.238
    """
    # What is wrong with a file is said before there is a folder.
    loaded = _load(config)

    def work(bench: Workbench) -> None:
        tested, policy, floor = (
            _simulate(config, bench) if loaded is None else _from_file(config, *loaded)
        )
        runs.write_log(bench.folder, [_columns(tested)])
        with files.new_file(bench.folder / POLICY) as file:
            np.savez(file, theta=np.asarray(policy.theta), alpha=np.asarray(policy.alpha))
        if tested.performance is not None:
            bench.write_figure(FIGURE, _figure(config, tested, floor))
        runs.write_summary(bench.folder, _summary(config, tested, floor))

    return run_job("improve", config, work, out, resume, stop, on_stage)


def _load(config: ImproveConfig) -> Any:
    if not config.is_file:
        return None
    assert config.low is not None
    assert config.high is not None
    returns = ReturnRange(config.low, config.high, config.discount)
    found = load(config.task, returns)
    inputs = len(found.names)
    basis = Fourier(config.order, inputs) if config.order else Affine(inputs)
    softmax = LinearSoftmax(basis, max(found.num_actions, 2))
    search = CandidateSearch(config.candidates)
    method = PolicyImprovement(softmax, returns, bound_called(config.bound), search)
    return method, found.data


def _from_file(
    config: ImproveConfig, method: PolicyImprovement, data: Any
) -> tuple[Tested, Mixed, float]:
    floor = config.floor
    if floor is None:
        floor = round(float(np.mean(np.asarray(method.returns.returns(data), np.float64))), 6)
    found = method.run(
        jax.random.key(np.uint32(config.seed)), data, method.params(floor, config.delta)
    )
    one = jax.tree.map(lambda x: np.asarray(x)[None, None], found)
    tested = Tested(
        np.array([[len(data.behaviour)]]),
        one.is_found,
        one.is_found,
        one.lower_bound,
        one.estimate,
        one.delta,
        None,
    )
    # What is mixed with the policy in use, alpha below 1, is for its owner to mix.
    return tested, jax.tree.map(lambda x: x[None], found.policy), floor


def _simulate(config: ImproveConfig, bench: Workbench) -> tuple[Tested, Mixed, float]:
    domain = DOMAINS[config.task]
    floor = round(floor_of(domain, config.seed), 6) if config.floor is None else config.floor
    search = CandidateSearch(config.candidates)
    method = PolicyImprovement(domain.softmax, domain.returns, bound_called(config.bound), search)
    # A single batch is a run of Daedalus that ends after its first test.
    is_batch = config.chosen_method == "batch"
    size = config.trajectories if is_batch else config.batch
    keeps = config.chosen_method == "daedalus2"
    daedalus = Daedalus(method, size, config.trajectories // size, keeps, config.spend)
    trials = run_trials(bench, config.task, domain, daedalus, config.delta, floor, config.repeats)
    row = trials.row
    listed = row.is_found, row.is_added, row.lower_bound, row.estimate, row.delta
    tested = Tested(
        np.asarray(row.trajectories), *map(np.asarray, listed), performance=trials.performance
    )
    return tested, jax.tree.map(lambda x: x[:, -1], row.current), floor


def _columns(tested: Tested) -> dict[str, np.ndarray]:
    repeats, tests = tested.is_found.shape
    columns = {
        "repeat": np.repeat(np.arange(repeats), tests),
        "trajectories": tested.trajectories.reshape(-1),
        "passed": tested.is_found.reshape(-1),
        "added": tested.is_added.reshape(-1),
        "lower_bound": tested.lower_bound.reshape(-1),
        "estimate": tested.estimate.reshape(-1),
        "delta": tested.delta.reshape(-1),
    }
    if tested.performance is not None:
        columns["performance"] = tested.performance.reshape(-1)
    return columns


def _summary(config: ImproveConfig, tested: Tested, floor: float) -> dict[str, Any]:
    """Of the last test, and of all."""
    found = {
        "method": config.chosen_method,
        "bound": config.bound,
        "is_safe": bound_called(config.bound).is_safe and config.chosen_method != "daedalus2",
        "delta": config.delta,
        "delta_holds_for": "the whole run"
        if config.spend or tested.is_found.size == 1
        else "a test",
        "floor": round(floor, 6),
        "tests": tested.is_found.shape[1],
        "repeats": tested.is_found.shape[0],
        "passed": runs.mean_and_stderr(tested.is_found.any(1).astype(float)),
        "lower_bound": float(tested.lower_bound[0, -1]),
        "estimate": float(tested.estimate[0, -1]),
    }
    if tested.performance is not None:
        found["performance"] = runs.mean_and_stderr(tested.performance[:, -1])
        found["worse_than_floor"] = int((tested.performance[:, -1] < floor - 1e-6).sum())
    return found


def _figure(config: ImproveConfig, tested: Tested, floor: float) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.4), layout="constrained")
    panel = figure.subplots()
    assert tested.performance is not None
    x = np.append(0, tested.trajectories[0])
    curves = np.concatenate([np.full((len(tested.performance), 1), floor), tested.performance], 1)
    panel.plot(x, curves.T, color="C0", alpha=0.25, lw=1)
    panel.plot(x, curves.mean(0), color="C0", lw=2, label="mean of the repeats")
    panel.axhline(floor, color="0.5", lw=0.8, label="the policy at the start")
    panel.set(xlabel="trajectories", ylabel="performance of the policy in use")
    panel.set_title(f"{config.task}: {config.chosen_method}, bound {config.bound}")
    panel.xaxis.set_major_formatter("{x:,.0f}")
    plots.tidy(panel)
    panel.legend(frameon=False)
    return figure
