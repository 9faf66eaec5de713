"""What has ended stays where it is: a history, or a search among others that go on."""

from typing import Any

import jax
import jax.numpy as jnp


def absorb(ended: jax.Array, state: Any, next_state: Any) -> Any:
    """The state that follows: the next one, or, once all has ended (bool []), the one before.

    States are pytrees; random keys may be among their leaves.
    """

    def choose(old: jax.Array, new: jax.Array) -> jax.Array:
        if new is old:  # to choose between a key and itself would count as using it twice
            return new
        if not jnp.issubdtype(old.dtype, jax.dtypes.prng_key):
            return jnp.where(ended, old, new)
        # The step has used the old key; nothing counts that comes of using it again. For JAX, which
        # may be looking for keys that are used twice, what it chose is a key like any other.
        return jax.random.clone(jnp.where(ended, jax.random.clone(old), new))

    return jax.tree.map(choose, state, next_state)
