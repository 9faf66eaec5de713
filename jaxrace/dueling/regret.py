"""What a duel costs. Axes: K arms, [M] measures of ``MEASURES``.

A table holds the regret of every pair that may be played; it is 0 for the best arm against itself.
"""

import jax
import jax.numpy as jnp

from jaxrace.dueling.winners import borda_scores, copeland_scores

# The order of the tables and of everything that is made of them.
MEASURES = ("weak", "strong", "copeland", "borda")


def tables(matrix: jax.Array) -> jax.Array:
    """The regret of every pair by every measure, float32 [M, K, K].

    weak, strong: with the Condorcet winner w, the smaller one and the mean of p_wi - 1/2 and
    p_wj - 1/2 (Yue et al. 2012); infinite where there is no such winner. copeland: zeta_* minus the
    mean of zeta_i and zeta_j (Agrawal and Chaporkar 2019, eq. 9); borda likewise.

    Args:
        matrix: [K, K].

    >>> from jaxrace.dueling.matrices import flat
    >>> weak, strong, copeland, borda = tables(flat(3, 0.75))
    >>> strong.tolist()[0], copeland.tolist()[0]
    ([0.0, 0.125, 0.125], [0.0, 0.25, 0.5])
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
