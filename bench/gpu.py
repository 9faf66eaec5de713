"""Measures on one GPU what is worth knowing, the most important first, until time is up.

    python bench/gpu.py [--minutes 9] [--quick] [--only SECTION,SECTION] [--out FOLDER]

Writes FOLDER/CARD.json after every section, and CARD.png at the end. With `--quick` it runs
anywhere, to try it. An image with JAX may lack these packages, which are needed as wheels: evosax,
optax, dotmap, jsonargparse, platformdirs, and for rollouts
gymnax, gymnasium, farama_notifications, six. The project itself need not be installed, if its root
is in PYTHONPATH.
"""

import argparse
import dataclasses
import importlib.metadata
import json
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bench_dominance
import gpu_forms
import gpu_list
import jax
import jax.numpy as jnp
import normal_races
import numpy as np

from jaxrace import racing
from jaxrace.answers import style
from jaxrace.runs import plots

Row = dict[str, Any]

HERE = Path(__file__).resolve().parent
PREDICTED = HERE / "results" / "gpu" / "predicted.json"
CALLS = 3  # that count; seconds are their median
COPIED = 2**28  # numbers
COMPARED, COMPARISONS = 2**24, 256
LOOP = 1_000
# Sizes of blocks that are tried, see `kernels.Sizes`.
PLACES = {
    "preference races": ("places", (2**14, 2**18)),
    "dominance races": ("light_places", (2**16, 2**17)),
}
# Loops and branches become nodes of a graph, which the card goes through without its host. XLA
# launches one by one what would be a graph of fewer nodes, 5 unless told.
GRAPHS = {
    "xla_gpu_enable_command_buffer": "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,WHILE,CONDITIONAL",
    "xla_gpu_graph_min_graph_size": 1,
}


@dataclasses.dataclass(frozen=True)
class Clock:
    """When to stop, and how large things are."""

    until: float
    quick: bool

    def is_up(self) -> bool:
        """Is there no time left?"""
        return time.monotonic() > self.until

    def lanes(self, program: gpu_list.Program) -> int:
        """Of a program."""
        return program.few if self.quick else program.lanes


def timed(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], options: Any = None, **info: Any
) -> tuple[Row, Any]:
    """Compile, run once, and time some more calls: the row, and what the last call returned."""
    started = time.perf_counter()
    program = jax.jit(function).lower(*args).compile(compiler_options=options)
    compile_seconds = time.perf_counter() - started
    args = jax.device_put(args)
    out = jax.block_until_ready(program(*args))
    seconds = []
    for _ in range(CALLS):
        started = time.perf_counter()
        out = jax.block_until_ready(program(*args))
        seconds.append(time.perf_counter() - started)
    memory = program.memory_analysis()
    row = {
        "name": name,
        "seconds": statistics.median(seconds),
        "slowest": max(seconds),
        "compile_seconds": compile_seconds,
        "workspace_bytes": memory.temp_size_in_bytes if memory else None,
        **info,
    }
    return row, out


def of_program(
    program: gpu_list.Program, clock: Clock, name: str | None = None, options: Any = None
) -> tuple[Row, Any]:
    """The time of a program of the list."""
    lanes = clock.lanes(program)
    row, out = timed(name or program.name, *program.build(lanes), options)
    count = lanes * program.per_lane
    row |= {"unit": program.unit, "count": count, "per_second": count / row["seconds"]}
    if program.wanted:
        row["wanted_per_second"] = program.wanted
    return row, out


def named(name: str) -> gpu_list.Program:
    """A program of the list."""
    return next(one for one in gpu_list.PROGRAMS if one.name == name)


