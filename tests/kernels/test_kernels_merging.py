"""Batches that a program lays out itself: the same results, in blocks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import kernels
from papers.lanes import in_blocks


def collatz(start, weights):
    """Steps to 1, and a sum: lanes take very different time."""

    def go_on(carry):
        number, steps, total = carry
        number = jnp.where(number % 2 == 0, number // 2, 3 * number + 1)
        return number, steps + 1, total + weights[number % 3]

    _, steps, total = jax.lax.while_loop(
        lambda carry: carry[0] > 1, go_on, (start, jnp.int32(0), jnp.int32(0))
    )
    return {"steps": steps, "total": total}


STARTS = jnp.arange(1, 22, dtype=jnp.int32)
WEIGHTS = jnp.array([1, 10, 100], jnp.int32)


@pytest.mark.parametrize("width", [1, 4, 21, 50])
def test_blocks_of_any_width_do_what_vmap_does(width):
    expected = jax.vmap(collatz, (0, None))(STARTS, WEIGHTS)
    assert expected["steps"][6:9].tolist() == [16, 3, 19]  # of 7, 8 and 9
    by_blocks = in_blocks(collatz, width)
    jax.tree.map(
        np.testing.assert_array_equal, jax.vmap(by_blocks, (0, None))(STARTS, WEIGHTS), expected
    )
    alone = by_blocks(jnp.int32(7), WEIGHTS)
    assert int(alone["steps"]) == 16


def test_vmaps_within_each_other_add_up_to_one_list_of_lanes():
    seen = []

    def of_lanes(starts, weights):
        seen.append((starts.shape, weights.shape))
        return jax.vmap(collatz)(starts, weights)

    merged = kernels.merge_vmaps(of_lanes)
    square = STARTS[:20].reshape(2, 5, 2)
    weights = jnp.stack([WEIGHTS, 2 * WEIGHTS])
    # The outer vmap has weights of its own, the inner one has not.
    found = jax.jit(jax.vmap(jax.vmap(merged, (0, None)), (0, 0)))(
        square, jnp.broadcast_to(weights[:, None], (2, 2, 3))
    )
    assert seen[-1] == ((20,), (20, 3))
    expected = jax.vmap(jax.vmap(jax.vmap(collatz, (0, None)), (0, None)))(square, weights)
    jax.tree.map(np.testing.assert_array_equal, found, expected)


def test_the_last_block_is_filled_up_with_its_last_lane():
    seen = []

    def note(x):
        jax.debug.callback(seen.append, x)
        return 2 * x

    assert jax.vmap(in_blocks(note, 4))(jnp.arange(10)).tolist() == list(range(0, 20, 2))
    jax.effects_barrier()
    assert sorted(int(x) for x in seen) == [*range(10), 9, 9]
