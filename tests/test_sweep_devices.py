"""A sweep on several devices gives the bits of one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sweep_cases as cases

SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import jax
import numpy as np
import sweep_cases as cases

assert len(jax.local_devices()) == 4
jobs = cases.wanders(cases.mixed_lengths(60))
for number, devices in enumerate((jax.local_devices(), jax.local_devices()[2:3])):
    log = cases.run(jobs, devices=devices, num_blocks=5)
    np.savez(f"{sys.argv[2]}/{number}.npz", *jax.tree.leaves(log.rows))
"""


@pytest.fixture(scope="module")
def four_devices(tmp_path_factory):
    """The folder in which a process with four devices has left its rows."""
    folder = tmp_path_factory.mktemp("rows")
    forced = "--xla_force_host_platform_device_count=4"
    environment = {**os.environ, "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {forced}"}
    command = [sys.executable, "-c", SCRIPT, Path(__file__).parent, folder]
    subprocess.run(command, check=True, env=environment)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_several_devices_and_another_one(four_devices, number):
    expected = cases.bits(cases.run(cases.wanders(cases.mixed_lengths(60))))
    with np.load(four_devices / f"{number}.npz") as archive:
        assert [archive[name].tobytes() for name in archive.files] == expected
