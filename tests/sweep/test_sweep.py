"""Sweeps: every job's rows are its own, bit for bit, whatever runs beside it."""

import dataclasses
import os
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sweep_cases as cases
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from jaxrace import racing, sweep
from jaxrace.agents.policies import Sigmoid
from jaxrace.envs import medical
from jaxrace.search import PolicySearch, SearchJob, SearchWork, driver, stack_params
from jaxrace.sweep import engine

LENGTHS = cases.mixed_lengths(40)


@pytest.fixture(scope="module")
def log():
    return cases.run(cases.wanders(LENGTHS), devices=jax.devices()[:1])


def test_the_rows_are_those_of_jobs_that_run_alone(log):
    jobs = cases.wanders(LENGTHS)
    step, expected = jax.jit(cases.WORK.step), []
    for number in (0, 3, 17, 39):
        state = cases.WORK.init(jax.tree.map(lambda x, n=number: jnp.asarray(x[n]), jobs))
        while not cases.WORK.done(state):
            state, row = step(state)
            expected.append((number, int(state["step"]), row))
        chosen = log.rows.job == number
        rows = [row for job, _, row in expected if job == number]
        assert log.rows.step[chosen].tolist() == list(range(1, LENGTHS[number] + 1))
        for name in ("x", "energy", "left"):
            alone = np.array([row[name] for row in rows]).reshape(log.rows.row[name][chosen].shape)
            # Chaos doubles a rounding error at every step; the first tell enough.
            np.testing.assert_allclose(log.rows.row[name][chosen][:5], alone[:5], rtol=1e-4)
    assert len(log.rows.job) == LENGTHS.sum()
    assert log.failed.size == 0
    assert log.lane_steps >= LENGTHS.sum()
    assert log.utilisation == LENGTHS.sum() / log.lane_steps


@pytest.mark.parametrize(
    "arguments",
    [
        {"devices": 2},
        {"devices": 4, "burst": 3},
        {"devices": 3, "burst": 1},
        {"burst": 7},
    ],
    ids=str,
)
def test_the_rows_are_the_same_bit_for_bit(log, arguments):
    count = arguments.get("devices", 1)
    given = {**arguments, "devices": jax.devices()[:count]}
    found = cases.run(cases.wanders(LENGTHS), **given)
    assert found.num_devices == count
    assert cases.bits(found) == cases.bits(log)


def test_jobs_may_be_numbers_of_numpy(log):
    """NumPy's integers have 64 bits, which JAX has not; its warnings are errors here."""
    if jax.config.read("jax_enable_x64"):
        pytest.skip("with jax_enable_x64 they stay as they are")
    jobs = {**cases.wanders(LENGTHS), "length": LENGTHS.astype(np.int64)}
    assert cases.bits(cases.run(jobs)) == cases.bits(log)


@pytest.mark.parametrize("costs", [None, LENGTHS])
def test_a_job_runs_in_its_own_lane(monkeypatch, costs):
    """In another lane it might have other bits, even if these jobs do not show it."""
    begun = {}

    def note(burst, next_jobs, *counts):
        jobs, begins = next_jobs or ({}, ())
        for place in np.flatnonzero(begins):
            begun[int(jobs["breaks"][place])] = place % cases.WIDTH

    cases.watch(monkeypatch, note)
    jobs = sweep.stacked(cases.wanders(LENGTHS, 1000 + np.arange(40)), costs)
    sweep.run(cases.WORK, jobs, width=cases.WIDTH, devices=jax.devices()[:3])
    _, lanes = jobs.plan(cases.WIDTH)
    assert begun == {1000 + job: lane for job, lane in enumerate(lanes)}


def test_other_jobs_beside_a_job_do_not_matter(log):
    """The same jobs with others in place of every second one: those that stay are as they were."""
    lengths = LENGTHS.copy()
    lengths[1::2] = cases.mixed_lengths(60)[40:]
    other = cases.run(cases.wanders(lengths))
    for name, column in log.rows.row.items():
        own, others = log.rows.job % 2 == 0, other.rows.job % 2 == 0
        assert column[own].tobytes() == other.rows.row[name][others].tobytes()


