"""Are runs independent, as every guarantee asks? Tests for scores of any law.

If runs are independent and alike, each permutation of an option's runs is equally likely.
Axes: K options, n_i runs of option i.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jaxrace.core.validation import BadArgument, DataRefused
from jaxrace.evidence.copies import found_in
from jaxrace.evidence.gamma import log_choose, log_factorial

# What chance does less often than this is warned of, or refused, in one call.
WARNED, REFUSED = 1e-2, 1e-6

# How the level is shared; of pairs of numbers the first is for each option, or two of them, and the
# other for all together. Runs that are sorted are the commonest mistake, and soon certain.
_SORTED_SHARE = 0.1
_LAG_SHARES = 0.1, 0.3
_TREND_SHARES = 0.1, 0.1
_ROW_SHARES = 0.1, 0.1
_REPEATED_SHARE = 0.03  # of each of two
_COPIED_SHARE = 0.02  # of each of two: all options, and their rows

_NEGLIGIBLE = 1e-300  # a probability
_LEAST_CHECKED = 45  # runs behind the fourth, of all options together
_LEAST_OF_CLOCK = 6  # runs: fewer are sorted by chance
_MOST_PAIRED = 1_000  # options of which each two are compared
IN_COMMON = "shared=True (--shared) compares options task by task, whatever tasks have in common"


class DependentRunsWarning(UserWarning):
    """Runs are hardly independent, so no verdict on them is guaranteed."""


class Runs(NamedTuple):
    """The runs of one option, of outcomes of any kind."""

    name: str
    order: np.ndarray  # int, larger where the outcome is better; of the first runs at least
    identity: np.ndarray  # int [n], equal where the outcome is the same


class _Finding(NamedTuple):
    log_p: float  # chance alone does this, or more, with at most this probability
    what: str
    is_refused: bool = True  # where it is certain; else warned of, as certificates hold


def check_runs(runs: Mapping[str, ArrayLike] | Sequence[ArrayLike]) -> None:
    """Warn if runs are hardly independent, and refuse them if they certainly are not.

    Are the runs of an option sorted? Do they resemble the ones before them, or rise or fall in
    time? Do options go together row by row? Do all runs of an option, or all rows, occur several
    times, or rows more often than in independent options? At each call independent runs are refused
    with a probability of at most 1e-6, and doubted by a warning with one of at most .01.

    Args:
        runs: Of each option its scores [n_i], in the order in which they were made, by name or by
            number. Row t is the run t of all options.

    Raises:
        ValueError: The runs certainly are not independent, or no numbers.

    Warns:
        DependentRunsWarning: They hardly are independent.

    >>> scores = np.random.default_rng(0).normal(size=40)
    >>> check_runs({"a": scores, "b": np.sort(scores)})
    Traceback (most recent call last):
    jaxrace.core.validation.DataRefused: runs: expected independent ones in the order ... sorted ...
    """
    named = runs if isinstance(runs, Mapping) else {f"option {i}": x for i, x in enumerate(runs)}
    doubt = doubt_about(list(map(runs_of_numbers, named, named.values())))
    if doubt is not None:
        warnings.warn(doubt, DependentRunsWarning, stacklevel=2)


def rises(values: np.ndarray) -> bool:
    """Are so many numbers sorted that chance hardly does it, as a clock or a step is?"""
    return len(values) >= _LEAST_OF_CLOCK and values[0] != values[-1] and _is_sorted(values)


def is_too_few(counts: ArrayLike) -> bool:
    """Are runs with an autocorrelation of .5 hardly likelier than not to be warned of?

    Measured for 1 to 20 options with so many runs each, int [K]; see docs/theory/assumptions.md.
    """
    return int(np.maximum(np.asarray(counts) - 4, 0).sum()) < _LEAST_CHECKED


def doubt_about(options: Sequence[Runs]) -> str | None:
    """What ``check_runs`` warns of, if anything; ValueError as there."""
    kinds = [_sorted(options), _all_repeated(options) + _copied(options), _serial(options)]
    rows = _rows(options)
    if rows is not None:
        of_rows = [Runs("all options", rows[:, 0], _identity(rows))]
        kinds[1] += _all_repeated(of_rows) + _copied(of_rows)
        most = max(len(option.order) for option in options)
        kinds[2] += _rows_correlated(options, min(len(rows), most))
        kinds += [_rows_repeated(rows)]
    certain = _worst(kinds, REFUSED)
    if certain is not None:
        raise certain
    doubt = _worst(kinds, WARNED)
    return None if doubt is None else f"{doubt}: no certificate is guaranteed"


def _worst(kinds: list[list[_Finding]], level: float) -> BadArgument | None:
    """The worst finding, as an error; None if no finding is rare enough.

    Rare enough is a finding that chance alone makes with a probability below ``level``. The first
    of ``kinds`` that has one counts, and no later one.
    """
    for findings in kinds:
        counted = [one for one in findings if one.is_refused or level == WARNED]
        worst = min(counted, default=_Finding(0.0, ""))
        if worst.log_p < math.log(level):
            expected = "independent ones in the order in which they were made"
            chance = f"; by chance less than once in {1 / level:,.0f} tries"
            return DataRefused("runs", expected, worst.what, chance)
    return None


def runs_of_numbers(name: str, values: ArrayLike) -> Runs:
    """Runs of which the larger is better; ValueError if they are no numbers [n]."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biuf" or np.isnan(array).any():
        got = f"{array.dtype}{list(array.shape)}"
        raise BadArgument("runs", f"numbers [n] of {name}, without NaN", got)
    codes = _identity(array)
    return Runs(name, codes, codes)


