"""Uniform numbers from whole keys: distribution, independence, shapes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxrace.kernels import draw_uniforms

COUNT = 100_000


def numbers_of(seed, implementation="threefry2x32"):
    key = jax.random.key(seed, impl=implementation)
    return np.asarray(draw_uniforms(key, (COUNT,)), np.float64)


@pytest.mark.parametrize("implementation", ["threefry2x32", "rbg"])
def test_the_distribution(implementation):
    """As a whole, in the first and the second halves of the words, and bit by bit."""
    numbers = numbers_of(0, implementation)
    for part in (numbers, numbers[::2], numbers[1::2]):
        assert stats.kstest(part, "uniform").pvalue > 1e-3
    bits = (numbers * 2**23).astype(np.int64)
    assert (bits == numbers * 2**23).all()
    for bit in range(23):
        ones = (bits >> bit & 1).sum()
        assert abs(ones - COUNT / 2) < 4.5 * np.sqrt(COUNT) / 2


def test_neighbours_are_independent():
    numbers = numbers_of(0)
    others = [np.roll(numbers, shift) for shift in (1, 2, COUNT // 2)]
    for other in (*others, numbers_of(1)):
        assert abs(np.corrcoef(numbers, other)[0, 1]) < 4 / np.sqrt(COUNT)
        distances = abs(numbers - 0.5), abs(other - 0.5)
        assert abs(np.corrcoef(*distances)[0, 1]) < 4 / np.sqrt(COUNT)
    assert np.unique(numbers).size > 0.99 * COUNT


@pytest.mark.parametrize("shape", [(), (1,), (3,), (4, 5), (3, 1, 7), (0,)])
def test_any_shape(shape):
    numbers = draw_uniforms(jax.random.key(0), shape)
    assert numbers.shape == shape
    assert numbers.dtype == jnp.float32
    assert np.unique(numbers).size == numbers.size


def test_the_same_by_vmap():
    keys = jax.random.split(jax.random.key(3), 4)
    batch = jax.vmap(lambda key: draw_uniforms(key, (5,)))(keys)
    for key, row in zip(keys, batch, strict=True):
        np.testing.assert_array_equal(draw_uniforms(key, (5,)), row)
