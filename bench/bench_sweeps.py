"""Sweeps: the paper's grid against few searches, refilled lanes, checkpoints, and memory."""

import dataclasses
import itertools
import os
import subprocess
import sys
import tempfile
from typing import Any

import jax
import jax.numpy as jnp
import measuring
import normal_races
import numpy as np
import pytest
import sweep_memory

from jaxrace import kernels, racing, sweep
from jaxrace.agents.policies import Sigmoid
from jaxrace.envs import medical
from jaxrace.search import PolicySearch, SearchJob, SearchWork, stack_params

QUICK = os.environ.get("JAXRACE_BENCH_QUICK") == "1"
SIGMAS = (0.1, 1.0, 5.0, 10.0, 15.0, 25.0, 50.0, 100.0)
DELTAS = (0.01, 0.05, 0.1, 0.2, 0.5)
REPEATS = 10 if QUICK else 100
MIXED = 200 if QUICK else 2000

# Seconds of a run with checkpoints, and between them.
SAVED_SECONDS, SAVED_EVERY = (9, 3) if QUICK else (100, 30)


def make_work(settings):
    race = racing.PreferenceRace(7, 3, 100, medical.prefer)
    search = PolicySearch(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome(), race)
    params = [search.params(sigma0=s, delta=d, budget=b) for s, d, b in settings]
    return SearchWork(search, stack_params(params))


def make_jobs(setting, costs=None):
    keys = jax.random.split(jax.random.key(0), len(setting))
    return sweep.stacked(SearchJob(keys, np.asarray(setting, np.int32)), costs)


def test_equal_searches(benchmark):
    """100 of them, with the paper's numbers."""
    work, jobs = make_work([(10.0, 0.2, 10_000)]), make_jobs(np.zeros(100))
    sweep.run(work, jobs)
    log = measuring.record(benchmark, "sweeps/100 equal", lambda: sweep.run(work, jobs))
    benchmark.extra_info["lane_utilisation"] = log.utilisation


def test_grid(benchmark):
    """The paper's 4,000; its time is that of 100 of them."""
    settings = [(s, d, 10_000) for s, d in itertools.product(SIGMAS, DELTAS)]
    work = make_work(settings)
    jobs = make_jobs(np.repeat(np.arange(len(settings)), REPEATS))
    scale = 100 / jobs.count
    log = measuring.record(
        benchmark, "sweeps/grid", lambda: sweep.run(work, jobs), rounds=3, scale=scale
    )
    generations = np.bincount(log.rows.job)
    benchmark.extra_info.update(
        searches=jobs.count,
        lane_utilisation=log.utilisation,
        jobs_per_second=log.jobs_per_second,
        fewest_generations=int(generations.min()),
        most_generations=int(generations.max()),
    )


