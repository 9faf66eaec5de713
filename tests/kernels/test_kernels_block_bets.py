"""Bets on blocks, lists of marked places, and net counts of unequal numbers of samples."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import reference_dominance_race, reference_relations

from jaxrace import kernels
from jaxrace.envs import medical

BETS = (0.2, 1.1, kernels.MAX_BET)

log_factors = jax.jit(kernels.log_block_factors)


def reference_factors(signs, bets):
    """[2, L, P] of signs [b, b, P], one pair and one bet at a time; the bets are [L, P]."""
    num_pairs = signs.shape[2]
    factors = np.empty((2, len(bets), num_pairs))
    for pair, (row, bet) in itertools.product(range(num_pairs), enumerate(bets)):
        one = signs[:, :, pair]
        factors[0, row, pair] = reference_dominance_race.log_factor(one, bet[pair])
        factors[1, row, pair] = reference_dominance_race.log_factor(-one.T, bet[pair])
    return factors


def draw_signs(size, num_pairs):
    """Numbers with ties, incomparable outcomes, all won, all lost, all level: [b, b, P]."""
    rng = np.random.default_rng(size)
    x, y = rng.integers(0, 4, (2, size, num_pairs))
    signs = np.sign(x[:, None] - y[None] + rng.integers(-1, 2, num_pairs))
    signs[:, :, ::3] *= rng.random((size, size, len(signs[0, 0, ::3]))) < 0.5
    signs[:, :, :3] = [1, -1, 0]
    return signs.astype(np.int8)


@pytest.mark.parametrize("size", [2, 5, 11])
def test_factors_of_both_orders(size):
    signs = draw_signs(size, 12)
    bets = np.tile(np.array(BETS, np.float32)[:, None], 12)
    expected = reference_factors(signs, bets)
    factors = np.asarray(log_factors(signs, np.array(BETS, np.float32)))
    assert factors.shape == (2, 3, 12)
    np.testing.assert_allclose(factors, expected, rtol=2e-6, atol=2e-6)
    # Clean sweeps and level blocks are known without a reference.
    won, lost = (size * np.log1p(sign * np.array(BETS) / 2) for sign in (1, -1))
    np.testing.assert_allclose(factors[0, :, 0], won, rtol=1e-5)
    np.testing.assert_allclose(factors[0, :, 1], lost, rtol=1e-5)
    np.testing.assert_allclose(factors[1, :, :2].T, [lost, won], rtol=1e-5)
    np.testing.assert_allclose(factors[:, :, 2], 0, atol=1e-6)


def test_bets_may_differ_from_pair_to_pair():
    signs = draw_signs(5, 12)
    bets = np.random.default_rng(0).uniform(0.01, 1.95, (4, 12)).astype(np.float32)
    factors = log_factors(signs, bets)
    np.testing.assert_allclose(factors, reference_factors(signs, bets), rtol=2e-6, atol=2e-6)
    same = log_factors(signs, np.tile(bets[:, :1], 12))
    np.testing.assert_allclose(same, log_factors(signs, bets[:, 0]), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("size", [1, 9, 29])
def test_a_block_of_another_size_is_refused(size):
    with pytest.raises(ValueError, match=rf"signs: expected a block of 2, 3, .*, got {size}$"):
        kernels.log_block_factors(jnp.zeros((size, size, 1), jnp.int8), jnp.array([1.0]))


# Preferences between three outcomes: numbers, a circle, and one that is comparable to none.
PREFERENCES = {
    "numbers": [[0, -1, -1], [1, 0, -1], [1, 1, 0]],
    "circle": [[0, 1, -1], [-1, 0, 1], [1, -1, 0]],
    "partial": [[0, 1, 0], [-1, 0, 0], [0, 0, 0]],
}


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("preference", PREFERENCES)
def test_the_mean_factor_is_that_of_one_permutation(preference, size):
    """Over all outcomes of a block: (1 + lambda (s - 1/2))^b, at most 1 under the null."""
    signs_of = np.array(PREFERENCES[preference])
    blocks = np.array(list(itertools.product(range(3), repeat=size)))  # [blocks, b]
    first, second = (x.ravel() for x in np.indices((len(blocks),) * 2))
    x, y = blocks[first], blocks[second]
    signs = np.moveaxis(signs_of[x[:, :, None], y[:, None, :]], 0, -1).astype(np.int8)
    bets = np.array(BETS, np.float32)
    factors = np.exp(np.asarray(log_factors(signs, bets), np.float64))

    rng = np.random.default_rng(size)
    laws = rng.dirichlet([0.5] * 3, (20, 2))
    laws[0, 1] = laws[0, 0]  # s = 1/2
    laws[1] = [[0, 1, 0], [0.5, 0, 0.5]]  # a constant and a fair coin
    shares = []
    for of_first, of_second in laws:
        chance = of_first[x].prod(1) * of_second[y].prod(1)
        assert chance.sum() == pytest.approx(1)
        gap = of_first @ signs_of @ of_second / 2  # s - 1/2
        for order, sign in ((0, 1), (1, -1)):
            means = (factors[order] * chance).sum(-1)
            np.testing.assert_allclose(means, (1 + bets * sign * gap) ** size, rtol=2e-6)
            assert sign * gap > 0 or (means < 1 + 2e-6).all()
        shares.append(gap)
    assert min(shares) < -0.05 < 0.05 < max(shares)
    assert abs(shares[0]) < 1e-12


def visit(wanted, block):
    """What `for_listed` passes: visits per place, the places as they come, and the calls."""

    def body(places, carry):
        visits, order, calls = carry
        order = jax.lax.dynamic_update_slice(order, places, (calls * block,))
        return visits.at[places].add(1, mode="drop"), order, calls + 1

    empty = jnp.full((wanted.size + block,), -1, jnp.int32)
    carry = (jnp.zeros(wanted.size, jnp.int32), empty, jnp.int32(0))
    return kernels.for_listed(wanted, block, body, carry)


MASKS = {
    "empty": np.zeros(13, bool),
    "random": np.random.default_rng(0).random(40) < 0.3,
    "matrix": np.random.default_rng(1).random((6, 7)) < 0.6,
}


def compile_for(device, monkeypatch):
    if device == "others":
        monkeypatch.setattr(jax.lax, "platform_dependent", lambda x, default, **_: default(x))


@pytest.mark.parametrize("device", ["this", "others"])
@pytest.mark.parametrize("name", MASKS)
def test_every_marked_place_is_visited_once(name, device, monkeypatch):
    """A CPU makes its list in another way than other devices."""
    compile_for(device, monkeypatch)
    wanted, block = MASKS[name], 4
    visited = jax.jit(lambda wanted: visit(wanted, block))(wanted)
    visits, order, calls = map(np.asarray, visited)
    np.testing.assert_array_equal(visits, wanted.ravel())
    marked = np.flatnonzero(wanted)
    assert calls == -(-len(marked) // block)
    np.testing.assert_array_equal(order[: len(marked)], marked)
    # The last block is filled up with a place that is nowhere.
    assert (order[len(marked) : calls * block] == wanted.size).all()
    assert (order[calls * block :] == -1).all()


def test_lists_of_a_batch_of_masks():
    """Under vmap the masks have lists of different lengths."""
    wanted = np.random.default_rng(2).random((5, 40)) < np.linspace(0, 1, 5)[:, None]
    visits, _, calls = jax.jit(jax.vmap(lambda mask: visit(mask, 8)))(wanted)
    np.testing.assert_array_equal(visits, wanted)
    np.testing.assert_array_equal(calls, -(-wanted.sum(1) // 8))


def count(prefer, outcomes, counts):
    """Net counts [K, K] of one race, two options at a time; `prefer` of arrays of samples."""
    net = np.zeros((len(counts), len(counts)), int)
    for i, j in itertools.permutations(range(len(counts)), 2):
        n = min(counts[i], counts[j])
        net[i, j] = round((2 * prefer(outcomes[i][:n], outcomes[j][:n]) - 1).sum())
    return net


@pytest.mark.parametrize("device", ["this", "others"])
@pytest.mark.parametrize(("num_options", "capacity"), [(2, 1), (3, 50)])
def test_net_counts_of_unequal_numbers(num_options, capacity, device, monkeypatch):
    """Tiles of 32 samples, and blocks of 32 pairs, divide neither 50 nor 36 pairs."""
    compile_for(device, monkeypatch)
    rng = np.random.default_rng(capacity)
    outcomes = rng.integers(0, 5, (8, num_options, capacity)).astype(np.float32)
    outcomes += rng.integers(0, 2, (8, num_options, 1))
    counts = rng.integers(0, capacity + 1, (8, num_options)).astype(np.int32)
    counts[0], counts[1], counts[2, 0] = 0, capacity, 0
    # What lies beyond the counts must not be looked at.
    beyond = np.arange(capacity) >= counts[..., None]
    outcomes[beyond] = 1e9 * rng.random(beyond.sum())
    wanted = np.array([True, True, True, False, True, True, False, True])

    net = jax.jit(functools.partial(kernels.ragged_net, kernels.total_order))(
        outcomes, counts, wanted
    )

    assert net.dtype == jnp.int32
    prefer = reference_relations.larger
    for race in range(8):
        expected = count(prefer, outcomes[race], counts[race]) if wanted[race] else 0
        np.testing.assert_array_equal(net[race], np.broadcast_to(expected, net[race].shape))


def test_net_counts_of_partially_ordered_pytrees():
    rng = np.random.default_rng(3)
    numbers = rng.integers(0, 3, (3, 5, 4, 20)).astype(np.float32)
    numbers[0] = numbers[0] > 0
    counts = rng.integers(0, 21, (5, 4)).astype(np.int32)
    outcomes = medical.Outcome(numbers[0] > 0, *numbers[1:])

    net_of = jax.jit(kernels.ragged_net, static_argnums=0)
    net = net_of(medical.prefer, outcomes, counts, np.ones(5, bool))

    expected = [
        count(reference_relations.medical, np.moveaxis(numbers, 0, -1)[race], counts[race])
        for race in range(5)
    ]
    np.testing.assert_array_equal(net, expected)
    assert np.any(net)
