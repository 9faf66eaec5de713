"""The pairs of arms in a circle: every pair has one place, and wins are counted right."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.dueling import counted

ARMS = pytest.mark.parametrize("num_arms", [2, 3, 4, 7])


@ARMS
def test_every_pair_has_a_place_of_its_own(num_arms):
    """Either order gives the same place, and says whose it is."""
    place_of = jax.jit(counted.place_in_circle, static_argnums=1)
    seen = set()
    for first in range(num_arms):
        for second in range(first):
            row, column, turned = map(int, place_of(jnp.array([first, second]), num_arms))
            other = tuple(map(int, place_of(jnp.array([second, first]), num_arms)))
            assert other == (row, column, 1 - turned)
            assert (second if turned else first) == column
            assert (column + row + 1) % num_arms == (first if turned else second)
            seen.add((row, column))
    assert len(seen) == num_arms * (num_arms - 1) // 2


@ARMS
def test_an_arm_and_itself_have_none(num_arms):
    for arm in range(num_arms):
        assert counted.place_in_circle(jnp.array([arm, arm]), num_arms)[0] == num_arms // 2


@ARMS
def test_wins(num_arms):
    """Against counting one by one, for random outcomes."""
    rng = np.random.default_rng(num_arms)
    place_of = jax.jit(counted.place_in_circle, static_argnums=1)
    for _ in range(5):
        ahead = rng.random((num_arms // 2, num_arms)) < 0.5
        expected = np.zeros(num_arms, int)
        for first in range(num_arms):
            for second in range(first):
                row, column, turned = place_of(jnp.array([first, second]), num_arms)
                expected[first if ahead[row, column] != bool(turned) else second] += 1
        np.testing.assert_array_equal(counted.wins_in_circle(jnp.asarray(ahead)), expected)
