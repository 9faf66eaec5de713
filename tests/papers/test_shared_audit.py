"""Races on shared tasks that certify a wrong set, counted, against delta."""

import pytest

from papers.audits import shared

REDUCED = 5_000
NAMES = (
    "two coins, looked at after every task",
    "two that are hardly ever right",
    "a gap that is the tolerance",
    "a sorted list of 200",
    "one task against all others",
    "equal means of unlike laws",
    "a common shock",
    "copies, with noise and opposite",
)


def test_wrong_certificates_are_rare():
    """On lines that three programs play, and errors are seen where a pair alone decides.

    Fewer on one line than before certificates waited for the mean to agree: .0048, a tenth of delta
    being .005.
    """
    tasks = tuple(task for task in shared.TASKS if task.name in NAMES)
    findings = list(shared.audit(REDUCED, tasks))
    assert len(findings) == len(NAMES)
    assert [f for f in findings if f.refuted] == []
    pairs = [f for f, task in zip(findings, tasks, strict=True) if task.num_options == 2]
    assert all(f.errors > f.races * f.delta / 20 for f in pairs)


def test_broken_races_are_caught():
    findings = list(shared.control(1_000))
    assert [f for f in findings if not f.refuted] == []


@pytest.mark.slow
def test_wrong_certificates_are_rare_everywhere():
    assert [f for f in shared.audit(20_000) if not f.upheld] == []
