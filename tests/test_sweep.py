"""Sweeps: every job's rows are its own, bit for bit, whatever runs beside it."""

import threading
import time
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
from jaxrace.envs import medical
from jaxrace.policies import Sigmoid
from jaxrace.search import PolicySearch, SearchJob, SearchWork, run_searches, stack_params
from jaxrace.sweep import blocks, player, sizing
from jaxrace.sweep.blocks import LaneBlock, Programs
from jaxrace.sweep.ledger import Ledger
from jaxrace.sweep.queue import Queue, lane_of_jobs

LENGTHS = cases.mixed_lengths(40)


@pytest.fixture(scope="module")
def log():
    return cases.run(cases.wanders(LENGTHS))


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
        {"num_blocks": 1},
        {"num_blocks": 5},
        {"num_blocks": 3, "burst": 1},
        {"burst": 7},
        {"order": np.arange(40)[::-1]},
        {"order": np.random.default_rng(0).permutation(40), "num_blocks": 2, "burst": 3},
    ],
    ids=str,
)
def test_the_rows_are_the_same_bit_for_bit(log, arguments):
    assert cases.bits(cases.run(cases.wanders(LENGTHS), **arguments)) == cases.bits(log)


def test_jobs_may_be_numbers_of_numpy(log):
    """NumPy's integers have 64 bits, which JAX has not; its warnings are errors here."""
    if jax.config.read("jax_enable_x64"):
        pytest.skip("with jax_enable_x64 they stay as they are")
    jobs = {**cases.wanders(LENGTHS), "length": LENGTHS.astype(np.int64)}
    assert cases.bits(cases.run(jobs)) == cases.bits(log)


@pytest.mark.parametrize("costs", [None, LENGTHS])
def test_a_job_runs_in_its_own_lane(monkeypatch, costs):
    """In another lane it might have other bits, even if these jobs do not show it."""
    taken = []
    take = Ledger.take

    def take_and_note(self, free):
        jobs, waits = take(self, free)
        taken.append(jobs)
        return jobs, waits

    monkeypatch.setattr(Ledger, "take", take_and_note)
    jobs = sweep.stacked(cases.wanders(LENGTHS), costs)
    sweep.run(cases.WORK, jobs, width=cases.WIDTH, num_blocks=3, order=np.arange(40)[::-1])
    lane, job = np.nonzero(np.array(taken).T >= 0)[0], np.array(taken).T
    job = job[job >= 0]
    assert sorted(job) == list(range(40))
    np.testing.assert_array_equal(lane_of_jobs(40, cases.WIDTH, costs)[job], lane)


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
    log = cases.run(cases.wanders(lengths), num_blocks=4)
    assert log.rows.job.tolist() == [n for n, length in enumerate(lengths) for _ in range(length)]
    assert log.num_jobs == len(lengths)
    assert log.num_blocks <= 1
    assert 0 < log.utilisation <= 1


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
    limits, advance = [], Programs.advance

    def recorded(self, block, limit, quota):
        limits.append(int(limit))
        return advance(self, block, limit, quota)

    monkeypatch.setattr(blocks, "_LONGEST_BURST", seconds)
    monkeypatch.setattr(Programs, "advance", recorded)
    assert cases.bits(cases.run(cases.wanders(LENGTHS), num_blocks=1)) == cases.bits(log)
    assert limits[0] == 1
    assert set(limits[1:]) == {later}


def stuck_run(monkeypatch, patience, go_on, stop):
    """A sweep of two blocks, one of which is stuck in its first turn until ``go_on`` is set."""
    monkeypatch.setattr(player, "_LOOK", 0.001)
    monkeypatch.setattr(player, "_PATIENCE", patience)
    turn, stuck = LaneBlock.turn, []

    def turn_or_be_stuck(self, *arguments):
        if not stuck or stuck[0] is self:
            stuck.append(self)
            go_on.wait()
        return turn(self, *arguments)

    monkeypatch.setattr(LaneBlock, "turn", turn_or_be_stuck)
    return cases.run(cases.wanders(LENGTHS), num_blocks=2, stop=stop)


