"""Runs all benchmarks and their peers: `python bench/run.py [--quick] [--only NAME]`.

Prints the ratios to the named targets and writes bench/results/DEVICE.json and DEVICE.png. Needs
`pip install -e ".[test,bench]"`.
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


def main() -> int:
    """Run, report; the exit status is that of the benchmarks, whether targets are met or not."""
    parser = argparse.ArgumentParser(description="Run all benchmarks and their peers.")
    parser.add_argument("--quick", action="store_true", help="less work; for a first look")
    parser.add_argument("--only", default="", help="a part of the name of the files to run")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="where to write")
    args = parser.parse_args()
    files = [str(path) for path in sorted(HERE.glob("bench_*.py")) if args.only in path.name]
    loads, measured, status = [os.getloadavg()[0]], {}, 0
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / "benchmarks.json"
        if files:
            status = run_benchmarks(raw, files, args.quick)
            if not raw.exists() or not raw.stat().st_size:
                return status or 1
            measured |= reporting.read(raw)
        if args.only in "all_cores" and jax.default_backend() == "cpu" and os.cpu_count() != 1:
            measured |= run_on_all_cores(raw, args.quick)
    loads.append(os.getloadavg()[0])
    reporting.show(reporting.ratios(measured))
    print(f"wrote {reporting.write(args.out, measured, loads, args.quick)}")
    return status


def run_benchmarks(raw: Path, files: list[str], quick: bool) -> int:
    """Run files bench_*.py under pytest, which leaves its numbers in ``raw``."""
    command = [sys.executable, "-m", "pytest", *files]
    command += ["-c", str(HERE.parent / "pyproject.toml"), "--rootdir", str(HERE.parent)]
    # Warnings of the peers are theirs to mend.
    command += ["-o", "python_files=bench_*.py", "-o", f"pythonpath={HERE}", "-W", "default"]
    # One process: what runs beside a benchmark disturbs it.
    command += ["--numprocesses=0", "-p", "no:cacheprovider"]
    command += ["--benchmark-disable-gc", "--benchmark-columns=min,median"]
    command += [f"--benchmark-json={raw}", "-q"]
    environment = {**os.environ, "JAXRACE_BENCH_QUICK": "1" if quick else "0"}
    return subprocess.run(command, env=environment, check=False).returncode


def run_on_all_cores(found: Path, quick: bool) -> reporting.Measured:
    """What all_cores.py measures, in a process of its own that has a device for each core."""
    command = [sys.executable, str(HERE / "all_cores.py"), "3" if quick else "15"]
    subprocess.run([*command, "--json", str(found)], check=True)
    return json.loads(found.read_text("utf-8"))


if __name__ == "__main__":
    sys.exit(main())
