"""Samples are kept in the rounds that they belong to, and dropped beyond the capacity."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.racing import samples


@pytest.mark.parametrize("told", [1, 5, 12, 20])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_rounds_are_written_where_they_belong(told, shape):
    capacity = 12
    rng = np.random.default_rng(told)
    buffer = rng.normal(size=(2, capacity, *shape)).astype(np.float32)
    new = rng.normal(size=(2, told, *shape)).astype(np.float32)
    write = jax.jit(samples.write_rounds)

    for first_round in range(capacity + 3):
        expected = buffer.copy()
        room = max(capacity - first_round, 0)
        expected[:, first_round : first_round + told] = new[:, :room]
        written = write(jnp.int32(first_round), jnp.asarray(buffer), jnp.asarray(new))
        np.testing.assert_array_equal(written, expected)


@pytest.mark.parametrize("lanes_share_the_round", [True, False])
def test_lanes_are_written_as_one_by_one(lanes_share_the_round):
    rng = np.random.default_rng(0)
    buffers = jnp.asarray(rng.normal(size=(3, 2, 12)), jnp.float32)
    new = jnp.asarray(rng.normal(size=(3, 2, 5)), jnp.float32)

    for first_round in range(14):
        rounds = jnp.full(3, first_round) + (0 if lanes_share_the_round else jnp.arange(3))
        one_by_one = [
            samples.write_rounds(*args) for args in zip(rounds, buffers, new, strict=True)
        ]
        first, axis = (rounds[0], None) if lanes_share_the_round else (rounds, 0)
        written = jax.vmap(samples.write_rounds, (axis, 0, 0))(first, buffers, new)
        np.testing.assert_array_equal(written, jnp.stack(one_by_one))
