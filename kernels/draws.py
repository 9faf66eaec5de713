"""Random draws: uniform numbers, two for the price of one, and Beta distributions."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.stats import norm
from numpy.typing import NDArray

_MOST_OF_PAIRS = 1024  # their square is 2.5e-4 of 2^32
_MANY = 100  # duels, from which on an expansion replaces the table
_SQRT_2 = 1.4142135
_FEW = 256  # up to so many numbers, rejected ones are drawn again one by one
_LEAST = 2.0**-24  # in place of 0, which has no logarithm; the least number drawn is 2^-23


def draw_uniforms(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Independent numbers uniform in [0, 1), multiples of 2^-23, float32.

    By ``jax.random.split``, which keeps both words that the generator makes at a time.

    >>> numbers = draw_uniforms(jax.random.key(0), (1000, 10))
    >>> bool((0 <= numbers).all() & (numbers < 1).all() & (abs(numbers.mean() - 0.5) < 0.01))
    True
    """
    words = _words(key, math.prod(shape)).reshape(shape)
    one_to_two = (words >> 9) | jnp.uint32(0x3F800000)  # the mantissa, with the exponent of 1
    return lax.bitcast_convert_type(one_to_two, jnp.float32) - 1


def draw_below(key: jax.Array, shape: tuple[int, ...], number: jax.Array, most: int) -> jax.Array:
    """Independent whole numbers uniform in 0 .. ``number`` - 1, int32; ``number`` in 1 .. ``most``.

    The first digit of a word to the base ``number``, and for small numbers the second one too
    (Lemire 2019, without rejections): chances differ by 2.5e-4 of themselves at most; above 1,024,
    where every number has 23 bits of its own, by ``number`` / 2^23.

    >>> numbers = draw_below(jax.random.key(0), (1000, 10), jnp.int32(3), most=5)
    >>> sorted(set(numbers.reshape(-1).tolist())), bool(abs(numbers.mean() - 1) < 0.03)
    ([0, 1, 2], True)
    """
    if most <= _MOST_OF_PAIRS:
        return _pairs_below(shape, key, number)
    draws = [functools.partial(draw, shape) for draw in (_pairs_below, _singles_below)]
    return lax.cond(number <= _MOST_OF_PAIRS, *draws, key, number)


def _pairs_below(shape: tuple[int, ...], key: jax.Array, number: jax.Array) -> jax.Array:
    count = math.prod(shape)
    base = number.astype(jnp.uint32)
    words = _words(key, -(-count // 2))
    first, rest = _first_digit(words, base)
    second, _ = _first_digit(rest, base)
    return jnp.concatenate([first, second])[:count].reshape(shape).astype(jnp.int32)


def _singles_below(shape: tuple[int, ...], key: jax.Array, number: jax.Array) -> jax.Array:
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


def sample_beta(key: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
    """Independent draws of Beta(a, b), float32, of the shape of ``a`` and ``b``, both at least 1.

    X / (X + Y) of two gamma variates by the rejection algorithm of Marsaglia and Tsang (2000).
    ``jax.random.beta`` takes any positive parameters, but splits a key for every number.

    >>> draws = sample_beta(jax.random.key(0), jnp.full(10_000, 3.0), jnp.ones(10_000))
    >>> bool(abs(draws.mean() - 0.75) < 0.01)
    True
    """
    variates = _sample_gamma(key, jnp.stack([a, b]).reshape(-1)).reshape(2, *a.shape)
    return variates[0] / (variates[0] + variates[1])


def _sample_gamma(key: jax.Array, shape: jax.Array) -> jax.Array:
    """Gamma variates, float32 [n], for shape parameters [n] of at least 1."""
    count = shape.shape[0]

    def draw(number: jax.Array | int, size: int) -> jax.Array:
        return draw_uniforms(jax.random.fold_in(key, number), (2, size))

    def retry_first(carry: tuple) -> tuple:
        number, variates, accepted = carry
        place = jnp.where(accepted, count - 1, jnp.arange(count, dtype=jnp.int32)).min()
        made, is_good = _attempt(draw(number, 1), shape[place])
        was_good = accepted[place]
        variates = variates.at[place].set(jnp.where(was_good, variates[place], made[0]))
        return number + 1, variates, accepted.at[place].set(was_good | is_good[0])

    def retry_all(carry: tuple) -> tuple:
        number, variates, accepted = carry
        made, is_good = _attempt(draw(number, count), shape)
        return number + 1, jnp.where(accepted, variates, made), accepted | is_good

    retry = retry_first if count <= _FEW else retry_all
    start = (jnp.ones((), jnp.int32), *_attempt(draw(0, count), shape))
    return lax.while_loop(lambda carry: ~carry[2].all(), retry, start)[1]


def _attempt(uniforms: jax.Array, shape: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Proposals [n] and whether they are accepted, from uniform numbers [2, n]."""
    size = shape - 1 / 3  # d
    normal = _SQRT_2 * lax.erf_inv(jnp.maximum(2 * uniforms[0] - 1, _LEAST - 1))
    y = normal / jnp.sqrt(9 * size)  # c x, and v = (1 + y)^3
    is_possible = y > -1
    y = jnp.where(is_possible, y, 0.0)
    # d - d v + d ln v without the loss of digits where y is small.
    gain = size * (3 * jnp.log1p(y) - y * (3 + y * (3 + y)))
    log_uniform = jnp.log(jnp.maximum(uniforms[1], _LEAST))
    return size * (1 + y) ** 3, is_possible & (log_uniform < normal**2 / 2 + gain)


def above_half(wins: jax.Array, losses: jax.Array) -> jax.Array:
    """P(theta > 1/2) for theta ~ Beta(wins + 1, losses + 1), float32, to 1e-5; counts are int32.

    The distribution function of wins + losses + 1 fair coins: a table for few; for many the normal
    distribution with Edgeworth's next term and the variance corrected for the lattice.
    ``betainc`` in float32 is .03 off for 100,000 duels.

    >>> print(f"{jax.jit(above_half)(1, 0):.4f}")  # 1 - 1/4
    0.7500
    """
    number = wins + losses + 1
    few = number < _MANY
    scale = jnp.where(few, 1, number).astype(jnp.float32)
    z = (wins - losses).astype(jnp.float32) / jnp.sqrt(scale - 1 / 3)
    many = norm.cdf(z) + norm.pdf(z) * (z**3 - 3 * z) / (12 * scale)
    exact = jnp.asarray(_above_half_of_few())[jnp.where(few, wins, 0), jnp.where(few, losses, 0)]
    return jnp.where(few, exact, many)


@functools.cache
def _above_half_of_few() -> NDArray[np.float32]:
    """The table, for fewer than ``_MANY`` wins and as many losses, [wins, losses]."""
    counts = np.arange(_MANY)
    from scipy.special import betainc  # its import takes a quarter of a second

    return betainc(counts + 1, counts[:, None] + 1, 0.5).astype(np.float32)
