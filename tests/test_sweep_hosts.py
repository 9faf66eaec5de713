"""A sweep on several hosts gives the bits of one, and none is lost when a host is."""

import concurrent.futures
import json
import multiprocessing
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import sweep_cases as cases
from host_cases import run_host

from jaxrace import runs, sweep
from jaxrace.commands.cli import main
from jaxrace.sweep.hosts import share_of_host
from jaxrace.sweep.queue import lane_of_jobs

LENGTHS = cases.mixed_lengths(60)
JOBS = cases.wanders(LENGTHS)


@pytest.fixture(scope="module")
def expected():
    return cases.bits(cases.run(JOBS))


@pytest.fixture(scope="module")
def pool():
    """Processes for other hosts."""
    spawned = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(3, mp_context=spawned) as pool:
        pool.submit(cases.mixed_lengths, 1).result()  # it imports what a host needs
        yield pool


@pytest.fixture(scope="module")
def run_hosts(pool):
    """Runs a sweep on several hosts; returns what each of them has found.

    The first one is this process, which has compiled what it needs; each other one is its own.
    """

    def run(folder, jobs=JOBS, count=2, meeting=1, settings=({}, {}, {}, {})):
        hosts = [sweep.Hosts(index, count, meeting, patience=20.0) for index in range(count)]
        calls = list(zip(hosts, settings, strict=False))
        others = [pool.submit(run_host, host, str(folder), jobs, **own) for host, own in calls[1:]]
        first = run_host(hosts[0], str(folder), jobs, **calls[0][1])
        return [first, *(future.result(timeout=120) for future in others)]

    return run


