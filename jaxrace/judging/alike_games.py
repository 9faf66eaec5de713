"""Are games of two alike, as their evidence takes for granted, and games of their own?

Axes: n games, P pairs, C laws.

If those of a pair are, each order of them is equally likely, and orders of different pairs are
independent: as in ``alike``, e = 1 / P(the order) times Q(the order) has a mean of at most 1 for
any law Q. Of e-values of several laws the mean is one, of several pairs the product, too.
"""

import math
from shlex import quote

import numpy as np

from jaxrace.evidence.copies import equal_blocks
from jaxrace.evidence.games import GamePairs, lower_first
from jaxrace.evidence.gamma import log_choose
from jaxrace.evidence.independence import REFUSED, WARNED
from jaxrace.evidence.levels import BoolArray, FloatArray, IntArray, log_sum
from jaxrace.judging.alike import in_blocks, log_e_of_blocks
from jaxrace.tables.copies import TWICE

_FEWEST = 8  # games of a pair, and of a block
_MOST_PAIRS = 50  # those that have met most
_BLOCKS = (4, 16)
_TILTS = (0.5, 1.0, 2.0, 4.0, 8.0)  # in standard deviations of what is tilted
_OF_RUNS = np.array([sign * tilt for tilt in _TILTS for sign in (1, -1)])  # more runs, and fewer
_OUTSIDE = 0.025  # of all pairs, on either side
_LEAST_COPIED = 40  # rows
_UNLIKE = "games are hardly alike: "
_JUDGES = "judges differ: "
BY_TURNS = (
    "games look like pairs that are not told: a result is followed by the opposite more often than "
    "by chance, as where an opening is played twice with sides reversed; say who had White, in "
    "columns white, black and result, and round with one number for both games of an opening"
)


def doubt_of(games: GamePairs, level: float) -> str:
    """Why games prove nothing, if they are hardly alike; else nothing.

    Chance makes an order that is doubted in at most one of a hundred logs. Doubted is also a mean
    over all games that their own e-process refutes, at ``level``: about as seldom as an interval is
    wrong, exp(-level) on either side, if games are alike.
    """
    if not games.ordered:
        return ""
    log_e = log_e_of_order(games)
    if log_e >= -math.log(WARNED):
        if log_e_of_order(games, by_turns=False) < -math.log(WARNED):
            return BY_TURNS
        return (
            f"{_UNLIKE}by chance less than one of {math.exp(min(log_e, 27)):.1g} logs has such an "
            "order; votes must not be sorted, and players must not change"
        )
    first, second = np.nonzero(games.met)
    level = max(level, math.log(max(len(first), 1) / 2 / _OUTSIDE))
    mean = games.process(first, second).mean
    if (games.process(first, second, mean).highest >= level).any():
        return (
            f"{_UNLIKE}the score of two over all of their games is outside of its own interval: "
            "players must not change"
        )
    return ""


def first_doubt(doubt: str, odd: str) -> str:
    """Of what ``doubt_of`` says and what else is odd, the one to be told; nothing if neither is."""
    return odd if odd and doubt in ("", BY_TURNS) else doubt


