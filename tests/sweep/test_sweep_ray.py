"""Sweeps on clusters of Ray leave the rows of one process, whatever nodes and drivers do."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest
import sweep_cases as cases

import papers.__main__
import papers.duels.__main__
import papers.improvements.__main__
from jaxrace import runs, sweep
from jaxrace.commands.cli import main
from jaxrace.commands.train import learning
from jaxrace.sweep import shards
from jaxrace.sweep.shared_folder import SharedFolder

ray = pytest.importorskip("ray")

LENGTHS = cases.mixed_lengths(40)

# The warnings are Ray's own: sockets that it leaves open, and a fork beside JAX's threads.
pytestmark = [
    pytest.mark.usefixtures("tests_on_nodes"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def expected():
    return cases.bits(cases.run(cases.wanders(LENGTHS)))


def run(folder, address=None, jobs=None, **arguments):
    checkpoints = own_checkpoints(folder)
    jobs = cases.wanders(LENGTHS) if jobs is None else jobs
    cluster = sweep.Ray(address, lanes_per_shard=1)
    return cases.run(jobs, checkpoints=checkpoints, cluster=cluster, **arguments)


def test_a_cluster_of_this_machine(tmp_path, expected, capfd):
    told = []
    log = run(tmp_path, on_rows=lambda ended, rows: told.append((ended, len(rows.job))))
    assert cases.bits(log) == expected
    assert [ended for ended, _ in told] == [8, 16, 24, 32, 40]
    assert sum(count for _, count in told) == log.num_rows == LENGTHS.sum()
    assert (log.num_ended, log.errors, log.failed.size) == (40, {}, 0)
    assert sorted(SharedFolder(tmp_path).names()) == [
        *(f"shard-{shard:06}.npz" for shard in range(5)),
        "shards.json",
    ]
    assert not ray.is_initialized()
    assert capfd.readouterr() == ("", "")  # Ray has much to say


# Of a process that exits with 7 if its code has run in the cluster.
STRANGER = """if True:
    import sys
    import ray
    from ray._private import ray_constants
    ray_constants.ENABLE_RAY_CLUSTER = False  # else it would look for the cluster elsewhere
    ray.init(sys.argv[1], log_to_driver=False, logging_level="ERROR")
    sys.exit(ray.get(ray.remote(lambda: 7).remote()))
