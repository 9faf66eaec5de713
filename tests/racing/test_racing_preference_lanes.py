"""Batches of preference races: each of them is what it is alone, by another way of counting.

A batch this large lists its open pairs once they are few, and only races with a verdict go through
it; a single race does neither.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import kernels, racing
from jaxrace.kernels import wins

OPTIONS, RACES, CAPACITY = 10, 40, 120


def normal(key, option):
    return option + jax.random.normal(key, (), jnp.float32)


def one_is_infinite(key, option):
    """The last option is infinite now and then."""
    sample = normal(key, option)
    return jnp.where((option == OPTIONS - 1) & (sample > OPTIONS + 0.3), jnp.inf, sample)


def results(race, params_of, sample=normal, spread=1.0, num_races=RACES):
    """Of a batch of races and of each of them alone; they have different horizons."""
    options = spread * jnp.arange(OPTIONS, dtype=jnp.float32)
    keys = jax.random.split(jax.random.key(0), num_races)
    drawn = np.random.default_rng(0).integers(20, CAPACITY + 1, num_races)
    horizons = jnp.asarray(drawn, jnp.int32)

    def play(told):
        key, horizon = told
        return racing.run(race, key, sample, options, params_of(horizon))

    batch = jax.jit(jax.vmap(play))((keys, horizons))
    alone = jax.jit(lambda told: jax.lax.map(play, told))((keys, horizons))
    return batch, alone


def assert_equal(batch, alone):
    for one, other in zip(jax.tree.leaves(batch), jax.tree.leaves(alone), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.fixture
def listed(monkeypatch):
    """How often the function that lists pairs was traced."""
    jax.clear_caches()  # what was traced before is not traced again
    calls = []
    real = wins.listed_gains
    monkeypatch.setattr(wins, "listed_gains", lambda *args: (calls.append(1), real(*args))[1])
    return calls


@pytest.mark.parametrize(
    ("sample", "rule", "epsilon", "num_races"),
    [
        (one_is_infinite, "printed", 0.0, RACES),
    ],
)
def test_a_race_of_a_batch_is_what_it_is_alone(listed, sample, rule, epsilon, num_races):
    race = racing.PreferenceRace(OPTIONS, 5, CAPACITY, kernels.total_order, "stitched-kl", rule)
    table = race.table(0.2, epsilon)

    params_of = functools.partial(race.params_at, table)
    batch, alone = results(race, params_of, sample, num_races=num_races)

    assert_equal(batch, alone)
    assert listed
    # At the start of some chunk few pairs are open, but some: the list is worked through.
    starts = np.arange(0, CAPACITY, race.chunk)
    rounds = np.asarray(batch.rounds)[:, *np.triu_indices(OPTIONS, 1)]
    open_share = np.mean(rounds > starts[:, None, None], axis=(1, 2))
    assert ((open_share > 0) & (open_share <= 0.25)).any()
    assert (open_share > 0.25).any()
    assert (np.asarray(batch.invalid) > 0).any() == (sample is one_is_infinite)


@pytest.mark.parametrize(
    "settings",
    [
        {"bound": "published", "dynamic_delta": True},
    ],
)
def test_what_takes_more_than_verdicts_is_listed_too(listed, settings):
    race = racing.PreferenceRace(OPTIONS, 5, CAPACITY, kernels.total_order, **settings)
    params = race.params(0.2)

    batch, alone = results(race, lambda horizon: params, spread=2.0)

    assert_equal(batch, alone)
    assert listed