def test_a_job_that_fails_ends_alone(log):
    breaks = np.zeros_like(LENGTHS)
    breaks[[3, 4, 20]] = [1, LENGTHS[4], 2]
    assert (LENGTHS[[3, 4, 20]] >= 2).all()
    other = cases.run(cases.wanders(LENGTHS, breaks))
    assert other.failed.tolist() == [3, 4, 20]
    for number in (3, 4, 20):
        steps = other.rows.step[other.rows.job == number]
        assert steps.tolist() == list(range(1, breaks[number] + 1))
    own, others = (~np.isin(x.rows.job, other.failed) for x in (log, other))
    for name, column in log.rows.row.items():
        assert column[own].tobytes() == other.rows.row[name][others].tobytes()


@pytest.mark.parametrize("lengths", [[], [0], [4], [0, 0, 0], [2, 40, 1]], ids=str)
def test_few_jobs(lengths):
    """None, one, and fewer than there are lanes."""
    log = cases.run(cases.wanders(lengths), devices=jax.devices()[:4])
    assert log.rows.job.tolist() == [n for n, length in enumerate(lengths) for _ in range(length)]
    assert log.num_jobs == len(lengths)
    assert log.num_devices == 1
    assert 0 < log.utilisation <= 1


def test_a_log_without_any_part_has_no_rows(log):
    """As one of a cluster that lost every shard."""
    empty = dataclasses.replace(log, parts=[])
    assert [leaf.shape[0] for leaf in jax.tree.leaves(empty.rows)] == [0] * 5


def test_progress_is_told_after_each_burst():
    told = []
    lengths = cases.mixed_lengths(20)
    cases.run(cases.wanders(lengths), on_rows=lambda ended, rows: told.append((ended, rows)))
    ended = [number for number, _ in told]
    assert ended == sorted(ended)
    assert ended[-1] == 20
    assert sum(len(rows.job) for _, rows in told) == lengths.sum()


@pytest.mark.parametrize(("seconds", "later"), [(1e-9, 1), (1e9, 32)], ids=["long", "short"])
def test_bursts_of_long_steps_are_short(monkeypatch, log, seconds, later):
    limits = []
    monkeypatch.setattr(engine, "_LONGEST_BURST", seconds)
    cases.watch(monkeypatch, lambda burst, begun, limit, quota: limits.append(limit))
    assert cases.bits(cases.run(cases.wanders(LENGTHS))) == cases.bits(log)
    assert limits[0] == 1
    assert set(limits[1:]) == {later}


def slow_row(constant, job):
    """Takes about a second in every lane."""

    def turn(_, x):
        return jnp.tanh(x @ constant)

    return jax.lax.fori_loop(0, 20_000, turn, job + jnp.zeros(64)).sum()


@pytest.mark.parametrize("patience", [0.2, 1e9], ids=["left", "waited for"])
def test_a_burst_that_takes_long(monkeypatch, patience):
    """While it runs, ``stop`` is asked; after that it is left, or waited for."""
    monkeypatch.setattr(engine, "_PATIENCE", patience)
    asked = []
    work = sweep.Once(slow_row, jnp.eye(64))
    jobs = sweep.stacked(np.arange(8, dtype=np.float32))
    with pytest.raises(sweep.Interrupted):
        sweep.run(work, jobs, width=4, stop=lambda: bool(asked.append(0)) or len(asked) >= 1)
    assert asked


def test_a_stop_that_is_said_once_counts():
    """While a burst runs, and not again after it."""
    asked = []
    work = sweep.Once(slow_row, jnp.eye(64))
    jobs = sweep.stacked(np.arange(8, dtype=np.float32))
    with pytest.raises(sweep.Interrupted):
        sweep.run(work, jobs, width=4, stop=lambda: bool(asked.append(0)) or len(asked) == 1)


def solved(x):
    return jax.scipy.linalg.solve_triangular(jnp.tril(x) + 8 * jnp.eye(64), x, lower=True)


