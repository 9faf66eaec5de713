"""What a duel costs, by who is best in its preference matrix.

Axes: K arms, [M] measures of ``MEASURES``.
"""

import jax
import jax.numpy as jnp
from numpy.typing import ArrayLike


def copeland_scores(matrix: ArrayLike) -> jax.Array:
    """zeta_i = #{j != i : p_ij > 1/2} / (K - 1), float32 [..., K], for matrices [..., K, K].

    >>> copeland_scores(jnp.array([[0.5, 0.6, 0.7], [0.4, 0.5, 0.5], [0.3, 0.5, 0.5]])).tolist()
    [1.0, 0.0, 0.0]
    """
    matrix = jnp.asarray(matrix)
    wins = (matrix > 0.5).sum(-1, dtype=jnp.int32)
    return wins.astype(jnp.float32) / (matrix.shape[-1] - 1)


def borda_scores(matrix: ArrayLike) -> jax.Array:
    """Mean of p_ij over all other j, float32 [..., K], for matrices [..., K, K].

    >>> borda_scores(jnp.array([[0.5, 0.75], [0.25, 0.5]])).tolist()
    [0.75, 0.25]
    """
    matrix = jnp.asarray(matrix, jnp.float32)
    return (matrix.sum(-1) - 0.5) / (matrix.shape[-1] - 1)


# The order of the tables and of everything that is made of them.
MEASURES = ("weak", "strong", "copeland", "borda")


def regret_tables(matrix: jax.Array) -> jax.Array:
    """The regret of every pair by every measure, float32 [M, K, K].

    weak, strong: with the Condorcet winner w, the smaller one and the mean of p_wi - 1/2 and
    p_wj - 1/2 (Yue et al. 2012); infinite where there is no such winner. copeland: zeta_* minus the
    mean of zeta_i and zeta_j (Agrawal and Chaporkar 2019, eq. 9); borda likewise.

    >>> regret_tables(jnp.array([[0.5, 0.75], [0.25, 0.5]]))[:, 0, 1].tolist()
    [0.0, 0.125, 0.5, 0.25]
    """
    matrix = jnp.asarray(matrix, jnp.float32)
    copeland, borda = copeland_scores(matrix), borda_scores(matrix)
    winner = jnp.argmax(copeland)
    has_winner = copeland[winner] == 1
    loss = jnp.where(has_winner, matrix[winner] - 0.5, jnp.inf)
    return jnp.stack(
        [
            jnp.minimum(loss[:, None], loss),
            (loss[:, None] + loss) / 2,
            copeland.max() - (copeland[:, None] + copeland) / 2,
            borda.max() - (borda[:, None] + borda) / 2,
        ]
    )
