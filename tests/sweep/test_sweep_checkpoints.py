"""Nothing is lost: a sweep that was stopped, or killed, ends with the same bits."""

import contextlib
import dataclasses
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sweep_cases as cases

from jaxrace import runs, sweep
from jaxrace.runs import files
from jaxrace.sweep import checkpoint

LENGTHS = cases.mixed_lengths(30)
JOBS = cases.wanders(LENGTHS)


@pytest.fixture(scope="module")
def expected():
    return cases.bits(cases.run(JOBS))


def run_saved(folder, jobs=JOBS, config=None, resume=True, every=0.0, **arguments):
    checkpoints = sweep.Checkpoints(folder, config or {"grid": [1, 2]}, every, resume)
    return cases.run(jobs, checkpoints=checkpoints, burst=6, **arguments)


def stopped_after(turns):
    """Says stop when it has been asked so many times."""
    asked = iter(range(turns))
    return lambda: next(asked, None) is None


def stop_in_the_middle(folder, turns=8, **arguments):
    with pytest.raises(sweep.Interrupted):
        run_saved(folder, stop=stopped_after(turns), **arguments)


def test_saving_changes_nothing(tmp_path, expected):
    assert cases.bits(run_saved(tmp_path)) == expected


@pytest.mark.parametrize(
    "turns", [5, *(pytest.param(turns, marks=pytest.mark.slow) for turns in (1, 12))]
)
def test_a_sweep_that_was_stopped_is_resumed(tmp_path, expected, turns):
    told = []
    stop_in_the_middle(tmp_path, turns)
    log = run_saved(tmp_path, on_rows=lambda ended, rows: told.append(len(rows.job)))
    assert cases.bits(log) == expected
    assert 0 < sum(told) < LENGTHS.sum()
    assert log.num_ended < log.num_jobs
    assert log.utilisation == LENGTHS.sum() / log.lane_steps


@pytest.mark.slow
@pytest.mark.parametrize("counts", [(3, 1, 4, 2), (1, 4, 1, 1)], ids=str)
def test_again_and_again_on_other_devices(tmp_path, expected, counts):
    *before, last = (jax.devices()[:count] for count in counts)
    for turns, devices, every in zip((3, 2, 4), before, (0.0, 0.0, 60.0), strict=True):
        stop_in_the_middle(tmp_path, turns, devices=devices, every=every)
    log = run_saved(tmp_path, devices=last)
    assert cases.bits(log) == expected
    assert log.num_devices <= counts[-1]


def test_a_job_that_is_begun_again_twice_leaves_no_row_twice(tmp_path):
    """Dropped for want of a device after 25 steps, and once more after six."""
    jobs = cases.wanders([26, 27, 40, 41])
    whole = cases.run(jobs, width=1, devices=jax.devices()[:1])
    for turns, count in ((4, 4), (2, 2), (2, 1)):
        devices = jax.devices()[:count]
        stop_in_the_middle(tmp_path, turns, jobs=jobs, width=1, devices=devices)
    log = run_saved(tmp_path, jobs, width=1, devices=jax.devices()[:1])
    assert log.num_rows == whole.num_rows
    assert cases.bits(log) == cases.bits(whole)


def test_a_finished_sweep_is_read(tmp_path, expected, count_compilations):
    breaks = np.zeros_like(LENGTHS)
    broken = np.flatnonzero(LENGTHS > 2)[[3, 5]].tolist()
    breaks[broken] = 2
    first = run_saved(tmp_path, cases.wanders(LENGTHS, breaks))
    with count_compilations() as compilations:
        again = run_saved(tmp_path, cases.wanders(LENGTHS, breaks))
    assert compilations.count == 0
    assert cases.bits(again) == cases.bits(first) != expected
    assert again.failed.tolist() == first.failed.tolist() == broken
    assert (again.num_ended, again.num_rows, again.lane_steps) == (
        0,
        first.num_rows,
        first.lane_steps,
    )


def test_no_jobs_are_saved(tmp_path):
    for _ in range(2):
        assert run_saved(tmp_path, cases.wanders([])).num_rows == 0