def _identity(values: np.ndarray) -> np.ndarray:
    """Numbers [n] that are equal, and as large, as the values [n]; or equal as the rows [n, K]."""
    if len(values) == 0:
        return np.zeros(0, int)
    return np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)


def sorted_options(options: Sequence[Runs], level: float = REFUSED) -> list[str]:
    """The options whose runs are sorted, where chance sorts those of any with less than a level."""
    own = level / max(len(options), 1)
    return [option.name for option in options if _worst([_sorted([option])], own)]


def _is_sorted(numbers: np.ndarray) -> bool:
    """Do numbers [n] never fall, or never rise?"""
    return any((x[1:] >= x[:-1]).all() for x in (numbers, numbers[::-1]))


def _sorted(options: Sequence[Runs]) -> list[_Finding]:
    """Of all orders of an option's runs two are sorted."""
    findings = []
    for name, order, _ in options:
        if _is_sorted(order):
            orders = log_factorial(len(order)) - log_factorial(_counts(order)).sum()
            log_p = math.log(2 * len(options) / _SORTED_SHARE) - orders
            findings.append(_Finding(log_p, f"sorted runs of {name} (a clock or a step?)"))
    return findings


class _Tested(NamedTuple):
    """A statistic whose law over all permutations of the runs is known by its moments."""

    excess: float  # above its mean
    variance: float
    third: float  # central moment

    def log_p(self) -> float:
        """ln of twice the probability to be as far on that side.

        That of a gamma distribution of the same moments, by the signed root of its likelihood; of a
        normal one where that has the heavier tail. How sharp it is: docs/theory/assumptions.md.
        """
        if self.variance <= 0:
            return 0.0
        z = abs(self.excess) / math.sqrt(self.variance)
        skewness = math.copysign(1, self.excess) * self.third / self.variance**1.5
        u = max(z * skewness / 2, 0)
        if u > 1e-4:
            z *= math.sqrt(2 * (u - math.log1p(u))) / u
        return min(math.log(math.erfc(z / math.sqrt(2)) or _NEGLIGIBLE), 0.0)


def _standard_ranks(order: np.ndarray) -> np.ndarray | None:
    """Ranks of mean 0 and variance 1, those of ties their mean; None of too few different ones."""
    counts = _counts(codes := _identity(order))
    if len(order) < 4 or len(counts) < 2:
        return None
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[codes]
    return (ranks - ranks.mean()) / ranks.std()


