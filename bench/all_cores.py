"""Times work on one device of the processor and on as many as it has cores, and peers, in turn.

    python bench/all_cores.py [ROUNDS]

XLA gains little from a second core for races, but two devices work side by side. The peers in NumPy
take one core.
"""

import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import bench_dominance
import bench_races
import bench_searches
import jax
import normal_races as task
import numpy as np

from jaxrace.compilation import compile_ahead


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
        joins = work is searches and bench_searches.search_and_params()[0].joins_comparisons
        found[name] = [
            _program(work, joins, keys, *others),
            _program(shared, joins, spread, *others),
        ]
    return found


def _program(work: Callable[..., Any], joins: bool, *args: Any) -> Callable[[], Any]:
    compiled = compile_ahead(jax.jit(work), *args, joins_comparisons=joins)
    return lambda: jax.block_until_ready(compiled(*args))


def main() -> None:
    """A line for each: the fastest of its rounds, and their median."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    # As many keys on every device.
    sizes = math.gcd(bench_dominance.RACES, bench_races.RACES, bench_searches.SEARCHES)
    devices = max(n for n in range(1, (os.cpu_count() or 1) + 1) if sizes % n == 0)
    if devices == 1:
        sys.exit("expected a processor with several cores")
    jax.config.update("jax_num_cpu_devices", devices)
    runs, others = programs(), peers()
    for one, all_cores in runs.values():
        jax.tree.map(np.testing.assert_array_equal, one(), all_cores())
    timed: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        for name, both in runs.items():
            for number, run in zip((1, devices), both, strict=True):
                timed.setdefault((name, f"{number} devices"), []).append(_seconds(run))
            if name in others:
                run, scale = others[name]
                timed.setdefault((name, "NumPy"), []).append(scale * _seconds(run))
    for (name, contender), seconds in timed.items():
        print(f"{name:26} {contender:9}: {_summary(seconds, timed.get((name, 'NumPy')))}")


def _summary(seconds: list[float], peer: list[float] | None) -> str:
    line = f"fastest {min(seconds):.4f} s, median {np.median(seconds):.4f} s"
    if peer is None or peer is seconds:
        return line
    in_turn = np.median(np.divide(peer, seconds))
    return f"{line}; NumPy over it {min(peer) / min(seconds):.1f}, in the middle {in_turn:.1f}"


def _seconds(run: Callable[[], Any]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