"""


def start_stranger(address, **own):
    others = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    command = [sys.executable, "-c", STRANGER, address]
    nothing = subprocess.DEVNULL
    return subprocess.Popen(command, env=others | own, stdout=nothing, stderr=nothing)


@pytest.mark.slow
def test_a_cluster_of_this_machine_is_closed_to_others(tmp_path, monkeypatch):
    """Nothing listens on an address that others reach, and who lacks the token runs no code."""
    psutil = pytest.importorskip("psutil")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # as some have it, for other clusters
    before = dict(os.environ)
    with sweep.connected(None) as ray:
        token, address = os.environ.get("RAY_AUTH_TOKEN", ""), ray.get_runtime_context().gcs_address
        mode = {"RAY_AUTH_MODE": "token"}
        strangers = [
            start_stranger(address, RAY_AUTH_MODE="disabled"),
            start_stranger(address, RAY_AUTH_TOKEN="0" * 64, **mode),
        ]
        # While tasks run.
        run(tmp_path)
        process = psutil.Process()
        processes = [process, *process.children(recursive=True)]
        theirs = {stranger.pid for stranger in strangers}
        listening = [
            connection.laddr.ip.removeprefix("::ffff:")
            for one in processes
            if one.pid not in theirs
            for connection in one.net_connections(kind="inet")
            if connection.status == psutil.CONN_LISTEN
        ]
        assert len(listening) >= 6  # the driver, the head, two of the node, a worker, an agent
        assert set(listening) <= {"127.0.0.1", "::1"}
        sockets = [
            Path(connection.laddr)
            for one in processes
            for connection in one.net_connections(kind="unix")
            if connection.laddr.endswith(("raylet", "plasma_store"))
        ]
        (folder,) = {path.parents[3] for path in sockets}
        assert folder.stat().st_mode & 0o77 == 0  # no other user finds them
        assert start_stranger(address, RAY_AUTH_TOKEN=token, **mode).wait(60) == 7
        assert all(stranger.wait(60) not in (0, 7) for stranger in strangers)
    assert not folder.exists()
    left = {name: value for name, value in os.environ.items() if name in before}
    assert left == before
    assert "RAY_AUTH_TOKEN" not in os.environ


@pytest.mark.slow
def test_a_folder_may_be_an_address(tmp_path, expected):
    """Of fsspec: here one of the files of this machine."""
    address = f"file://{tmp_path}/sweep"
    assert cases.bits(run(address)) == expected
    again = run(address)
    assert (again.is_resumed, again.num_ended) == (True, 0)
    assert cases.bits(again) == expected


class Cluster:
    """Nodes of one core each on this machine."""

    def __init__(self, count):
        from ray.cluster_utils import Cluster

        self.own = Cluster()
        self.own.add_node(num_cpus=0, include_dashboard=False)
        self.nodes = [self.add() for _ in range(count)]
        self.address = self.own.address

    def add(self):
        return self.own.add_node(num_cpus=1)


@pytest.fixture
def cluster():
    with contextlib.ExitStack() as stack:

        def make(count):
            made = Cluster(count)
            stack.callback(made.own.shutdown)
            return made

        yield make


def slow_jobs(notes=None):
    """Of which every shard takes some seconds; ``notes`` gets files that say what ran where."""
    jobs = sweep.stacked(cases.wanders(LENGTHS))

    def rows(numbers):
        time.sleep(1.0)
        if notes is not None and ray.is_initialized():  # else to ask would start one
            node = ray.get_runtime_context().get_node_id()
            for shard in set(numbers // cases.WIDTH):
                (notes / f"{shard}-{node}").touch()
        return jobs.inputs(numbers)

    return sweep.Jobs(jobs.count, rows)


def run_slowly(folder, address, notes=None, **arguments):
    checkpoints = sweep.Checkpoints(folder, every=0.0, resume=True)
    cluster = sweep.Ray(address, lanes_per_shard=1)
    return sweep.run(
        cases.WORK,
        slow_jobs(notes),
        width=cases.WIDTH,
        checkpoints=checkpoints,
        cluster=cluster,
        **arguments,
    )


@pytest.mark.slow
@pytest.mark.parametrize("leaves", [False, True], ids=["all stay", "a node leaves"])
def test_nodes_may_leave(tmp_path, expected, cluster, leaves):
    nodes, told = cluster(2), []

    def on_rows(ended, rows):
        if leaves and not told:
            nodes.own.remove_node(nodes.nodes[1], allow_graceful=False)
        told.append(ended)

    assert cases.bits(run_slowly(tmp_path, nodes.address, on_rows=on_rows)) == expected


@pytest.mark.slow
def test_a_node_that_joins_does_some_of_the_work(tmp_path, expected, cluster):
    nodes, notes, new = cluster(1), tmp_path / "notes", []
    notes.mkdir()

    def on_rows(ended, rows):
        if not new:
            new.append(nodes.add().node_id)

    log = run_slowly(tmp_path / "sweep", nodes.address, notes, on_rows=on_rows)
    assert log.errors == {}
    assert cases.bits(log) == expected
    ran = [path.name.split("-") for path in notes.iterdir()]
    old = nodes.nodes[0].node_id
    of_shard = {n: {node for shard, node in ran if shard == str(n)} & {old, *new} for n in range(5)}
    assert all(len(found) == 1 for found in of_shard.values())  # so its rows are of that node
    assert of_shard[0] == {old}
    assert set(new) in of_shard.values()


def stubborn(jobs, home):
    """Rows that one process alone can make: elsewhere the job with number 17 is missing."""

    def rows(numbers):
        if os.getpid() != home and (numbers == 17).any():
            raise ArithmeticError("no job 17")
        return jobs.inputs(numbers)

    return rows


@pytest.mark.slow
def test_a_shard_that_always_fails_is_named_and_the_others_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "_PAUSE", 0.5)
    jobs = sweep.stacked(cases.wanders(LENGTHS))
    log = sweep.run(
        cases.WORK,
        sweep.Jobs(40, stubborn(jobs, os.getpid())),
        width=cases.WIDTH,
        checkpoints=sweep.Checkpoints(tmp_path),
        cluster=sweep.Ray(lanes_per_shard=1),
    )
    assert log.errors == {"shard 2, 8 jobs from 16": "ArithmeticError: no job 17"}
    assert log.failed.tolist() == list(range(16, 24))
    whole = cases.run(cases.wanders(LENGTHS))
    kept = ~np.isin(whole.rows.job, log.failed)
    for name, column in whole.rows.row.items():
        assert log.rows.row[name].tobytes() == column[kept].tobytes()


@pytest.mark.slow
def test_a_full_disk_is_named(tmp_path, small_disk, expected, monkeypatch):
    monkeypatch.setattr(shards, "_PAUSE", 0.5)
    folder, ballast = small_disk / "sweep", small_disk / "ballast"

    def on_rows(ended, rows):
        with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(512)):
                pass

    log = run_slowly(folder, None, on_rows=on_rows)
    assert log.errors
    assert all("No space left" in error for error in log.errors.values())
    ballast.unlink()
    assert cases.bits(run_slowly(folder, None)) == expected  # lost shards are done again


@pytest.mark.slow
def test_a_sweep_does_not_change_between_a_cluster_and_a_process(tmp_path):
    run(tmp_path / "cluster")
    with pytest.raises(ValueError, match="a sweep that began here, got a sweep of a cluster"):
        cases.run(cases.wanders(LENGTHS), checkpoints=own_checkpoints(tmp_path / "cluster"))
    cases.run(cases.wanders(LENGTHS), checkpoints=own_checkpoints(tmp_path / "process"))
    with pytest.raises(ValueError, match="a sweep that began here, got a sweep of one process"):
        run(tmp_path / "process")


def own_checkpoints(folder):
    return sweep.Checkpoints(folder, {"grid": [1, 2]}, every=0.0, resume=True)


@pytest.mark.slow
def test_settings_of_jax_are_those_of_the_driver(tmp_path):
    with jax.threefry_partitionable(False):
        whole = cases.bits(cases.run(cases.wanders(LENGTHS)))
        assert cases.bits(run(tmp_path)) == whole


@pytest.mark.slow
def test_a_second_driver_is_refused(tmp_path):
    def on_rows(ended, rows):
        with pytest.raises(ValueError, match="expected a folder that no other process works in"):
            run(tmp_path)

    run(tmp_path, on_rows=on_rows)


SCRIPT = """if True:
    import sys
    sys.path.insert(0, sys.argv[1])
    from test_sweep_ray import run_slowly
    run_slowly(sys.argv[2], sys.argv[3], on_rows=lambda ended, rows: print(ended, flush=True))
