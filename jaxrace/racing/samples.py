"""The samples that a race keeps: leaves [K, N, ...] with room for N rounds."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def rounded_alike(outcomes: Any, kept: Any) -> Any:
    """New samples are compared with kept ones: both must have been rounded alike."""
    return jax.tree.map(lambda x, old: x.astype(old.dtype), outcomes, kept)


def write_rounds(first_round: jax.Array, buffer: jax.Array, new: jax.Array) -> jax.Array:
    """Put ``new`` [K, r, ...] at round ``first_round``; what exceeds the capacity is dropped."""
    capacity = buffer.shape[1]
    new = new[:, :capacity].astype(buffer.dtype)
    size = new.shape[1]
    # The window of the buffer that is written: it ends where the buffer does, if not before.
    start = jnp.minimum(first_round, capacity - size)
    skipped = jnp.minimum(first_round - start, size)

    def put(buffer: jax.Array, written: jax.Array) -> jax.Array:
        return lax.dynamic_update_slice_in_dim(buffer, written, start, axis=1)

    def behind_kept(buffer: jax.Array, new: jax.Array) -> jax.Array:
        window = lax.dynamic_slice_in_dim(buffer, start, size, axis=1)
        room = jnp.concatenate([jnp.zeros_like(new), new], axis=1)
        shifted = lax.dynamic_slice_in_dim(room, size - skipped, size, axis=1)
        rounds = jnp.arange(size, dtype=jnp.int32).reshape(1, -1, *[1] * (new.ndim - 2))
        return put(buffer, jnp.where(rounds >= skipped, shifted, window))

    # Only the last rounds of a race may not fit.
    return lax.cond(skipped > 0, behind_kept, put, buffer, new)
