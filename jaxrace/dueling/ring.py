"""What is known of each unordered pair of arms, once, as a rectangle.

The arms stand in a circle; the number of a pair is in the row of their distance, in the column of
the arm from which the other one is so many places ahead: [r, i] belongs to arms i and
(i + r + 1) mod K. With even K the last row has room for both orders of a pair, and only its first
half counts. Axes: K arms, D = K // 2 distances.
"""

import jax
import jax.numpy as jnp
import numpy as np


def place_of(pair: jax.Array, num_arms: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Row and column of a pair, int32 [], and whether its second arm is the one of the column.

    An arm and itself have the row D, which there is not.

    >>> [int(number) for number in place_of(jnp.array([0, 4]), 5)]
    [0, 4, 1]
    """
    ahead = (pair[1] - pair[0]) % num_arms
    behind = num_arms - ahead
    turned = (behind < ahead) | ((behind == ahead) & (pair[1] < pair[0]))
    row = jnp.where(ahead == 0, num_arms // 2, jnp.minimum(ahead, behind) - 1)
    return row, jnp.where(turned, pair[1], pair[0]), turned


def wins(ahead: jax.Array) -> jax.Array:
    """How many others each arm beats, int32 [K].

    Args:
        ahead: bool [D, K], does the arm of the column win the pair?

    >>> wins(jnp.array([[True, True, True, False]] + [[True, True, False, False]])).tolist()
    [3, 2, 1, 0]
    """
    num_distances, num_arms = ahead.shape
    counted = np.ones((num_distances, num_arms), bool)
    if num_arms % 2 == 0:
        counted[-1, num_arms // 2 :] = False
    lost = ~ahead & counted
    # Row r turned by r + 1: with every row written twice, one after the other, the numbers wanted
    # of the next row start 2 K - 1 places later.
    twice = jnp.concatenate([lost, lost], axis=1).reshape(-1)
    stride = 2 * num_arms - 1
    padded = jnp.pad(twice[num_arms - 1 :], (0, num_arms))[: num_distances * stride]
    of_second = padded.reshape(num_distances, stride)[:, :num_arms]
    return ((ahead & counted).astype(jnp.int32) + of_second.astype(jnp.int32)).sum(0)
