"""Win counts against direct comparison and SciPy's Mann-Whitney U."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from preference_cases import dominance
from reference import reference_relations

from jaxrace.kernels import (
    MAX_ROUNDS,
    both_orders,
    lexicographic,
    open_round_nets,
    pareto,
    prefix_wins,
    total_order,
)


def round_gains(compare, old, new, num_old):
    """Of one race, all pairs: int32 [m, K, K]."""
    old, new = jax.tree.map(lambda x: jnp.asarray(x)[None], (old, new))
    num_options = jax.tree.leaves(new)[0].shape[1]
    every_pair = jnp.ones((1, num_options, num_options), bool)
    net = jnp.zeros(every_pair.shape, jnp.int32)
    nets = open_round_nets(compare, old, new, num_old, net, every_pair)[0].T
    numbers, signs = both_orders(num_options)
    return signs * jnp.diff(nets, axis=0, prepend=0)[:, numbers]


jit_prefix = jax.jit(prefix_wins, static_argnums=0)
jit_gains = jax.jit(round_gains, static_argnums=0)


def medical(a, b):
    """Alive beats dead; two alive compare by dominance; here a and b are dictionaries."""
    both_alive = (a["alive"] & b["alive"]).astype(jnp.int8)
    costs = pareto(total_order(b["toxicity"], a["toxicity"]), total_order(b["tumour"], a["tumour"]))
    return lexicographic(total_order(a["alive"], b["alive"]), both_alive * costs)


def with_ties(seed, num_options, num_rounds):
    return np.random.default_rng(seed).integers(0, 6, (num_options, num_rounds))


def numbers(seed, num_options, num_rounds):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(num_options, num_rounds)).astype(np.float32)
    values[:, ::3] = np.round(values[:, ::3])  # a few ties, among them zeros of both signs
    return values, total_order, reference_relations.larger, values


def vectors(seed, num_options, num_rounds):
    values = np.random.default_rng(seed).integers(0, 5, (num_options, num_rounds, 2))
    return values, dominance, reference_relations.dominates, values


def patients(seed, num_options, num_rounds):
    rng = np.random.default_rng(seed)
    alive = rng.random((num_options, num_rounds)) < 0.7
    toxicity = rng.integers(0, 4, alive.shape).astype(np.float32)
    tumour = rng.integers(0, 4, alive.shape)
    outcomes = {"alive": alive, "toxicity": toxicity, "tumour": tumour}
    return outcomes, medical, reference_relations.medical, np.stack([alive, toxicity, tumour], -1)


@pytest.mark.parametrize(
    ("kind", "num_options", "num_rounds"),
    [
        (numbers, 4, 33),
        (vectors, 3, 7),
        (patients, 2, 1),
    ],
)
def test_all_kernels_against_direct_comparison(kind, num_options, num_rounds):
    outcomes, compare, prefer, plain = kind(0, num_options, num_rounds)
    expected = reference_relations.prefix_half_units(prefer, plain)
    prefix = jit_prefix(compare, outcomes)
    assert prefix.dtype == jnp.int32
    np.testing.assert_array_equal(prefix, expected)
    # Split into old and new rounds; old has room that is not used yet, filled with the new.
    num_old = num_rounds // 2
    new = jax.tree.map(lambda x: x[:, num_old:], outcomes)
    net = expected - np.arange(1, num_rounds + 1)[:, None, None] ** 2
    before = net[num_old - 1] if num_old else np.zeros_like(net[0])
    gains = np.diff(net[num_old:], axis=0, prepend=before[None])
    np.testing.assert_array_equal(jit_gains(compare, outcomes, new, num_old), gains)


def test_counts_are_mann_whitney_statistics():
    values = with_ties(0, 4, 25)
    wins = jit_prefix(total_order, jnp.asarray(values))[-1]
    for i in range(4):
        for j in range(4):
            u = scipy.stats.mannwhitneyu(values[i], values[j]).statistic
            assert int(wins[i, j]) == 2 * u


def test_both_zeros_are_equal_and_so_are_infinities():
    values = np.array([[-0.0, 0.0, np.inf], [0.0, -0.0, np.inf], [-0.0, -np.inf, 1.0]], np.float32)
    expected = reference_relations.half_units(reference_relations.larger, values)
    np.testing.assert_array_equal(prefix_wins(total_order, values)[-1], expected)


def test_old_rounds_may_be_traced_and_differ_within_a_batch():
    values = with_ties(3, 3, 14)
    old, new = values[:, :10], values[:, 10:]
    gains = jax.jit(jax.vmap(lambda n: round_gains(total_order, old, new, n)))(jnp.arange(11))
    for num_old in range(11):
        told = np.concatenate([old[:, :num_old], new], axis=1)
        wins = reference_relations.prefix_half_units(reference_relations.larger, told)
        net = wins - np.arange(1, num_old + 5)[:, None, None] ** 2
        before = net[num_old - 1] if num_old else np.zeros((3, 3))
        np.testing.assert_array_equal(
            gains[num_old], np.diff(net[num_old:], axis=0, prepend=before[None])
        )


def test_more_rounds_than_an_int32_can_count_are_refused():
    kernel = functools.partial(prefix_wins, total_order)
    fits = jax.ShapeDtypeStruct((2, MAX_ROUNDS), np.float32)
    assert jax.eval_shape(kernel, fits).dtype == np.int32
    too_many = jax.ShapeDtypeStruct((2, MAX_ROUNDS + 1), np.float32)
    with pytest.raises(ValueError, match=r"expected at most 32767 rounds.*got 32768"):
        jax.eval_shape(kernel, too_many)


@pytest.mark.slow
def test_the_largest_counts_are_exact():
    assert 2 * MAX_ROUNDS**2 < 2**31 < 2 * (MAX_ROUNDS + 1) ** 2 + 1
    constant = jnp.repeat(jnp.array([[1.0], [0.0], [0.0]]), MAX_ROUNDS, axis=1)
    square = MAX_ROUNDS**2
    expected = np.array(
        [[square, 2 * square, 2 * square], [0, square, square], [0, square, square]]
    )
    before = (expected - square) // square * (MAX_ROUNDS - 1) ** 2
    last = round_gains(total_order, constant[:, :-1], constant[:, -1:], MAX_ROUNDS - 1)[0]
    np.testing.assert_array_equal(square + before + last, expected)


def test_comparisons_are_never_all_in_memory():
    num_options, num_rounds = 64, 512
    outcomes = jax.ShapeDtypeStruct((num_options, num_rounds), np.float32)
    compiled = jax.jit(functools.partial(prefix_wins, total_order)).lower(outcomes).compile()
    memory = compiled.memory_analysis()
    all_comparisons = num_options**2 * num_rounds**2
    counts_of_all_prefixes = num_options**2 * num_rounds * 4
    assert memory is not None
    assert memory.temp_size_in_bytes < 5 * counts_of_all_prefixes
    assert memory.temp_size_in_bytes < all_comparisons / 20