def test_a_block_that_is_stuck_does_not_keep_a_sweep_from_stopping(monkeypatch):
    asked, go_on = [], threading.Event()

    def stop():
        asked.append(time.monotonic())
        return len(asked) > 5 + 10 * len(LENGTHS)  # long after the other block has nothing to do

    try:
        with pytest.raises(sweep.Interrupted):
            stuck_run(monkeypatch, 0.2, go_on, stop)
    finally:
        go_on.set()
    assert 0.2 <= time.monotonic() - asked[-1] < 10


def test_a_block_that_takes_long_is_waited_for(monkeypatch, log):
    go_on = threading.Event()
    timer = threading.Timer(0.5, go_on.set)
    timer.start()
    asked = []
    found = stuck_run(monkeypatch, 0.0, go_on, lambda: bool(asked.append(time.monotonic())))
    assert len(asked) > 20  # many times while nothing else happened
    assert cases.bits(found) == cases.bits(log)


@pytest.mark.parametrize(("size", "width", "most"), [(3, 16, 2), (40, 16, 1), (40, 1, 2)])
def test_large_batches_for_lapack_are_not_done_side_by_side(monkeypatch, size, width, most):
    """On two cores two such programs soon wait for each other for ever; single matrices do not."""
    turn, playing, counts = LaneBlock.turn, [], []

    def counted_turn(self, *arguments):
        playing.append(self)
        counts.append(len(playing))
        try:
            time.sleep(0.01)
            return turn(self, *arguments)
        finally:
            playing.remove(self)

    def factor(constant, job):
        return jnp.linalg.cholesky(constant + job * jnp.eye(size)).sum()

    monkeypatch.setattr(sizing, "num_cores", lambda: 2)
    monkeypatch.setattr(LaneBlock, "turn", counted_turn)
    work = sweep.Once(factor, jnp.ones((size, size)))
    jobs = sweep.stacked(np.arange(1, 101, dtype=np.float32))
    log = sweep.run(work, jobs, width=width, num_blocks=2)
    assert log.failed.size == 0
    assert max(counts) == most


def test_blocks_have_the_cores_for_themselves(monkeypatch):
    """The threads of LAPACK would wait for parts of small matrices, busily."""
    turn, seen = LaneBlock.turn, []

    def threads():
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    def watched_turn(self, *arguments):
        seen.extend(threads())
        return turn(self, *arguments)

    monkeypatch.setattr(LaneBlock, "turn", watched_turn)
    with threadpool_limits(limits=2, user_api="blas"):
        cases.run(cases.wanders(LENGTHS))
        assert set(threads()) == {2}
    assert set(seen) == {1}


@pytest.mark.parametrize(
    "factor",
    [
        jnp.linalg.qr,
        pytest.param(jnp.linalg.eigh, marks=pytest.mark.slow),
        pytest.param(jnp.linalg.svd, marks=pytest.mark.slow),
    ],
)
def test_single_large_matrices_do_not_wait_for_each_other(monkeypatch, factor):
    def sum_of(constant, job):
        rotated = factor(constant + job * jnp.eye(len(constant)))
        return sum(jnp.abs(part).sum() for part in rotated)

    monkeypatch.setattr(sizing, "num_cores", lambda: 2)
    work = sweep.Once(sum_of, jax.random.normal(jax.random.key(0), (120, 120)))
    jobs = sweep.stacked(np.arange(1, 201, dtype=np.float32))
    log = sweep.run(work, jobs, width=1, num_blocks=4)
    assert log.failed.size == 0


