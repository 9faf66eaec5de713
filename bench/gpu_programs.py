"""What a GPU would have to launch for each public program, without one.

    python bench/gpu_programs.py [--only NAME] [--json FILE]

Compiles for an NVIDIA H100 on any machine with Linux; needs the plugin of the very version of JAX,
`pip install jax-cuda13-plugin jax-cuda13-pjrt nvidia-cuda-nvcc`. Prints kernels per pass of each
loop, and a time: 4.7 us per launch or bytes over 2.2 TB/s, whichever is more, and 13.3 us for each
look at the condition of a loop whose length XLA does not know. How often those pass is an
assumption of `gpu_list.py`; of arithmetic only win counts have theirs, 1.5e12 comparisons/s.
"""

import argparse
import dataclasses
import json
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import gpu_forms
import gpu_list
import gpu_modules
import jax
from rich.console import Console
from rich.table import Table

CARD = Path(__file__).with_name("h100.txtpb")


def compiled_for_card(function: Any, args: Any) -> Any:
    """The program for these arguments, compiled for the card of h100.txtpb."""
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    card = topologies.get_topology_desc(
        platform="cuda", target_config=CARD.read_text("utf-8"), topology="1x1x1"
    )
    there = SingleDeviceSharding(card.devices[0])
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=there), args)
    with gpu_forms.made_for("gpu"):
        return jax.jit(function).lower(*shapes).compile()


def looked_at(program: gpu_list.Program) -> dict[str, Any]:
    """Launches, loops, bytes and the predicted time of a program."""
    compiled = compiled_for_card(*program.build(program.lanes))
    loop = gpu_modules.Module(compiled.as_text()).program()
    total = loop.total(program.trips, later=program.later)
    compared = program.lanes * program.comparisons / gpu_modules.COMPARISONS_PER_SECOND
    total = dataclasses.replace(total, seconds=total.seconds + compared)
    count = program.lanes * program.per_lane
    return {
        "name": program.name,
        "unit": program.unit,
        "count": count,
        "loops": [
            {"depth": depth, "passes": one.passes, "kernels": one.kernels, "bytes": one.bytes}
            for depth, one in loop.each()
        ],
        "workspace_bytes": compiled.memory_analysis().temp_size_in_bytes,
        "trips": program.trips,
        "later": program.later,
        **dataclasses.asdict(total),
        "per_second": count / total.seconds,
        "wanted_per_second": program.wanted,
    }


def main() -> None:
    """Compile all, and print what they launch."""
    parser = argparse.ArgumentParser(description="What public programs launch on an H100.")
    parser.add_argument("--only", default="", help="a part of the name of the programs")
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    args = parser.parse_args()
    programs = [one for one in gpu_list.PROGRAMS if args.only in one.name]
    if not programs:
        parser.error(f"--only: expected a part of the name of a program, got {args.only!r}")
    table = Table("program", "loops: passes x kernels, by depth", title="Compiled for an H100")
    for heading in ("workspace", "launches", "looks", "predicted", "per second"):
        table.add_column(heading, justify="right")
    rows = []
    for program in programs:
        row = looked_at(program)
        rows.append(row)
        table.add_row(
            f"{row['count']:,} {row['unit']}: {row['name']}",
            "; ".join(
                f"{'.' * one['depth']}{one['passes'] or '?'} x {one['kernels']}"
                for one in row["loops"]
                if one["kernels"]
            ),
            f"{row['workspace_bytes'] / 1e6:.0f} MB",
            f"{row['launches']:,}",
            f"{row['looks']:,}",
            f"{1e3 * row['seconds']:.3g} ms",
            f"{row['per_second']:.3g}",
        )
    Console(width=170).print(table)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
