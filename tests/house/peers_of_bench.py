"""The programs that benchmarks compare with, for the tests: bench/ is not installed."""

import importlib
from pathlib import Path

import pytest

PEERS = Path(__file__).parents[2] / "bench" / "peers"


def peer(name):
    """One peer's module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PEERS.parent)
        return importlib.import_module(f"peers.{name}")
