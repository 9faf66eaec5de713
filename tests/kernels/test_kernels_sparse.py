"""Lists of marked places, and net counts of unequal numbers of samples."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import reference_relations

from jaxrace import kernels
from jaxrace.envs import medical


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
