"""The two central ratios of docs/performance.md, measured: processor seconds, in turn."""

import functools
import importlib
import sys
import time
from pathlib import Path

import jax
import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARE = 0.7  # of the page's ratio, on a machine with other load

sys.path.insert(0, str(ROOT / "bench"))
NAMES = "bench_races", "bench_searches"
races, searches = map(importlib.import_module, NAMES)
sys.path.pop(0)


def on_page(row):
    """The ratio in the column "cpu" of the row that begins so."""
    page = (ROOT / "docs" / "performance.md").read_text("utf-8")
    (line,) = (line for line in page.splitlines() if line.startswith(f"| {row}"))
    return float(line.split("|")[6])


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


@pytest.mark.slow
def test_races_against_numpy():
    keys = races.keys(races.RACES)
    program = jax.jit(races.task.many_races(races.BATCH)).lower(keys).compile()
    found = ratio(lambda: jax.block_until_ready(program(keys)), races.play_open_pairs, 25)
    assert found >= SHARE * on_page(r"1,000 races (K 10, n_max 300) | `numpy_batched_race`")


@pytest.mark.slow
def test_searches_against_pycma():
    search, params = searches.search_and_params()
    keys = jax.random.split(jax.random.key(0), searches.SEARCHES)
    ours = functools.partial(searches.run, search, keys, params)
    found = ratio(ours, searches.search_with_pycma(), 5)
    found *= searches.SEARCHES / searches.PEER_SEARCHES
    assert found >= SHARE * on_page("100 searches of 10,000 episodes | `pycma_search`")
