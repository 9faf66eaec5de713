"""Block sizes, bets, weights and levels of the dominance race, each against the reference."""

import math

import dominance_cases as cases
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import racing


@pytest.mark.parametrize(
    ("first_block", "block"),
    [
        pytest.param(7, 3, marks=pytest.mark.slow),
        pytest.param(3, 7, marks=pytest.mark.slow),
        pytest.param(5, 5, marks=pytest.mark.slow),
    ],
)
def test_other_blocks(first_block, block):
    race = cases.make_race("ties", 4, 2, 100, first_block, block)
    outcomes = cases.draw("ties", 1, 30, 4, 100)
    histories = cases.compare_with_reference(
        race, "ties", outcomes, cases.params_of(race, 30, cases.CHOICES)
    )
    assert cases.ends(histories) == {"a", None}


@pytest.mark.parametrize(
    "num_bets", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 4))]
)
def test_other_bets(num_bets):
    """None are the ones by default, which are three here. Weights need not add up to 1."""
    race = cases.make_race("numbers", 4, 2, 120)
    bets = {1: [(0.3,), (1.95,)], 3: [None, (1.9, 0.2, 0.6)], 4: [(0.1, 0.4, 1.5, 1.0)]}[num_bets]
    weights = {1: (5,), 3: (1, 7, 0.2), 4: (1, 0.5, 2, 0.1)}[num_bets]
    choices = [{"bets": b, "weights": w, "delta": 0.2} for b in bets for w in (weights, None)]
    params = cases.params_of(race, 30, choices)
    assert params.bets.shape == (30, num_bets)
    np.testing.assert_allclose(np.exp(params.log_weights).sum(-1), 1, rtol=1e-6)
    outcomes = cases.draw("numbers", 2, 30, 4, 120)
    histories = cases.compare_with_reference(race, "numbers", outcomes, params)
    assert cases.ends(histories) == {"a", None}


@pytest.mark.parametrize("num_options", [2, 10, 100])
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


@pytest.mark.parametrize("blocks", [pytest.param((), marks=pytest.mark.slow, id="default"), (7, 3)])
def test_giving_up_as_the_reference_does(blocks):
    """With other blocks, and with the bets by default."""
    race = cases.make_race("numbers", 4, 2, 120, *blocks)
    choices = [{"give_up": 2.0}, {"give_up": 1.0, "delta": 0.2}, {"give_up": 3.0}, {"give_up": 0}]
    outcomes = cases.draw("numbers", 5, 30, 4, 120)
    histories = cases.compare_with_reference(
        race, "numbers", outcomes, cases.params_of(race, 30, choices)
    )
    assert 5 <= sum(history.gave_up for history in histories) <= 25


@pytest.mark.slow
def test_giving_up_saves_samples_and_certifies_nothing_else():
    """On the same samples: races end as they did, or earlier and without a certificate."""
    race = cases.make_race("numbers", 4, 2, 120)
    means = np.random.default_rng(3).choice([0.0, 0.2, 1.0, 3.0], (60, 4)).astype(np.float32)
    keys = jax.random.split(jax.random.key(3), 60)

    def play(key, options, params):
        return racing.run(race, key, sample, options, params)

    params = cases.params_of(race, 2, [{}, {"give_up": 2.0}])
    both = jax.jit(jax.vmap(jax.vmap(play, (0, 0, None)), (None, None, 0)))(keys, means, params)
    to_the_end, giving_up = both.certificate
    gave_up = giving_up == "given up"
    assert 5 <= gave_up.sum() <= 55
    assert (giving_up[~gave_up] == to_the_end[~gave_up]).all()
    samples = np.asarray(both.samples)
    assert (samples[1, ~gave_up] == samples[0, ~gave_up]).all()
    assert (samples[1, gave_up] <= samples[0, gave_up]).all()
    assert (samples[1, gave_up].sum(1) < samples[0, gave_up].sum(1)).any()
    assert not np.asarray(both.decided)[1, gave_up].any()


def sample(key, mean):
    return mean + jax.random.normal(key, (), jnp.float32)
