"""Preferences without ties: counted with half of the comparisons, to the same counts."""

import dataclasses
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import kernels, racing
from jaxrace.envs import options
from jaxrace.kernels import Strict, strict_order, total_order


def distinct(seed, *shape):
    """Numbers of which no two are equal."""
    rng = np.random.default_rng(seed)
    return rng.permutation(np.prod(shape)).reshape(shape).astype(np.float32)


def later_wins(x, y):
    """Net count of x over y round by round, by the rule that a later sample wins a tie."""
    signs = np.sign(x[:, None] - y[None, :])
    round_of_x, round_of_y = np.indices(signs.shape)
    tied = np.where(signs == 0, np.sign(round_of_x - round_of_y), signs)
    return [tied[:n, :n].sum() for n in range(1, len(x) + 1)]


def test_a_sign_is_that_of_the_total_order():
    values = jnp.asarray([-np.inf, -2.5, 0.0, 1.0, np.inf], jnp.float32)
    signs = strict_order(values[:, None], values[None, :])
    assert signs.dtype == jnp.int8
    np.testing.assert_array_equal(signs, total_order(values[:, None], values[None, :]))


@pytest.mark.parametrize(
    ("num_options", "num_rounds"),
    [(2, 1), (5, 33), *(pytest.param(*n, marks=pytest.mark.slow) for n in [(3, 7), (10, 64)])],
)
@pytest.mark.parametrize("count", [kernels.prefix_wins, kernels.total_wins])
def test_counts_without_ties_are_those_of_the_total_order(count, num_options, num_rounds):
    values = distinct(num_rounds, num_options, num_rounds)
    count = jax.jit(count, static_argnums=0)
    np.testing.assert_array_equal(count(strict_order, values), count(total_order, values))


@pytest.mark.parametrize(
    ("num_old", "num_new"),
    [(0, 1), (26, 8), *(pytest.param(*n, marks=pytest.mark.slow) for n in [(3, 7), (50, 25)])],
)
def test_open_pairs_count_as_all_pairs_do(num_old, num_new):
    rng = np.random.default_rng(num_old)
    values = rng.integers(0, 4, (9, 5, num_old + num_new)).astype(np.float32)  # with ties
    old, new = values[..., : num_old + 1], values[..., num_old:]
    half = np.triu(rng.random((9, 5, 5)) < 0.5, 1)
    open_pairs = half | half.swapaxes(1, 2)
    count = jax.jit(kernels.open_round_gains, static_argnums=0)
    gains = count(strict_order, old, new, num_old, open_pairs)
    one = jax.vmap(lambda a, b: kernels.round_gains(strict_order, a, b, num_old), 0, 1)
    np.testing.assert_array_equal(gains, np.where(open_pairs, jax.jit(one)(old, new), 0))


def test_the_later_of_two_tied_samples_counts_as_preferred():
    values = np.random.default_rng(0).integers(0, 4, (2, 40)).astype(np.float32)
    wins = np.asarray(jax.jit(kernels.prefix_wins, static_argnums=0)(strict_order, values))
    net = wins - np.arange(1, 41)[:, None, None] ** 2
    np.testing.assert_array_equal(net[:, 0, 1], later_wins(*values))
    np.testing.assert_array_equal(net, -net.swapaxes(1, 2))


def test_one_comparison_is_made_instead_of_two():
    """What 8 old samples take against the new ones, in the program that counts."""
    values = jnp.zeros((3, 64), jnp.float32)

    def comparisons(compare):
        program = jax.jit(lambda x: kernels.total_wins(compare, x)).lower(values).as_text()
        return len(re.findall(r"compare\s+(GT|LT), .*xf32>", program))

    same_round = 2
    assert comparisons(total_order) - same_round == 2 * (comparisons(strict_order) - same_round)


# All pairs are compared, and open ones listed.
@pytest.mark.parametrize("num_races", [2, pytest.param(40, marks=pytest.mark.slow)])
def test_races_end_as_with_the_total_order(num_races):
    task = options.Normal()
    race = racing.PreferenceRace(6, 3, 100, total_order, bound="published", rule="sharp")

    def play(race, key):
        drawn = task.draw(key, 10.0, 6)
        result = racing.run(race, key, task.sample, drawn, race.params(0.2))
        return result.samples, result.ranking, result.net

    # No two samples of these races tie: one pair in tens of millions does, as numbers are float32.
    keys = jax.random.split(jax.random.key(1), num_races)
    strict = dataclasses.replace(race, compare=strict_order)
    ours, expected = (
        jax.jit(jax.vmap(lambda key, race=race: play(race, key)))(keys) for race in (strict, race)
    )
    assert len(np.unique(expected[0])) > 3
    for a, b in zip(ours, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "settings",
    [
        {"ranking": "borda"},
        *(
            pytest.param(settings, marks=pytest.mark.slow)
            for settings in [
                {"ranking": "random_walk"},
                {"intersect": True},
                {"rule": "printed", "dynamic_delta": True},
            ]
        ),
    ],
    ids=str,
)
def test_races_of_every_kind_take_a_strict_preference(settings):
    race = racing.PreferenceRace(4, 2, 60, total_order, bound="published", **settings)
    strict = dataclasses.replace(race, compare=strict_order)
    outcomes = (
        distinct(5, 4, 60) / 240 + np.array([0.0, 0.3017, 0.6023, 0.9011], np.float32)[:, None]
    )
    results = []
    for one in (strict, race):
        params = one.params(0.3)
        state = one.tell(one.init(jnp.float32(0), params), outcomes, params)
        results.append(one.result(state, params))
    ours, expected = results
    assert expected.beats.any()
    presumed = "if no two outcomes tie"
    assert (presumed in str(ours)) == (ours.heuristic is None)
    assert presumed not in str(expected)
    for name in ("samples", "ranking", "net", "rounds"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(expected, name))


@pytest.mark.slow
def test_a_dominance_race_ends_as_with_the_total_order():
    settings = jnp.linspace(0.0, 1.0, 5)

    def sample(key, setting):
        return setting + 0.3 * jax.random.normal(key)

    def play(compare):
        race = racing.DominanceRace(5, 2, 100, compare)
        return racing.run(race, jax.random.key(1), sample, settings, race.params(0.1))

    ours, expected = play(strict_order), play(total_order)
    assert ours.decided
    np.testing.assert_array_equal(ours.samples, expected.samples)
    np.testing.assert_array_equal(ours.log_bets, expected.log_bets)


def test_any_relation_of_outcomes_may_be_strict():
    outcomes = {"cost": distinct(3, 4, 20)}
    cheaper = Strict(lambda a, b: a["cost"] < b["cost"])
    count = jax.jit(kernels.total_wins, static_argnums=0)
    expected = count(total_order, -np.asarray(outcomes["cost"]))
    np.testing.assert_array_equal(count(cheaper, outcomes), expected)
