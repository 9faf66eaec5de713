"""What the tests of sweeps may use."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def tests_on_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tests import, the nodes of a cluster that starts now can import too."""
    here = Path(__file__)
    paths = [str(here.parent), str(here.parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
