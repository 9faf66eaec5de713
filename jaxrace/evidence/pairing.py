"""A tournament of games of two: what they show so far, and who plays next.

Who is first may be better off, so a result is the mean of two games with sides reversed. One place
for the tournament of a host and for compiled ones: arrays are NumPy's, changed in place, or JAX's,
with its module as ``xp``. The evidence is that of ``games``: docs/theory/games.md.
Axes: K players, n results of each match, L bets.
"""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxrace.evidence.boundaries import board_levels
from jaxrace.evidence.decision import (
    DOMINANCE,
    EXHAUSTED,
    RUNNING,
    SHARED_SLACK,
    SortKeys,
    certificate_of,
    in_doubt,
    seen_of,
    sort_keys,
)
from jaxrace.evidence.levels import Levels, levels, log_sum
from jaxrace.evidence.task_bets import winnings

_WIDTH = 0.35  # of the index, in standard deviations of a share
_UNMET = 4.0  # above every share and its width
_UNITS = 2.0**16  # of shares: equal ones, summed in other orders, may differ by rounding
_NEVER = np.iinfo(np.int32).max


class Crosstable(NamedTuple):
    """The results so far; a difference d in [-1, 1] is what one brings the first of two."""

    log_bets: Any  # float [K, K, L], ln of the products of 1 + lambda d, of i over j
    highest: Any  # float [K, K], the largest ln E_ij so far, -inf before the first result
    sums: Any  # float [K, K], of d
    met: Any  # int [K, K], results

    @property
    def games(self) -> Any:
        """Of all pairs, int []: two of each result."""
        return self.met.sum()

    def mean(self, xp: Any = np) -> Any:
        """Of d, float [K, K]; 0 of those that have not met."""
        return self.sums / xp.maximum(self.met, 1).astype(self.sums.dtype)


class Situation(NamedTuple):
    """How a tournament stands."""

    keys: SortKeys  # what players are ranked by
    certificate: Any  # int [], a number of ``CERTIFICATES``
    doubtful: Any  # bool [K, K], pairs that more games are for
    over: Any  # bool [K, K], verdicts


@dataclasses.dataclass(frozen=True)
class TournamentGoal:
    """What a tournament is to certify: the best ``top`` of K players; None: the whole order."""

    num_players: int
    top: int | None = 1

    @property
    def named(self) -> int:
        """How many are named as the best."""
        return self.num_players if self.top is None else self.top

    def levels(self, delta: float) -> Levels:
        """The log e-values that verdicts need."""
        if self.top is None:
            return board_levels("wins", self.num_players, delta)
        return levels("wins", self.num_players, self.top, delta)


def nothing_played(num_players: int, num_bets: int, xp: Any = np, dtype: Any = float) -> Crosstable:
    """Before the first game."""
    zeros = xp.zeros((num_players, num_players), dtype)
    logs = xp.zeros((num_players, num_players, num_bets), dtype)
    met = xp.zeros((num_players, num_players), int if xp is np else xp.int32)
    return Crosstable(logs, xp.full_like(zeros, -xp.inf), zeros, met)


def with_matches(
    table: Crosstable,
    first: Any,
    second: Any,
    differences: Any,
    bets: Any,
    weights: Any,
    xp: Any = np,
    counted: Any = None,
) -> Crosstable:
    """With n results of each of m pairs, all different, in their order; n at least 1.

    ``first`` and ``second`` are int [m], ``differences`` float [m, n], d of the first; bets [L] and
    their weights are arrays of the same kind. ``counted``, bool [m, n]: which of them are results;
    None: all.
    """
    at = xp.concatenate([first, second]), xp.concatenate([second, first])
    are = xp.ones(differences.shape, bool) if counted is None else counted
    are = xp.concatenate([are, are])  # [2 m, n]
    both = xp.where(are, xp.concatenate([differences, -differences]), 0.0)
    path = xp.log1p(winnings(bets, both[..., None], 0.0, xp=xp)).cumsum(1)  # [2 m, n, L]
    path = table.log_bets[at][:, None] + path
    highest = xp.where(are, log_sum(path + xp.log(weights), xp=xp), -xp.inf).max(1)
    return Crosstable(
        _put(table.log_bets, at, path[:, -1]),
        _put(table.highest, at, xp.maximum(table.highest[at], highest)),
        _put(table.sums, at, table.sums[at] + both.sum(1)),
        _put(table.met, at, table.met[at] + are.sum(1, dtype=table.met.dtype)),
    )


