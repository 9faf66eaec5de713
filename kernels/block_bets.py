"""Block-permutation bets: the factors of the e-process behind a dominance race.

A block of two options holds b samples of each. A bet of size lambda on "the first is preferred" is
placed on each of the b pairs that a permutation matches, and the factor of the block is the mean of
the products over permutations:

    F(lambda) = mean over p of  prod_a (1 + lambda c(x^a, y^p(a)) / 2),    c in {-1, 0, +1}.

Its expectation is at most 1 if the first option is not preferred more often than the second. The
permutations are p(a) = u a + v modulo a prime b, with u = 1 .. b - 1 and v = 0 .. b - 1.
The proof is in docs/dominance_race.md.

Axes: b samples of a block, L bets, P pairs of options.
"""

import jax
import jax.numpy as jnp
from jax import lax

# Primes. The mean of products of up to so many factors stays far inside the range of a float32:
# with all samples lost it is (1 - 1.95 / 2)^b.
BLOCK_SIZES = (2, 3, 5, 7, 11, 13, 17, 19, 23)

MAX_BET = 1.95


def log_block_factors(signs: jax.Array, bets: jax.Array) -> jax.Array:
    """ln F of one block, for both options of each pair.

    Args:
        signs: int8 [b, b, P]: ``c(x^a, y^c)`` of sample a of the pair's first option and sample c
            of its second one. b is one of ``BLOCK_SIZES``.
        bets: float32 [L], or [L, P] where pairs have bets of their own: lambda in (0, 1.95].

    Returns:
        float32 [2, L, P]: for "the first over the second", and for the reverse.

    Raises:
        ValueError: b is no prime, or too large.

    >>> import jax.numpy as jnp
    >>> won = jnp.ones((2, 2, 1), jnp.int8)  # both samples beat both: (1 + 1/2)^2 and (1 - 1/2)^2
    >>> print(jnp.exp(log_block_factors(won, jnp.array([1.0])))[:, 0, 0])
    [2.25 0.25]
    """
    size = signs.shape[0]
    if size not in BLOCK_SIZES:
        raise ValueError(
            f"signs: expected a block of {', '.join(map(str, BLOCK_SIZES))} samples, got {size}"
        )
    # Twice in a row, so that each rotation of the columns is a slice.
    doubled = jnp.concatenate([signs, signs[:, : size - 1]], axis=1)
    bets = bets[:, None] if bets.ndim == 1 else bets
    half = jnp.stack([bets, -bets])[None] / 2  # [1, 2, L, P or 1]

    def add_slope(u: jax.Array, sums: jax.Array) -> jax.Array:
        """All v at once, on the leading axis: sample a meets sample u a + v."""
        product = jnp.ones_like(sums)
        for a in range(size):
            matched = lax.dynamic_slice_in_dim(doubled[a], (u * a) % size, size)  # [b, P]
            product = product * (1 + half * matched[:, None, None, :].astype(jnp.float32))
        return sums + product

    sums = jnp.zeros((size, 2, bets.shape[0], signs.shape[2]), jnp.float32)
    sums = lax.fori_loop(1, size, add_slope, sums)
    return jnp.log(sums.sum(0) / (size * (size - 1)))
