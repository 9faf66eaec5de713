"""Who is best in a preference matrix, on the host.

A Condorcet winner need not exist, a Copeland winner beats the most others, a Borda winner wins most
often against a random opponent, a von Neumann winner is a lottery that no arm beats, and the Smith
set is the smallest set whose members beat all others. Two rankings: maximin goes by how an arm does
against whom it does worst, Kemeny's agrees with as many duels as an order can. Axes: K arms.
"""

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaxrace.core.inputs import require_preferences
from jaxrace.core.validation import BadArgument

# Of a game with payoffs of 1 to 3: ties between constraints are broken by numbers of this size, and
# what is below the second one is rounding.
_NUDGE, _ROUNDING = 1e-8, 1e-10
_MOST_ORDERED = 8  # arms, of which all 40,320 orders are looked at


def check_matrix(matrix: ArrayLike) -> NDArray[np.float32]:
    """A preference matrix, float32 [K, K], with p_ij + p_ji = 1 exactly: all agree on what is tied.

    ValueError if it is not square, has fewer than two arms, or an entry that cannot be right.

    >>> check_matrix([[0.5, 0.7], [0.2, 0.5]])
    Traceback (most recent call last):
    jaxrace.core.validation.BadArgument: matrix: expected p_ij + p_ji = 1, got 0.7 + 0.2 for 0 and 1
    """
    require_preferences("matrix", matrix)
    found = np.asarray(matrix, np.float64)
    lead = (found - found.T) / 2
    high = (0.5 + abs(lead)).astype(np.float32)
    # 1 - high is exact: both are on different sides of 1/2, or both on it.
    return np.where(lead >= 0, high, 1 - high)


def condorcet_winner(matrix: ArrayLike) -> int | None:
    """The arm that beats every other, or None."""
    checked = check_matrix(matrix)
    found = np.flatnonzero((checked > 0.5).sum(-1) == len(checked) - 1)
    return int(found[0]) if found.size else None


def copeland_winners(matrix: ArrayLike) -> NDArray[np.bool_]:
    """Those of the largest Copeland score, bool [K]."""
    wins = (check_matrix(matrix) > 0.5).sum(-1)
    return wins == wins.max()


def borda_winners(matrix: ArrayLike) -> NDArray[np.bool_]:
    """Those of the largest Borda score, up to rounding of the entries to float32, bool [K]."""
    sums = check_matrix(matrix).astype(np.float64).sum(-1)
    # Entries are off by 2^-25 at most, in both sums.
    return sums >= sums.max() - len(sums) * 2.0**-24


def smith_set(matrix: ArrayLike) -> NDArray[np.bool_]:
    """The smallest set whose members beat every arm outside of it, bool [K]."""
    beats = check_matrix(matrix) > 0.5
    wins = beats.sum(1)
    order = np.argsort(-wins, kind="stable")
    # The set is where this order begins: members win more often than all others.
    within = np.diagonal(beats[np.ix_(order, order)].cumsum(0).cumsum(1))
    first = np.arange(1, len(wins) + 1)
    beyond = wins[order].cumsum() - within  # wins of the first against the rest
    size = first[beyond == first * (len(wins) - first)][0]
    return wins >= wins[order[size - 1]]


def maximin_ranking(matrix: ArrayLike) -> NDArray[np.int64]:
    """The arms by min_j p_ij, the largest first, and equal ones as they come: int64 [K].

    A Condorcet winner is the first. Without one it may be an arm that all others beat: narrowly,
    where they beat each other clearly in a circle (Simpson 1969; Kramer 1977).

    >>> circle = [[0.5, 0.9, 0.1, 0.6], [0.1, 0.5, 0.9, 0.6], [0.9, 0.1, 0.5, 0.6]]
    >>> matrix = [*circle, [0.4, 0.4, 0.4, 0.5]]
    >>> maximin_ranking(matrix).tolist(), kemeny_ranking(matrix).tolist()
    ([3, 0, 1, 2], [0, 1, 2, 3])
    """
    checked = check_matrix(matrix)
    np.fill_diagonal(checked, 1)
    return np.argsort(-checked.min(1), kind="stable")