def _put(array: Any, at: Any, values: Any) -> Any:
    if not isinstance(array, np.ndarray):
        return array.at[at].set(values)
    array[at] = values
    return array


def look_at(
    table: Crosstable, goal: TournamentGoal, level: Any, strong: Any, xp: Any = np
) -> Situation:
    """Is the goal certified, by verdicts of these log e-values, or which pairs are in doubt?

    The whole order is certified once each player has a verdict over each that is ranked below it.
    """
    mean = table.mean(xp)
    # Where each of two has reached a verdict once, the larger one stands: a tournament in which
    # neither does would not end.
    highest = xp.where(table.highest < table.highest.T, -xp.inf, table.highest)
    seen = seen_of(highest, mean, level, strong)
    keys = sort_keys(seen.over, mean, xp.round(mean.sum(1) * _UNITS), xp)
    undecided = ~(seen.over | seen.over.T | xp.eye(len(mean), dtype=bool))
    if goal.top is None:
        doubtful = undecided
        wins = seen.over.sum(1, dtype=xp.int32)
        is_order = (xp.sort(wins) == xp.arange(len(mean))).all()
        certificate = xp.where(is_order, DOMINANCE, RUNNING)
    else:
        found = in_doubt(seen, keys.first(goal.top, xp), level, SHARED_SLACK, xp=xp)
        # A player that leads by its wins may have a verdict against it from one that does not: all
        # pairs help but those of two that are certainly in, or certainly out.
        is_in = seen.over.sum(1) >= len(mean) - goal.top
        is_out = seen.over.sum(0) >= goal.top
        alike = (is_in[:, None] & is_in) | (is_out[:, None] & is_out)
        doubtful = xp.where(found.doubtful.any(), found.doubtful, undecided & ~alike)
        certificate = certificate_of(found, xp.int32(RUNNING), xp)
    is_over = (certificate == RUNNING) & ~doubtful.any()
    return Situation(keys, xp.where(is_over, EXHAUSTED, certificate), doubtful, seen.over)


def next_pair(
    table: Crosstable, now: Situation, goal: TournamentGoal, xp: Any = np
) -> tuple[Any, Any]:
    """Who plays next, int [] each; only where pairs are in doubt.

    One of the ``top`` players of the highest index against one of the others: the open pair that
    has met least. For the whole order every pair needs a verdict, and all of them are open.
    """
    is_open = now.doubtful
    if goal.top is not None:
        index = _index(table, goal.top, xp)
        leads = SortKeys(xp.zeros(len(index), int), index).first(goal.top, xp)
        cross = leads[:, None] & ~leads[None, :] & ~(now.over | now.over.T)
        # Where the index and the evidence disagree, the evidence says what is open.
        is_open = xp.where(cross.any(), cross, is_open)
    met = xp.where(is_open, table.met, _NEVER)
    # Of equals that in which the second is best.
    best = xp.where(met == met.min(), _share(table, xp).T, -xp.inf).reshape(-1).argmax()
    return best // len(met), best % len(met)


def games_first(number: int, lead: Any, xp: Any = np) -> Any:
    """Of so many games of two, how many have the one first; the rest has the other first, int [].

    Of those with the one first ``lead`` more wait than of the others: afterwards one at most does.

    >>> [int(games_first(number, lead)) for number, lead in ((10, 0), (10, 3), (1, 1))]
    [5, 4, 0]
    """
    return xp.clip((number - lead + 1) // 2, 0, number)


def _share(table: Crosstable, xp: Any) -> Any:
    """Of the points, [K, K]; 1/2 of those that have not met."""
    return xp.round((1 + table.mean(xp)) / 2 * _UNITS) / _UNITS


def _index(table: Crosstable, top: int, xp: Any) -> Any:
    """How well each may do, [K]: share + .35 sqrt(2 ln t / n), against the rivals it has met.

    n games of the two and t of all. The smallest but kappa - 1 of them, as so many may be better
    than one of the best kappa; who has met fewer is first.
    """
    share = _share(table, xp)
    time = xp.log(xp.maximum(table.games, 2).astype(share.dtype))
    width = _WIDTH * xp.sqrt(time / xp.maximum(table.met, 1).astype(share.dtype))
    upper = xp.sort(xp.where(table.met > 0, share + width, xp.inf), 1)[:, top - 1]
    return xp.where(xp.isfinite(upper), upper, _UNMET)
