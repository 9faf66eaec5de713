"""Samples are kept in the rounds that they belong to, and dropped beyond the capacity."""

import jax
import numpy as np
import pytest

from jaxrace.racing.preference.rounds import write_rounds

write = jax.jit(write_rounds)


@pytest.mark.parametrize("told", [1, 5, 12, 20])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_rounds_are_written_where_they_belong(told, shape):
    capacity = 12
    rng = np.random.default_rng(told)
    buffer = rng.normal(size=(2, capacity, *shape)).astype(np.float32)
    new = rng.normal(size=(2, told, *shape)).astype(np.float32)

    for first_round in range(capacity + 3):
        expected = buffer.copy()
        room = max(capacity - first_round, 0)
        expected[:, first_round : first_round + told] = new[:, :room]
        written = write(np.int32(first_round), buffer, new)
        np.testing.assert_array_equal(written, expected)


@pytest.mark.parametrize("lanes_share_the_round", [True, False])
def test_lanes_are_written_as_one_by_one(lanes_share_the_round):
    rng = np.random.default_rng(0)
    buffers = rng.normal(size=(3, 2, 12)).astype(np.float32)
    new = rng.normal(size=(3, 2, 5)).astype(np.float32)
    write_lanes = jax.jit(jax.vmap(write_rounds, (None if lanes_share_the_round else 0, 0, 0)))

    for first_round in range(14):
        rounds = np.full(3, first_round, np.int32)
        rounds += 0 if lanes_share_the_round else np.arange(3, dtype=np.int32)
        one_by_one = [write(*args) for args in zip(rounds, buffers, new, strict=True)]
        first = rounds[0] if lanes_share_the_round else rounds
        written = write_lanes(first, buffers, new)
        np.testing.assert_array_equal(written, np.stack(one_by_one))
