"""Games or votes of two: the e-process of each pair on its own games, in their order.

A game has a difference d in [-1, 1]: won 1, drawn 0, lost -1, and the null "i is no better than j"
is that d has a mean of at most mu in each game, given all games before. Who plays next may depend
on what has been seen: a game of another pair changes nothing. Axes: K options, n games, P pairs,
L bets.
"""

import dataclasses
import functools
from collections import deque
from typing import TypeVar

import numpy as np

from jaxrace.evidence.levels import LARGEST_BET, Bets, FloatArray, IntArray, log_sum
from jaxrace.evidence.process import Process, in_chunks, least_wins
from jaxrace.evidence.task_bets import winnings


@dataclasses.dataclass(frozen=True, eq=False)
class GamePairs:
    """A log of games, any two options of which can be compared; see ``process.Pairs``.

    Attributes:
        num_options: K.
        first, second: Who has played, int [n], in the order of the games.
        differences: d of the first over the second, float [n].
        bets: The mixture. With a gap the first bet is ``own_bets`` instead.
        gap: A mean difference that is likely beyond a null, 0 for none; see ``gap_bets``.
        ordered: Is the order that of the games? Else evidence is what it is after all of them.

    >>> log = np.zeros(60, int), np.ones(60, int), np.tile([1.0, 1.0, 0.0], 20)
    >>> games = GamePairs(2, *log, Bets((0.5,), (1.0,)))
    >>> found = games.process(np.array([0, 1]), np.array([1, 0]))
    >>> found.mean.round(3), found.highest.round(1), found.common
    (array([ 0.667, -0.667]), array([16.2, -0.7]), array([60, 60]))
    """

    num_options: int
    first: IntArray
    second: IntArray
    differences: FloatArray
    bets: Bets
    ordered: bool = True
    gap: float = 0.0

    @functools.cached_property
    def met(self) -> IntArray:
        """Games of each two: [K, K], symmetric."""
        found = np.zeros((self.num_options, self.num_options), int)
        np.add.at(found, (self.first, self.second), 1)
        return found + found.T

    @functools.cached_property
    def _sorted(self) -> tuple[FloatArray, IntArray]:
        """Differences of the lower number over the higher, pair by pair; where each pair begins."""
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        key = low * self.num_options + high
        order = np.argsort(key, kind="stable")
        signed = np.where(self.first == low, self.differences, -self.differences)
        begins = np.searchsorted(key[order], np.arange(self.num_options**2))
        return signed[order], begins.reshape(self.num_options, self.num_options)

    @functools.cached_property
    def _own_bets(self) -> FloatArray:
        """The bet on the gap in each game, in the order of ``_sorted``."""
        games, begins = self._sorted
        squares = (games**2).cumsum() - games**2
        starts = np.unique(begins[begins < len(games)])
        number = np.diff(np.append(starts, len(games)))
        place = np.arange(len(games)) - np.repeat(starts, number)
        return own_bets(self.gap, squares - np.repeat(squares[starts], number), place)

    def of_pair(self, first: int, second: int) -> FloatArray:
        """The differences of one option over another, in their order."""
        found, begins = self._sorted
        low, high = sorted((first, second))
        begin = begins[low, high]
        own = found[begin : begin + self.met[low, high]]
        return own if first == low else -own

    def process(self, first: IntArray, second: IntArray, null: float | FloatArray = 0.0) -> Process:
        """The e-processes of ordered pairs; see ``process.Pairs``."""
        null = np.broadcast_to(np.asarray(null, float), first.shape)
        most = int(self.met[first, second].max(initial=1))
        parts = [
            self._of_chunk(first[part], second[part], null[part])
            for part in in_chunks(len(first), most * len(self.bets.bets))
        ]
        if not parts:
            return self._of_chunk(first, second, null)
        return Process(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def _of_chunk(self, first: IntArray, second: IntArray, null: FloatArray) -> Process:
        games, begins = self._sorted
        low, high = np.minimum(first, second), np.maximum(first, second)
        number = self.met[low, high]
        ends = number.cumsum()
        own = np.repeat(begins[low, high] - (ends - number), number) + np.arange(number.sum())
        d = games[own] * np.repeat(np.where(first == low, 1.0, -1.0), number)
        bets = np.array(self.bets.bets)[:, None]
        if self.gap:
            bets = np.concatenate([self._own_bets[None, own], bets[1:].repeat(len(d), 1)])
        logs = np.log1p(winnings(bets, d, np.repeat(null, number))).cumsum(1)  # [L, games]
        logs = np.pad(logs, ((0, 0), (1, 0)))
        before = logs[:, ends - number]
        log_bets = logs[:, ends] - before
        path = log_sum(
            logs[:, 1:] - np.repeat(before, number, 1) + np.log(self.bets.weights)[:, None], 0
        )
        highest, played = np.full(len(first), -np.inf), number > 0
        if played.any():
            highest[played] = (
                np.maximum.reduceat(path, (ends - number)[played])
                if self.ordered
                else path[ends[played] - 1]
            )
        total = np.diff(np.pad(d.cumsum(), (1, 0))[np.pad(ends, (1, 0))])
        never = np.zeros(len(first), bool)
        mean = total / np.maximum(number, 1)
        return Process(log_bets.T, highest, mean, number, never, never)

    def least_further(self, process: Process, null: float, level: float) -> IntArray:
        """Further games of both at best; see ``process.Pairs``."""
        return least_wins(process, null, self.bets, level, 1)


def gap_bets(gap: float, mixture: Bets) -> Bets:
    """The mixture, three quarters of it on a gap: a mean difference that is likely beyond a null.

    The best bet is nearly gap / E d^2 (Kelly), and E d^2 is small where most games are drawn. So
    the first bet of the result is that of the first game only; see ``own_bets``.
    """
    weights = tuple((1 - _OF_GAP) * weight for weight in mixture.weights)
    first = float(own_bets(gap, np.zeros(1), np.zeros(1, int))[0])
    return Bets((first, *mixture.bets), (_OF_GAP, *weights))


def own_bets(gap: float, squares: FloatArray, number: IntArray) -> FloatArray:
    """gap / mean of d^2 in the games before, of which ``number`` are known, with so large a sum.

    It is chosen by the past of the pair, so that E stays a supermartingale; and it is the same for
    all nulls, so that evidence falls with the null.

    >>> own_bets(0.05, np.array([0.0, 10.0]), np.array([0, 90])).round(3)
    array([0.167, 0.385])
    """
    mean = (_FIRST_SQUARES * _FIRST_GAMES + squares) / (_FIRST_GAMES + number)
    return np.minimum(gap / mean, LARGEST_BET)


_FEWEST_MIRRORED = 40  # rows
_OF_GAP = 0.75  # of the weight
_FIRST_SQUARES, _FIRST_GAMES = 0.3, 10  # the mean of d^2 that is taken first, and its weight


Side = TypeVar("Side")
Waiting = dict[Side, deque[float]]  # d of the games that wait, the oldest first, by who is first


def joined(waiting: Waiting[Side], side: Side, opposite: Side, d: float) -> float | None:
    """What a game brings with the oldest of those that wait with sides reversed, their mean.

    Else None, and it waits itself.

    >>> waiting = {}
    >>> joined(waiting, "ab", "ba", 1.0), joined(waiting, "ba", "ab", 0.0)
    (None, -0.5)
    """
    if there := waiting.get(opposite):
        return (d - there.popleft()) / 2
    waiting.setdefault(side, deque()).append(d)
    return None


def in_rounds(
    first: IntArray, second: IntArray, differences: FloatArray, pairs: IntArray | None = None
) -> tuple[IntArray, IntArray, FloatArray, int]:
    """Two games of a pair with sides reversed as one, with their mean; and how many are left over.

    The k-th game with i first and the k-th with j first go together, in the place of the later one:
    who is first may be better off, as White is. With ``pairs``, [n], those of one number go
    together, as of one opening, and those below 0 with none.

    >>> log = np.array([0, 1, 0]), np.array([1, 0, 1]), np.array([1.0, 1.0, 0.0])
    >>> in_rounds(*log)
    (array([1]), array([0]), array([0.]), 1)
    """
    waiting: Waiting[tuple[int, int, int]] = {}
    kept: list[tuple[int, float]] = []
    of = np.zeros(len(first), int) if pairs is None else pairs
    games = zip(first.tolist(), second.tolist(), differences.tolist(), of.tolist(), strict=True)
    for game, (one, other, d, pair) in enumerate(games):
        if pair >= 0:
            result = joined(waiting, (one, other, pair), (other, one, pair), d)
            kept += [] if result is None else [(game, result)]
    rows = np.array([game for game, _ in kept], int)
    left = len(first) - 2 * len(rows)
    return first[rows], second[rows], np.array([d for _, d in kept], float), left


def by_item(
    first: IntArray, second: IntArray, differences: FloatArray, items: IntArray, *, sided: bool
) -> tuple[IntArray, FloatArray]:
    """Rows that stand for all of their pair and item, the first ones, and their mean differences.

    What several judges say of one item is one result; items below 0 are of one row each. With
    ``sided`` i first and j first are two pairs.

    >>> log = np.array([0, 1, 0]), np.array([1, 0, 1]), np.array([1.0, 1.0, -1.0])
    >>> by_item(*log, np.array([7, 7, 8]), sided=False)
    (array([0, 2]), array([ 0., -1.]))
    """
    sign = np.where((first < second) | sided, 1, -1)
    low, high = np.where(sign > 0, (first, second), (second, first))
    items = np.where(items < 0, -1 - np.arange(len(items)), items)
    _, rows, of = np.unique(
        np.stack([low, high, items], 1), axis=0, return_index=True, return_inverse=True
    )
    means = np.bincount(of.reshape(-1), sign * differences) / np.bincount(of.reshape(-1))
    order = np.argsort(rows)
    rows = rows[order]
    return rows, means[order] * sign[rows]


def lower_first(
    first: IntArray, second: IntArray, differences: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """The same games, named and counted from the option with the lower number, [n] each.

    >>> [x.tolist() for x in lower_first(np.array([0, 2]), np.array([1, 1]), np.array([1.0, 1.0]))]
    [[0, 1], [1, 2], [1.0, -1.0]]
    """
    low, high = np.minimum(first, second), np.maximum(first, second)
    return low, high, np.where(first < second, differences, -differences)


def in_mirrors(
    first: IntArray, second: IntArray, differences: FloatArray
) -> tuple[IntArray, str] | None:
    """Which rows are one verdict in both orders, int [n], and how that is seen; None if none are.

    Two rows, one with sides reversed, come one after the other all through; or the second half of
    the rows repeats the pairs of the first half so. Or there are as many rows of each result, in
    every pair, as with sides reversed: by chance so is one of eight files of two options whose
    sides are balanced. Two results that are taken for one prove less, and nothing that is wrong.

    >>> one, other, won = np.arange(40) % 2, 1 - np.arange(40) % 2, np.repeat([1.0, -1.0], 20)
    >>> items, how = in_mirrors(one, other, won)
    >>> items[:6].tolist(), how
    ([0, 0, 1, 1, 2, 2], 'one after the other')
    """
    n = len(first)
    if n < _FEWEST_MIRRORED or n % 2:
        return None
    rows, half = np.arange(n), n // 2
    for items, how in ((rows // 2, "one after the other"), (rows % half, "in two halves")):
        order = np.argsort(items, kind="stable")
        one, other = order[::2], order[1::2]
        if (first[one] == second[other]).all() and (second[one] == first[other]).all():
            return items, how
    is_up = first < second
    results = np.stack(lower_first(first, second, differences), 1)
    kinds = np.unique(results, axis=0, return_inverse=True)[1].reshape(-1)
    often = [np.bincount(kinds[side], minlength=kinds.max() + 1) for side in (is_up, ~is_up)]
    if (often[0] != often[1]).any() or kinds.max() < 1:
        return None
    items = np.zeros(n, int)
    for side in (is_up, ~is_up):  # the k-th of each result with the k-th that is reversed
        items[np.flatnonzero(side)[np.argsort(kinds[side], kind="stable")]] = np.arange(half)
    return items, "as often with sides reversed, result by result"


def balanced(first: IntArray, second: IntArray, differences: FloatArray) -> IntArray:
    """Rows of games in no order of which, for any i and j, as many have i first as j first.

    Those that are left out are drawn by lot, always the same. If the mean of d is m with i first
    and m' of i with j first, m + m' <= 0, n games of each have E prod(1 + lambda d) =
    ((1 + lambda m) (1 + lambda m'))^n <= 1.

    >>> first, d = np.array([0, 0, 0, 1, 1]), np.array([1.0, 1.0, 0.0, 1.0, 0.0])
    >>> first[balanced(first, 1 - first, d)].tolist()
    [0, 0, 1, 1]
    """
    drawn = np.random.default_rng(0).permutation(len(first))
    order = np.lexsort((differences, second, first))  # so that rows in any order are as good
    groups: dict[tuple[int, int], list[int]] = {}
    ways = zip(first[order].tolist(), second[order].tolist(), strict=True)
    for place, way in enumerate(ways):
        groups.setdefault(way, []).append(place)
    kept: list[int] = []
    for (one, other), places in groups.items():
        number = min(len(places), len(groups.get((other, one), ())))
        kept += sorted(places, key=drawn.__getitem__)[:number]
    return np.sort(order[np.array(kept, int)])