def doubt_about_copies(first: IntArray, second: IntArray, differences: FloatArray) -> str:
    """Why rows in their order are hardly games of their own: many of them come again, exactly.

    Given who plays, a row is another one with the chance c = sum p^2 over the results of its two;
    a block of rows is one of n^2 / 2 others with at most the product of these, times n^2 / 2.
    """
    n = len(first)
    if n < _LEAST_COPIED:
        return ""
    ways = np.unique(np.stack([first, second], 1), axis=0, return_inverse=True)[1].reshape(-1)
    results = np.unique(differences, return_inverse=True)[1].reshape(-1)
    codes = ways * (results.max() + 1) + results
    share = np.bincount(results) / n
    p = np.bincount(codes, minlength=(ways.max() + 1) * len(share)).reshape(-1, len(share))
    p = (p + share) / (p.sum(1, keepdims=True) + 1)  # of few games nearly that of all pairs
    log_c = np.append(0, np.log((p**2).sum(1))[ways].cumsum())
    sizes = sorted({n // k for k in (2, 3, 4, 6, 8, 16, 32) if n // k >= _LEAST_COPIED // 2})
    least, found = math.log(REFUSED) - math.log(n * n / 2 * len(sizes)), (0, 0, 0)
    for size in sizes:
        one, other = equal_blocks(codes, size)
        chances = log_c[one + size] - log_c[one]
        if len(one) and chances.min() <= least:
            place = int(chances.argmin())
            found = size, int(one[place]), int(other[place])
    size, one, other = found
    if not size or (codes[one : one + size] != codes[other : other + size]).any():
        return ""
    return (
        f"{TWICE}{size:,} results from number {one + 1:,} on are the same as those from number "
        f"{other + 1:,} on: leave the copies out"
    )


def doubt_about_judges(games: GamePairs, judges: IntArray, column: str) -> str:
    """Why votes of one judge are hardly of their own, if judges differ; else nothing.

    Args:
        games: Votes in which each judge is a block: if judges are alike, any order is as likely.
        judges: Numbers of those who gave them, [n], or -1.
        column: That of the judges.

    Judges who are alike are doubted in at most one of a hundred files.
    """
    order = np.argsort(judges, kind="stable")
    whose = judges[order]
    low, high, d = (x[order] for x in lower_first(games.first, games.second, games.differences))
    pairs = np.unique(np.stack([low, high], 1), axis=0, return_inverse=True)[1].reshape(-1)
    most = np.argsort(-np.bincount(pairs), kind="stable")[:_MOST_PAIRS]
    found = [0.0]
    for pair in most.tolist():
        of_pair, of_judge, log_es = d[pairs == pair], whose[pairs == pair], [0.0]
        for won in (np.sign(of_pair), np.sign(of_pair - of_pair.mean())):
            decided, own = won[won != 0], of_judge[won != 0]
            if len(decided) >= _FEWEST:
                cut = np.append(np.flatnonzero(np.diff(own, prepend=own[0] - 1)), len(own))
                log_es.append(float(log_e_of_blocks(*in_blocks(decided[None], cut))[0]))
        found.append(float(np.logaddexp.reduce(log_es)) - math.log(len(log_es)))
    both = np.logaddexp.reduce(found) - math.log(len(found)), np.sum(found)  # mean and product
    log_e = float(np.logaddexp(*both)) - math.log(2)
    if log_e < -math.log(WARNED):
        return ""
    return (
        f"{_JUDGES}those below {column!r} disagree about who is better more than by chance, "
        f"less than one of {math.exp(min(log_e, 27)):.1g} files; --cluster-column {quote(column)} "
        "counts each judge once; without that column in the file the answer is about these "
        f"{len(np.unique(judges[judges >= 0])):,} judges alone"
    )


def log_e_of_order(games: GamePairs, *, by_turns: bool = True) -> float:
    """ln e of the orders in which the results of each pair came.

    The mean over laws of the mean and of the product over pairs. Without ``by_turns`` the laws of
    more runs than by chance say nothing: no sorting makes these, but pairs that are not told do.

    >>> from jaxrace.evidence.levels import Bets
    >>> log = np.zeros(60, int), np.ones(60, int), np.repeat([1.0, -1.0], 30)
    >>> log_e_of_order(GamePairs(2, *log, Bets((0.5,), (1.0,)))) > math.log(1e6)
    True
    """
    pairs = np.argwhere(np.triu(games.met) >= _FEWEST)
    most = np.argsort(-games.met[tuple(pairs.T)], kind="stable")[:_MOST_PAIRS]
    found = []
    for i, j in pairs[most].tolist():
        d = games.of_pair(i, j)
        aside = _of_laws(d[d != 0] > 0)  # draws
        found.append(np.concatenate([aside, _of_laws(d > d.mean()) if (d == 0).any() else aside]))
    if not found:
        return 0.0
    log_es = np.array(found)  # [P, C]
    means = np.logaddexp.reduce(log_es) - math.log(len(log_es))
    both = np.concatenate([means, log_es.sum(0)])
    shares = np.where(_ARE_BY_TURNS & (not by_turns), -np.inf, _SHARES)
    return float(np.logaddexp.reduce(both + np.tile(shares, 4)) - math.log(4))


def _of_laws(won: BoolArray) -> FloatArray:
    """ln e of an order of wins, bool [n]: by blocks, by trends, and by runs of equal results."""
    n, m = len(won), int(won.sum())
    if m in (0, n):
        return np.zeros(len(_SHARES))
    counts = [count for count in _BLOCKS if n // count >= _FEWEST]
    signs = np.where(won, 1.0, -1.0)[None]
    blocks = [log_e_of_blocks(*in_blocks(signs, np.arange(c + 1) * n // c))[0] for c in counts]
    of_blocks = np.logaddexp.reduce(blocks) - math.log(len(blocks)) if blocks else 0.0
    return np.array([of_blocks, *_of_trends(won), *_of_runs(won)])


def _of_trends(won: BoolArray) -> list[float]:
    """ln e of Q ~ exp(theta W), W the sum of the centred places of wins, of +theta and -theta.

    E exp(theta W) over all orders is a Gaussian binomial over a binomial: with i = 1 to m,
    prod sinh(theta (n - m + i) / 2) / sinh(theta i / 2) / (n choose m).
    """
    n, m = len(won), int(won.sum())
    total = abs(float((np.flatnonzero(won) - (n - 1) / 2).sum()))
    i, found = np.arange(1, m + 1), []
    for tilt in _TILTS:
        theta = tilt / math.sqrt(m * (n - m) * (n + 1) / 12)
        scale = float((_log_sinh(theta * (n - m + i) / 2) - _log_sinh(theta * i / 2)).sum())
        scale -= float(log_choose(n, m))
        both = np.logaddexp(theta * total, -theta * total) - math.log(2)
        found.append(float(both) - scale)
    return found


def _log_sinh(x: FloatArray) -> FloatArray:
    return x + np.log(-np.expm1(-2 * x)) - math.log(2)


def _of_runs(won: BoolArray) -> list[float]:
    """ln e of Q ~ exp(theta R), R the number of runs (Wald and Wolfowitz), of fewer and of more."""
    n, m = len(won), int(won.sum())
    r = np.arange(2, 2 * min(m, n - m) + 2)
    half = r // 2
    even = math.log(2) + _log_ways(m, half) + _log_ways(n - m, half)
    odd = np.logaddexp(
        _log_ways(m, half + 1) + _log_ways(n - m, half),
        _log_ways(m, half) + _log_ways(n - m, half + 1),
    )
    log_p = np.where(r % 2, odd, even) - float(log_choose(n, m))
    mean = float(np.exp(log_p) @ r)
    spread = math.sqrt(float(np.exp(log_p) @ (r - mean) ** 2))
    if not spread > 0:
        return [0.0] * (2 * len(_TILTS))
    runs = 1 + int((won[1:] != won[:-1]).sum()) - mean
    thetas = _OF_RUNS / spread
    return (thetas * runs - log_sum(log_p + thetas[:, None] * (r - mean), 1)).tolist()


def _log_ways(number: int, parts: np.ndarray) -> FloatArray:
    """ln of the ways to cut so many things in a row into parts, none of them empty."""
    ways = log_choose(number - 1, np.clip(parts - 1, 0, number - 1))
    return np.where(parts <= number, ways, -np.inf)


# ln of the weights of the laws: a third each kind.
_SHARES = np.log(
    np.repeat([1 / 3, 1 / 3 / len(_TILTS), 1 / 6 / len(_TILTS)], [1, len(_TILTS), 2 * len(_TILTS)])
)
_ARE_BY_TURNS = np.append(np.zeros(1 + len(_TILTS), bool), _OF_RUNS > 0)
