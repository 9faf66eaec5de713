"""Shards of a sweep: what a task has of a machine, and where its checkpoints and rows go."""

import dataclasses
import io
import json
import os
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import sweep_cases as cases

from jaxrace import sweep
from jaxrace.sweep import shards
from jaxrace.sweep.cluster import lanes_per_shard
from jaxrace.sweep.shared_folder import DAMAGED, ShardCheckpoint, SharedFolder

LENGTHS = cases.mixed_lengths(40)[:16]


NAME, SWEEP = "shard-000000", b"a name of the sweep"


def as_it_is(folder):
    pass


def a_file_is_gone(folder):
    next(folder.glob(f"{NAME}-*.npz")).unlink()


def the_tar_is_cut(folder):
    content = (folder / f"{NAME}.tar").read_bytes()
    (folder / f"{NAME}.tar").write_bytes(content[:100])


@pytest.mark.parametrize("change", [as_it_is, a_file_is_gone, the_tar_is_cut])
def test_a_shard_goes_on_from_its_checkpoint(tmp_path, monkeypatch, change):
    """A node dies after it has sent one; another plays what is left, and nothing again.

    What is damaged counts for nothing.
    """
    jobs, folder = sweep.stacked(cases.wanders(LENGTHS[:8])), SharedFolder(tmp_path, SWEEP)
    steps = []
    write, sent = SharedFolder.write, []
    here = shards.surroundings(cases.WORK, jobs)
    plan = jobs.plan(cases.WIDTH)
    task = shards._ShardedSweep(cases.WORK, jobs, cases.WIDTH, plan, 8, folder, 0.0, here)

    def write_and_die(self, name, content):
        write(self, name, content)
        sent.append(name)
        if len(steps) == 2 and name.endswith(".tar"):
            raise ConnectionError

    cases.watch(monkeypatch, lambda burst, *_: steps.append(int(burst.ran.any(1).sum())))
    monkeypatch.setattr(SharedFolder, "write", write_and_die)
    with pytest.raises(ConnectionError):
        shards._do_shard(task, 0)
    assert len(sent) == 4  # the rows of each burst once, and what names them
    assert folder.names() == set(sent)
    change(tmp_path)
    assert shards._do_shard(task, 0) is None
    assert folder.names() == {f"{NAME}.npz"}
    again = 0 if change is as_it_is else sum(steps[:2])
    assert sum(steps) == LENGTHS[:8].max() + again
    rows = [name for name in sent if name.startswith(f"{NAME}-")]
    assert len(rows) == len(set(rows)) == len(steps)  # those of a burst once
    whole = cases.run(cases.wanders(LENGTHS[:8]))
    of_shard = dataclasses.replace(whole, parts=[f"{NAME}.npz"], read=folder.read)
    assert cases.bits(of_shard) == cases.bits(whole)


PLAIN = {"lanes-1.npz": b"lanes", "checkpoint.json": b"{}"}