def without_refill(log):
    """The utilisation if every block waited for its slowest job before it took others."""
    steps = np.bincount(log.rows.job, minlength=log.num_jobs)
    padded = np.zeros(-(-len(steps) // log.width) * log.width, np.int64)
    padded[: len(steps)] = steps
    return steps.sum() / (padded.reshape(-1, log.width).max(1).sum() * log.width)


def test_mixed_searches(benchmark):
    """Budgets from 500 to 20,000 episodes, in random order."""
    levels = np.arange(500, 20_001, 500)
    setting = np.random.default_rng(0).integers(0, len(levels), MIXED)
    work = make_work([(10.0, 0.2, int(budget)) for budget in levels])
    jobs = make_jobs(setting, levels[setting])
    log = measuring.record(
        benchmark, "sweeps/mixed searches", lambda: sweep.run(work, jobs), rounds=2
    )
    unknown = sweep.run(work, make_jobs(setting))
    benchmark.extra_info.update(
        lane_utilisation=log.utilisation,
        lane_utilisation_without_costs=unknown.utilisation,
        lane_utilisation_without_refill=without_refill(unknown),
    )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RaceWork:
    """Races of normal options, of which a step draws ten rounds."""

    params: Any
    race: racing.PreferenceRace = dataclasses.field(metadata={"static": True})

    def init(self, job):
        example = jax.ShapeDtypeStruct((), jnp.float32)
        return {"key": job["key"], "k": job["k"], "race": self.race.init(example, self.params)}

    def step(self, state):
        race_state = state["race"]
        key = jax.random.fold_in(state["key"], race_state.round + 1)
        options = normal_races.TASK.draw(state["key"], state["k"], self.race.num_options)
        keys = jax.random.split(key, (self.race.num_options, 10))
        draw = jax.vmap(jax.vmap(normal_races.TASK.sample, (0, None)))
        told = self.race.tell(race_state, draw(keys, options), self.params)
        return {**state, "race": told}, {"samples": told.samples.sum()}

    def done(self, state):
        return ~self.race.ask(state["race"], self.params).any()

    def failed(self, row):
        return row["samples"] < 0


def test_mixed_races(benchmark):
    """Synthetic races, k = 1 to 10 in turn."""
    race = racing.PreferenceRace(10, 5, 300, kernels.total_order)
    work = RaceWork(race.params(0.05), race)
    keys = jax.random.split(jax.random.key(0), 2 * MIXED)
    k = np.arange(2 * MIXED, dtype=np.float32) % 10 + 1
    jobs = sweep.stacked({"key": keys, "k": k})
    log = measuring.record(benchmark, "sweeps/mixed races", lambda: sweep.run(work, jobs), rounds=2)
    benchmark.extra_info.update(
        lane_utilisation=log.utilisation, lane_utilisation_without_refill=without_refill(log)
    )


class Repeated:
    """The paper's grid again and again, so that a run takes as long as is wanted.

    A run with checkpoints stands between two halves without, so that a machine that gets slower
    or faster all the time favours neither. What they take to compile is left out: the halves
    compile twice.
    """

    def __init__(self):
        settings = [(s, d, 10_000) for s, d in itertools.product(SIGMAS, DELTAS)]
        self.num_settings, self.work = len(settings), make_work(settings)
        with tempfile.TemporaryDirectory() as folder:
            few = self.run(40 * self.num_settings, checkpoints=sweep.Checkpoints(folder))
        self.count = int(few.jobs_per_second * SAVED_SECONDS) // 2 * 2

    def run(self, count, **arguments):
        return sweep.run(self.work, make_jobs(np.arange(count) % self.num_settings), **arguments)


@pytest.fixture(scope="module")
def repeated():
    return Repeated()


def record_half(benchmark, repeated):
    half = repeated.count // 2
    log = measuring.record(
        benchmark, "sweeps/not saved", lambda: repeated.run(half), rounds=1, warmups=0
    )
    benchmark.extra_info.update(compiling_within=log.compile_seconds)


def test_not_saved_before(benchmark, repeated):
    """Half of the searches, without checkpoints."""
    record_half(benchmark, repeated)


def test_saved(benchmark, repeated):
    """All of them, with a checkpoint every 30 seconds."""

    def run():
        with tempfile.TemporaryDirectory() as folder:
            checkpoints = sweep.Checkpoints(folder, every=SAVED_EVERY)
            log = repeated.run(repeated.count, checkpoints=checkpoints)
            return log, sum(name.startswith("rows-") for name in os.listdir(folder))

    log, saved = measuring.record(benchmark, "sweeps/saved", run, rounds=1, warmups=0)
    # The last one is that of the end.
    benchmark.extra_info.update(
        searches=repeated.count,
        every=SAVED_EVERY,
        checkpoints=saved,
        compiling_within=log.compile_seconds,
    )


def test_not_saved_after(benchmark, repeated):
    """The other half of the searches, without checkpoints."""
    record_half(benchmark, repeated)


def peak_memory(*arguments):
    """Bytes that a process of ``sweep_memory.py`` has taken at most."""
    script = os.path.join(os.path.dirname(__file__), "sweep_memory.py")
    command = [sys.executable, script, *map(str, arguments)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_memory(benchmark):
    """The most memory of a process, by its jobs and by its lanes.

    Beside it that of one which keeps all rows: it has to grow by what they take.
    """
    few, many = (1000, 3000) if QUICK else (2000, 16_000)
    widths = (8, 32, 128)
    measuring.record(
        benchmark, "sweeps/memory", lambda: peak_memory(few, 32, "saved"), rounds=1, warmups=0
    )
    added = (many - few) * sweep_memory.ROW_BYTES
    by_jobs = {
        how: [peak_memory(count, 32, how) for count in (few, many)] for how in ("saved", "kept")
    }
    benchmark.extra_info.update(
        jobs=[few, many],
        added_bytes=added,
        peak_bytes_saved=by_jobs["saved"],
        peak_bytes_kept=by_jobs["kept"],
        # 1 if all rows stay in memory, 0 if none do.
        growth_saved=float(np.diff(by_jobs["saved"])[0] / added),
        growth_kept=float(np.diff(by_jobs["kept"])[0] / added),
        widths=widths,
        peak_bytes_by_width=[peak_memory(few, width, "saved") for width in widths],
    )