"""


@pytest.mark.slow
def test_a_driver_that_is_killed_is_started_again(tmp_path, expected, cluster):
    nodes = cluster(1)
    command = [sys.executable, "-c", SCRIPT, Path(__file__).parent, tmp_path, nodes.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"8\n"
        process.send_signal(signal.SIGKILL)
    nodes.add()
    log = run_slowly(tmp_path, nodes.address)
    assert log.is_resumed
    assert 0 < log.num_ended < 40
    assert cases.bits(log) == expected


@pytest.mark.slow
def test_another_sweep_is_refused(tmp_path):
    run(tmp_path)
    with pytest.raises(ValueError, match="with what the jobs are given = "):
        run(tmp_path, jobs=cases.wanders(LENGTHS + 1))
    log = run(tmp_path)
    assert (log.is_resumed, log.num_ended, log.num_rows) == (True, 0, LENGTHS.sum())


@pytest.mark.slow
@pytest.mark.parametrize("extra", [[], ["--race"]], ids=["grid", "race"])
def test_the_command_leaves_the_tables_of_one_process(tmp_path, monkeypatch, extra):
    monkeypatch.chdir(tmp_path)
    grid = ["--sigma", "1,10", "--repeats", "16", "--episodes", "150", "--test-patients", "50"]
    train = ["train", "medical", "--method", "pb-edps", *grid, "--lanes", "4", *extra]
    assert main([*train, "--out", "one"]) == 0
    assert main([*train, "--out", "ray", "--ray"]) == 0
    for name in ("log.csv", "summary.json"):
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    assert runs.read_json("ray/timing.json").keys() == runs.read_json("one/timing.json").keys()


@pytest.mark.slow
def test_summary_json_names_a_shard_that_always_fails(tmp_path, monkeypatch, capsys):
    """The searches of the others are kept, and those of the lost one are made when it can run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shards, "_PAUSE", 0.5)
    train = ["train", "medical", "--method", "pb-edps", "--sigma", "1,10", "--repeats", "16"]
    train += ["--episodes", "150", "--test-patients", "50", "--lanes", "4"]
    assert main([*train, "--out", "one"]) == 0
    make_jobs = learning.make_jobs

    def make_stubborn_jobs(*arguments, **named):
        jobs = make_jobs(*arguments, **named)
        return dataclasses.replace(jobs, inputs=stubborn(jobs, os.getpid()))

    with monkeypatch.context() as patched:
        patched.setattr(learning, "make_jobs", make_stubborn_jobs)
        assert main([*train, "--out", "ray", "--ray"]) == 1
    assert "4 of 32 searches failed" in capsys.readouterr().err
    summary, log, whole = runs.read_summary("ray"), runs.read_log("ray"), runs.read_log("one")
    assert summary["errors"] == {"shard 4, 4 jobs from 16": "ArithmeticError: no job 17"}
    assert [(one["sigma"], one["repeat"]) for one in summary["failed"]] == [
        (10.0, repeat) for repeat in range(4)
    ]
    kept = (whole["sigma"] == 1) | (whole["repeat"] >= 4)
    assert not kept.all()
    for name, column in whole.items():
        np.testing.assert_array_equal(log[name], column[kept])
    assert main([*train, "--out", "ray", "--ray", "--resume"]) == 0
    for name in ("log.csv", "summary.json"):
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


