"""Uniform numbers from whole keys: distribution, independence, shapes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxrace.kernels import draw_uniforms
from jaxrace.kernels.draws import draw_below

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


@pytest.mark.parametrize(
    ("number", "most"), [(2, 2), (7, 1024), (1000, 1024), (7, 5000), (2000, 5000)]
)
def test_whole_numbers(number, most):
    """All are equally frequent, also after any other: two of them come from one word."""
    draw = jax.jit(draw_below, static_argnums=(1, 3))
    shape = (2, COUNT // 2 + 1)  # a row of first digits, and one of second ones
    first, second = np.asarray(draw(jax.random.key(1), shape, jnp.int32(number), most))
    for part in (first, second):
        assert part.min() >= 0
        assert part.max() < number
        assert stats.chisquare(np.bincount(part, minlength=number)).pvalue > 1e-3
    groups = min(number, 7)
    pairs = (first * groups // number) * groups + second * groups // number
    chances = np.bincount(np.arange(number) * groups // number) / number
    expected = len(pairs) * np.outer(chances, chances).ravel()
    frequent = np.bincount(pairs, minlength=groups**2)
    assert stats.chisquare(frequent, expected).pvalue > 1e-3
