"""Confidence bounds by direct evaluation: levels, verdicts, intervals.

Sources: Busa-Fekete et al. 2014, eq. 7; Busa-Fekete et al. 2013, Theorem 4 (Hoeffding's inequality
for two-sample U-statistics); Hoeffding 1963 for the divergence form.
"""

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.optimize
import scipy.special

# Name: (is it the divergence form?, how the error is shared among rounds, sides of a pair).
KINDS = {
    "published": (False, "published", 2),
    "tight": (False, "rounds", 2),
    "verdict": (False, "rounds", 1),
    "kl": (True, "rounds", 2),
    "kl-verdict": (True, "rounds", 1),
    "stitched": (False, "stitched", 2),
    "stitched-verdict": (False, "stitched", 1),
    "stitched-kl": (True, "stitched", 2),
    "stitched-kl-verdict": (True, "stitched", 1),
    "open-stitched": (False, "open", 2),
    "open-stitched-kl": (True, "open", 2),
}

GROWTH = Fraction(11, 10)  # exact: 1.1 * 10 is more than 11 in floating point


def divergence(p, q):
    """kl(p, q) of two Bernoulli laws."""
    return scipy.special.rel_entr(p, q) + scipy.special.rel_entr(
        1 - np.asarray(p), 1 - np.asarray(q)
    )


def first_round_that_can_decide(is_kl, level):
    """The first n at which S = 1 is told from 1/2."""
    if is_kl:
        return math.floor(level / math.log(2)) + 1  # n ln 2 > L
    return math.floor(2 * level) + 1  # sqrt(L / 2n) < 1/2


def epochs_from(first, max_rounds):
    """Starts of the epochs n_1, n_2 = ceil(1.1 n_1), ... up to the horizon."""
    starts = []
    start = first
    while start <= max_rounds:
        starts.append(start)
        start = math.ceil(GROWTH * start)
    return starts


def stitched_epochs(is_kl, events, max_rounds, delta):
    """Epoch starts such that their number m and the first start n_1(m) agree.

    `events` is the number of statements per epoch. Where the iteration comes back to an m that it
    has seen without settling, the later of the two starts is taken: then the epochs are too few
    for their level rather than too many.
    """

    def starts_for(num_epochs):
        level = math.log(num_epochs * events / delta)
        return epochs_from(first_round_that_can_decide(is_kl, level), max_rounds)

    seen = []
    num_epochs = 1
    while num_epochs not in seen:
        seen.append(num_epochs)
        num_epochs = max(len(starts_for(num_epochs)), 1)
    # From its first appearance on, `seen` holds the fixed point alone, or the whole cycle.
    return starts_for(max(seen[seen.index(num_epochs) :]))


@functools.cache
def levels(name, num_options, max_rounds, delta, sides=None):
    """[(L, sample size)] of rounds 1 .. max_rounds; size 0 where no verdict is possible yet."""
    is_kl, union, own_sides = KINDS[name]
    sides = own_sides if sides is None else sides
    pairs = num_options * (num_options - 1) / 2
    rounds = range(1, max_rounds + 1)
    if union == "published":
        level = math.log(2 * num_options**2 * max_rounds / delta)
        return [(level, n) for n in rounds]
    if union == "rounds":
        # Each of pairs * max_rounds statements gets an equal share alpha; L = ln(sides / alpha).
        level = math.log(sides * pairs * max_rounds / delta)
        return [(level, n) for n in rounds]
    if union == "stitched":
        starts = stitched_epochs(is_kl, sides * pairs, max_rounds, delta)
        level_of = [math.log(len(starts) * sides * pairs / delta) for _ in starts]
    else:
        # Epoch k = 1, 2, ... at alpha_k = 2 (delta / pairs) / ((k + 1) (k + 2)), summing to 1.
        def open_level(k):
            return math.log(sides / (2 * delta / pairs / ((k + 1) * (k + 2))))

        starts = epochs_from(first_round_that_can_decide(is_kl, open_level(1)), max_rounds)
        level_of = [open_level(k + 1) for k in range(len(starts))]
    answer = []
    for n in rounds:
        past = [k for k, start in enumerate(starts) if start <= n]
        answer.append((level_of[past[-1]], starts[past[-1]]) if past else (math.inf, 0))
    return answer


def decides(name, estimate, level, size, epsilon=0.0):
    """Is the lower end of the interval above 1/2 (or at least 1/2 - epsilon, where that is > 0)?"""
    if size == 0:
        return np.zeros(np.shape(estimate), bool)
    estimate = np.asarray(estimate, np.float64)
    centre = 0.5 - epsilon
    if KINDS[name][0]:
        evidence = size * divergence(estimate, centre)
        reached = evidence > level if epsilon == 0 else evidence >= level
        return reached & (estimate > centre)
    lower = estimate - math.sqrt(level / (2 * size))
    return lower > centre if epsilon == 0 else lower >= centre


def thresholds(name, num_options, max_rounds, delta, epsilon=0.0):
    """The smallest net count that decides, per round, by trying them all; None for never."""
    answer = []
    for n, (level, size) in enumerate(levels(name, num_options, max_rounds, delta), start=1):
        counts = np.arange(-(n**2), n**2 + 1)
        decided = decides(name, (n**2 + counts) / (2 * n**2), level, size, epsilon)
        answer.append(int(counts[decided].min()) if decided.any() else None)
    return answer


def lower_end(is_kl, estimate, level, size):
    """The lower end of the interval of one estimate."""
    if size == 0:
        return 0.0
    if not is_kl:
        return max(estimate - math.sqrt(level / (2 * size)), 0.0)
    least = 1e-290  # stands for 0, where the divergence is infinite
    if size * divergence(estimate, least) <= level:
        return 0.0

    def excess(p):
        return float(size * divergence(estimate, p) - level)

    root: Any = scipy.optimize.brentq(excess, least, estimate, xtol=1e-15)
    return float(root)


def interval(name, num_options, max_rounds, delta, estimate, rounds):
    """The two-sided interval (l, u) of one estimate after that many rounds."""
    if rounds == 0:
        return 0.0, 1.0
    level, size = levels(name, num_options, max_rounds, delta, sides=2)[rounds - 1]
    is_kl = KINDS[name][0]
    lower = lower_end(is_kl, estimate, level, size)
    return lower, 1.0 - lower_end(is_kl, 1.0 - estimate, level, size)
