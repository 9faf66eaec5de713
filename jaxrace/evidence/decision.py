"""Who is certainly best, who may be, and for which pairs more runs would help.

Tables compute with NumPy; compiled races give arrays of JAX and its module as ``xp``. The theorems
are in docs/theory/tables.md. Axes: K options; arrays [K, K] are about "i over j".
"""

from typing import Any, NamedTuple

import numpy as np

# How a race stands, and the words for it.
RUNNING, DOMINANCE, COUNTS, EXHAUSTED = range(4)
CERTIFICATES = (None, "dominance", "counts", None)

# How far, in log e-values, pairs may be ahead of the most doubtful one and still be run for: with 5
# guesses are as good as those of a race that runs all undecided options.
SLACK, SHARED_SLACK = 5.0, 1.0


class Seen(NamedTuple):
    """What a decision is taken on."""

    highest: Any  # float [K, K], the largest ln E_ij so far
    over: Any  # bool [K, K], verdicts
    strong: Any  # bool [K, K], verdicts that all hold together
    mean: Any  # float [K, K], of the differences; positive where i looks better


def seen_of(highest: Any, mean: Any, level: Any, strong_level: Any, null: Any = 0.0) -> Seen:
    """The verdicts that evidence [K, K] has reached, and that nothing contradicts.

    What a running maximum has reached early does not stand while the mean of all differences is
    below the ``null``, or, without a tolerance, while the reverse has been reached as well.
    """
    agrees = mean >= null
    over, strong = (_one_way(highest >= x, null) & agrees for x in (level, strong_level))
    return Seen(highest, over, strong, mean)


def _one_way(reached: Any, null: Any) -> Any:
    # Within a tolerance each of two may be over the other.
    return reached & ~(reached.T & (null >= 0))


class SortKeys(NamedTuple):
    """What options are ranked by: wins, then the total, then the smaller index."""

    wins: Any  # int32 [K], options that one is over, or looks better than
    total: Any  # [K], the sum of the means, rounded

    def ranking(self, xp: Any = np) -> Any:
        """Options, best first: int [K]."""
        return xp.lexsort((-self.total, -self.wins))

    def first(self, top: int, xp: Any = np) -> Any:
        """bool [K]: is an option among the first kappa of the ranking?"""
        index = xp.arange(len(self.wins))
        before = index[:, None] < index[None, :]
        # Counting who is ahead takes no sort, which is slow for many small arrays.
        for key in (self.total, self.wins):
            before = (key[:, None] > key[None, :]) | ((key[:, None] == key[None, :]) & before)
        return before.sum(0, dtype=xp.int32) < top


def sort_keys(over: Any, mean: Any, total: Any, xp: Any = np) -> SortKeys:
    """A pair without a verdict goes by the sign of its mean."""
    ahead = over | (~over.T & (mean > 0))
    return SortKeys(ahead.sum(1, dtype=xp.int32), total)


class Doubt(NamedTuple):
    """What is certain of kappa options that lead, and what is not."""

    dominates: Any  # bool [], (a): each of them is over each of the rest
    is_counted: Any  # bool [], (b): strong verdicts settle how many each is over
    doubtful: Any  # bool [K, K], pairs that more runs are for
    served: Any  # bool [K, K], those of them that are behind, or hardly ahead


class Verdict(NamedTuple):
    """What comes of a look at a race."""

    certificate: Any  # int32 [], a number of ``CERTIFICATES``
    doubtful: Any  # bool [K, K], pairs that more runs are for
    asked: Any  # bool [K], options that are run next


def in_doubt(
    seen: Seen,
    leads: Any,
    level: Any,
    slack: Any,
    *,
    is_tolerant: Any = False,
    by_counts: bool = True,
    xp: Any = np,
) -> Doubt:
    """Are the options T that lead, bool [K], certified, or which pairs are in doubt?

    Those across the boundary without a verdict; else, ``by_counts``, pairs whose strong verdict is
    likeliest to settle the counts. Within a tolerance only "first over second" settles a pair.
    """
    cross = leads[:, None] & ~leads[None, :]
    dominates = is_counted = ~(cross & ~seen.over).any()
    against = seen.over.T & xp.logical_not(is_tolerant)
    doubtful = cross & ~(seen.over | against)
    if by_counts:
        wins = seen.strong.sum(1, dtype=xp.int32)
        losses = seen.strong.sum(0, dtype=xp.int32)
        # K - 1 and not K: a tie across the boundary is a top kappa, too.
        lacking = cross & (wins[:, None] + losses[None, :] < len(leads) - 1)
        is_counted = ~lacking.any()
        # Rare: all of T against the rest is decided, but not all of it for T.
        lacking &= ~(dominates | doubtful.any())
        doubtful = doubtful | _stand_ins(lacking, seen.highest, seen.strong, xp)
    least = xp.where(doubtful, seen.highest, xp.inf).min()
    served = doubtful & (level - seen.highest >= level - least - slack)
    return Doubt(dominates, is_counted, doubtful, served)


