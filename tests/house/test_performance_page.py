"""The two central ratios of the page on performance: processor seconds, in turn."""

import functools
import importlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import jax
import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SHARE = 0.7  # of the page's ratio, on a machine with other load

sys.path.insert(0, str(ROOT / "bench"))
NAMES = "bench_races", "bench_searches", "reporting"
races, searches, reporting = map(importlib.import_module, NAMES)
sys.path.pop(0)


PAGE = (ROOT / "docs" / "developers" / "performance.md").read_text("utf-8")
RESULTS = ROOT / "bench" / "results" / "amd-epyc-2-cores.json"


def on_page():
    """The ratios of races and of searches with one thread for XLA."""
    found = re.search(r"the same programs reach ([\d.]+) and ([\d.]+)", " ".join(PAGE.split()))
    assert found is not None
    return [float(number) for number in found.groups()]


def seconds(function):
    started = time.process_time()
    function()
    return time.process_time() - started


def ratio(ours, peer, rounds):
    """Of the least processor seconds."""
    for function in (ours, peer):
        function()
    both = [(seconds(ours), seconds(peer)) for _ in range(rounds)]
    least = [min(column) for column in zip(*both, strict=True)]
    return least[1] / least[0]


def of_races():
    keys = races.keys(races.RACES)
    program = jax.jit(races.task.many_races(None)).lower(keys).compile()
    return ratio(lambda: jax.block_until_ready(program(keys)), races.play_open_pairs, 20)


def of_searches():
    search, params = searches.search_and_params()
    keys = jax.random.split(jax.random.key(0), searches.SEARCHES)
    ours = functools.partial(searches.run, search, keys, params)
    scale = searches.SEARCHES / searches.PEER_SEARCHES
    return scale * ratio(ours, searches.search_with_pycma(), 4)


def test_the_table_is_that_of_the_last_run():
    assert reporting.markdown(json.loads(RESULTS.read_text("utf-8"))["ratios"]) in PAGE


@pytest.mark.slow
def test_the_page_says_what_is_measured():
    """In a process with one thread for XLA: a second one moves the ratios by a third."""
    command = "import test_performance_page as page; print(page.of_races(), page.of_searches())"
    told = subprocess.run(
        [sys.executable, "-c", command],
        cwd=HERE,
        env={**os.environ, "PJRT_NPROC": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    for found, said in zip(map(float, told.stdout.split()), on_page(), strict=True):
        assert found >= SHARE * said
