"""Block-permutation bets: the factors of the e-process behind a dominance race.

A permutation matches the b samples of two options, and a bet of size lambda on "the first is
preferred" is placed on each match. The factor of this block is the mean over permutations p(a) = u
a + v modulo a prime b, u = 1 .. b - 1, v = 0 .. b - 1:

    F(lambda) = mean over p of  prod_a (1 + lambda c(x^a, y^p(a)) / 2),    c in {-1, 0, +1}.

Its expectation is at most 1 if the first option is not preferred more often than the second (proof
in docs/dominance_race.md). Axes: b samples of a block, L bets, P pairs of options.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

# Primes. The mean of products of up to so many factors stays far inside the range of a float32:
# with all samples lost it is (1 - 1.95 / 2)^b.
BLOCK_SIZES = (2, 3, 5, 7, 11, 13, 17, 19, 23)

MAX_BET = 1.95


def log_block_factors(signs: jax.Array, bets: jax.Array) -> jax.Array:
    """ln F of one block, for "the first over the second" and the reverse: float32 [2, L, P].

    `signs` int8 [b, b, P] are c(x^a, y^c) of sample a of the first option and c of the second;
    ValueError if b is not in `BLOCK_SIZES`. `bets` are lambda in (0, 1.95], float32 [L], or [L, P]
    where pairs have bets of their own.

    >>> won = jnp.ones((2, 2, 1), jnp.int8)  # both samples beat both: (1 + 1/2)^2 and (1 - 1/2)^2
    >>> print(jnp.exp(log_block_factors(won, jnp.array([1.0])))[:, 0, 0])
    [2.25 0.25]
    """
    size = _require_block("signs", signs)
    counts = _counts(signs)
    half = _half_bets(bets)
    won, lost = 1 + half, 1 - half
    # All terms are positive, so that their sum is as precise as each of them.
    total: jax.Array | float = 0.0
    for ties in range(size + 1):
        term: jax.Array | float = 0.0
        power: jax.Array | float = 1.0  # lost^losses
        for wins in range(size - ties, -1, -1):  # Horner's rule for the powers of won
            term = term * won + counts[wins, ties].astype(jnp.float32) * power
            power = power * lost
        total = total + term
    return jnp.log(total / (size * (size - 1)))


def log_block_products(differences: jax.Array, bets: jax.Array) -> jax.Array:
    """The same for differences that are no signs: c in [-1, 1], float32 [b, b, P].

    Their products are computed and not counted. ValueError if b is not in `BLOCK_SIZES`.

    >>> half = jnp.full((2, 2, 1), 0.5)  # (1 + 1/4)^2 and (1 - 1/4)^2
    >>> print(jnp.exp(log_block_products(half, jnp.array([1.0])))[:, 0, 0])
    [1.5625 0.5625]
    """
    size = _require_block("differences", differences)
    half = _half_bets(bets)
    factors = 1 + half[..., None, None, :] * differences  # [2, L, b, b, P]
    sample = np.arange(size)

    def add_slope(number: jax.Array, total: jax.Array) -> jax.Array:
        product = jnp.ones_like(total)
        for a in range(size):
            shifts = ((number + 1) * a + sample) % size
            product = product * factors[:, :, a, shifts]  # of each permutation a -> u a + v
        return total + product

    none = jnp.zeros((*factors.shape[:2], size, factors.shape[-1]), jnp.float32)
    total = lax.fori_loop(0, size - 1, add_slope, none).sum(2)
    return jnp.log(total / (size * (size - 1)))


def _half_bets(bets: jax.Array) -> jax.Array:
    """lambda / 2 on the first, and on the second: [2, L, P or 1]."""
    bets = bets[:, None] if bets.ndim == 1 else bets
    return bets * jnp.array([0.5, -0.5], jnp.float32)[:, None, None]


def _require_block(name: str, block: jax.Array) -> int:
    size = block.shape[0]
    if size not in BLOCK_SIZES:
        raise ValueError(
            f"{name}: expected a block of {', '.join(map(str, BLOCK_SIZES))} samples, got {size}"
        )
    return size


def _counts(signs: jax.Array) -> dict[tuple[int, int], jax.Array]:
    """By wins and ties of its b matches, the number of permutations [P] that have so many.

    The product of a permutation depends on nothing else.
    """
    size = signs.shape[0]
    unsigned = jnp.uint8 if (size + 1) * size < 256 else jnp.uint16
    kinds = [(wins, ties) for ties in range(size + 1) for wins in range(size + 1 - ties)]
    codes = jnp.asarray([wins + (size + 1) * ties for wins, ties in kinds], unsigned)[:, None]
    code = jnp.where(signs > 0, 1, jnp.where(signs == 0, size + 1, 0)).astype(unsigned)
    code = code.reshape(size * size, -1)
    slope, shift, sample = np.ogrid[1:size, :size, :size]
    cells = (sample * size + (slope * sample + shift) % size).reshape(-1, size)
    sums = functools.reduce(jnp.add, [code[cells[:, a]] for a in range(size)])  # [b (b - 1), P]

    def add_slope(number: jax.Array, counts: jax.Array) -> jax.Array:
        rows = lax.dynamic_slice_in_dim(sums, number * size, size)
        return counts + (rows == codes[:, None]).sum(1, dtype=unsigned)

    none = jnp.zeros((len(kinds), signs.shape[2]), unsigned)
    counts = lax.fori_loop(0, size - 1, add_slope, none, unroll=2)
    return dict(zip(kinds, counts, strict=True))
