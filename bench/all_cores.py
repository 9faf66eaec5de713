"""Times work on one device of the processor and on as many as it has cores, and peers, in turn.

    python bench/all_cores.py [ROUNDS] [--json FILE]

XLA gains little from a second core for races, but two devices work side by side. The peers in NumPy
take one core.
"""

import argparse
import functools
import json
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench_dominance
import bench_races
import bench_searches
import jax
import normal_races as task
import numpy as np

from jaxrace.core.programs import compile_ahead

ONE_DEVICE, ALL_CORES, NUMPY = "one device", "all cores", "NumPy"


def searches(keys: jax.Array) -> Any:
    """The learned policies of searches, as one program that ends with the last of them."""
    search, params = bench_searches.search_and_params()

    def is_unfinished(states: Any) -> jax.Array:
        return ~jax.vmap(search.done, (0, None))(states, params).all()

    def step(states: Any) -> Any:
        return jax.vmap(search.step, (0, None))(states, params)[0]

    states = jax.vmap(search.init, (0, None))(keys, params)
    return jax.lax.while_loop(is_unfinished, step, states).best


def works() -> dict[str, tuple[Callable[..., Any], int, tuple[Any, ...]]]:
    """By what is timed: a function, the number of keys that it takes, and its other arguments."""
    dominance = jax.vmap(bench_dominance.one_race(task.OPTIONS, task.TOP))
    theta = bench_searches.POLICY.example()
    races, few = bench_races.RACES, bench_searches.SEARCHES
    return {
        f"{bench_dominance.RACES:,} dominance races": (dominance, bench_dominance.RACES, ()),
        f"{bench_dominance.RACES:,} sharp races": (task.many_races(500), bench_dominance.RACES, ()),
        f"{races:,} sharp races": (task.many_races(500), races, ()),
        f"samples of {races:,} races": (bench_races.samples_alone(), races, ()),
        f"{few} searches": (searches, few, ()),
        f"episodes of {few} searches": (bench_searches.episodes_alone, few, (theta,)),
    }


def peers() -> dict[str, tuple[Callable[[], Any], float]]:
    """By what is timed: a part of it with NumPy, and what the part's time is multiplied by."""
    few = bench_searches.SEARCHES / bench_searches.PEER_SEARCHES
    return {
        f"{bench_races.RACES:,} sharp races": (bench_races.play_open_pairs, 1),
        f"{bench_searches.SEARCHES} searches": (bench_searches.search_with_pycma(), few),
    }


def programs() -> dict[str, list[Callable[[], Any]]]:
    """By what is timed: on one device, and on all, with the keys where they are to be."""
    mesh = jax.make_mesh((jax.device_count(),), ("keys",))
    spec = jax.sharding.PartitionSpec
    found = {}
    for name, (work, number, others) in works().items():
        keys = jax.random.split(jax.random.key(0), number)
        spread = jax.device_put(keys, jax.NamedSharding(mesh, spec("keys")))
        specs = spec("keys"), *(spec() for _ in others)
        shared = jax.shard_map(
            work, mesh=mesh, in_specs=specs, out_specs=spec("keys"), check_vma=False
        )
        found[name] = [
            _program(work, keys, *others),
            _program(shared, spread, *others),
        ]
    return found


def _program(work: Callable[..., Any], *args: Any) -> Callable[[], Any]:
    compiled = compile_ahead(jax.jit(work), *args)
    return lambda: jax.block_until_ready(compiled(*args))


def main() -> None:
    """A line for each: the fastest of its rounds, and their median; and a file of them."""
    parser = argparse.ArgumentParser(description="Time work on one device and on all cores.")
    parser.add_argument("rounds", nargs="?", type=int, default=9, help="runs of each")
    parser.add_argument("--json", type=Path, help="where to write what was measured")
    args = parser.parse_args()
    # As many keys on every device.
    sizes = math.gcd(bench_dominance.RACES, bench_races.RACES, bench_searches.SEARCHES)
    devices = max(n for n in range(1, (os.cpu_count() or 1) + 1) if sizes % n == 0)
    if devices == 1:
        sys.exit("expected a processor with several cores")
    jax.config.update("jax_num_cpu_devices", devices)
    others = peers()
    timed = _timed(args.rounds, others)
    for (name, contender), seconds in timed.items():
        number = devices if contender == ALL_CORES else 1
        shown = contender if contender == NUMPY else f"{number} devices"
        peer = None if contender == NUMPY else timed.get((name, NUMPY))
        print(f"{name:26} {shown:9}: {_summary(seconds[0], peer)}")
    if args.json:
        args.json.write_text(json.dumps(_measured(timed, others, devices)), "utf-8")


def _timed(
    rounds: int, others: dict[str, tuple[Callable[[], Any], float]]
) -> dict[tuple[str, str], np.ndarray]:
    """By work and contender: seconds on the wall and of the processor, [2, rounds]."""
    runs = programs()
    for name, (one, all_cores) in runs.items():
        # Sums of floats go by the size of a batch on some processors; races are of integers.
        exact = 0.0 if name.endswith("races") else 0.01
        jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=exact), one(), all_cores())
    timed: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for name, both in runs.items():
            for contender, run in zip((ONE_DEVICE, ALL_CORES), both, strict=True):
                timed.setdefault((name, contender), []).append(_seconds(run, 1))
            if name in others:
                timed.setdefault((name, NUMPY), []).append(_seconds(*others[name]))
    return {key: np.array(times).T for key, times in timed.items()}


def _seconds(run: Callable[[], Any], scale: float) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return scale * (time.perf_counter() - wall), scale * (time.process_time() - cpu)


def _summary(seconds: np.ndarray, peer: np.ndarray | None) -> str:
    line = f"fastest {seconds.min():.4f} s, median {np.median(seconds):.4f} s"
    if peer is None:
        return line
    in_turn = np.median(peer[0] / seconds)
    return f"{line}; NumPy over it {peer[0].min() / seconds.min():.1f}, in the middle {in_turn:.1f}"


def _measured(
    timed: dict[tuple[str, str], np.ndarray], others: dict[str, tuple[Any, float]], devices: int
) -> dict[str, dict[str, float]]:
    """As ``reporting.read`` has it, by WORK/CONTENDER."""
    return {
        f"{name}/{contender}": {
            "scale": others[name][1] if contender == NUMPY else 1.0,
            "seconds": float(wall.min()),
            "median_seconds": float(np.median(wall)),
            "cpu_seconds": float(cpu.min()),
            "rounds": len(wall),
            "devices": devices if contender == ALL_CORES else 1,
        }
        for (name, contender), (wall, cpu) in timed.items()
    }


if __name__ == "__main__":
    main()
