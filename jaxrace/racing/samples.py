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
    # Room for all of it first: a dynamic update that does not fit would be moved back.
    room = jnp.concatenate([buffer, jnp.zeros_like(new, buffer.dtype)], axis=1)
    start = jnp.minimum(first_round, capacity)
    written = lax.dynamic_update_slice_in_dim(room, new.astype(buffer.dtype), start, axis=1)
    return written[:, :capacity]