def _serial(options: Sequence[Runs]) -> list[_Finding]:
    """Do runs resemble the ones before them, or rise or fall in time? In each option, in all."""
    found = [_standard_ranks(option.order) for option in options]
    names = [option.name for option, x in zip(options, found, strict=True) if x is not None]
    kept = [x for x in found if x is not None]
    if not kept:
        return []
    counts = np.array([*map(len, kept)])
    findings = []
    for kind, statistic, (of_each, of_all) in (
        ("lag-1 rank correlation", _lag, _LAG_SHARES),
        ("rank correlation with time", _trend, _TREND_SHARES),
    ):
        parts = [statistic(ranks) for ranks in kept]
        for name, n, one in zip(names, counts, parts, strict=True):
            what = f"{n} runs of {name} with a {kind} of {one.excess / n:.2f}"
            findings.append(_Finding(one.log_p() + math.log(len(kept) / of_each), what))
        together = _Tested(*map(sum, zip(*parts, strict=True)))
        what = f"runs of all options with a mean {kind} of {together.excess / counts.sum():.2f}"
        findings.append(_Finding(together.log_p() - math.log(of_all), what))
    return findings


def _lag(ranks: np.ndarray) -> _Tested:
    """The sum of the products of neighbours; moments by counting edges of a path that touch."""
    n, fourth = len(ranks), float((ranks**4).sum())
    of_edge = (n * n - fourth) / n
    of_two = 2 * (2 * fourth - n * n) / (n * (n - 1))
    apart = (3 * n * n - 6 * fourth) / (n * (n - 1))
    third = float((ranks**3).mean()) ** 2 * (n - 1)
    products = float(ranks[1:] @ ranks[:-1])
    return _Tested(products + 1, of_edge + of_two + apart - 1, third)


def _trend(ranks: np.ndarray) -> _Tested:
    """The sum of the products with time; symmetric, as a permutation is as likely backwards."""
    n = len(ranks)
    time = np.arange(n) - (n - 1) / 2
    return _Tested(float(ranks @ time) / float(time.std()), n * n / (n - 1), 0.0)


def _rows_correlated(options: Sequence[Runs], n: int) -> list[_Finding]:
    """Do runs of different options go together, row by row?

    Each option is shuffled by itself. The sum of products of two options' first n ranks has the
    variance n^2 / (n - 1); any two such sums are uncorrelated; the product of three, of the sides
    of a triangle, has the mean n^3 / (n - 1)^2.
    """
    long = [option for option in options if len(option.order) >= n]
    found = [_standard_ranks(option.order[:n]) for option in long]
    names = [option.name for option, x in zip(long, found, strict=True) if x is not None]
    if len(names) < 2:
        return []
    ranks = np.stack([x for x in found if x is not None])
    count = len(ranks)
    pairs = count * (count - 1) / 2
    cubes = (ranks**3).mean(1)
    of_cubes = n**3 / ((n - 1) * (n - 2))
    third = of_cubes * (cubes.sum() ** 2 - cubes @ cubes) / 2
    third += pairs * (count - 2) * 2 * n**3 / (n - 1) ** 2
    products = float((ranks.sum(0) ** 2).sum() - ranks.size) / 2
    together = _Tested(products, pairs * n * n / (n - 1), float(third))
    said = "a rank correlation of {:.2f} by row (" + IN_COMMON + ")"
    what = f"{n} runs of all options with " + said.format(products / (pairs * n))
    log_p = together.log_p() - math.log(_ROW_SHARES[1])
    findings = [_Finding(log_p, what, products < 0)]
    if count <= _MOST_PAIRED:
        found = ranks @ ranks.T
        np.fill_diagonal(found, 0)
        i, j = np.unravel_index(np.abs(found).argmax(), found.shape)
        of_pair = _Tested(
            float(found[i, j]), n * n / (n - 1), float(of_cubes * cubes[i] * cubes[j])
        )
        what = f"{n} runs of {names[i]} and {names[j]} with " + said.format(found[i, j] / n)
        log_p = of_pair.log_p() + math.log(pairs / _ROW_SHARES[0])
        findings.append(_Finding(log_p, what, found[i, j] < 0))
    return findings