def test_jobs_are_made_when_they_are_wanted():
    jobs, asked = cases.wanders(LENGTHS), []

    def rows(numbers):
        asked.append(numbers)
        return jax.tree.map(lambda x: x[numbers], jobs)

    sweep.run(cases.WORK, sweep.Jobs(len(LENGTHS), rows), width=cases.WIDTH)
    assert {len(numbers) for numbers in asked} == {0, cases.WIDTH}
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
    log = sweep.run(cases.WORK, jobs, width=cases.WIDTH, num_blocks=2)
    assert log.utilisation > 0.9
    assert log.utilisation > cases.run(cases.wanders(lengths), num_blocks=2).utilisation
    assert len(log.rows.job) == lengths.sum()


@given(st.integers(1, 300), st.integers(1, 33), st.booleans(), st.integers(0, 9))
@settings(max_examples=100)
def test_every_lane_gets_its_share(count, width, has_costs, seed):
    costs = np.random.default_rng(seed).exponential(size=count) if has_costs else None
    lanes = lane_of_jobs(count, width, costs)
    numbers = np.bincount(lanes, minlength=width)
    assert numbers.size == width
    assert numbers.max() - numbers.min() <= 1
    if costs is not None:
        load = np.bincount(lanes, weights=costs, minlength=width)
        assert load.max() - load.min() <= costs.max()
    queue = Queue(np.arange(count), lanes, width)
    taken = [queue.take(np.ones(width, bool)) for _ in range(queue.most_in_a_lane())]
    assert len(queue) == 0
    assert sorted(job for jobs in taken for job in jobs if job >= 0) == list(range(count))
    for lane, jobs in enumerate(np.transpose(taken)):
        assert (lanes[jobs[jobs >= 0]] == lane).all()


@pytest.mark.parametrize("period", [2, 4, 8, 16])
def test_periodic_jobs_do_not_crowd_a_lane(period):
    lanes = lane_of_jobs(16 * 32, 16, None)
    long = np.arange(16 * 32) % period == 0
    assert np.bincount(lanes[long], minlength=16).tolist() == [32 // period] * 16


def test_lanes_fit_jobs_and_memory(monkeypatch):
    def sizes(count):
        jobs = sweep.stacked(cases.wanders(np.ones(count)))
        return sweep.default_sizes(cases.WORK, jobs, jax.local_devices()[:1])

    # Every core has a block of its own, and less memory the more there are.
    monkeypatch.setattr(sizing, "num_cores", lambda: 2)
    assert sizes(3) == {"width": 3, "num_blocks": 1}
    assert sizes(100) == {"width": 25, "num_blocks": 2}
    assert sizes(1000) == {"width": 32, "num_blocks": 2}
    assert sizes(0) == {"width": 1, "num_blocks": 1}
    monkeypatch.setattr(sizing, "_memory", lambda device: 100_000.0)
    assert 1 < sizes(1000)["width"] < 32


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
    expected = run_searches(search, keys, stack_params([settings[n] for n in setting]))
    for number in range(4):
        own = log.rows.job == number
        ran = expected.rows.ran[:, number]
        for name in ("generation", "episodes", "max_rounds", "finished"):
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
    "rows no function": (lambda: sweep.Jobs(1, wrong(2)), "rows: expected a function"),
    "too few costs": (lambda: sweep.stacked(np.zeros(3), [1.0]), "costs: expected 3 numbers"),
    "nan costs": (lambda: sweep.stacked(np.zeros(1), [np.nan]), "costs: expected 1 numbers"),
    "width 0": (lambda: run(width=0), "width: expected an integer .*, got 0"),
    "no blocks": (lambda: run(num_blocks=0), "num_blocks: expected an integer .*, got 0"),
    "burst 0": (lambda: run(burst=0), "burst: expected an integer .*, got 0"),
    "burst 33": (lambda: run(burst=33), "burst: expected at most 32, got 33"),
    "a job twice": (lambda: run(order=[0, 0]), "order: expected each of the numbers 0 to 1 once"),
    "a job left out": (lambda: run(order=[0]), "order: expected each of the numbers 0 to 1 once"),
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