@pytest.mark.parametrize("factor", [jnp.linalg.cholesky, jnp.linalg.inv, solved])
def test_batches_of_matrices_on_two_devices(factor):
    """Two threads of XLA that wait for the parts of their batches need a third one to do them."""

    def sum_of(constant, job):
        def turn(_, x):
            x = factor(x)
            return x @ x.T / 1000 + constant

        return jax.lax.fori_loop(0, 100, turn, constant + job).sum()

    work = sweep.Once(sum_of, 8 * jnp.eye(64))
    jobs = sweep.stacked(np.linspace(0, 0.1, 64, dtype=np.float32))
    log = sweep.run(work, jobs, width=32, devices=jax.devices()[:2])
    assert log.failed.size == 0
    assert log.num_devices == 2


def test_devices_have_the_cores_for_themselves(monkeypatch):
    """The threads of LAPACK would wait for parts of small matrices, busily."""
    seen = []

    def threads():
        return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    cases.watch(monkeypatch, lambda *_: seen.append(threads()))
    with threadpool_limits(limits=2, user_api="blas"):
        cases.run(cases.wanders(LENGTHS))
        assert threads() == {2}
    assert all(found == {1} for found in seen)


def test_lapack_has_one_thread_in_a_process_that_has_not_loaded_it():
    script = """if True:
        import jax.numpy as jnp, numpy as np
        from threadpoolctl import threadpool_info
        from jaxrace import sweep

        def loaded():
            found = (one for one in threadpool_info() if "numpy" not in one["filepath"])
            return [one["num_threads"] for one in found]

        def factor(_, job):
            return jnp.linalg.cholesky(job * jnp.eye(8)).sum()

        before, jobs = loaded(), sweep.stacked(np.ones(3, np.float32))
        sweep.run(sweep.Once(factor, None), jobs, on_rows=lambda *_: print(before, loaded()))
    """
    command = [sys.executable, "-c", script]
    two = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    found = subprocess.run(command, check=False, capture_output=True, text=True, env=two)
    assert found.stdout == "[] [1]\n", found.stderr


def test_jobs_are_made_when_they_are_wanted():
    jobs, asked = cases.wanders(LENGTHS), []

    def rows(numbers):
        asked.append(numbers)
        return jax.tree.map(lambda x: x[numbers], jobs)

    devices = jax.devices()[:1]
    sweep.run(cases.WORK, sweep.Jobs(len(LENGTHS), rows), width=cases.WIDTH, devices=devices)
    assert {len(numbers) for numbers in asked} == {cases.WIDTH}
    assert set(np.concatenate(asked).tolist()) == set(range(40))


def test_a_second_sweep_with_other_numbers_compiles_nothing(count_compilations):
    cases.run(cases.wanders(LENGTHS))
    jobs = cases.wanders(LENGTHS[::-1])
    with count_compilations() as compilations:
        sweep.run(cases.Wander(2 * cases.WORK.weights), sweep.stacked(jobs), width=cases.WIDTH)
    assert compilations.count == 0


def test_costs_fill_the_lanes_evenly():
    lengths = np.random.default_rng(1).integers(1, 60, 200)
    jobs = sweep.stacked(cases.wanders(lengths), costs=lengths)
    log = sweep.run(cases.WORK, jobs, width=cases.WIDTH)
    assert log.utilisation > 0.9
    assert log.utilisation > cases.run(cases.wanders(lengths)).utilisation
    assert len(log.rows.job) == lengths.sum()


@given(st.integers(1, 300), st.integers(1, 33), st.booleans(), st.integers(0, 9))
@settings(max_examples=100)
def test_every_lane_gets_its_share(count, width, has_costs, seed):
    costs = np.random.default_rng(seed).exponential(size=count) if has_costs else None
    order, lane = sweep.Jobs(count, lambda numbers: numbers, costs).plan(width)
    assert sorted(order) == list(range(count))
    numbers = np.bincount(lane, minlength=width)
    assert numbers.size == width
    assert numbers.max() - numbers.min() <= 1
    if costs is not None:
        load = np.bincount(lane, weights=costs, minlength=width)
        assert load.max() - load.min() <= costs.max()
        assert (np.diff(costs[order]) <= 0).all()


