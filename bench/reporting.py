"""The results of a run: numbers by benchmark, the table of ratios, the JSON and the figures.

`python bench/reporting.py FILE.json` prints the table of the page on performance.
"""

import importlib.metadata
import json
import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console
from rich.table import Table
from targets import TARGETS, Measured

from jaxrace import runs
from jaxrace.runs import plots

# Axes beside each other in a figure.
_COLUMNS = 4

_PACKAGES = ("jax", "jaxlib", "numpy", "scipy", "cma", "evosax", "gymnax", "jaxrace")


def read(path: Path) -> Measured:
    """What pytest-benchmark wrote, by the names that the benchmarks gave themselves.

    Benchmarks of one name are parts of one run: their times add up.
    """
    measured: Measured = {}
    for entry in json.loads(path.read_text("utf-8"))["benchmarks"]:
        info = dict(entry["extra_info"])
        scale = info["scale"]
        compiling = info.get("compiling_within", 0.0)
        info["seconds"] = scale * (entry["stats"]["min"] - compiling)
        info["median_seconds"] = scale * (entry["stats"]["median"] - compiling)
        info["rounds"] = entry["stats"]["rounds"]
        info["cpu_seconds"] *= scale
        name = info.pop("name")
        for kind in ("seconds", "median_seconds", "cpu_seconds"):
            info[kind] += measured.get(name, {}).get(kind, 0.0)
        measured[name] = info
    return measured


def device() -> str:
    """The processor and its cores, or the accelerator: part of a file's name."""
    accelerator = jax.devices()[0]
    if accelerator.platform != "cpu":
        return _slug(accelerator.device_kind)
    return _slug(f"{runs.processor()} {os.cpu_count()} cores")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def ratios(measured: Measured) -> list[dict[str, Any]]:
    """One row per target whose benchmarks were run."""
    rows = []
    for target in TARGETS:
        ratio = target.ratio(measured)
        if ratio is None:
            continue
        ours = measured[target.ours]
        if isinstance(target.peer, int):
            peer, peer_name = {"scale": 1.0}, f"{target.peer:,} per second"
        else:
            peer, peer_name = measured[target.peer], target.peer
        is_rate = isinstance(target.peer, int) or "comparisons_per_second" in peer
        row = {
            "subject": target.subject,
            "ours": target.ours,
            "peer": peer_name,
            "ours_seconds": ours["seconds"],
            "peer_seconds": None if is_rate else peer["seconds"],
            "peer_scale": peer["scale"],
            "ratio": ratio,
            "ratio_of_cpu_seconds": target.ratio(measured, "cpu_seconds"),
            "target": target.at_least,
            "reached": None if target.at_least is None else bool(ratio >= target.at_least),
        }
        if "compile_seconds" in ours and row["peer_seconds"] is not None:
            first_call = ours["seconds"] + ours["compile_seconds"]
            peer_first_call = peer["seconds"] + peer.get("compile_seconds", 0.0)
            row["ratio_with_compilation"] = peer_first_call / first_call
        rows.append(row)
    return rows