@pytest.mark.slow
def test_rows_come_in_pieces_of_whole_jobs(tmp_path):
    log = run_saved(tmp_path)
    pieces = list(log.in_order(most_rows=100))
    assert len(pieces) > 3
    for name in ("job", "step"):
        whole = np.concatenate([getattr(piece, name) for piece in pieces])
        np.testing.assert_array_equal(whole, getattr(log.rows, name))
    for before, after in itertools.pairwise(pieces):
        assert before.job.max() < after.job.min()


CHANGED = LENGTHS.copy()
CHANGED[21] += 1


def test_a_checkpoint_is_on_the_disk_before_it_counts(tmp_path, monkeypatch):
    fsync, write_json, synced, unsynced = os.fsync, files.write_json, set(), []

    def note(handle):
        synced.add(os.fstat(handle).st_ino)
        fsync(handle)

    def write(path, content):
        lanes = tmp_path / f"lanes-{content['number']:06}.npz"
        parts = [lanes, *tmp_path.glob("rows-*")]
        unsynced.extend(part for part in parts if part.stat().st_ino not in synced)
        write_json(path, content)

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(files, "write_json", write)
    run_saved(tmp_path)
    assert not unsynced
    assert len(list(tmp_path.glob("lanes-*"))) == 1


REFUSED = {
    "no resume": (
        {"resume": False},
        "folder: expected a folder without a checkpoint, or resume=True, got",
    ),
    "another config": ({"config": {"grid": [3]}}, r"grid = \[3\], got \[1, 2\]"),
    "more config": ({"config": {"grid": [1, 2], "a": 1}}, "with a = 1, got None"),
    "less config": ({"config": {"b": 0}}, "with b = 0, got None"),
    "another width": ({"width": 4}, "with lanes of a device = 4, got 8"),
    "fewer jobs": ({"jobs": cases.wanders(LENGTHS[:9])}, "with jobs = 9, got 30"),
    "another job": ({"jobs": cases.wanders(CHANGED)}, "with what the jobs are given = "),
}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A sweep that was stopped in the middle; not to be resumed."""
    folder = tmp_path_factory.mktemp("stopped")
    stop_in_the_middle(folder)
    return folder


@pytest.mark.parametrize("name", REFUSED)
def test_a_foreign_checkpoint_is_refused(stopped, name):
    arguments, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        run_saved(stopped, **arguments)


def test_other_work_is_refused(stopped):
    work = dataclasses.replace(cases.WORK, weights=2 * cases.WORK.weights)
    checkpoints = sweep.Checkpoints(stopped, {"grid": [1, 2]}, resume=True)
    jobs = sweep.stacked(JOBS)
    with pytest.raises(ValueError, match="with what the jobs share = "):
        sweep.run(work, jobs, width=cases.WIDTH, checkpoints=checkpoints)
    jobs = sweep.stacked(JOBS, costs=LENGTHS)
    with pytest.raises(ValueError, match="with costs of the jobs = "):
        sweep.run(cases.WORK, jobs, width=cases.WIDTH, checkpoints=checkpoints)


def doubled(constant, job):
    return constant + 2 * job


def test_other_code_is_refused(tmp_path):
    def run(function):
        checkpoints = sweep.Checkpoints(tmp_path, resume=True)
        jobs = sweep.stacked(np.arange(3, dtype=np.float32))
        return sweep.run(sweep.Once(function, jnp.float32(1)), jobs, checkpoints=checkpoints)

    run(doubled)
    with pytest.raises(ValueError, match="with program of a job = "):
        run(lambda constant, job: constant + 3 * job)
    # The same program from another function.
    assert run(lambda constant, job: constant + 2 * job).is_resumed


def test_a_program_is_told_by_the_same_number_in_every_process(stopped):
    identity = files.read_json(stopped / "checkpoint.json")["identity"]
    script = """if True:
        import sys
        sys.path.insert(0, sys.argv[1])
        import sweep_cases as cases
        from jaxrace.sweep import checkpoint, stacked
        jobs = stacked(cases.wanders(cases.mixed_lengths(30)))
        print(checkpoint.surroundings(cases.WORK, jobs)["program of a job"])
    """
    command = [sys.executable, "-c", script, Path(__file__).parent]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert found.strip() == identity["program of a job"]


def test_all_jobs_are_compared_a_few_at_a_time(monkeypatch):
    monkeypatch.setattr(checkpoint, "_JOBS_AT_ONCE", 100)
    asked = []

    def rows(numbers, changed=-1):
        asked.append(len(numbers))
        return {"x": np.where(numbers == changed, -1, numbers)}

    def compared(changed=-1, count=5000):
        jobs = sweep.Jobs(count, lambda numbers: rows(numbers, changed))
        work = sweep.Once(lambda _, job: job["x"], None)
        identity = checkpoint.identity_of(work, jobs, 8, {})
        return identity["what the jobs are given"]

    whole = compared()
    assert max(asked) == 100
    assert sum(asked) == 5000
    assert len({whole, *map(compared, (0, 99, 100, 2718, 4999))}) == 6
    compared(count=0)


@pytest.mark.slow
def test_what_was_refused_is_as_it_was(stopped, tmp_path, expected):
    assert cases.bits(run_saved(shutil.copytree(stopped, tmp_path / "copy"))) == expected


def test_another_version_is_refused(stopped, monkeypatch):
    versions = runs.versions()
    monkeypatch.setattr(runs, "versions", lambda: {**versions, "jaxrace": "7.1.0"})
    with pytest.raises(ValueError, match="jaxrace major version = '7', got '0'"):
        run_saved(stopped)


@pytest.mark.parametrize("what", ["lanes", "facts", "rows", "cut", "empty", "missing"])
def test_a_damaged_checkpoint_is_refused(stopped, tmp_path, what):
    folder = shutil.copytree(stopped, tmp_path / "copy")
    if what == "missing":
        (folder / "rows-000001.npz").unlink()
    else:
        paths = {"lanes": folder.glob("lanes-*"), "facts": folder.glob("checkpoint.json")}
        for path in paths.get(what, folder.glob("rows-*")):
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            length = {"cut": len(content) // 3, "empty": 0}.get(what, len(content))
            path.write_bytes(content[:length])
    with pytest.raises(ValueError, match=r"checkpoint: .* is damaged"):
        run_saved(folder)


def test_a_checkpoint_of_an_older_version_is_refused(stopped, tmp_path):
    """Their lanes were a folder."""
    folder = shutil.copytree(stopped, tmp_path / "copy")
    header = files.read_json(folder / "checkpoint.json")
    header["digest"] = header.pop("digest of the lanes")
    files.write_json(folder / "checkpoint.json", header)
    with pytest.raises(ValueError, match=r"got that of an older version in '.*': begin it"):
        run_saved(folder)


class Kinds(NamedTuple):
    key: jax.Array  # typed
    narrow: Any  # of a type that NumPy does not have itself
    words: tuple[Any, ...]  # without elements


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class OfManyKinds:
    """Jobs of seven steps, whose states are of many types."""

    scale: Any

    def init(self, job):
        nothing = jnp.zeros((0, 2), jnp.int8)
        return {"at": jnp.int32(0), "rest": Kinds(job, jnp.ones(3, jnp.bfloat16), (nothing, job))}

    def step(self, state):
        key, narrow, words = state["rest"]
        key, own = jax.random.split(key)
        narrow = narrow * jax.random.uniform(own, (3,), jnp.bfloat16) + self.scale
        rest = Kinds(key, narrow, words)
        return {"at": state["at"] + 1, "rest": rest}, Kinds(jnp.int8(0), narrow, words[:1])

    def done(self, state):
        return state["at"] >= 7

    def failed(self, row):
        return jnp.zeros((), bool)


def test_all_types_of_arrays_are_saved(tmp_path):
    """Numbers that NumPy has no name for, typed keys, and what has no elements."""

    def run(**arguments):
        jobs = sweep.stacked(jax.random.split(jax.random.key(1, impl="rbg"), 5))
        work, devices = OfManyKinds(jnp.bfloat16(0.5)), jax.devices()[:1]
        return sweep.run(work, jobs, width=2, burst=2, devices=devices, **arguments)

    saved = sweep.Checkpoints(tmp_path, every=0.0, resume=True)
    for turns in (2, 3):
        with pytest.raises(sweep.Interrupted):
            run(checkpoints=saved, stop=stopped_after(turns))
    resumed, whole = run(checkpoints=saved), run()
    assert resumed.is_resumed
    assert resumed.rows.row.narrow.dtype == jnp.bfloat16
    assert cases.bits(resumed) == cases.bits(whole)


def test_a_second_process_is_refused(tmp_path):
    def stop():
        with pytest.raises(ValueError, match="expected a folder that no other process works in"):
            run_saved(tmp_path)
        return True

    with pytest.raises(sweep.Interrupted):
        run_saved(tmp_path, stop=stop)


def test_a_full_disk_leaves_the_checkpoint_before(tmp_path, expected, small_disk):
    """What was saved before the disk is full can be resumed when there is room again."""
    folder = small_disk / "sweep"
    stop_in_the_middle(folder, 4)
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass
    with pytest.raises(OSError, match="No space left"):
        run_saved(folder)
    ballast.unlink()
    assert cases.bits(run_saved(folder)) == expected


# A sweep of a second or two, that is saved all the time. Says whether it goes on from a checkpoint,
# and when it has begun to save.
SCRIPT = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
import numpy as np
import sweep_cases as cases
from jaxrace import sweep

folder, out = sys.argv[2:]
jobs, resumed = cases.wanders(cases.mixed_lengths(60)), sweep.is_saved(folder)
told = []

def on_rows(*rows):
    if len(told) == 1:
        print("resumed" if resumed else "new", flush=True)
    told.append(rows)
    time.sleep(0.02)

checkpoints = sweep.Checkpoints(folder, {}, every=0.0, resume=True)
log = cases.run(jobs, checkpoints=checkpoints, burst=2, on_rows=on_rows)
assert log.is_resumed == resumed
np.savez(out + ".npz", *cases.jax.tree.leaves(log.rows))
os.replace(out + ".npz", out)
"""