@pytest.mark.parametrize("count", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_every_host_returns_all_rows(tmp_path, expected, run_hosts, count):
    logs = run_hosts(tmp_path, count=count)
    assert len(logs) == count
    for log in logs:
        assert log["bits"] == expected
        assert (log["num_rows"], log["num_ended"]) == (LENGTHS.sum(), 60)
        assert log["lane_steps"] == logs[0]["lane_steps"]
        assert sum(rows for _, rows in log["told"]) > LENGTHS.sum() / (2 * count)
    assert sum(rows for log in logs for _, rows in log["told"]) == LENGTHS.sum()


@pytest.mark.slow
def test_failed_jobs_of_all_hosts(tmp_path, run_hosts):
    breaks = np.zeros_like(LENGTHS)
    broken = np.flatnonzero(LENGTHS > 2)[::4]
    breaks[broken] = 2
    jobs = cases.wanders(LENGTHS, breaks)
    for log in run_hosts(tmp_path, jobs):
        assert log["failed"] == broken.tolist()
        assert log["bits"] == cases.bits(cases.run(jobs))


@pytest.mark.slow
def test_more_hosts_than_jobs(tmp_path, run_hosts):
    jobs = cases.wanders([5, 6])
    for log in run_hosts(tmp_path, jobs, count=4):
        assert log["bits"] == cases.bits(cases.run(jobs))


@pytest.mark.slow
def test_jobs_that_ended_are_counted_on_all_hosts(tmp_path, run_hosts):
    logs = run_hosts(tmp_path, settings=[{"pause": 0.2}] * 2)
    # Those of the other host are known a second or two later.
    assert max(log["told"][-1][0] for log in logs) > 35


def test_shares_are_equal_in_every_lane():
    rng = np.random.default_rng(0)
    for count, width, num_hosts in [(103, 8, 3), (5, 8, 2), (64, 1, 4), (0, 4, 2)]:
        lane, order = lane_of_jobs(count, width, None), rng.permutation(count)
        shares = [
            share_of_host(order, lane, sweep.Hosts(i, num_hosts, 0)) for i in range(num_hosts)
        ]
        assert sorted(np.concatenate(shares)) == list(range(count))
        for share in shares:
            assert [job for job in order if job in set(share)] == share.tolist()
        counts = np.array([np.bincount(lane[share], minlength=width) for share in shares])
        assert (np.ptp(counts, axis=0) <= 1).all()


@pytest.mark.slow
def test_interrupted_hosts_are_resumed(tmp_path, expected, run_hosts):
    # The second takes its time, so that the first one is stopped before it misses the other.
    settings = [{"stop_after": 4}, {"stop_after": 6, "pause": 2.0}]
    stopped = run_hosts(tmp_path, settings=settings)
    assert stopped[0]["error"] == "Interrupted"
    assert stopped[1]["error"] in ("Interrupted", "HostLost")
    for log in run_hosts(tmp_path, meeting=2):
        assert log["is_resumed"]
        assert log["bits"] == expected


@pytest.mark.slow
def test_another_number_of_hosts_is_refused(tmp_path, run_hosts):
    two, one = str(tmp_path / "two"), str(tmp_path / "one")
    run_hosts(two)
    for hosts in (None, sweep.Hosts(0, 1, 2)):
        found = run_host(hosts, two, JOBS)
        assert re.match(r"hosts: expected as many as .*, got 1", found["message"])
    found = run_hosts(two, count=3, meeting=2)
    assert any("expected one with hosts = 3, got 2" in log["message"] for log in found)
    run_host(None, one, JOBS)
    for found in run_hosts(one):
        assert re.match(r"hosts: expected as many as .*, got 2", found["message"])


@pytest.mark.slow
def test_a_host_that_fails_stops_the_others(tmp_path, expected, run_hosts):
    lost, failed = run_hosts(tmp_path, settings=[{"pause": 0.3}, {"fails": True}])
    assert failed["error"] == "KeyError"
    assert lost["error"] == "HostLost"
    assert (
        lost["message"]
        == "host 1 has stopped: what the others have done is saved and can be resumed"
    )
    assert [log["bits"] for log in run_hosts(tmp_path, meeting=2)] == [expected] * 2


def test_without_the_first_host_nothing_begins(tmp_path):
    hosts = sweep.Hosts(1, 2, meeting=1, patience=1.0)
    with pytest.raises(sweep.HostLost, match=r"host 0 has not begun in .* for 1\.5 seconds"):
        cases.run(JOBS, hosts=hosts, checkpoints=sweep.Checkpoints(tmp_path / "new"))
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_a_first_host_that_fails_leaves_the_others_work(tmp_path, expected, run_hosts):
    failed, lost = run_hosts(tmp_path, settings=[{"fails": True}, {"pause": 0.3}])
    assert failed["error"] == "KeyError"
    assert lost["message"].startswith("host 0 has stopped: what the others have done is saved")
    found = run_hosts(tmp_path, meeting=2)
    assert [log["bits"] for log in found] == [expected] * 2
    assert found[1]["is_resumed"]


def test_hosts_that_do_different_sweeps_are_refused(tmp_path, pool):
    first, second = (sweep.Hosts(index, 2, meeting=1, patience=20.0) for index in (0, 1))
    own = pool.submit(run_host, first, str(tmp_path), JOBS)
    refused = run_host(second, str(tmp_path), cases.wanders(LENGTHS + 1))
    stopped = own.result(timeout=120)
    assert refused["error"] == "ValueError"
    assert refused["message"].startswith("hosts: expected what the jobs are given = ")
    assert stopped["error"] in ("ValueError", "HostLost")


@pytest.mark.slow
def test_signs_of_an_earlier_meeting_do_not_count(tmp_path, run_hosts):
    run_hosts(tmp_path)
    found = run_host(sweep.Hosts(0, 2, meeting=2, patience=2.0), str(tmp_path), JOBS)
    assert found["message"].startswith("host 1 has given no sign of life for 2 seconds")


def test_bad_input():
    with pytest.raises(ValueError, match="checkpoints: expected some, with a folder"):
        cases.run(JOBS, hosts=sweep.Hosts(0, 2, meeting=1))
    with pytest.raises(ValueError, match="index: expected less than count = 2, got 2"):
        sweep.Hosts(2, 2, meeting=1)
    with pytest.raises(ValueError, match="count: expected"):
        sweep.Hosts(0, 0, meeting=1)


# One of two processes that meet over loopback; it runs for some seconds, and prints what happens.
SCRIPT = """
import sys, time
sys.path.insert(0, sys.argv[1])
import dataclasses, json
import numpy as np
import sweep_cases as cases
from jaxrace import sweep

address, folder, index = sys.argv[2:]
hosts = dataclasses.replace(sweep.join_hosts(address, 2, int(index)), patience=4.0)
checkpoints = sweep.Checkpoints(folder, every=0.0, resume=True)

def on_rows(ended, rows):
    print("rows", flush=True)
    time.sleep(0.05)

try:
    log = cases.run(cases.wanders(cases.mixed_lengths(60)), checkpoints=checkpoints, burst=1,
                    on_rows=on_rows, hosts=hosts)
    print(json.dumps([log.is_resumed, [leaf.hex() for leaf in cases.bits(log)]]))
except sweep.HostLost as error:
    print("lost:", error)
"""


DETECTED = """
import os
import jax
from jaxrace import sweep

try:
    sweep.join_hosts()
except ValueError as error:
    print(error)
for name, value in {"JOB_ID": 70, "NTASKS": 1, "PROCID": 0, "LOCALID": 0}.items():
    os.environ[f"SLURM_{name}"] = str(value)
os.environ["SLURM_STEP_NODELIST"], os.environ["SLURM_STEP_NUM_TASKS"] = "localhost", "1"
hosts = sweep.join_hosts()
print(hosts.index, hosts.count, jax.process_count(), jax.numpy.arange(3).sum())
"""


@pytest.mark.slow
def test_hosts_that_slurm_has_started():
    command = [sys.executable, "-c", DETECTED]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    error, *_, found = output.splitlines()
    assert error.startswith("hosts: expected an address, a count and an index, or a process that")
    assert found == "0 1 1 3"


COMMAND = [
    sys.executable,
    "-c",
    "import sys; from jaxrace.commands.cli import main; sys.exit(main())",
]


def start(tmp_path, command):
    """Two processes that find each other at a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    return [
        subprocess.Popen(
            command(address, index),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        for index in (0, 1)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_a_host_that_is_killed_is_named_and_nothing_is_lost(tmp_path, expected, victim):
    def command(address, index):
        folder = str(Path(__file__).parent)
        return [sys.executable, "-c", SCRIPT, folder, address, str(tmp_path / "run"), str(index)]

    processes = start(tmp_path, command)
    seen = 0
    while seen < 8:
        line = processes[victim].stdout.readline()
        assert line
        seen += line == "rows\n"
    processes[victim].send_signal(signal.SIGKILL)
    killed = time.monotonic()
    out, errors = processes[1 - victim].communicate(timeout=60)
    assert f"lost: host {victim} has given no sign of life for 4 seconds" in out, errors
    assert processes[1 - victim].returncode == 0
    assert time.monotonic() - killed < 30
    processes[victim].communicate()

    for process in start(tmp_path, command):
        out, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        is_resumed, bits = json.loads(out.splitlines()[-1])
        assert is_resumed
        assert [bytes.fromhex(leaf) for leaf in bits] == expected


@pytest.mark.slow
def test_hosts_with_other_options_are_refused(tmp_path):
    run = [*COMMAND, "train", "medical", "--repeats", "4", "--episodes", "300", "--out", "run"]

    def command(address, index):
        return [*run, "--seed", str(index), "--hosts", f"{address},2,{index}"]

    first, second = start(tmp_path, command)
    _, errors = second.communicate(timeout=120)
    assert second.returncode == 2
    assert "--hosts: expected seed = 1, host 0 has 0" in errors
    _, errors = first.communicate(timeout=120)
    assert first.returncode in (1, 2)
    assert "host 1" in errors


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("10.0.0.1,2,0", "expected an address with a port, a count and an index below it"),
        ("10.0.0.1:1234,2,2", "expected an address with a port, a count and an index below it"),
        ("10.0.0.1:1234,2,0", "--out: expected a folder that all hosts see, got none"),
    ],
)
def test_bad_hosts(capsys, given, message):
    assert main(["train", "medical", "--no-compilation-cache", "--hosts", given]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("extra", [[], ["--race"]])
def test_the_command_on_two_hosts_leaves_the_tables_of_one(tmp_path, extra):
    grid = ["train", "medical", "--sigma", "1,10", "--repeats", "12", "--episodes", "600"]
    grid = [*grid, "--test-patients", "50", "--no-compilation-cache", *extra]

    def command(address, index):
        run = [*COMMAND, *grid, "--out", "two"]
        return [*run, "--hosts", f"{address},2,{index}"]

    subprocess.run([*COMMAND, *grid, "--out", "one"], cwd=tmp_path, check=True, timeout=300)
    outputs = []
    for process in start(tmp_path, command):
        out, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        outputs.append([line for line in out.splitlines() if "Gloo" not in line])
    assert any("searches/s" in line for line in outputs[0])
    assert outputs[1] == []
    for name in (runs.LOG, runs.SUMMARY):
        one, two = (tmp_path / folder / name for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
    assert not (tmp_path / "two" / "checkpoint").exists()
    assert runs.read_config(tmp_path / "two")["sweep"]["hosts"] == 2
