"""Runs all benchmarks and their peers: `python bench/run.py [--quick] [--only NAME]`.

Prints the ratios to the named targets and writes bench/results/DEVICE.json and two figures; a part
of them has a folder of its own there. `python bench/reporting.py FILE.json` prints the table of
docs/developers/performance.md. Needs `pip install -e ".[test,bench]"`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import reporting

HERE = Path(__file__).resolve().parent
ALL_CORES = HERE / "all_cores.py"


def main() -> int:
    """Run, report; the exit status is that of the benchmarks, whether targets are met or not."""
    parser = argparse.ArgumentParser(description="Run all benchmarks and their peers.")
    parser.add_argument("--quick", action="store_true", help="less work; for a first look")
    parser.add_argument("--only", default="", help="a part of the name of the files to run")
    parser.add_argument("--out", type=Path, help="where to write; bench/results unless given")
    args = parser.parse_args()
    files = [str(path) for path in sorted(HERE.glob("bench_*.py")) if args.only in path.name]
    on_cores = args.only in ALL_CORES.name
    if not files and not on_cores:
        parser.error(f"--only: expected a part of the name of a benchmark, got {args.only!r}")
    out = args.out or HERE / "results" / args.only.removeprefix("bench_")
    loads, measured, status = [os.getloadavg()[0]], {}, 0
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / "benchmarks.json"
        if files:
            status = run_benchmarks(raw, files, args.quick)
            if not raw.exists() or not raw.stat().st_size:
                return status or 1
            measured |= reporting.read(raw)
        if on_cores and jax.default_backend() == "cpu" and os.cpu_count() != 1:
            found = Path(scratch) / "all_cores.json"
            status = run_on_all_cores(found, args.quick) or status
            if found.exists():
                measured |= json.loads(found.read_text("utf-8"))
    if not measured:
        return status or 1
    loads.append(os.getloadavg()[0])
    reporting.show(reporting.ratios(measured))
    print(f"wrote {reporting.write(out, measured, loads, args.quick)}")
    return status


def run_benchmarks(raw: Path, files: list[str], quick: bool) -> int:
    """Run files bench_*.py under pytest, which leaves its numbers in ``raw``."""
    command = [sys.executable, "-m", "pytest", *files]
    command += ["-c", str(HERE.parent / "pyproject.toml"), "--rootdir", str(HERE.parent)]
    command += ["-o", "python_files=bench_*.py", "-o", f"pythonpath={HERE} {HERE.parent}"]
    command += ["-W", "default"]  # warnings of the peers are theirs to mend
    # One process: what runs beside a benchmark disturbs it.
    command += ["--numprocesses=0", "-p", "no:cacheprovider"]
    command += ["--benchmark-disable-gc", "--benchmark-columns=min,median"]
    command += [f"--benchmark-json={raw}", "-q"]
    environment = {**os.environ, "JAXRACE_BENCH_QUICK": "1" if quick else "0"}
    return subprocess.run(command, env=environment, check=False).returncode


def run_on_all_cores(found: Path, quick: bool) -> int:
    """Run all_cores.py, in a process of its own that has a device for each core."""
    command = [sys.executable, str(ALL_CORES), "3" if quick else "15", "--json", str(found)]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
