"""Top-k selection by scores against NumPy and SciPy, and its cost against the number of options.

Seconds are those of one run: 1,000 comparisons of 10 options, 3 of each pair to begin with.
"""

import concurrent.futures
import functools
import multiprocessing
import os
import time

import jax
import measuring
import numpy as np
import pytest
from peers import numpy_selection

from jaxrace import selection
from jaxrace.core.programs import compile_ahead
from jaxrace.selection import KnowledgeGradient, MlPocbam, Pocbam, SelectionJob, SelectionWork
from papers.top_k.stationary import StationaryMlPocbam

OPTIONS, TOP, WARM_UP, BUDGET = 10, 4, 3, 1_000
LANES, RUNS = 32, 128
INTERVAL = 5  # from record to record

SELECTORS = {
    "pocbam": Pocbam,
    "pkg": KnowledgeGradient,
    "followed": functools.partial(StationaryMlPocbam, follows=True),
    "restarted": StationaryMlPocbam,
    "swept": MlPocbam,
}
SLOW = ("restarted", "restarted, float64")

# Whole runs of figure 2c.
LARGE, LARGE_TOP, LARGE_BUDGET, LARGE_LANES = 100, 40, 30_000, 4

# Comparisons after the warm-up, by the number of options; and as many lanes for all numbers.
GROWTH = {10: 100, 30: 100, 100: 50, 300: 50}
GROWTH_LANES = 8


def add_costs(benchmark, comparisons):
    """Microseconds per run and per comparison, for those who read the results."""
    run = 1e6 * benchmark.stats.stats.min * benchmark.extra_info["scale"]
    benchmark.extra_info.update(
        microseconds_per_run=run, microseconds_per_comparison=run / comparisons
    )


def whole_runs(benchmark, name, selector, budget, interval, lanes, batches, part=1.0, **options):
    """Every core runs batches, as in a sweep; ``part`` of a run is made."""
    params, size, top = selector.params(), selector.num_options, selector.top

    def play(key):
        keys = jax.random.split(key)
        problem = selection.thurstone(keys[0], size)
        log = selection.run(
            selector, keys[1], selection.normal_score, problem, budget, params, interval
        )
        is_right = (log.selected[-1] == selection.borda_top(problem.means, top)).all()
        return log.time[-1], is_right

    keys = jax.random.split(jax.random.key(0), (batches, lanes))
    started = time.perf_counter()
    program = compile_ahead(jax.jit(jax.vmap(play)), keys[0])
    compile_seconds = time.perf_counter() - started
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = measuring.record(
            benchmark,
            name,
            lambda: list(pool.map(lambda batch: jax.block_until_ready(program(batch)), keys)),
            scale=1 / (part * batches * lanes),
            compile_seconds=compile_seconds / (batches * lanes),  # that of all runs, too
            **options,
        )
    assert all((ends == budget).all() for ends, _ in found)
    benchmark.extra_info["right"] = float(np.mean([right for _, right in found]))


@pytest.mark.parametrize("name", [*SELECTORS, "restarted, float64"])
def test_jaxrace(benchmark, quick, name):
    """Runs of figure 2a; the peer has numbers of 64 bits."""
    selector = SELECTORS[name.removesuffix(", float64")](OPTIONS, TOP, WARM_UP)
    budget = selector.opening + 100 if quick else BUDGET
    batches = max(RUNS // LANES, os.cpu_count() or 1)
    part = (budget - selector.opening) / (BUDGET - selector.opening)
    size, subject = (budget, INTERVAL, LANES, batches, part), f"selections {name}/jaxrace"
    with jax.enable_x64(name.endswith("float64")):
        whole_runs(benchmark, subject, selector, *size, rounds=2 if name in SLOW else 3)
    add_costs(benchmark, BUDGET)


@pytest.mark.parametrize("name", ["pocbam", "followed"])
def test_large(benchmark, quick, name):
    """Whole runs of figure 2c, half of which is the warm-up."""
    if quick:
        pytest.skip("left out of a quick run")
    selector = SELECTORS[name](LARGE, LARGE_TOP, WARM_UP)
    subject, batches = f"selections of 100, {name}/jaxrace", os.cpu_count() or 1
    interval = LARGE_BUDGET - selector.opening
    size = LARGE_BUDGET, interval, LARGE_LANES, batches
    whole_runs(benchmark, subject, selector, *size, rounds=1, warmups=0)
    add_costs(benchmark, LARGE_BUDGET)


@pytest.fixture(scope="module")
def one_thread():
    """A process whose BLAS has one thread: those of SciPy's L-BFGS-B made it 8 times slower."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENBLAS_NUM_THREADS", "1")
        spawn = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
            pool.submit(os.getpid).result()
            yield pool


def play_peer(seeds, informed, with_fit):
    """Runs, and the processor time that they took."""
    started = time.process_time()
    runs = [
        numpy_selection.run(seed, OPTIONS, TOP, WARM_UP, informed, with_fit)
        for seed in range(seeds)
    ]
    return runs, time.process_time() - started


@pytest.mark.parametrize("name", ["pocbam", "restarted"])
def test_numpy(benchmark, quick, one_thread, name):
    """Whole runs one after the other, on one core: fits differ in their number of steps."""
    runs = 4 if quick else 12
    rounds = 1 if name in SLOW else 2
    opening = WARM_UP * OPTIONS * (OPTIONS - 1) // 2
    informed = 100 if quick else BUDGET - opening
    cpu_seconds = []

    def run():
        found, seconds = one_thread.submit(play_peer, runs, informed, name == "restarted").result()
        cpu_seconds.append(seconds)
        return found

    part = informed / (BUDGET - opening)
    found = measuring.record(
        benchmark,
        f"selections {name}/numpy",
        run,
        rounds=rounds,
        warmups=rounds - 1,
        scale=1 / (part * runs),
    )
    benchmark.extra_info["cpu_seconds"] = min(cpu_seconds)
    fits = runs * (informed + 1)
    benchmark.extra_info["right"] = float(np.mean([(r.selected == r.best).all() for r in found]))
    benchmark.extra_info["evaluations_per_fit"] = sum(one.evaluations for one in found) / fits
    add_costs(benchmark, BUDGET)


@pytest.mark.parametrize("options", GROWTH)
@pytest.mark.parametrize("name", ["pocbam", "pkg", "followed", "swept"])
def test_number_of_options(benchmark, quick, name, options):
    """Seconds of one comparison after the warm-up; 2 of each pair to begin with."""
    if quick and options > 30:
        pytest.skip("left out of a quick run")
    informed, lanes = GROWTH[options], GROWTH_LANES
    selector = SELECTORS[name](options, max(1, 2 * options // 5), 2)
    work = SelectionWork(
        selector,
        selection.normal_score,
        selector.opening + informed,
        informed,
        selector.params(),
    )
    keys = jax.random.split(jax.random.key(0), (2, lanes))
    problems = jax.vmap(selection.thurstone, in_axes=(0, None))(keys[0], options)
    begun = jax.jit(jax.vmap(work.init))(SelectionJob(keys[1], problems))
    measuring.record_jax(
        benchmark,
        f"selections {name} by options/{options}",
        jax.vmap(work.step),
        begun,
        rounds=2,
        scale=1 / (informed * lanes),
        axis=f"options ({name})",
        value=options,
        lanes=lanes,
    )
    info = benchmark.extra_info
    info["temporary_bytes_per_lane"] = info["temporary_bytes"] / lanes
