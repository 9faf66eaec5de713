"""Block sizes, bets, weights and levels of the dominance race, each against the reference."""

import math

import dominance_cases as cases
import jax
import jax.numpy as jnp
import numpy as np
import pytest


@pytest.mark.slow
def test_other_blocks():
    race = cases.make_race("ties", 4, 2, 100, 3, 7)
    outcomes = cases.draw("ties", 1, 30, 4, 100)
    histories = cases.compare_with_reference(
        race, "ties", outcomes, cases.params_of(race, 30, cases.CHOICES)
    )
    assert cases.ends(histories) == {"a", None}


@pytest.mark.slow
def test_other_bets():
    """None are the ones by default, which are three here. Weights need not add up to 1."""
    race = cases.make_race("numbers", 4, 2, 120)
    bets, weights = [None, (1.9, 0.2, 0.6)], [(1, 7, 0.2), None]
    choices = [{"bets": b, "weights": w, "delta": 0.2} for b in bets for w in weights]
    params = cases.params_of(race, 30, choices)
    assert params.bets.shape == (30, 3)
    np.testing.assert_allclose(np.exp(params.log_weights).sum(-1), 1, rtol=1e-6)
    outcomes = cases.draw("numbers", 2, 30, 4, 120)
    histories = cases.compare_with_reference(race, "numbers", outcomes, params)
    assert cases.ends(histories) == {"a", None}


@pytest.mark.parametrize("num_options", [2, 100])
@pytest.mark.parametrize("delta", [1e-6, 0.05, 0.9])
def test_levels(num_options, delta):
    """Those of the theorems, raised by what rounding may add, and by hardly more."""
    race = cases.make_race("numbers", num_options, 1, 300)
    params = race.params(delta)
    level = math.log(num_options / (0.95 * delta))
    strong_level = math.log(num_options * (num_options - 1) / (0.05 * delta))
    assert level < params.level < level + 2e-4
    assert strong_level < params.strong_level < strong_level + 2e-4


def test_default_bets_as_computed_by_hand():
    """Level ln(10 / .0475) = 5.3496: the smallest bet is the root of 12 * 6.3496 / 300."""
    params = cases.make_race("numbers", 10, 1, 300).params(0.05)
    np.testing.assert_allclose(params.bets, [0.50397, 1.10873, 1.9], atol=1e-4)
    np.testing.assert_allclose(np.exp(params.log_weights), [0.4, 0.3, 0.3], rtol=1e-6)


def test_params_of_a_horizon_are_those_of_the_table_with_its_bets():
    race = cases.make_race("numbers", 4, 2, 300)
    table = race.table(0.1, slack=0.5)
    bets, weights = table.bets.tolist(), np.exp(table.log_weights).tolist()
    own = race.params(0.1, 100, 0.5, bets, weights)
    for got, expected in zip(
        jax.tree.leaves(race.params_at(table, jnp.int32(100))), jax.tree.leaves(own), strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=0, atol=2e-4)
