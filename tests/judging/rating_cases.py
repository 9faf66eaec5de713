"""Tables of comparisons of many kinds, and how often what is said of them is so.

Axes: K options, n comparisons.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxrace.judging.rating.advice import advice
from jaxrace.judging.rating.model import chance, rate
from jaxrace.tables import Votes

BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.01)


def normal(rng, size, spread=1.0):
    return rng.normal(0, spread, size)


def uniform(rng, size, spread=1.5):
    return rng.uniform(-spread, spread, size)


def clusters(rng, size):
    return rng.choice([-1.0, 0.0, 1.0], size) + rng.normal(0, 0.15, size)


def three_ahead(rng, size):
    return rng.normal(0, 0.3, size) + (np.arange(size) < 3)


def all_pairs(rng, size, times):
    first, second = np.triu_indices(size, 1)
    return np.tile(first, times), np.tile(second, times)


def some_pairs(rng, size, count, unlike=0.0):
    """Of options that are chosen as often as 1, 2^-unlike, 3^-unlike, ..."""
    often = np.arange(1.0, size + 1) ** -unlike
    pairs = [rng.choice(size, count, p=often / often.sum()) for _ in range(2)]
    while (same := pairs[0] == pairs[1]).any():
        pairs[1][same] = rng.choice(size, same.sum(), p=often / often.sum())
    return pairs


def coins(rng, gaps):
    return (rng.random(len(gaps)) < chance(gaps)).astype(float)


def with_ties(rng, gaps, ties=1.0):
    """A tie as likely as the root of the chances of both sides, ``ties`` times (Davidson 1970)."""
    won, tied, lost = np.exp(gaps / 2), np.full(len(gaps), ties), np.exp(-gaps / 2)
    place = rng.random(len(gaps)) * (won + tied + lost)
    return np.where(place < won, 1.0, np.where(place < won + tied, 0.5, 0.0))


def parts_of_a_win(rng, gaps):
    return rng.beta(3 * chance(gaps), 3 * chance(-gaps))


def margins(rng, gaps):
    return gaps + rng.normal(size=len(gaps))


class Kind(NamedTuple):
    """Tables of one kind."""

    size: int
    top: int
    qualities: Callable  # of a generator and K
    pairs: Callable  # of a generator and K
    play: Callable  # of a generator and what the first is better by
    share: Callable = chance  # what is scored on average; of margins it is the difference


some = functools.partial
KINDS = {
    "4, all pairs": Kind(4, 1, some(normal, spread=0.5), some(all_pairs, times=10), coins),
    "10, all pairs": Kind(10, 3, some(normal, spread=0.7), some(all_pairs, times=6), coins),
    "12, some pairs": Kind(12, 3, some(normal, spread=2.0), some(some_pairs, count=80), coins),
    "30, some pairs": Kind(30, 5, normal, some(some_pairs, count=1_500), coins),
    "8, far apart": Kind(8, 2, some(normal, spread=4.0), some(some_pairs, count=60), coins),
    "10, unequal counts": Kind(10, 2, normal, some(some_pairs, count=200, unlike=1.0), coins),
    "8, ties": Kind(8, 2, normal, some(all_pairs, times=12), with_ties),
    "15, ties, some pairs": Kind(
        15, 1, some(normal, spread=2.0), some(some_pairs, count=150), some(with_ties, ties=2.0)
    ),
    "8, parts of a win": Kind(
        8, 2, some(normal, spread=0.3), some(all_pairs, times=4), parts_of_a_win
    ),
    "20, uniform": Kind(20, 4, uniform, some(all_pairs, times=4), coins),
    "12, clusters": Kind(12, 4, clusters, some(all_pairs, times=5), coins),
    "12, margins, some pairs": Kind(12, 3, normal, some(some_pairs, count=80), margins),
    "6, margins": Kind(6, 2, some(normal, spread=0.4), some(all_pairs, times=4), margins),
}

# Of which the probabilities are too small: the gap is just where it is asked for.
TIMID = {"10, three ahead": Kind(10, 3, three_ahead, some(some_pairs, count=150), coins)}


def mean_shares(kind, qualities):
    """What each option scores against the average other."""
    gaps = qualities[:, None] - qualities
    size = len(qualities)
    if kind.play is margins:
        return gaps.sum(1) / (size - 1)
    if isinstance(kind.play, functools.partial) or kind.play is with_ties:
        ties = getattr(kind.play, "keywords", {}).get("ties", 1.0)
        won, lost = np.exp(gaps / 2), np.exp(-gaps / 2)
        shares = (won + ties / 2) / (won + ties + lost)
    else:
        shares = chance(gaps)
    return (shares.sum(1) - 0.5) / (size - 1)


class Found(NamedTuple):
    """Of many tables of a kind."""

    stated: np.ndarray  # float64 [tables], how likely it is that the selection is right
    right: np.ndarray  # bool [tables]
    covered: float  # the share of intervals of 95 % that hold what is scored on average

    def off(self, least=100):
        """Stated and true rates by bins of at least so many tables: rows (stated, true, tables)."""
        place = np.digitize(self.stated, BINS) - 1
        chosen = [place == one for one in range(len(BINS) - 1)]
        return [
            (float(self.stated[c].mean()), float(self.right[c].mean()), int(c.sum()))
            for c in chosen
            if c.sum() >= least
        ]


def table_of(kind, rng):
    qualities = kind.qualities(rng, kind.size)
    first, second = kind.pairs(rng, kind.size)
    scores = kind.play(rng, qualities[first] - qualities[second])
    names = tuple(f"o{place}" for place in range(kind.size))
    what = "margin" if kind.play is margins else "win"
    return qualities, Votes(names, first, second, scores, what, np.arange(len(first)))


def tried(name, tables, seed=0, draws=1_000):
    """What is said of tables of a kind, and what is so."""
    kind, rng = (KINDS | TIMID)[name], np.random.default_rng(seed)
    stated, right, covered = [], [], []
    for _ in range(tables):
        qualities, votes = table_of(kind, rng)
        rating = rate(votes)
        drawn = rating.draws(draws, rng)
        order = np.argsort(-rating.expected())
        best, others = order[: kind.top], order[kind.top :]
        stated.append((drawn[:, best].min(1) > drawn[:, others].max(1)).mean())
        right.append(qualities[best].min() > qualities[others].max())
        scores, slopes = rating.scores()
        moved = scores + (drawn - rating.qualities) @ slopes.T
        low, high = np.quantile(moved, (0.025, 0.975), 0)
        if votes.kind == "win":
            low, high = chance(low), chance(high)
        truth = mean_shares(kind, qualities)
        covered.append(((low <= truth) & (truth <= high)).mean())
    return Found(np.array(stated), np.array(right), float(np.mean(covered)))


def stopped(play, most, tables, seed=0, proposed=True):
    """Of 8 options, top 2: which tables end as sure, of which selections are right; bool [tables].

    From 40 comparisons on, ten at a time are added, as proposed or at random.
    """
    rng, names, found = np.random.default_rng(seed), tuple("abcdefgh"), []
    kind = "margin" if play is margins else "win"
    for _ in range(tables):
        qualities, pairs = rng.normal(size=8), np.stack(some_pairs(rng, 8, 40))
        scores = play(rng, qualities[pairs[0]] - qualities[pairs[1]])
        while True:
            rating = rate(Votes(names, pairs[0], pairs[1], scores, kind, scores))
            order, drawn = np.argsort(-rating.expected()), rating.draws(1_000, rng)
            best, others = order[:2], order[2:]
            stated = (drawn[:, best].min(1) > drawn[:, others].max(1)).mean()
            is_sure = stated >= 0.95 and rating.pairs.met().sum(1)[order[1:3]].min() >= 10
            if is_sure or len(scores) >= most:
                break
            more = advice(rating, 2, 10, rng)[0].T if proposed else np.stack(some_pairs(rng, 8, 10))
            pairs = np.concatenate([pairs, more], 1)
            scores = np.append(scores, play(rng, qualities[more[0]] - qualities[more[1]]))
        found.append((is_sure, qualities[best].min() > qualities[others].max()))
    return np.array(found).T


def main(tables, names):
    """Print both, with a tenth of the tables for what is stopped."""
    for play, most in ((coins, 600), (with_ties, 600), (margins, 400)) if not names else ():
        for proposed in (True, False):
            sure, right = stopped(play, most, tables // 10, proposed=proposed)
            rates = f"{sure.mean():.2f} stopped, {right[sure].mean():.3f} of these right"
            print(f"{play.__name__}, {proposed=}: {rates}, of all {right.mean():.2f}", flush=True)
    for name in names or KINDS | TIMID:
        found = tried(name, tables)
        bins = "  ".join(f"{s:.2f} {r:.2f} ({n})" for s, r, n in found.off())
        print(f"{name}: covered {found.covered:.3f}; {bins}", flush=True)


if __name__ == "__main__":
    import sys

    main(int(sys.argv[1]), sys.argv[2:])
