"""The samples that a race keeps: leaves [K, N, ...] with room for N rounds."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap


def rounded_alike(outcomes: Any, kept: Any) -> Any:
    """New samples are compared with kept ones: both must have been rounded alike."""
    return jax.tree.map(lambda x, old: x.astype(old.dtype), outcomes, kept)


@custom_vmap
def write_rounds(first_round: jax.Array, buffer: jax.Array, new: jax.Array) -> jax.Array:
    """Put ``new`` [K, r, ...] at round ``first_round``; what exceeds the capacity is dropped."""
    return _write_rounds(first_round, buffer, new)


@write_rounds.def_vmap
def _write_rounds_of_lanes(
    axis_size: int, in_batched: Any, first_round: jax.Array, buffer: jax.Array, new: jax.Array
) -> tuple[jax.Array, bool]:
    """Lanes at the same round add to the rows: vmapped, their samples would be written singly."""
    if tuple(in_batched) != (False, True, True):
        axes = tuple(0 if is_batched else None for is_batched in in_batched)
        return jax.vmap(_write_rounds, axes)(first_round, buffer, new), True
    rows = (x.reshape(-1, *x.shape[2:]) for x in (buffer, new))
    return write_rounds(first_round, *rows).reshape(buffer.shape), True


def _write_rounds(first_round: jax.Array, buffer: jax.Array, new: jax.Array) -> jax.Array:
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
