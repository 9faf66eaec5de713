"""Uniform random numbers, two for the price of one."""

import math

import jax
import jax.numpy as jnp
from jax import lax


def draw_uniforms(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Independent numbers uniform in [0, 1), multiples of 2^-23, float32.

    Every evaluation of a counter-based generator gives two words of 32 bits or more, of which
    ``jax.random.uniform`` keeps one; ``jax.random.split`` keeps all. Half the time on a CPU.

    Args:
        key: Used once.
        shape: Of the result.

    >>> numbers = draw_uniforms(jax.random.key(0), (1000, 10))
    >>> bool((0 <= numbers).all() & (numbers < 1).all() & (abs(numbers.mean() - 0.5) < 0.01))
    True
    """
    count = math.prod(shape)
    words_per_key = jax.random.key_data(key).shape[-1]
    keys = jax.random.split(key, -(-count // words_per_key))
    words = jax.random.key_data(keys).reshape(-1)[:count].reshape(shape)
    one_to_two = (words >> 9) | jnp.uint32(0x3F800000)  # the mantissa, with the exponent of 1
    return lax.bitcast_convert_type(one_to_two, jnp.float32) - 1
