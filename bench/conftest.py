"""What every benchmark may use."""

import os

import pytest


@pytest.fixture
def quick() -> bool:
    """Is a short run asked for, with less work and fewer rounds (`python bench/run.py --quick`)?"""
    return os.environ.get("JAXRACE_BENCH_QUICK") == "1"
