"""Ten jobs decide, integer for integer, as they did when `decisions.py` was run last."""

import json

import decisions
import pytest

KEPT = json.loads(decisions.KEPT.read_text("utf-8"))


def test_there_are_ten():
    assert list(KEPT) == list(decisions.JOBS)
    assert len(KEPT) == 10


@pytest.mark.slow
@pytest.mark.parametrize("name", decisions.JOBS)
def test_decisions_are_kept(name):
    assert decisions.decided(name) == KEPT[name]
