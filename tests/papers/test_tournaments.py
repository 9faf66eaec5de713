"""The study of who plays next, and the audit of its certificates."""

import numpy as np
import pytest

from papers.audits import tournaments as audit
from papers.studies.pairing_rules import Library, Swiss
from papers.studies.tournaments import Task, play


def test_tournaments_end_with_the_best_or_at_the_cap():
    found = play(Library, Task(3, 200, 0.2, 1), 6)
    assert not found.wrong.any()
    assert not found.capped.any()
    assert (found.games % 10 == 0).all()
    assert 20 < found.games.mean() < 400
    stopped = play(Swiss, Task(3, 1, 0.2, 1), 4, cap=300)
    np.testing.assert_array_equal(stopped.games, 300)
    assert stopped.capped.all()


@pytest.mark.slow
def test_a_test_at_every_look_is_caught_and_the_certificates_are_not(monkeypatch):
    monkeypatch.setattr(audit, "NULLS", (*audit.NULLS[7:9], audit.NULLS[-2]))
    *sound, control, alone = audit.findings(2_000)
    assert all(found.upheld for found in sound)
    assert sum(found.errors for found in sound) > 10
    assert control.refuted
    assert alone.refuted