@pytest.mark.parametrize("period", [2, 4, 8, 16])
def test_periodic_jobs_do_not_crowd_a_lane(period):
    _, lanes = sweep.Jobs(16 * 32, lambda numbers: numbers).plan(16)
    long = np.arange(16 * 32) % period == 0
    assert np.bincount(lanes[long], minlength=16).tolist() == [32 // period] * 16


@pytest.mark.parametrize(("count", "width"), [(3, 3), (100, 25), (1000, 32), (0, 1)])
def test_lanes_fit_jobs(count, width):
    jobs = sweep.stacked(cases.wanders(np.ones(count)))
    assert sweep.default_width(cases.WORK, jobs) == width


@pytest.mark.slow
def test_searches_as_jobs():
    """Of several settings: what the searches of a batch of the same width do."""
    race = racing.PreferenceRace(num_options=7, top=3, capacity=20, compare=medical.prefer)
    search = PolicySearch(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome(), race)
    settings = [
        search.params(sigma0, budget=budget, max_rounds=20)
        for sigma0, budget in [(1.0, 150), (10.0, 400)]
    ]
    keys = jax.random.split(jax.random.key(0), 4)
    setting = np.array([0, 1, 0, 1], np.int32)
    work = SearchWork(search, stack_params(settings))
    log = sweep.run(work, sweep.stacked(SearchJob(keys, setting)), width=4)
    expected = driver.run(search, keys, stack_params([settings[n] for n in setting]))
    for number in range(4):
        own = log.rows.job == number
        ran = expected.rows.ran[:, number]
        for name in ("generation", "episodes", "max_rounds", "race_decided"):
            np.testing.assert_array_equal(
                getattr(log.rows.row, name)[own], getattr(expected.rows, name)[ran, number]
            )
        np.testing.assert_allclose(
            log.rows.row.best[own], expected.rows.best[ran, number], rtol=1e-3
        )


class NoWork:
    init = step = done = None


def wrong(value) -> Any:
    """What a type checker would not let through."""
    return value


BAD = {
    "no work": (lambda: sweep.run(wrong(NoWork()), JOBS), "work: expected .* failed, got NoWork"),
    "work is no pytree": (
        lambda: sweep.run(Unregistered(), JOBS),
        "work: expected a pytree, .* got Unregistered",
    ),
    "jobs are arrays": (
        lambda: sweep.run(cases.WORK, wrong({})),
        "jobs: expected Jobs, .* got dict",
    ),
    "jobs without arrays": (lambda: sweep.stacked({}), "jobs: expected arrays .*, got no arrays"),
    "jobs of two lengths": (
        lambda: sweep.stacked((np.zeros(2), np.zeros(3))),
        r"jobs: expected arrays with one leading axis in common, got \[2\], \[3\]",
    ),
    "a single job": (lambda: sweep.stacked(np.float32(2)), r"jobs: expected arrays .*, got \[\]"),
    "count < 0": (lambda: sweep.Jobs(-1, len), "count: expected an integer .*, got -1"),
    "inputs no function": (lambda: sweep.Jobs(1, wrong(2)), "inputs: expected a function"),
    "too few costs": (lambda: sweep.stacked(np.zeros(3), [1.0]), "costs: expected 3 numbers"),
    "nan costs": (lambda: sweep.stacked(np.zeros(1), [np.nan]), "costs: expected 1 numbers"),
    "width 0": (lambda: run(width=0), "width: expected an integer .*, got 0"),
    "burst 0": (lambda: run(burst=0), "burst: expected an integer .*, got 0"),
    "burst 33": (lambda: run(burst=33), "burst: expected at most 32, got 33"),
}
JOBS = sweep.stacked(cases.wanders([1, 1]))


class Unregistered(cases.Wander):
    def __init__(self):
        super().__init__(None)


def run(**arguments):
    return sweep.run(cases.WORK, JOBS, **arguments)


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        call()