MAIN = """if True:
    import dataclasses, sys
    import jax, numpy as np
    from jaxrace import sweep

    @jax.tree_util.register_dataclass
    @dataclasses.dataclass(frozen=True)
    class Job:
        goal: jax.Array

    work = sweep.Once(lambda constants, job: constants + job.goal, np.float32(1))
    checkpoints = sweep.Checkpoints(sys.argv[1])
    jobs = sweep.stacked(Job(np.arange(3, dtype=np.float32)))
    try:
        sweep.run(work, jobs, checkpoints=checkpoints, cluster=sweep.Ray())
    except ValueError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_class_of_main_that_always_fails_on_nodes_is_said(tmp_path):
    command = [sys.executable, "-c", MAIN, tmp_path / "sweep"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert said.startswith("work: expected some that a node can do, got TypeError: 'Job' object")
    assert said.endswith("JAX does not know classes of __main__ there: put them into a module\n")


OTHERS = {
    "duels": ["random", "--horizon", "400", "--repeats", "6"],
    "improvements": ["gridworld", "--bound", "t", "--trajectories", "100", "--repeats", "6"],
    "papers": ["hcpi-bounds", "--quick"],
}


@pytest.mark.slow
@pytest.mark.parametrize("verb", OTHERS)
def test_the_other_commands_leave_the_tables_of_one_process(tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    asked = [*OTHERS[verb], "--lanes", "2", "--no-compilation-cache"]
    run = {
        "papers": papers.__main__.main,
        "duels": papers.duels.__main__.main,
        "improvements": papers.improvements.__main__.main,
    }[verb]
    assert run([*asked, "--out", "one"]) == 0
    assert run([*asked, "--out", "ray", "--ray"]) == 0
    tables = sorted(path.name for path in (tmp_path / "one").glob("*.csv"))
    assert tables
    for name in tables:
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=["TERM", "INT", "HUP"]
)
def test_a_signal_saves_what_is_done(tmp_path, number):
    out = tmp_path / "run"
    train = [
        "train",
        "medical",
        "--method",
        "pb-edps",
        "--repeats",
        "200",
        "--lanes",
        "4",
        "--out",
        str(out),
    ]
    jaxrace = [sys.executable, "-m", "jaxrace", *train, "--ray"]
    with subprocess.Popen(jaxrace, stderr=subprocess.PIPE, text=True) as process:
        while not list(out.glob("checkpoint/shard-*.npz")):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        started = time.monotonic()
        _, words = process.communicate()
    assert time.monotonic() - started < 10
    assert process.returncode == 128 + number
    assert "--resume goes on" in words
    assert list(out.glob("checkpoint/shard-*.npz"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cpus_per_task": 0}, "cpus_per_task: expected an integer of at least 1"),
        ({"gpus_per_task": -1}, "gpus_per_task: expected"),
        ({"gpus_per_task": 1.5}, "gpus_per_task: expected a whole number, or a share .* got 1.5"),
        ({"lanes_per_shard": 0}, "lanes_per_shard: expected"),
    ],
    ids=str,
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        sweep.Ray(**arguments)


def test_a_folder_is_wanted():
    with pytest.raises(
        ValueError, match="checkpoints: expected a folder that all nodes see, got none"
    ):
        cases.run(cases.wanders(LENGTHS), cluster=sweep.Ray())
