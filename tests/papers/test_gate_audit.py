"""The gate errs no more often than it says; what breaks it is seen."""

import pytest

from papers.audits import gate

TABLES = 1_000
FEW = [task for task in gate.TASKS if task.gap == 1 or task.of == 20][::3]


@pytest.mark.parametrize("task", FEW, ids=lambda task: f"{task.name}, {task.kind}")
def test_no_claim_is_wrong_too_often(task):
    findings = [*gate.audit(TABLES, (task,))]
    assert len(findings) == 4
    assert not any(one.refuted for one in findings)


def test_controls_are_refuted():
    refuted = {one.task for one in gate.control(TABLES) if one.refuted}
    assert refuted == {task.name for task in gate.CONTROLS} | {"control: a z-test at each push"}


@pytest.mark.slow
def test_all_of_it():
    assert not any(one.refuted for one in gate.audit(20_000))
