"""Policy improvement: bootstrap bounds of a population, and trials of Daedalus2."""

import jax
import jax.numpy as jnp
import measuring
import numpy as np
import pytest
from peers import numpy_daedalus, numpy_daedalus_plain
from scipy import stats
from threadpoolctl import threadpool_limits

from jaxrace import kernels, sweep
from jaxrace.improvement.bounds import BOUNDS, Used
from papers.improvements.domains import DOMAINS, DaedalusWork, daedalus_of

BCA = BOUNDS["bca"]
CANDIDATES, VALUES, RESAMPLES = 64, 2_000, 2_000

DOMAIN = DOMAINS["gridworld"]
FLOOR, DELTA = 0.238, 0.05


@pytest.fixture(scope="module")
def returns():
    """Importance-weighted ones, with a heavy tail: float32 [candidates, values]."""
    rng = np.random.default_rng(0)
    weights = np.exp(1.5 * rng.normal(size=(CANDIDATES, VALUES)))
    return (weights * rng.random((CANDIDATES, VALUES))).astype(np.float32)


def test_bca_jaxrace(benchmark, returns):
    """The resamples are drawn too, once for all candidates."""
    used = jnp.ones(VALUES, bool)
    rows = Used(used, jnp.zeros(VALUES, jnp.int32))

    def bounds(key, values):
        counts = kernels.resampling_counts(key, used, jnp.int32(VALUES), RESAMPLES)
        return jax.vmap(lambda x: BCA.bound(counts, x, rows, jnp.float32(DELTA)))(values)

    measuring.record_jax(benchmark, "bca/jaxrace", bounds, jax.random.key(0), jnp.asarray(returns))


def test_bca_scipy(benchmark, quick, returns):
    """One candidate after the other, of which a few are timed."""
    count = 1 if quick else 4

    def bounds():
        return [
            stats.bootstrap(
                (row,),
                np.mean,
                n_resamples=RESAMPLES,
                confidence_level=1 - DELTA,
                alternative="greater",
                method="BCa",
                rng=0,
            ).confidence_interval.low
            for row in returns[:count].astype(float)
        ]

    scale = CANDIDATES / count
    measuring.record(benchmark, "bca/scipy", bounds, rounds=2, scale=scale)


def test_bca_numpy(benchmark, returns):
    """As ours: the resamples are drawn once for all candidates."""
    rng = np.random.default_rng(0)

    def bounds():
        with threadpool_limits(1):
            counts = numpy_daedalus.resampling_counts(rng, VALUES, VALUES)
            return numpy_daedalus.bca(returns, counts, DELTA)

    measuring.record(benchmark, "bca/numpy", bounds)


def _batches(quick):
    return 2 if quick else 14


def test_trials_jaxrace(benchmark, quick):
    """As many trials as keep all cores busy; the time is that of one."""
    batches, trials = _batches(quick), 4 * sweep.num_cores()
    daedalus = daedalus_of(DOMAIN, "none", "bca", batches, False)
    params = daedalus.improvement.params(FLOOR, DELTA, DOMAIN.initial())
    work = DaedalusWork(daedalus, DOMAIN.env, DOMAIN.env.default_params, params)
    jobs = sweep.stacked(jax.random.split(jax.random.key(0), trials))

    def run():
        return sweep.run(work, jobs, width=1)

    # The programs are compiled anew in every sweep.
    log = run()
    seconds = log.compile_seconds
    found = measuring.record(
        benchmark, "daedalus trials/jaxrace", run, rounds=1, scale=1 / trials, batches=batches
    )
    benchmark.extra_info["compile_seconds"] = (seconds + found.compile_seconds) / 2


@pytest.mark.parametrize("how", ["numpy", "plain"])
def test_trials_numpy(benchmark, quick, how):
    """On one thread: more of them wait for each other, which counts as time of the processor."""
    batches = _batches(quick)
    search = {"numpy": numpy_daedalus.search, "plain": numpy_daedalus_plain.search}[how]

    def run():
        with threadpool_limits(1):
            return numpy_daedalus.trial(0, batches, DOMAIN.batch_size, FLOOR, DELTA, search)

    measuring.record(benchmark, f"daedalus trials/{how}", run, rounds=1, batches=batches)
