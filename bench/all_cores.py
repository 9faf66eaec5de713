"""Times 10,000 races on one device of the processor and on as many as it has cores, in turn.

    python bench/all_cores.py [ROUNDS]

XLA gains little from a second core for races, but two devices work side by side.
"""

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import bench_dominance
import jax
import normal_races as task
import numpy as np

from jaxrace.compilation import compile_ahead


def programs() -> dict[str, Callable[[], Any]]:
    """By what is timed: all races of one program, with their keys where they are to be."""
    keys = bench_dominance.keys(bench_dominance.RACES)
    mesh = jax.make_mesh((jax.device_count(),), ("races",))
    over = jax.sharding.PartitionSpec("races")
    spread = jax.device_put(keys, jax.NamedSharding(mesh, over))
    dominance = jax.vmap(bench_dominance.one_race(task.OPTIONS, task.TOP))
    found: dict[str, Callable[[], Any]] = {}
    for name, play in {"dominance": dominance, "sharp": task.many_races(500)}.items():
        shared = jax.shard_map(play, mesh=mesh, in_specs=over, out_specs=over, check_vma=False)
        for devices, races, given in ((1, play, keys), (jax.device_count(), shared, spread)):
            program = compile_ahead(jax.jit(races), given)
            found[f"{name}, devices: {devices}"] = lambda run=program, given=given: run(given)
    return found


def main() -> None:
    """A line for each program: the fastest of its rounds, and their median."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    cores = os.cpu_count() or 1
    # As many races on every device.
    devices = max(n for n in range(1, cores + 1) if bench_dominance.RACES % n == 0)
    if devices == 1:
        sys.exit("expected a processor with several cores")
    jax.config.update("jax_num_cpu_devices", devices)
    timed: dict[str, list[float]] = {}
    runs = programs()
    results = {name: jax.block_until_ready(run()) for name, run in runs.items()}
    for one, all_cores in zip(list(results)[::2], list(results)[1::2], strict=True):
        jax.tree.map(np.testing.assert_array_equal, results[one], results[all_cores])
    for _ in range(rounds):
        for name, run in runs.items():
            started = time.perf_counter()
            jax.block_until_ready(run())
            timed.setdefault(name, []).append(time.perf_counter() - started)
    for name, seconds in timed.items():
        print(f"{name:24} fastest {min(seconds):.3f} s, median {np.median(seconds):.3f} s")


if __name__ == "__main__":
    main()
