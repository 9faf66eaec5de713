"""What has ended stays as it is: a history, or a search among others that go on."""

from typing import Any

import jax
import jax.numpy as jnp


def absorb(ended: jax.Array, state: Any, next_state: Any) -> Any:
    """The next state, or, once ``ended`` (bool []), the one before.

    States are pytrees; random keys may be among their leaves.
    """

    def choose(old: jax.Array, new: jax.Array) -> jax.Array:
        if new is old:  # choosing between a key and itself would count as using it twice
            return new
        if not jnp.issubdtype(old.dtype, jax.dtypes.prng_key):
            return jnp.where(ended, old, new)
        # JAX may look for keys that are used twice. The step used the old one, but whatever is made
        # of it again does not count: clones are allowed.
        return jax.random.clone(jnp.where(ended, jax.random.clone(old), new))

    return jax.tree.map(choose, state, next_state)
