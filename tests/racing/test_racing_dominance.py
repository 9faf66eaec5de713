"""The dominance race against the plain reference, decision by decision.

A race with ties is compared in test_racing_dominance_edges.py.
"""

import dominance_cases as cases
import jax
import numpy as np
import pytest
from reference import reference_dominance_race


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "num_options", "top", "capacity", "number"),
    [
        ("pareto", 6, 3, 90, 30),
        ("medical", 4, 2, 90, 30),
        ("numbers", 40, 5, 60, 5),
    ],
)
def test_preferences_in_line(kind, num_options, top, capacity, number):
    race = cases.make_race(kind, num_options, top, capacity)
    outcomes = cases.draw(kind, num_options, number, num_options, capacity)
    choices = cases.CHOICES[:3] if capacity < 73 else cases.CHOICES
    params = cases.params_of(race, number, choices)
    histories = cases.compare_with_reference(race, kind, outcomes, params)
    assert {"a", None} <= cases.ends(histories)
    assert len({len(history.steps) for history in histories}) >= 3
    # Options are drawn unequally.
    assert num_options == 2 or any(np.ptp(history.blocks) >= 2 for history in histories)


@pytest.mark.slow
def test_two_hundred_options():
    top = 20
    race = cases.make_race("numbers", 200, top, 26)
    rng = np.random.default_rng(top)
    # Far apart, but for two of them across the boundary in the second race.
    means = 6 * np.arange(200.0) * np.ones((2, 1))
    means[1, -top] -= 5.9
    outcomes = (means[..., None] + rng.normal(size=(2, 200, 26))).astype(np.float32)
    histories = cases.compare_with_reference(
        race, "numbers", outcomes, cases.params_of(race, 2, cases.CHOICES[:1])
    )
    assert [history.certificate for history in histories] == ["a", None]


def test_the_reference_compares_as_the_race_does():
    """The comparisons of whole arrays above are those of the reference, one by one."""
    for kind in ("ties", "pareto", "circles"):
        outcomes = cases.draw(kind, 9, 1, 3, 12)[0]
        compare = jax.jit(cases.COMPARE[kind])
        signs = reference_dominance_race.all_signs(outcomes, lambda a, b, f=compare: int(f(a, b)))
        apart = ~np.eye(3, dtype=bool)
        np.testing.assert_array_equal(cases.signs_of(kind, outcomes)[apart], signs[apart])