def kill_again_and_again(tmp_path, kills, seed):
    """Kill it at random moments, and let it go on.

    Returns:
        How often it was killed, how often it went on from a checkpoint, how often a kill fell
        into the writing of one, and the bits of its rows at the end.
    """
    rng = np.random.default_rng(seed)
    saved, out = tmp_path / "saved", tmp_path / "rows"
    command = [sys.executable, "-c", SCRIPT, Path(__file__).parent, saved, out]
    killed = resumed = unfinished = 0
    while not out.exists():
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            resumed += process.stdout.readline() == b"resumed\n"
            if killed < kills:
                # On a busy machine nothing might be saved before the first of them.
                while not (killed or process.poll() is not None or sweep.is_saved(saved)):
                    time.sleep(0.01)
                time.sleep(rng.uniform(0.0, 0.5))
                process.send_signal(signal.SIGKILL)
            process.wait()
        assert process.returncode in (0, -signal.SIGKILL)
        killed += process.returncode != 0
        unfinished += bool(files.unfinished_in(saved)) or len(list(saved.glob("lanes-*"))) > 1
    with np.load(out) as archive:
        return killed, resumed, unfinished, cases.digest([archive[name] for name in archive.files])


@pytest.fixture(scope="module")
def longer():
    return cases.bits(cases.run(cases.wanders(cases.mixed_lengths(60))))


