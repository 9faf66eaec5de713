"""Searches as one program are for one device."""

import os
import subprocess
import sys

import jax
import pytest

from jaxrace import racing
from jaxrace.envs import medical
from jaxrace.policies import Sigmoid
from jaxrace.search import PolicySearch, run_searches


def learn_on_all_devices():
    """For a process with two devices: two searches, the key of each on another one."""
    race = racing.PreferenceRace(7, 3, 100, medical.prefer)
    search = PolicySearch(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome(), race)
    mesh = jax.make_mesh((jax.device_count(),), ("searches",))
    over = jax.NamedSharding(mesh, jax.sharding.PartitionSpec("searches"))
    keys = jax.device_put(jax.random.split(jax.random.key(0)), over)
    with pytest.raises(ValueError, match=r"^keys: expected all on one device, got them on 2; "):
        run_searches(search, keys, search.params(sigma0=10.0, budget=100))


@pytest.mark.slow
def test_keys_on_several_devices_are_refused():
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "2"}
    subprocess.run([sys.executable, __file__], check=True, env=environment)


if __name__ == "__main__":
    learn_on_all_devices()