def kemeny_ranking(matrix: ArrayLike) -> NDArray[np.int64]:
    """The order with the largest sum of p_ij over all i before j, of at most 8 arms: int64 [K].

    Of all orders it is the one that agrees with most duels, if each pair has as many; of several
    the first by the numbers of the arms. The members of the Smith set are ahead of all others
    (Kemeny 1959; Young and Levenglick 1978). BadArgument if there are more than 8 arms.
    """
    checked = check_matrix(matrix).astype(np.float64)
    if (count := len(checked)) > _MOST_ORDERED:
        most = f"at most {_MOST_ORDERED} arms, as all orders are looked at"
        raise BadArgument("matrix", most, str(count))
    orders = np.array(list(itertools.permutations(range(count))))
    first, second = np.triu_indices(count, 1)
    # Entries are multiples of 2^-24: sums are exact.
    agree = checked[orders[:, first], orders[:, second]].sum(1)
    return orders[np.argmax(agree)]


def von_neumann_winner(matrix: ArrayLike) -> NDArray[np.float64]:
    """A lottery over the arms that wins with at least 1/2 against every arm: [K], sums to 1.

    The maximin strategy of the game with payoffs p_ij - 1/2, whose value is 0 (Dudik et al. 2015).
    Of several this is one, of arms that no other beats if there are such, within the Smith set.

    >>> stone_scissors_paper = [[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, 0.5]]
    >>> von_neumann_winner(stone_scissors_paper).round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    checked = check_matrix(matrix)
    if (unbeaten := (checked >= 0.5).all(1)).any():
        return unbeaten / unbeaten.sum()
    members = np.flatnonzero(smith_set(checked))
    game = checked[np.ix_(members, members)].astype(np.float64) - 0.5  # antisymmetric
    lottery = np.zeros(len(checked))
    lottery[members] = _maximin(game / (abs(game).max() or 1.0))
    return lottery


def _maximin(game: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lottery x with x game >= 0, of an antisymmetric game [K, K] with payoffs up to 1.

    By the simplex method: maximise sum y where M y <= 1 and y >= 0, for M = game + 2, whose value
    is 2; x = y / sum y. Its last exchange says which are the support and the tight rows, and y is
    the solution of their equations. RuntimeError if the game is not won so.
    """
    count, payoff = len(game), game + 2
    table = np.ones((count + 1, count + 1))
    table[:count, :count] = payoff
    table[:count, count] += _NUDGE * np.random.default_rng(0).random(count)  # no two rows tie
    table[count, :count], table[count, count] = -1, 0
    columns, rows = np.arange(count), count + np.arange(count)  # y, and what is left up to 1
    while table[count, column := int(np.argmin(table[count, :count]))] < -_ROUNDING:
        rises = np.maximum(table[:count, column], _ROUNDING / 2)
        ratios = np.where(rises > _ROUNDING, table[:count, count] / rises, np.inf)
        row = int(np.argmin(ratios))
        pivot, of_column = table[row, column], table[:, column].copy()
        table[row] /= pivot
        of_column[row] = 0
        table -= np.outer(of_column, table[row])
        table[:, column] = -of_column / pivot
        table[row, column] = 1 / pivot
        rows[row], columns[column] = columns[column], rows[row]
    support, tight = rows[rows < count], columns[columns >= count] - count
    found = np.zeros(count)
    found[support] = np.linalg.solve(payoff[np.ix_(tight, support)], np.ones(len(support)))
    found = np.maximum(found / found.sum(), 0)
    if (worst := (found @ game).min()) < -_NUDGE:
        raise RuntimeError(f"von Neumann winner: expected at least 0 against all, got {worst:.2g}")
    return found