@pytest.mark.slow
def test_a_sweep_that_is_killed_goes_on(tmp_path, longer):
    killed, resumed, _, bits = kill_again_and_again(tmp_path, 3, seed=0)
    assert bits == longer
    assert killed >= 1
    assert resumed >= 1


@pytest.mark.slow
def test_a_sweep_that_is_killed_twenty_times_goes_on(tmp_path, longer):
    killed = resumed = unfinished = 0
    for seed in range(20):
        (tmp_path / str(seed)).mkdir()
        *counts, bits = kill_again_and_again(tmp_path / str(seed), 5, seed)
        assert bits == longer
        killed, resumed, unfinished = np.add(counts, (killed, resumed, unfinished))
        if killed >= 20:
            break
    assert killed >= 20
    assert resumed >= 10
    assert unfinished >= 1  # some fell into the writing of a checkpoint


def test_a_row_that_is_missing_in_a_whole_file_is_seen(stopped, tmp_path):
    folder = shutil.copytree(stopped, tmp_path / "copy")
    path = min(folder.glob("rows-*"))
    with np.load(path) as archive:
        arrays = [archive[name][:-1] for name in archive.files]
    np.savez(path, *arrays)
    with pytest.raises(ValueError, match=r"checkpoint: rows-000000\.npz is damaged"):
        run_saved(folder)
