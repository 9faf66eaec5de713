"""Launches of the programs that were measured on a GPU, counted by compiling for one; all slow."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
# Compilers differ a little from version to version.
ROOM = 1.25


@pytest.mark.slow
def test_no_program_launches_much_more_than_it_did(tmp_path):
    pytest.importorskip("jax_cuda13_plugin", reason="compiles for CUDA")
    found = tmp_path / "found.json"
    command = [sys.executable, BENCH / "gpu_programs.py", "--json", found]
    subprocess.run(command, check=True, cwd=BENCH)
    kept = json.loads((BENCH / "results" / "gpu" / "predicted.json").read_text("utf-8"))
    budget = {row["name"]: row for row in kept}
    for row in json.loads(found.read_text("utf-8")):
        before = budget[row["name"]]
        assert row["launches"] <= ROOM * before["launches"], row["name"]
        assert row["looks"] <= ROOM * before["looks"] + 10, row["name"]
