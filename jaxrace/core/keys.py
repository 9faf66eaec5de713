"""Typed keys: two from a seed; as plain numbers for files, and back."""

from typing import Any

import jax
import jax.numpy as jnp

from jaxrace.core.compilation import jit


@jit(0)
def two_keys(seed: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Two random keys from a seed, uint32 [], by one program."""
    first, second = jax.random.split(jax.random.key(seed))
    return first, second


def is_key(x: Any) -> bool:
    """Is it an array of typed keys, or the shape of one?"""
    return hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def without_keys(tree: Any) -> Any:
    """The same pytree with the numbers behind its keys."""
    return jax.tree.map(lambda x: jax.random.key_data(x) if is_key(x) else x, tree)


def with_keys(numbers: Any, like: Any) -> Any:
    """Undo ``without_keys``; ``like`` has keys where they were."""

    def wrap(x: Any, like: Any) -> Any:
        if not is_key(like):
            return x
        # jnp.asarray would compile a program for each shape.
        return jax.random.wrap_key_data(jax.device_put(x), impl=jax.random.key_impl(like))

    return jax.tree.map(wrap, numbers, like)