def _all_repeated(options: Sequence[Runs]) -> list[_Finding]:
    """Does every run of an option occur r times, r > 1? Independent ones of any law hardly do.

    With m = n / r different runs this has probability n! / r!^m times the sum, over all m of the
    law's atoms, of the product of their probabilities to the r. For the two atoms i and j, whose
    sum is fixed, that is a convex function of p_i p_j: largest where one is 0 or both are equal. So
    the worst law has M equal atoms; it has fewer than 2 m of them.
    """
    log_ps, whats = [], []
    for name, _, identity in options:
        counts, total = _counts(identity), len(identity)
        if not total or counts.min() < 2 or counts.min() < counts.max():
            continue
        number, times = len(counts), int(counts[0])
        atoms = np.arange(number, 2 * number + 1)
        log_p = (log_choose(atoms, number) - total * np.log(atoms)).max()
        log_p += float(log_factorial(total) - number * log_factorial(times))
        divisors = sum(total % r == 0 for r in range(2, total + 1))
        log_ps.append(float(log_p) + math.log(divisors))
        whats.append(f"{number} different runs of {name}, each of them {times} times")
    # Of some k options together, for any k.
    if not log_ps:
        return []
    order = np.argsort(log_ps)
    sums = np.cumsum(np.array(log_ps)[order])
    sums += log_choose(len(options), np.arange(1, len(sums) + 1)) + math.log(len(options))
    shared = math.log(2 / _REPEATED_SHARE)  # with the rows of all options
    return [_Finding(float(x) + shared, whats[i]) for x, i in zip(sums, order, strict=True)]


def doubt_about_rows(
    name: str, codes: Mapping[str, np.ndarray], *, refuse: bool = True
) -> str | None:
    """Why rows, int [n] and equal where they are, are hardly others: most are there several times.

    Which are equal may be seen in several ways, each by what it adds to the words. Chance has them
    refused, by a DataRefused about ``name``, with a probability of at most 1e-6, and doubted with
    one of at most .01. Without ``refuse`` they are only doubted.
    """
    seen = [(found_in(of_way, ordered=False), way) for way, of_way in codes.items()]
    found, way = min(seen, key=lambda one: one[0].log_p)
    log_p = found.log_p + math.log(len(codes))
    level = REFUSED if log_p < math.log(REFUSED) else WARNED
    if log_p >= math.log(level):
        return None
    got = f"{found.what}{way}; by chance less than once in {1 / level:,.0f} tries"
    doubt = DataRefused(name, "different ones", got, ": leave the copies out")
    if level == REFUSED and refuse:
        raise doubt
    return str(doubt)


def _copied(options: Sequence[Runs]) -> list[_Finding]:
    """Are many runs of an option, or rows, there several times? Not exactly so often, as above."""
    shared = math.log(max(len(options), 1) / _COPIED_SHARE)
    found = ((option, found_in(option.identity, ordered=True)) for option in options)
    return [_Finding(x.log_p + shared, f"{x.what} (runs of {option.name})") for option, x in found]


def _rows(options: Sequence[Runs]) -> np.ndarray | None:
    """The rows that at least half of the options have, int [n, K']; None of fewer than two."""
    if len(options) < 2:
        return None
    lengths = [len(of_one.identity) for of_one in options]
    number = sorted(lengths)[(len(lengths) - 1) // 2]
    if number < 2:
        return None
    columns = [x.identity[:number] for x in options if len(x.identity) >= number]
    return np.stack(columns, 1) if len(columns) > 1 else None


def _rows_repeated(rows: np.ndarray) -> list[_Finding]:
    """How many pairs of rows are equal? By Markov's inequality, with independent options."""
    number = len(rows)
    pairs = math.log(number * (number - 1))
    found = (counts := _counts(_identity(rows))) @ (counts - 1)
    if not found:
        return []
    alike = [float((c := _counts(_identity(column))) @ (c - 1)) for column in rows.T]
    expected = pairs + sum(math.log(x) - pairs for x in alike)
    repeated = number - len(counts)
    what = (
        f"{repeated} of {number} rows that repeat another one, of {rows.shape[1]} options that "
        "should have nothing in common"
    )
    # It may also come of what the options have in common: not certain enough to be refused.
    return [_Finding(expected - math.log(found) - math.log(_REPEATED_SHARE), what, False)]


def _counts(codes: np.ndarray) -> np.ndarray:
    return np.unique(codes, return_counts=True)[1]