def costs(clock: Clock) -> Iterator[Row]:
    """What a launch, a look at a condition, a byte and a comparison cost."""
    scale = 64 if clock.quick else 1
    small = jnp.ones(256, jnp.float32)

    def step(x: jax.Array) -> jax.Array:
        return jnp.roll(x, 1) * jnp.float32(0.5) + x.sum()

    def known(x: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, LOOP, lambda _, x: step(x), x)

    def unknown(x: jax.Array) -> jax.Array:
        def goes_on(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
            return (carry[0] < LOOP) & (carry[1][0] >= 0)

        return jax.lax.while_loop(goes_on, lambda c: (c[0] + 1, step(c[1])), (jnp.int32(0), x))[1]

    yield timed("pass of a loop of known length, two kernels", known, (small,), count=LOOP)[0]
    yield timed("pass of a loop of unknown length", unknown, (small,), count=LOOP)[0]
    in_graphs = None if jax.default_backend() == "cpu" else GRAPHS
    yield timed("the same in a graph", unknown, (small,), in_graphs, count=LOOP)[0]
    numbers = jnp.arange(COPIED // scale, dtype=jnp.float32)
    row, _ = timed("copy", lambda x: x + 1, (numbers,), count=2 * numbers.nbytes, unit="bytes")
    yield row | {"per_second": row["count"] / row["seconds"]}

    def compare(x: jax.Array) -> jax.Array:
        total = jnp.zeros(x.shape, jnp.int32)
        for number in range(COMPARISONS):
            total = total + (x > number).astype(jnp.int32)
        return total

    numbers = numbers[: COMPARED // scale]
    count = COMPARISONS * numbers.size
    row, _ = timed("comparison and addition", compare, (numbers,), count=count, unit="comparisons")
    yield row | {"per_second": count / row["seconds"]}


def races(clock: Clock) -> Iterator[Row]:
    """Races as they are; and their integers against a CPU's."""
    for name in ("preference races", "dominance races", "races on shared tasks"):
        row, found = of_program(named(name), clock)
        yield row | _against_cpu(name, found, clock)


def _against_cpu(name: str, found: Any, clock: Clock) -> Row:
    """The share of the first races that are, integer for integer, those of a CPU."""
    some = 16 if clock.quick else 500
    with jax.default_device(jax.devices("cpu")[0]), gpu_forms.drawn_alike():
        function, (keys,) = named(name).build(clock.lanes(named(name)))
        expected = jax.jit(function)(jax.device_put(keys[:some], jax.devices("cpu")[0]))
    same = [
        (np.asarray(x)[:some] == np.asarray(y)).reshape(len(y), -1).all(1)
        for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    ]
    return {"same_as_cpu": float(np.mean(np.all(same, 0))), "compared_with_cpu": some}


def blocks(clock: Clock) -> Iterator[Row]:
    """Races at other sizes of their blocks of pairs."""
    for name, (kind, sizes) in PLACES.items():
        for size in sizes:
            with gpu_forms.made_for("gpu", **{kind: size}):
                yield of_program(named(name), clock, f"{name}, blocks of {size:,}")[0]


def graphs(clock: Clock) -> Iterator[Row]:
    """Programs whose loops are nodes of a graph."""
    if jax.default_backend() == "cpu":
        return
    for name in ("preference races", "dominance races", "duels, rucb", "duels, dts"):
        try:
            yield of_program(named(name), clock, f"{name}, loops in graphs", GRAPHS)[0]
        except jax.errors.JaxRuntimeError as error:
            yield {"name": f"{name}, loops in graphs", "error": str(error)[:300]}


def single(clock: Clock) -> Iterator[Row]:
    """One race by itself, called from plain Python: the first time, and with another key."""
    del clock
    ours = {"preference": normal_races.RACE, "dominance": bench_dominance.race_of(10, 5)}
    for name, race in ours.items():
        params = race.params(normal_races.DELTA)
        options = normal_races.TASK.draw(jax.random.key(0), normal_races.DISTANCE, 10)
        seconds = []
        for seed in range(CALLS + 1):
            started = time.perf_counter()
            key = jax.random.key(seed)
            result = racing.run(race, key, normal_races.TASK.sample, options, params)
            jax.block_until_ready(result)
            seconds.append(time.perf_counter() - started)
        later = seconds[1:]
        yield {
            "name": f"one {name} race from Python",
            "seconds": statistics.median(later),
            "slowest": max(later),
            "compile_seconds": seconds[0] - statistics.median(later),
        }


def _programs(*names: str) -> Callable[[Clock], Iterator[Row]]:
    def section(clock: Clock) -> Iterator[Row]:
        for name in names:
            if clock.is_up():
                return
            yield of_program(named(name), clock)[0]

    return section


def rollouts(clock: Clock) -> Iterator[Row]:
    """Returns of 4,096 policies on CartPole, 16 rollouts each, against evosax."""
    import gpu_rollouts

    yield from (timed(*one)[0] for one in gpu_rollouts.programs(64 if clock.quick else 4_096))


SECTIONS: dict[str, Callable[[Clock], Iterator[Row]]] = {
    "costs": costs,
    "races": races,
    "single": single,
    "duels": _programs("duels, rucb", "duels, dts", "duels, savage"),
    "searches": _programs("searches of 10,000 episodes", "episodes, medical"),
    "counts": _programs("win counts of all prefixes"),
    "graphs": graphs,
    "blocks": blocks,
    "selections": _programs(
        "selections, POCBAm",
        "selections, ML-POCBAm",
        "selections, ML-POCBAm to a stationary point",
    ),
    "bca": _programs("BCa bounds of 64 candidates"),
    "holdem": _programs("hold'em hands"),
    "daedalus": _programs("Daedalus2, one batch"),
    "rollouts": rollouts,
}


def main() -> None:
    """Measure section by section."""
    parser = argparse.ArgumentParser(description="Measure jaxrace on one GPU.")
    parser.add_argument("--minutes", type=float, default=9.0, help="when to begin no more")
    parser.add_argument("--quick", action="store_true", help="small sizes, to try it")
    parser.add_argument("--only", default="", help="sections, separated by commas")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "gpu")
    args = parser.parse_args()
    wanted = args.only.split(",") if args.only else list(SECTIONS)
    if unknown := set(wanted) - set(SECTIONS):
        parser.error(f"--only: expected some of {', '.join(SECTIONS)}, got {', '.join(unknown)}")
    clock = Clock(time.monotonic() + 60 * args.minutes, args.quick)
    card = jax.devices()[0].device_kind
    content: Row = {
        "card": card,
        "quick": args.quick,
        "python": sys.version.split()[0],
        "versions": {name: importlib.metadata.version(name) for name in ("jax", "jaxlib", "numpy")},
        "sections": {},
    }
    path = args.out / f"{'-'.join(card.lower().split())}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        if clock.is_up():
            content["sections"][name] = "left out: time was up"
            continue
        started, rows = time.perf_counter(), []
        content["sections"][name] = {"rows": rows}
        try:
            for row in SECTIONS[name](clock):
                rows.append(with_prediction(row))
                print(shown(rows[-1]), flush=True)
        except Exception as error:  # the other sections are worth having
            traceback.print_exc()
            content["sections"][name]["error"] = repr(error)[:500]
        content["sections"][name]["wall_seconds"] = time.perf_counter() - started
        path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    draw(content, path.with_suffix(".png"))
    print(f"wrote {path}")


def with_prediction(row: Row) -> Row:
    """Beside what `gpu_programs.py` takes it to last, if it is of the same size."""
    if not PREDICTED.exists():
        return row
    for known in json.loads(PREDICTED.read_text("utf-8")):
        if known["name"] == row["name"] and known["count"] == row.get("count"):
            ratio = row["seconds"] / known["seconds"]
            return row | {"predicted_seconds": known["seconds"], "ratio_to_prediction": ratio}
    return row


def shown(row: Row) -> str:
    """In a line."""
    if "error" in row:
        return f"{row['name']}: {row['error']}"
    line = f"{row['name']:45s} {1e3 * row['seconds']:10.4g} ms"
    if "per_second" in row:
        line += f" {row['per_second']:10.3g} {row['unit']}/s"
    elif "count" in row:
        line += f" {1e6 * row['seconds'] / row['count']:10.3g} us each"
    line += f"  compiled in {row['compile_seconds']:.1f} s"
    if "ratio_to_prediction" in row:
        line += f", {row['ratio_to_prediction']:.2f} x predicted"
    if "same_as_cpu" in row:
        line += f", {row['same_as_cpu']:.1%} of {row['compared_with_cpu']} as on a CPU"
    return line


def draw(content: Row, path: Path) -> None:
    """Rates that were measured, beside those that were predicted or wanted."""
    rows = [
        row
        for section in content["sections"].values()
        if isinstance(section, dict)
        for row in section["rows"]
        if "per_second" in row
    ]
    if not rows:
        return
    figure, [[axes]] = plots.new_figure((9, 0.32 * len(rows) + 1.2))
    places = np.arange(len(rows))[::-1]
    axes.barh(places, [row["per_second"] for row in rows], color=style.FAINT, label="measured")
    for key, marker in (("predicted", "|"), ("wanted", "x")):
        found = [
            (row["count"] / row["predicted_seconds"], place)
            if key == "predicted"
            else (row["wanted_per_second"], place)
            for row, place in zip(rows, places, strict=True)
            if f"{key}_seconds" in row or f"{key}_per_second" in row
        ]
        if found:
            axes.plot(*zip(*found, strict=True), marker, color=style.BLACK, label=key, markersize=9)
    axes.set_yticks(places, [f"{row['name']} ({row['unit']})" for row in rows], fontsize=8)
    axes.set(xscale="log", xlabel="per second", title=f"jaxrace on {content['card']}")
    axes.legend(fontsize=8, frameon=False)
    plots.save(figure, path)


if __name__ == "__main__":
    main()
