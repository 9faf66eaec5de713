"""Who is best in a preference matrix, and what a duel costs by that.

A Condorcet winner need not exist, a Copeland winner beats the most others, a Borda winner wins most
often against a random opponent, a von Neumann winner is a lottery that no arm beats, and the Smith
set is the smallest set whose members beat all others. Axes: K arms, [M] measures of ``MEASURES``.
"""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaxrace.dueling.matrices import check_matrix


def copeland_scores(matrix: ArrayLike) -> jax.Array:
    """zeta_i = #{j != i : p_ij > 1/2} / (K - 1), float32 [..., K], for matrices [..., K, K]."""
    matrix = jnp.asarray(matrix)
    wins = (matrix > 0.5).sum(-1, dtype=jnp.int32)
    return wins.astype(jnp.float32) / (matrix.shape[-1] - 1)


def borda_scores(matrix: ArrayLike) -> jax.Array:
    """Mean of p_ij over all other j, float32 [..., K], for matrices [..., K, K]."""
    matrix = jnp.asarray(matrix, jnp.float32)
    return (matrix.sum(-1) - 0.5) / (matrix.shape[-1] - 1)


def condorcet_winner(matrix: ArrayLike) -> int | None:
    """The arm that beats every other, or None.

    >>> condorcet_winner([[0.5, 0.9], [0.1, 0.5]]), condorcet_winner([[0.5, 0.5], [0.5, 0.5]])
    (0, None)
    """
    checked = check_matrix(matrix)
    found = np.flatnonzero((checked > 0.5).sum(-1) == len(checked) - 1)
    return int(found[0]) if found.size else None


def copeland_winners(matrix: ArrayLike) -> NDArray[np.bool_]:
    """Those of the largest Copeland score, bool [K]."""
    scores = np.asarray(copeland_scores(check_matrix(matrix)))
    return scores == scores.max()


def borda_winners(matrix: ArrayLike) -> NDArray[np.bool_]:
    """Those of the largest Borda score, up to rounding of the entries to float32, bool [K]."""
    sums = check_matrix(matrix).astype(np.float64).sum(-1)
    # Entries are off by 2^-25 at most, in both sums.
    return sums >= sums.max() - len(sums) * 2.0**-24


def von_neumann_winner(matrix: ArrayLike) -> NDArray[np.float64]:
    """A lottery over the arms that wins with at least 1/2 against every arm: [K], sums to 1.

    The maximin strategy of the game with payoffs p_ij - 1/2, whose value is 0 (Dudik et al.
    2015), by SciPy's linear programming. There may be several; this is one of them.

    >>> stone_scissors_paper = [[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, 0.5]]
    >>> von_neumann_winner(stone_scissors_paper).round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    from scipy.optimize import linprog

    payoff = check_matrix(matrix).astype(np.float64) - 0.5  # antisymmetric
    num_arms = len(payoff)
    found = linprog(
        np.zeros(num_arms),
        A_ub=-payoff.T,  # at least 0 against every arm
        b_ub=np.zeros(num_arms),
        A_eq=np.ones((1, num_arms)),
        b_eq=[1.0],
        bounds=(0, 1),
        method="highs",
    )
    return found.x / found.x.sum()


def smith_set(matrix: ArrayLike) -> NDArray[np.bool_]:
    """The smallest set whose members beat every arm outside of it, bool [K].

    It holds those arms that come to every other one by a chain of "is not beaten by".
    """
    reaches = check_matrix(matrix) >= 0.5
    for middle in range(len(reaches)):
        reaches |= reaches[:, middle, None] & reaches[None, middle]
    return np.asarray(reaches.all(1))


# The order of the tables and of everything that is made of them.
MEASURES = ("weak", "strong", "copeland", "borda")


def regret_tables(matrix: jax.Array) -> jax.Array:
    """The regret of every pair by every measure, float32 [M, K, K].

    weak, strong: with the Condorcet winner w, the smaller one and the mean of p_wi - 1/2 and
    p_wj - 1/2 (Yue et al. 2012); infinite where there is no such winner. copeland: zeta_* minus the
    mean of zeta_i and zeta_j (Agrawal and Chaporkar 2019, eq. 9); borda likewise.
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