def certify(
    seen: Seen,
    leads: Any,
    progress: Any,
    most: Any,
    level: Any,
    slack: Any,
    *,
    is_tolerant: Any,
    by_counts: bool = True,
    xp: Any = np,
) -> Verdict:
    """Does a race certify the options that lead, bool [K], ask for more, or end?

    It ends where a pair in doubt has ``most`` blocks or tasks, int32 []; options have made
    ``progress``, int32 [K].
    """
    found = in_doubt(seen, leads, level, slack, is_tolerant=is_tolerant, by_counts=by_counts, xp=xp)
    doubtful = found.doubtful
    used_up = doubtful & (xp.minimum(progress[:, None], progress[None, :]) >= most)
    ends = used_up.any() | ~doubtful.any()
    certificate = xp.where(ends, xp.int32(EXHAUSTED), xp.int32(RUNNING))
    certificate = certificate_of(found, certificate, xp)
    return Verdict(certificate, doubtful, behind(found.served, progress) & (certificate == RUNNING))


def certificate_of(found: Doubt, otherwise: Any, xp: Any = np) -> Any:
    """The stronger certificate there is, int32 []."""
    counted = xp.where(found.is_counted, xp.int32(COUNTS), otherwise)
    return xp.where(found.dominates, xp.int32(DOMINANCE), counted)


def behind(served: Any, progress: Any) -> Any:
    """Of each pair the option that lags, both if neither does: bool [K]."""
    lags = progress[:, None] <= progress[None, :]
    return ((served | served.T) & lags).any(1)


def perhaps_best(beats: Any, top: int) -> tuple[Any, Any]:
    """Who may be among the best kappa, and who certainly is, by verdicts ``beats``: bool [K] each.

    An option is out if kappa others are over it, and in if it is over all but kappa - 1 of the
    others. If too many are out or in, or one is both, verdicts run in circles, and nobody is out or
    in: theorem 4 in docs/theory/tables.md.

    >>> beats = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool)
    >>> [x.tolist() for x in perhaps_best(beats, 1)]
    [[True, True, False], [False, False, False]]
    """
    possible, sure = beats.sum(0) < top, beats.sum(1) >= len(beats) - top
    in_circles = (possible.sum() < top) | (sure.sum() > top) | (sure & ~possible).any()
    return possible | in_circles, sure & ~in_circles


def perhaps_tied(strong: Any, leads: Any, equal: Any = False) -> Any:
    """Options whose scores the strong verdicts leave room to be equal across the boundary: [K].

    ``strong`` are the verdicts [K, K] that all hold together, ``leads`` [K] is what certificate (b)
    names: i with a j across the boundary and z_i + o_j <= K - 1; ``equal`` pairs count in o_j.
    """
    barely = strong.sum(1)[:, None] + (strong | equal).sum(0)[None, :] <= len(leads) - 1
    pairs = leads[:, None] & ~leads[None, :] & barely
    return pairs.any(1) | pairs.any(0)


def _stand_ins(lacking: Any, highest: Any, strong: Any, xp: Any) -> Any:
    """For each pair (i, j) that lacks counts: the likeliest of (i, p) and (p, j) to give one.

    Likeliest is the largest e-value without a strong verdict either way; equals go by p.
    """
    if xp is np and not lacking.any():  # on the host nothing is computed in vain
        return lacking
    index = xp.arange(len(strong))
    candidate = (index[:, None] != index) & ~strong & ~strong.T
    value = xp.where(candidate, highest, -xp.inf)
    partner, rival = value.argmax(1), value.argmax(0)  # p of (i, p), and of (p, j)
    own, other = value.max(1)[:, None], value.max(0)[None, :]
    by_row = (own > other) | ((own == other) & (partner[:, None] <= rival[None, :]))
    rows = (lacking & by_row).any(1)[:, None]  # i stands in as (i, p)
    columns = (lacking & ~by_row).any(0)[None, :]
    chosen = rows & (index[None, :] == partner[:, None])
    return candidate & (chosen | (columns & (index[:, None] == rival[None, :])))
