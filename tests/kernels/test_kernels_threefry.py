"""The generator without a loop: the bits of JAX's own, and samplers that do not take its keys."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.kernels import drawn_quickly, total_order
from jaxrace.racing import PreferenceRace, run

KEYS = jax.random.split(jax.random.key(3), 7)

SAMPLERS = {
    "normal": lambda key: jax.random.normal(key, (5, 3)),
    "one number": jax.random.normal,
    "bits of 8": lambda key: jax.random.bits(key, (9,), jnp.uint8),
    "bits of 16": lambda key: jax.random.bits(key, (2, 2), jnp.uint16),
    "bits of 32": lambda key: jax.random.bits(key, (3, 2), jnp.uint32),
    "split": lambda key: jax.random.key_data(jax.random.split(key, (2, 3))),
    "fold_in": lambda key: jax.random.key_data(jax.random.fold_in(key, 2**32 - 1)),
    "nothing": lambda key: jax.random.bits(key, (0, 3)),
    "permutation": lambda key: jax.random.permutation(key, 9),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_bits_are_those_of_jax(name):
    plain = SAMPLERS[name]
    quick, shape = drawn_quickly(plain, KEYS[0])
    assert quick is not plain
    found, expected = (jax.jit(jax.vmap(one))(KEYS) for one in (quick, plain))
    assert (found.dtype, found.shape[1:]) == (shape.dtype, shape.shape)
    np.testing.assert_array_equal(found, expected)


def test_bits_of_64_are_those_of_jax():
    def plain(key):
        return jax.random.bits(key, (5,), jnp.uint64)

    with jax.enable_x64(True):
        quick, shape = drawn_quickly(plain, KEYS[0])
        assert quick is not plain
        assert shape.dtype == jnp.uint64
        np.testing.assert_array_equal(quick(KEYS[0]), plain(KEYS[0]))


@pytest.mark.parametrize(
    "plain",
    [
        lambda key: jnp.where(True, key, jax.random.key(1)),  # mixes, and returns keys
        lambda key: jax.random.normal(jnp.where(True, key, jax.random.key(1))),
        lambda key: jax.random.poisson(key, 3.0),  # looks for JAX's own
        lambda key: {"key": key, "number": jnp.float32(0)},
    ],
)
def test_what_needs_keys_of_jax_is_left_alone(plain):
    left, _ = drawn_quickly(plain, KEYS[0])
    assert left is plain


def test_other_keys_and_another_order_of_bits_are_left_alone():
    other = jax.random.key(0, impl="rbg")
    assert drawn_quickly(jax.random.normal, other)[0] is jax.random.normal
    with jax.threefry_partitionable(False):
        assert drawn_quickly(jax.random.normal, KEYS[0])[0] is jax.random.normal


def test_races_draw_the_same_samples():
    race = PreferenceRace(4, 2, 40, total_order)
    means = jnp.arange(4.0)

    def quick(key, mean):
        return mean + jax.random.normal(key)

    def mixed(key, mean):
        return mean + jax.random.normal(jnp.where(mean > -1, key, jax.random.key(1)))

    def play(sample):
        return jax.jit(jax.vmap(lambda key: run(race, key, sample, means, race.params(0.1))))(KEYS)

    found, expected = play(quick), play(mixed)
    assert np.asarray(expected.net).any()
    np.testing.assert_array_equal(found.net, expected.net)
    np.testing.assert_array_equal(found.samples, expected.samples)
