"""JAX's default generator, threefry2x32 (Salmon et al. 2011), without the loop it has on a CPU."""

import contextlib
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import define_prng_impl, threefry_prng_impl

from jaxrace.kernels.devices import sizes

_ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)


def _words(key: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The two words, uint32 as ``y``, that a key, uint32 [2], makes of a number of one word."""
    parts = key[0], key[1], key[0] ^ key[1] ^ np.uint32(0x1BD11BDA)
    x, y = jnp.broadcast_to(parts[0], y.shape), y + parts[1]
    for number in range(5):
        for bits in _ROTATIONS[number % 2]:
            x = x + y
            y = x ^ ((y << np.uint32(bits)) | (y >> np.uint32(32 - bits)))
        x = x + parts[(number + 1) % 3]
        y = y + parts[(number + 2) % 3] + np.uint32(number + 1)
    return x, y


def _random_words(key: jax.Array, shape: tuple[int, ...]) -> tuple[jax.Array, jax.Array]:
    if math.prod(shape) > 2**32:
        raise NotImplementedError("numbers of two words")
    return _words(key, jnp.arange(math.prod(shape), dtype=jnp.uint32).reshape(shape))


def _random_bits(key: jax.Array, width: int, shape: tuple[int, ...]) -> jax.Array:
    x, y = _random_words(key, shape)
    return (x.astype("uint64") << 32) | y if width == 64 else (x ^ y).astype(f"uint{width}")


_UNROLLED = define_prng_impl(
    key_shape=(2,),
    seed=threefry_prng_impl.seed,
    split=lambda key, shape: jnp.stack(_random_words(key, shape), -1),
    random_bits=_random_bits,
    fold_in=lambda key, data: jnp.stack(_words(key, jnp.asarray(data).astype(jnp.uint32))),
    name="threefry2x32 unrolled",
    tag="unrolled",
)


def drawn_quickly(
    draw: Callable[..., Any], key: jax.Array, *args: Any
) -> tuple[Callable[..., Any], Any]:
    """A function that returns what the pure ``draw(key, *args)`` does, and the shapes of that.

    On a CPU ``draw`` is given the same key of another kind: of the same bits, but XLA may round
    what is computed from them otherwise. It is left alone if the key is not JAX's default one, or
    if it returns keys, or fails with that kind, as where it mixes them with keys of its own.

    >>> draw, shape = drawn_quickly(jax.random.normal, jax.random.key(0))
    >>> bool(draw(jax.random.key(0)) == jax.random.normal(jax.random.key(0))), shape.shape
    (True, ())
    """

    def quick(key: jax.Array, *args: Any) -> Any:
        return draw(jax.random.wrap_key_data(jax.random.key_data(key), impl=_UNROLLED), *args)

    is_default = jax.random.key_impl(key) == "threefry2x32"
    in_order = getattr(jax.config, "jax_threefry_partitionable", False)  # of bits
    if sizes().compiles_long and is_default and in_order:
        with contextlib.suppress(Exception):  # of code of others, which may not take such keys
            found = jax.eval_shape(quick, key, *args)
            dtypes = [x.dtype for x in jax.tree.leaves(found)]
            if not any(jnp.issubdtype(dtype, jax.dtypes.prng_key) for dtype in dtypes):
                return quick, found
    return draw, jax.eval_shape(draw, key, *args)
