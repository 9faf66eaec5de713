"""Counts of the open pairs of many races: those of each race alone, where a pair is open."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import kernels
from jaxrace.envs import medical
from jaxrace.kernels.wins import pair_gains

open_round_nets = jax.jit(kernels.open_round_nets, static_argnums=0)


def require_equal(compare, old, new, num_old, open_pairs):
    """Where pairs are open, the counts of each race by itself with all of its pairs."""
    num_races, num_options = open_pairs.shape[:2]
    net = np.random.default_rng(1).integers(-9, 9, open_pairs.shape).astype(np.int32)
    found = open_round_nets(compare, old, new, num_old, net, open_pairs)
    every_pair = jnp.ones((1, num_options, num_options), bool)
    for race in range(num_races):
        told = jax.tree.map(lambda x, race=race: x[race : race + 1], (old, new, net))
        (alone,) = open_round_nets(compare, told[0], told[1], num_old, told[2], every_pair)
        is_open = open_pairs[race][np.triu_indices(num_options, 1)]
        np.testing.assert_array_equal(found[race][is_open], alone[is_open])


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize(
    ("num_old", "num_new"),
    [(0, 1), (26, 8)],
)
def test_numbers_with_ties(share, num_old, num_new):
    rng = np.random.default_rng(num_old + num_new)
    old = rng.integers(0, 4, (9, 12, 60)).astype(np.float32)
    new = rng.integers(0, 4, (9, 12, num_new)).astype(np.float32)
    half = np.triu(rng.random((9, 12, 12)) < share, 1)
    open_pairs = half | half.swapaxes(1, 2)

    require_equal(kernels.total_order, old, new, num_old, open_pairs)


def test_outcomes_may_be_partially_ordered_pytrees():
    rng = np.random.default_rng(0)

    def draw(rounds):
        numbers = rng.integers(0, 3, (2, 9, 8, rounds)).astype(np.float32)
        return medical.Outcome(numbers[0] > 0, *numbers)

    old, new = draw(20), draw(10)
    open_pairs = np.ones((9, 8, 8), bool)
    open_pairs[7] = False

    require_equal(medical.prefer, old, new, 15, open_pairs)


def plain_gains(compare, old, new, num_old, capacity):
    """All comparisons [P, N + m, m] at once, with those in the same round."""
    every = jax.tree.map(lambda *x: jnp.concatenate(x, 1), old(jnp.int32(0), capacity), new)
    num_new = new[0].shape[1]
    number = jnp.arange(capacity + num_new, dtype=jnp.int32)[:, None]
    newer = number - capacity < jnp.arange(num_new, dtype=jnp.int32)
    is_older = jnp.where(number < capacity, number < num_old, newer)  # [N + m, m]
    against = jax.vmap(jax.vmap(jax.vmap(compare, (None, 0)), (0, None)))
    signs = against(every[0], new[1]) - against(every[1], new[0])
    sums = jnp.where(is_older, signs, 0).sum(1, dtype=jnp.int32)
    return sums + jax.vmap(jax.vmap(compare))(*new)


@pytest.mark.parametrize(("capacity", "num_old", "num_new"), [(70, 67, 6), (40, 0, 8), (3, 3, 5)])
def test_the_gains_are_the_plain_ones(capacity, num_old, num_new):
    rng = np.random.default_rng(capacity)
    old = rng.integers(0, 4, (2, 5, capacity)).astype(np.float32)
    new = rng.integers(0, 4, (2, 5, num_new)).astype(np.float32)

    def rounds_of(start, size):
        first, second = (jax.lax.dynamic_slice_in_dim(x, start, size, axis=1) for x in old)
        return first, second

    def sums(form, num_old):
        return form(kernels.total_order, rounds_of, (new[0], new[1]), num_old, capacity)

    found, expected = (
        jax.jit(sums, static_argnums=0)(one, num_old) for one in (pair_gains, plain_gains)
    )
    assert np.asarray(expected).any()
    np.testing.assert_array_equal(found, expected)
