"""Searches on clusters of Ray with one and two nodes of one core, on this machine, and without Ray.

    python bench/ray_nodes.py [REPEATS]

Prints seconds of wall clock, the share of lane steps that were a search's, and what is sent.
"""

import sys
import tempfile
import time
from typing import Any

import jax
from ray import cloudpickle
from ray.cluster_utils import Cluster

from jaxrace import sweep
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import make_search, make_sweep
from jaxrace.commands.train.tasks import medical_task


def searches(repeats: int) -> tuple[Any, sweep.Jobs]:
    """Those of `jaxrace train medical --method pb-edps --repeats REPEATS`."""
    config = TrainConfig(method="pb-edps", repeats=repeats)
    task = medical_task(config)
    keys = jax.random.split(jax.random.key(0))
    return make_sweep(config, task, make_search(config, task), keys[0], keys[1])


def measure(name: str, work: Any, jobs: sweep.Jobs, cluster: sweep.Ray | None) -> None:
    """Do all jobs, and print a line of a table."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        log = sweep.run(
            work, jobs, width=32, checkpoints=sweep.Checkpoints(folder), cluster=cluster
        )
        seconds = time.perf_counter() - started
    print(f"| {name} | {seconds:.1f} | {log.utilisation:.2f} | {log.num_rows:,} |", flush=True)


def main() -> None:
    """Print the table."""
    sweep.use_all_cores()
    work, jobs = searches(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
    sent = len(cloudpickle.dumps((work, jobs)))  # pyright: ignore[reportPrivateImportUsage]
    print(f"sent once to every node: {sent:,} bytes; with every shard its number")
    print("| where | seconds | utilisation | rows |\n|---|---|---|---|")
    for count in (1, 2):
        cluster = Cluster()
        cluster.add_node(num_cpus=0, include_dashboard=False)
        for _ in range(count):
            cluster.add_node(num_cpus=1)
        measure(f"{count} nodes of a core", work, jobs, sweep.Ray(cluster.address))
        cluster.shutdown()
    measure("one process on two cores", work, jobs, None)


if __name__ == "__main__":
    main()
