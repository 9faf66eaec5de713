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
