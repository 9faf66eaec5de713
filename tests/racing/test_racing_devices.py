"""Races spread over the parts of a processor are those of one device."""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest

from jaxrace import racing
from jaxrace.kernels import total_order
from papers.preference_racing import options

pytestmark = pytest.mark.slow  # another process, which compiles all of it again

RACES, TASK = 20, options.Normal()
KINDS = {
    "dominance": racing.DominanceRace(4, 2, 60, total_order),
    "preference": racing.PreferenceRace(4, 2, 60, total_order),
}


def play(kind):
    """``play(key)``: one race on a random instance of the task."""
    race = KINDS[kind]
    params = race.params(0.2)

    def one_race(key):
        task_key, race_key = jax.random.split(key)
        drawn = TASK.draw(task_key, 4.0, 4)
        return racing.run(race, race_key, TASK.sample, drawn, params)

    return jax.vmap(one_race)


def keys():
    return jax.random.split(jax.random.key(3), RACES)


def save(folder):
    """For a process with two devices."""
    assert jax.device_count() == 2
    mesh = jax.make_mesh((2,), ("races",))
    over = jax.sharding.PartitionSpec("races")
    given = jax.device_put(keys(), jax.NamedSharding(mesh, over))
    for kind in KINDS:
        many = jax.shard_map(play(kind), mesh=mesh, in_specs=over, out_specs=over, check_vma=False)
        np.savez(f"{folder}/{kind}.npz", *jax.tree.leaves(jax.jit(many)(given)))


@pytest.fixture(scope="module")
def two_devices(tmp_path_factory):
    """The folder in which a process with two devices has left its results."""
    folder = tmp_path_factory.mktemp("results")
    paths = os.pathsep.join(sys.path)  # the helpers of the tests are on it
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "JAX_PLATFORMS": "cpu",
        "JAX_NUM_CPU_DEVICES": "2",
    }
    subprocess.run([sys.executable, __file__, folder], check=True, env=environment)
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_two_devices_run_the_races_of_one(two_devices, kind):
    expected = [np.asarray(x).tobytes() for x in jax.tree.leaves(jax.jit(play(kind))(keys()))]
    with np.load(two_devices / f"{kind}.npz") as archive:
        assert [archive[name].tobytes() for name in archive.files] == expected


if __name__ == "__main__":
    save(sys.argv[1])
