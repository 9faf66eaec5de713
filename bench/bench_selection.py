"""Top-k selection by scores against NumPy and SciPy, and its cost against the number of options.

Seconds are those of one run: 1,000 comparisons of 10 options, 3 of each pair to begin with.
"""

import concurrent.futures
import multiprocessing
import os
import time

import jax
import measuring
import pytest
from peers import numpy_selection

from jaxrace import selection
from jaxrace.compilation import compile_ahead
from jaxrace.selection import KnowledgeGradient, MlPocbam, Pocbam, SelectionJob, SelectionWork

OPTIONS, TOP, WARM_UP, BUDGET = 10, 4, 3, 1_000
OPENING = WARM_UP * OPTIONS * (OPTIONS - 1) // 2
LANES, RUNS = 32, 128
INTERVAL = 5  # from record to record

SELECTORS = {
    "pocbam": Pocbam,
    "pkg": KnowledgeGradient,
    "followed": lambda *args: MlPocbam(*args, fit="followed"),
    "restarted": lambda *args: MlPocbam(*args, fit="restarted"),
    "swept": lambda *args: MlPocbam(*args, fit="swept"),
}

# Comparisons after the warm-up, and lanes, by the number of options.
GROWTH = {10: (100, 32), 30: (100, 32), 100: (50, 8), 300: (50, 2)}


def add_costs(benchmark, comparisons):
    """Microseconds per run and per comparison, for those who read the results."""
    run = 1e6 * benchmark.stats.stats.min * benchmark.extra_info["scale"]
    benchmark.extra_info.update(
        microseconds_per_run=run, microseconds_per_comparison=run / comparisons
    )


@pytest.mark.parametrize("name", SELECTORS)
def test_jaxrace(benchmark, quick, name):
    """Every core runs batches of 32, as in a sweep."""
    budget = OPENING + 100 if quick else BUDGET
    selector = SELECTORS[name](OPTIONS, TOP, WARM_UP)
    params = selector.params()

    def play(key):
        keys = jax.random.split(key)
        problem = selection.thurstone(keys[0], OPTIONS)
        return selection.run(
            selector, keys[1], selection.normal_score, problem, budget, params, INTERVAL
        )

    cores = os.cpu_count() or 1
    batches = max(RUNS // LANES, cores)
    keys = jax.random.split(jax.random.key(0), (batches, LANES))
    started = time.perf_counter()
    program = compile_ahead(jax.jit(jax.vmap(play)), keys[0])
    compile_seconds = time.perf_counter() - started
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:

        def run():
            return list(pool.map(lambda batch: jax.block_until_ready(program(batch)), keys))

        part = (budget - OPENING) / (BUDGET - OPENING)
        found = measuring.record(
            benchmark,
            f"selections {name}/jaxrace",
            run,
            rounds=2 if name == "restarted" else 3,
            scale=1 / (part * batches * LANES),
            compile_seconds=compile_seconds / (batches * LANES),  # that of all runs, too
        )
    assert (found[0].time[:, -1] == budget).all()
    add_costs(benchmark, BUDGET)


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
    """Whole runs one after the other, of a few problems: fits differ in their number of steps."""
    runs = 4 if name == "restarted" else 40
    informed = 100 if quick else BUDGET - OPENING
    cpu_seconds = []

    def run():
        found, seconds = one_thread.submit(play_peer, runs, informed, name == "restarted").result()
        cpu_seconds.append(seconds)
        return found

    part = informed / (BUDGET - OPENING)
    found = measuring.record(
        benchmark, f"selections {name}/numpy", run, rounds=2, scale=1 / (part * runs)
    )
    benchmark.extra_info["cpu_seconds"] = min(cpu_seconds)
    fits = runs * (informed + 1)
    benchmark.extra_info["evaluations_per_fit"] = sum(one.evaluations for one in found) / fits
    add_costs(benchmark, BUDGET)


@pytest.mark.parametrize("options", GROWTH)
@pytest.mark.parametrize("name", ["pocbam", "pkg", "followed", "swept"])
def test_number_of_options(benchmark, quick, name, options):
    """Seconds of one comparison after the warm-up; 2 of each pair to begin with."""
    if quick and options > 30:
        pytest.skip("left out of a quick run")
    informed, lanes = GROWTH[options]
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