def archived(name, kind=tarfile.REGTYPE, link=""):
    """A checkpoint with a file of this name at its end."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for plain, data in PLAIN.items():
            member = tarfile.TarInfo(plain)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, link
        archive.addfile(member)
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "kind", "link"),
    [
        ("../outside", tarfile.REGTYPE, ""),
        ("{}/outside", tarfile.REGTYPE, ""),  # an absolute path
        ("folder/inside", tarfile.REGTYPE, ""),
        ("C:outside", tarfile.REGTYPE, ""),
        ("..\\outside", tarfile.REGTYPE, ""),
        ("..", tarfile.DIRTYPE, ""),
        ("outside", tarfile.SYMTYPE, "../secret"),
        ("outside", tarfile.LNKTYPE, "lanes-1.npz"),
        ("outside", tarfile.FIFOTYPE, ""),
    ],
)
def test_a_checkpoint_writes_nowhere_else(tmp_path, name, kind, link):
    """It could come from another node; what is refused is damaged, and the shard begins anew."""
    shared, here = SharedFolder(tmp_path / "shared", SWEEP), tmp_path / "here"
    here.mkdir()
    (tmp_path / "secret").write_text("secret")
    shared.write(f"{NAME}.tar", archived(name.format(tmp_path), kind, link))
    with pytest.raises(DAMAGED, match="checkpoint: expected plain files without folders"):
        ShardCheckpoint(shared, NAME).fetch(here)
    assert {path.name for path in tmp_path.iterdir()} == {"shared", "here", "secret"}
    assert {path.name: path.read_bytes() for path in here.iterdir()} == PLAIN


def noted(jobs, folder):
    """The same jobs; a process in which they run leaves what it has of GPUs."""

    def rows(numbers):
        names = "CUDA_VISIBLE_DEVICES", "XLA_CLIENT_MEM_FRACTION"
        found = [os.environ.get(name) for name in names]
        Path(folder, f"process-{os.getpid()}.json").write_text(json.dumps(found))
        return jobs.inputs(numbers)

    return sweep.Jobs(jobs.count, rows)


@pytest.mark.slow
@pytest.mark.usefixtures("tests_on_nodes")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # Ray's: sockets that it leaves open
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
@pytest.mark.parametrize(
    ("gpus", "seen"),
    [
        (None, [["0", None], ["1", None]]),
        (0.5, [["0", "0.375"], ["1", "0.375"]]),
        (2, [["0,1", None]]),
    ],
    ids=str,
)
def test_tasks_have_gpus_of_their_own(tmp_path, monkeypatch, gpus, seen):
    """Ray gives out GPUs that this machine does not have; JAX takes the CPU instead."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    ray = pytest.importorskip("ray")
    whole = cases.bits(cases.run(cases.wanders(LENGTHS)))
    jobs = noted(sweep.stacked(cases.wanders(LENGTHS)), tmp_path)
    settings = {"num_gpus": 2, "include_dashboard": False, "log_to_driver": False}
    ray.init("local", num_cpus=2, **settings)
    try:
        log = sweep.run(
            cases.WORK,
            jobs,
            width=cases.WIDTH,
            checkpoints=sweep.Checkpoints(tmp_path / "sweep"),
            cluster=sweep.Ray(gpus_per_task=gpus, lanes_per_shard=1),
        )
    finally:
        ray.shutdown()
    assert cases.bits(log) == whole
    (tmp_path / f"process-{os.getpid()}.json").unlink()
    found = [json.loads(path.read_text()) for path in tmp_path.glob("process-*.json")]
    assert len(found) == 3  # one asked for its versions, one for each shard
    assert all(one in seen for one in found)


@pytest.mark.parametrize(("gpus", "lanes"), [(0.1, 16), (0.5, 80), (1, 160)], ids=str)
def test_shards_for_shares_of_a_gpu(gpus, lanes):
    """Eight shards for each of the tasks that there are at once: ten, two and one."""
    there = SimpleNamespace(cluster_resources=lambda: {"CPU": 64.0, "GPU": 1.0})
    many = sweep.Jobs(12_800, lambda numbers: numbers)
    assert lanes_per_shard(there, 1, gpus, many, 10) == lanes


def test_addresses_of_other_stores():
    pytest.importorskip("fsspec")
    folder = SharedFolder("memory://grid/checkpoint")
    assert folder.names() == set()
    folder.write("shard-0.tar", b"rows")
    assert folder.names() == {"shard-0.tar"}
    assert folder.read("shard-0.tar") == b"rows"
    folder.remove("shard-0.tar")
    folder.remove("shard-0.tar")
    assert folder.names() == set()


def test_half_a_checkpoint_is_damaged(tmp_path):
    shared = SharedFolder(tmp_path / "shared", SWEEP)
    shared.write(f"{NAME}.tar", archived("rows.npz", tarfile.REGTYPE, "")[:700])
    with pytest.raises(DAMAGED):
        ShardCheckpoint(shared, NAME).fetch(tmp_path)
