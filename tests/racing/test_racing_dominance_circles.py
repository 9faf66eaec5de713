"""The dominance race where no order exists: certificate (b), and pairs that stand in for others."""

import dominance_cases as cases
import pytest


def has_stand_ins(history):
    """Was a pair drawn that does not lie across the boundary, or that is decided already?"""
    return any(
        i not in step.leaders or j in step.leaders
        for step in history.steps
        for i, j in step.doubtful
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "num_options", "top", "capacity"), [("circles", 6, 1, 100), ("dice", 5, 2, 300)]
)
def test_preferences_in_circles(kind, num_options, top, capacity):
    race = cases.make_race(kind, num_options, top, capacity)
    outcomes = cases.draw(kind, num_options, 20, num_options, capacity)
    # Without slack, pairs of equal evidence would be served by the last bit of their logarithms.
    choices = [{**choice, "slack": max(0.3, choice["slack"])} for choice in cases.CHOICES]
    params = cases.params_of(race, 20, choices)
    histories = cases.compare_with_reference(race, kind, outcomes, params)
    assert cases.ends(histories) == {"a", "b", None}
    assert sum(has_stand_ins(history) for history in histories) >= 2
