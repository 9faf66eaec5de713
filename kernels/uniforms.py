"""Uniform random numbers, two for the price of one."""

import math

import jax
import jax.numpy as jnp
from jax import lax

# Of these the square is 2.5e-4 of 2^32.
_MOST_OF_PAIRS = 1024


def draw_uniforms(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Independent numbers uniform in [0, 1), multiples of 2^-23, float32.

    Every evaluation of a counter-based generator gives two words of 32 bits or more, of which
    ``jax.random.uniform`` keeps one; ``jax.random.split`` keeps all.

    >>> numbers = draw_uniforms(jax.random.key(0), (1000, 10))
    >>> bool((0 <= numbers).all() & (numbers < 1).all() & (abs(numbers.mean() - 0.5) < 0.01))
    True
    """
    words = _words(key, math.prod(shape)).reshape(shape)
    one_to_two = (words >> 9) | jnp.uint32(0x3F800000)  # the mantissa, with the exponent of 1
    return lax.bitcast_convert_type(one_to_two, jnp.float32) - 1


def draw_below(key: jax.Array, shape: tuple[int, ...], number: jax.Array, most: int) -> jax.Array:
    """Independent whole numbers uniform in 0 .. ``number`` - 1, int32; ``number`` in 1 .. ``most``.

    The first digit of a word to the base ``number`` is one, and so is the second where numbers are
    small: Lemire 2019, without the rejections that would make all chances equal. They differ by
    2.5e-4 of themselves at most, as those of two numbers of a word do together; above 1,024, where
    every number has 23 bits of its own, by ``number`` / 2^23.

    >>> numbers = draw_below(jax.random.key(0), (1000, 10), jnp.int32(3), most=5)
    >>> sorted(set(numbers.reshape(-1).tolist())), bool(abs(numbers.mean() - 1) < 0.03)
    ([0, 1, 2], True)
    """
    if most <= _MOST_OF_PAIRS:
        return _pairs_below(key, shape, number)
    return lax.cond(
        number <= _MOST_OF_PAIRS,
        lambda key, number: _pairs_below(key, shape, number),
        lambda key, number: _singles_below(key, shape, number),
        key,
        number,
    )


def _pairs_below(key: jax.Array, shape: tuple[int, ...], number: jax.Array) -> jax.Array:
    count = math.prod(shape)
    base = number.astype(jnp.uint32)
    words = _words(key, -(-count // 2))
    first, rest = _first_digit(words, base)
    second, _ = _first_digit(rest, base)
    return jnp.concatenate([first, second])[:count].reshape(shape).astype(jnp.int32)


def _singles_below(key: jax.Array, shape: tuple[int, ...], number: jax.Array) -> jax.Array:
    numbers = (draw_uniforms(key, shape) * number.astype(jnp.float32)).astype(jnp.int32)
    return jnp.minimum(numbers, number - 1)


def _first_digit(words: jax.Array, base: jax.Array) -> tuple[jax.Array, jax.Array]:
    """floor(word base / 2^32), and what is left of the product: uint32, with a base below 2^16."""
    high = (words >> 16) * base + (((words & 0xFFFF) * base) >> 16)
    return high >> 16, words * base


def _words(key: jax.Array, count: int) -> jax.Array:
    words_per_key = jax.random.key_data(key).shape[-1]
    keys = jax.random.split(key, -(-count // words_per_key))
    return jax.random.key_data(keys).reshape(-1)[:count]
