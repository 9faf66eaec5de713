"""Whatever is wrong with an argument is said at once: its name, what was expected, what came."""

import collections

import bad_dominance
import bad_races
import bad_samples
import bad_searches
import bad_selections
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import runs
from jaxrace.agents import preferences
from jaxrace.kernels import total_order
from jaxrace.racing import check_compare

TABLES = (
    bad_races.BAD,
    bad_dominance.BAD,
    bad_samples.BAD,
    bad_searches.BAD,
    bad_selections.BAD,
)
BAD = {name: case for table in TABLES for name, case in table.items()}


def test_names_of_cases_are_different():
    assert len(BAD) == sum(map(len, TABLES))


# Each compiles a race of its own.
SLOW = (
    "dominance compare not antisymmetric",
    "dominance drawn nan",
    "intervals of a batch",
    "compare not antisymmetric",
)


@pytest.mark.parametrize(
    "case", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in BAD]
)
def test_bad_input(case):
    act, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        act()


def test_a_failed_check_of_a_preference_is_repeated():
    """Only a preference that has passed is not looked at again."""
    for _ in range(2):
        with pytest.raises(ValueError, match="compare: expected opposite signs"):
            bad_races.run(bad_races.race_with(bad_races.first_always))


def test_a_preference_is_checked_once(count_compilations):
    calls = collections.Counter()

    def counted(a, b):
        calls["traced"] += 1
        return total_order(a, b)

    race = bad_races.race_with(counted)
    params = race.params(0.1, 20)
    bad_races.run(race, params=params)
    traced = calls["traced"]
    other = bad_races.OPTIONS + 1
    with count_compilations() as compilations:
        bad_races.run(race, params=params, options=other)
    assert compilations.count == 0
    assert calls["traced"] == traced


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_outcomes_that_are_not_finite_do_not_count_against_a_preference(value):
    def strange(a, b):
        return jnp.where(jnp.isfinite(a) & jnp.isfinite(b), total_order(a, b), jnp.int8(1))

    check_compare(strange, jnp.array([1.0, value, 2.0]))


def test_one_leaf_among_many_is_enough():
    outcome = collections.namedtuple("outcome", "score cost")
    good = preferences.Pareto(preferences.Larger("score"), preferences.Smaller("cost"))
    check_compare(good, outcome(jnp.arange(5.0), jnp.array([3, 1, 2, 1, 3])))


def test_a_used_run_folder_is_left_as_it_is(tmp_path):
    (tmp_path / "log.csv").write_text("kept")
    with (
        pytest.raises(ValueError, match="out: expected a new or an empty folder"),
        runs.new_folder(tmp_path, "job"),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]
