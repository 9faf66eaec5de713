"""Gains of the open pairs of many races: those of each race by itself, where a pair is open."""

import jax
import numpy as np
import pytest

from jaxrace import kernels
from jaxrace.envs import medical
from jaxrace.kernels import open_pairs as pairs
from jaxrace.kernels.cpu.pair_sums import sums_in_blocks
from jaxrace.kernels.gpu.pair_sums import sums_at_once
from jaxrace.kernels.wins import Listed

open_round_gains = jax.jit(kernels.open_round_gains, static_argnums=0)


def masked(gains, open_pairs):
    return np.where(open_pairs, gains, 0)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize(
    ("num_old", "num_new"),
    [(0, 1), (26, 8), *(pytest.param(*n, marks=pytest.mark.slow) for n in [(3, 7), (50, 25)])],
)
def test_numbers_with_ties(share, num_old, num_new):
    rng = np.random.default_rng(num_old + num_new)
    old = rng.integers(0, 4, (9, 12, 60)).astype(np.float32)
    new = rng.integers(0, 4, (9, 12, num_new)).astype(np.float32)
    half = np.triu(rng.random((9, 12, 12)) < share, 1)
    open_pairs = half | half.swapaxes(1, 2)

    gains = open_round_gains(kernels.total_order, old, new, num_old, open_pairs)

    one = jax.vmap(lambda a, b: kernels.round_gains(kernels.total_order, a, b, num_old), 0, 1)
    np.testing.assert_array_equal(gains, masked(jax.jit(one)(old, new), open_pairs))


def test_outcomes_may_be_partially_ordered_pytrees():
    rng = np.random.default_rng(0)

    def draw(rounds):
        numbers = rng.integers(0, 3, (2, 9, 8, rounds)).astype(np.float32)
        return medical.Outcome(numbers[0] > 0, *numbers)

    old, new = draw(20), draw(10)
    open_pairs = np.ones((9, 8, 8), bool)
    open_pairs[7] = False

    gains = open_round_gains(medical.prefer, old, new, 15, open_pairs)

    one = jax.vmap(lambda a, b: kernels.round_gains(medical.prefer, a, b, 15), 0, 1)
    np.testing.assert_array_equal(gains, masked(jax.jit(one)(old, new), open_pairs))


@pytest.mark.parametrize("form", [sums_in_blocks, sums_at_once])
@pytest.mark.parametrize(("capacity", "num_old", "num_new"), [(40, 37, 6), (40, 0, 8), (3, 3, 5)])
def test_each_form_of_the_sums_is_the_plain_one(form, capacity, num_old, num_new):
    rng = np.random.default_rng(capacity)
    old = rng.integers(0, 4, (2, 5, capacity)).astype(np.float32)
    new = rng.integers(0, 4, (2, 5, num_new)).astype(np.float32)

    def rounds_of(start, size):
        first, second = (jax.lax.dynamic_slice_in_dim(x, start, size, axis=1) for x in old)
        return first, second

    def sums(form, num_old):
        return form(kernels.total_order, Listed(rounds_of, (new[0], new[1]), num_old, capacity))

    found, expected = (
        jax.jit(sums, static_argnums=0)(one, num_old) for one in (form, pairs.plain_sums)
    )
    assert np.asarray(expected).any()
    np.testing.assert_array_equal(found, expected)
