"""Folders of sweeps that are damaged by hand.

A resumed sweep leaves the log that it would have left, or says in one line which file is wrong.
"""

import contextlib
import itertools
import re
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import sweep_cases as cases

from jaxrace import sweep
from jaxrace.sweep import shards
from jaxrace.sweep.shared_folder import SharedFolder

LENGTHS = cases.mixed_lengths(30)
BREAKS = np.where(np.arange(30) % 7 == 3, 2, 0)
JOBS = cases.wanders(LENGTHS, BREAKS)
OTHERS = cases.wanders(LENGTHS[::-1].copy(), BREAKS)


class Here:
    """As much of Ray as a sweep needs, whose tasks run in this process when they are waited for."""

    exceptions = SimpleNamespace(RayError=KeyError, NodeDiedError=KeyError)

    def cluster_resources(self):
        return {"CPU": 1.0}

    def remote(self, **_):
        return lambda function: SimpleNamespace(remote=lambda *given: lambda: function(*given))

    def put(self, value):
        return value

    def get(self, task):
        return task()

    def wait(self, tasks, timeout):
        return tasks[:1], tasks[1:]

    def cancel(self, task):
        pass


@pytest.fixture(autouse=True, scope="module")
def tasks_run_here():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "connected", lambda address: contextlib.nullcontext(Here()))
        yield


def resumed(kind, folder, jobs=JOBS, **arguments):
    checkpoints = sweep.Checkpoints(folder, every=0.0, resume=True)
    if kind == "shards":
        arguments["cluster"] = sweep.Ray(lanes_per_shard=1)
    else:
        arguments["burst"] = 6
    return cases.run(jobs, checkpoints=checkpoints, **arguments)


def interrupted(kind, folder, jobs=JOBS):
    """With rows, lanes in flight and, on a cluster, shards that are done."""
    written, write = itertools.count(), SharedFolder.write

    def write_and_die(self, name, content):
        write(self, name, content)
        if next(written) == 24:
            raise ConnectionError

    asked = iter(range(6))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SharedFolder, "write", write_and_die)
        with pytest.raises((sweep.Interrupted, ConnectionError)):
            resumed(kind, folder, jobs, stop=lambda: kind == "process" and next(asked, 9) == 9)


@pytest.fixture(scope="module", params=["process", "shards"])
def folders(request, tmp_path_factory):
    """The kind of a sweep; one that is done, one that is not; and the same of other jobs."""
    made = tmp_path_factory.mktemp(request.param)
    for name, jobs in (("", JOBS), ("other ", OTHERS)):
        interrupted(request.param, made / f"{name}begun", jobs)
        resumed(request.param, made / f"{name}done", jobs)
    return request.param, made


def facts(log):
    return cases.bits(log), log.failed.tolist(), log.num_rows, log.lane_steps, log.num_jobs


@pytest.fixture(scope="module")
def expected(folders):
    kind, made = folders
    return facts(resumed(kind, made / "done"))


def files_in(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def flip(path, rng, others):
    content = bytearray(path.read_bytes())
    content[rng.integers(len(content))] ^= 1 << rng.integers(8)
    path.write_bytes(content)


def cut(path, rng, others):
    content = path.read_bytes()
    path.write_bytes(content[: rng.integers(len(content))])


def delete(path, rng, others):
    path.unlink()


def one_like(path, rng):
    """Another file of the same kind, if there is any."""
    found = [one for one in files_in(path.parent) if one.suffix == path.suffix and one != path]
    return found[rng.integers(len(found))] if found else path


def copy_over(path, rng, others):
    path.write_bytes(one_like(path, rng).read_bytes())


def swap(path, rng, others):
    other = one_like(path, rng)
    one, two = path.read_bytes(), other.read_bytes()
    path.write_bytes(two)
    other.write_bytes(one)


def take_from_another_sweep(path, rng, others):
    same = [other for other in files_in(others) if other.name == path.name]
    if same:
        shutil.copy(same[0], path)


def change_a_number(path, rng, others):
    """In JSON, where there is some; elsewhere a byte that is a digit."""
    content = path.read_bytes()
    found = list(re.finditer(rb"\d+", content))
    if found:
        one = found[rng.integers(len(found))]
        new = b"%d" % (2 * int(one[0]) + 1)
        path.write_bytes(content[: one.start()] + new + content[one.end() :])


DAMAGES = [flip, cut, delete, copy_over, swap, take_from_another_sweep, change_a_number]


def check(folders, expected, tmp_path, seed):
    kind, made = folders
    rng = np.random.default_rng(seed)
    state = ("begun", "done")[rng.integers(2)]
    folder = shutil.copytree(made / state, tmp_path / "copy")
    paths = files_in(folder)
    # Of lanes in flight there are many small files.
    tops = [path for path in paths if path.parent == folder]
    likely = tops if rng.random() < 0.8 else paths
    path = likely[rng.integers(len(likely))]
    DAMAGES[seed % len(DAMAGES)](path, rng, made / f"other {state}")
    try:
        found = facts(resumed(kind, folder))
    except ValueError as error:
        said = str(error)
        assert "\n" not in said
        named = [path.name, *(part.name for part in folder.iterdir()), "expected one with"]
        assert any(name in said for name in named), said
        return said
    assert found == expected
    return None


@pytest.mark.parametrize("seed", range(14))
def test_a_damaged_folder(folders, expected, tmp_path, seed):
    check(folders, expected, tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(14, 84))
def test_damaged_folders(folders, expected, tmp_path, seed):
    check(folders, expected, tmp_path, seed)


def test_a_shard_of_twice_the_size_is_refused(folders, tmp_path):
    """The jobs of the second half would have been left out without a word."""
    kind, made = folders
    if kind == "process":
        pytest.skip("it is not cut")
    folder = shutil.copytree(made / "done", tmp_path / "copy")
    text = (folder / "shards.json").read_text()
    assert '"size": 8,' in text
    (folder / "shards.json").write_text(text.replace('"size": 8,', '"size": 16,'))
    with pytest.raises(ValueError, match=r"^checkpoint: .*shards.json: expected what was written"):
        resumed(kind, folder)
