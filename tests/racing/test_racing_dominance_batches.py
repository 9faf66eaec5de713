"""Many dominance races at once, and what is simulated for them."""

import collections
import operator

import dominance_cases as cases
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scripted

from jaxrace import racing

RACE = cases.make_race("numbers", 3, 1, 60)


def normal_sample(key, mean):
    return mean + jax.random.normal(key, (), jnp.float32)


@pytest.mark.slow
def test_batches_equal_single_races_and_the_samples_are_the_documented_ones():
    """More races than are played at once, short and long: keys over both axes of the batch.

    Options go by the first axis, params by the second.
    """
    keys = jax.random.split(jax.random.key(5), (800, 3))
    options = np.random.default_rng(5).choice([0, 0.5, 2, 5], (800, 3)).astype(np.float32)
    numbers = [{"delta": 0.2}, {"slack": 0.0, "max_rounds": 30}, {"max_rounds": 9}]
    params = cases.params_of(RACE, 3, numbers)

    def play(key, options, params):
        return racing.run(RACE, key, normal_sample, options, params)

    batch = jax.jit(jax.vmap(jax.vmap(play, (0, None, 0)), (0, 0, None)))(keys, options, params)

    assert batch.certificate.shape == (800, 3)
    assert batch.e_values.shape == (800, 3, 3, 3)
    assert batch.oracle_calls.shape == (800, 3)
    assert "2400 races, top 1 of 3 options" in str(batch)
    assert set(batch.certificate.flat) == {"dominance", ""}
    assert len(np.unique(batch.samples)) > 8

    batch = jax.tree.map(np.asarray, batch)
    for i, j in np.ndindex(3, 3):
        single = play(keys[i, j], options[i], jax.tree.map(operator.itemgetter(j), params))
        cases.assert_equal_results(jax.tree.map(operator.itemgetter((i, j)), batch), single)

    @jax.jit
    def draw(keys, options):
        def one(key, option, mean, number):
            return normal_sample(scripted.driver_key(key, option, number), mean)

        of_option = jax.vmap(one, (None, None, None, 0))
        of_race = jax.vmap(of_option, (None, 0, 0, None))
        of_races = jax.vmap(jax.vmap(of_race, (0, None, None, None)), (0, None, 0, None))
        return of_races(keys, jnp.arange(3), options, jnp.arange(60)).reshape(2400, 3, 60)

    outcomes = draw(keys, options)
    _, expected = cases.play(RACE, outcomes, cases.params_of(RACE, 2400, numbers))
    flat = jax.tree.map(lambda x: x.reshape(2400, *x.shape[2:]), batch)
    cases.assert_equal_results(flat, expected, simulated=False)


@pytest.mark.slow
def test_only_who_asks_is_simulated():
    num_options = 10
    calls = collections.Counter()

    def sample(key, option):
        name, mean = option
        jax.debug.callback(
            lambda name, key: calls.update([int(name)]), name, jax.random.key_data(key)
        )
        return normal_sample(key, mean)

    race = cases.make_race("numbers", num_options, 2, 100)
    # Close ones on both sides of the boundary, and the others far away.
    means = np.resize(np.array([0, 5, 4.9, 9], np.float32), num_options)
    means[4:] = -np.arange(1, num_options - 3)
    options = (np.arange(num_options), means)
    result = racing.run(race, jax.random.key(0), sample, options, race.params(0.05))
    jax.effects_barrier()
    assert [calls[option] for option in range(num_options)] == result.simulated.tolist()
    np.testing.assert_array_equal(result.samples, result.simulated)
    assert (min(calls.values()), max(calls.values())) == (11, 96)