def exponents(measured: Measured) -> dict[str, dict[str, float]]:
    """Slopes of log time and log memory against each axis, over the upper half of its values."""
    fitted = {}
    for axis, points in _curves(measured).items():
        value, seconds, size = points[len(points) // 2 :].T
        fitted[axis] = {
            "seconds": float(np.polyfit(np.log(value), np.log(seconds), 1)[0]),
            "bytes": float(np.polyfit(np.log(value), np.log(size), 1)[0]),
        }
    return fitted


def _curves(measured: Measured) -> dict[str, np.ndarray]:
    """Rows (value, seconds, bytes) of each axis along which something was varied."""
    curves: dict[str, list[tuple[float, float, float]]] = {}
    for info in measured.values():
        if "axis" in info:
            size = info["temporary_bytes"] + info["output_bytes"]
            curves.setdefault(info["axis"], []).append((info["value"], info["seconds"], size))
    several = {axis: np.array(sorted(points)) for axis, points in curves.items()}
    return {axis: points for axis, points in several.items() if len(points) > 2}


def show(rows: list[dict[str, Any]]) -> None:
    """Print the table of ratios."""
    table = Table(title=f"jaxrace on {device()} (seconds of the fastest round)")
    for heading in (
        "work",
        "peer",
        "ours",
        "peer's",
        "ratio",
        "of cpu",
        "with compiling",
        "target",
    ):
        table.add_column(heading, justify="left" if heading in ("work", "peer") else "right")
    for row in rows:
        scaled = "" if row["peer_scale"] == 1 else f" (1/{row['peer_scale']:g} run)"
        verdict = {None: "", True: " reached", False: " MISSED"}[row["reached"]]
        table.add_row(
            row["subject"],
            row["peer"],
            _number(row["ours_seconds"]),
            _number(row["peer_seconds"]) + scaled,
            _number(row["ratio"]),
            _number(row["ratio_of_cpu_seconds"]),
            _number(row.get("ratio_with_compilation")),
            _number(row["target"]) + verdict,
        )
    Console(width=150).print(table)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def write(folder: Path, measured: Measured, loads: list[float], quick: bool) -> Path:
    """Write DEVICE.json and DEVICE.png; returns the former's path.

    ``loads`` are the load averages (one minute) before the run and after it.
    """
    path = folder / f"{device()}.json"
    content = {
        "device": device(),
        "quick": quick,
        "load_averages": loads,
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in _PACKAGES},
        "ratios": ratios(measured),
        "exponents": exponents(measured),
        "benchmarks": measured,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    _draw(measured, path.with_suffix(".png"))
    if rows := content["ratios"]:
        draw_ratios(rows, path.with_name(f"{path.stem}-ratios.png"))
    return path


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table of ratios, as the page on performance shows it."""
    heads = "Work", "Peer", "Ours, s", "Peer's, s", "cpu", "clock", "first call", "wanted"
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join(["---"] * len(heads)) + " |"]
    for row in rows:
        wanted = _number(row["target"])
        if row["reached"] is False:
            wanted += ", missed"
        scale = "" if row["peer_scale"] >= 1 else " *"
        cells = [
            row["subject"],
            row["peer"].split("/")[-1] + scale,
            *(_number(row[name]) for name in ("ours_seconds", "peer_seconds")),
            *(_number(row[name]) for name in ("ratio_of_cpu_seconds", "ratio")),
            _number(row.get("ratio_with_compilation")),
            wanted,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw_ratios(rows: list[dict[str, Any]], path: Path) -> None:
    """How many times as fast as each peer, by processor seconds and by the clock."""
    from jaxrace.answers import style

    rows = [row for row in rows if row["peer_seconds"] is not None]
    rows = sorted(rows, key=lambda row: row["ratio_of_cpu_seconds"])
    figure, panels = style.new_figure((8.5, 0.9 + 0.24 * len(rows)))
    panel = panels[0, 0]
    kinds = (("ratio_of_cpu_seconds", "by processor seconds"), ("ratio", "by the clock"))
    for number, (kind, label) in enumerate(kinds):
        values = [row[kind] for row in rows]
        looks = {"color": style.colour(number), "label": label, "ls": ""}
        panel.plot(values, range(len(rows)), style.mark(number), ms=5, **looks)
    panel.axvline(1, color=style.EDGE, lw=1)
    names = [f"{row['subject']}  |  {row['peer'].split('/')[-1]}" for row in rows]
    panel.set_yticks(range(len(rows)), names, fontsize=8)
    panel.margins(y=0.02)
    panel.set(xscale="log", xlabel="times as fast as the peer (work | peer)")
    panel.legend(loc="lower right")
    figure.savefig(path, dpi=110)


def _draw(measured: Measured, path: Path) -> None:
    """Time (above) and memory (below) against every axis, log-log, with the fitted exponents."""
    curves, fitted = _curves(measured), exponents(measured)
    if not curves:
        return
    columns = min(len(curves), _COLUMNS)
    rows = -(-len(curves) // columns)
    size = (3.4 * columns, 6 * rows)
    figure, panels = plots.new_figure(size, 2 * rows, columns)
    pairs = panels.reshape(rows, 2, columns).swapaxes(1, 2).reshape(-1, 2)
    for unused in pairs[len(curves) :].ravel():
        unused.set_visible(False)
    for (axis, points), (above, below) in zip(curves.items(), pairs, strict=False):
        for panel, column, kind in ((above, 1, "seconds"), (below, 2, "bytes")):
            label = f"exponent {fitted[axis][kind]:.2f}"
            panel.loglog(points[:, 0], points[:, column], "o-", label=label)
            panel.set(xlabel=axis, ylabel=kind)
            panel.legend(fontsize=8, frameon=False)
    figure.suptitle(f"jaxrace on {device()}; exponents over the upper half of each curve")
    plots.save(figure, path)


if __name__ == "__main__":
    print(markdown(json.loads(Path(sys.argv[1]).read_text("utf-8"))["ratios"]))
