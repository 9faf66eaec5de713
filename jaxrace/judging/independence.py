"""Are runs independent, as every guarantee asks? Tests that hold whatever law the scores have.

If runs are independent and alike, each permutation of an option's runs is equally likely.
Axes: K options, n_i runs of option i.
"""

import functools
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jaxrace.judging.gamma import log_choose, log_factorial
from jaxrace.judging.permutations import pattern_of

# What chance does less often than this is warned of, or refused, in one call.
WARNED, REFUSED = 0.01, 1e-6

# What is warned of has its level from one test of random orders, and a tenth of it from others.
_EXACT_SHARE = 0.1

# How the level of those is shared. Sorted runs are the commonest mistake, and soon certain.
_SORTED_SHARE = 1 / 2
_OTHER_SHARE = 1 / 8  # of each of the four others

_EXPECTED = "runs: expected independent ones in the order in which they were made"
IN_COMMON = "shared=True (--shared) compares options task by task, whatever tasks have in common"

# Ends of a distribution that are cut off; far below the levels.
_NEGLIGIBLE = 1e-18


class DependentRunsWarning(UserWarning):
    """Runs that hardly are independent: no verdict on them is guaranteed."""


class Runs(NamedTuple):
    """The runs of one option, for ``require_independent``."""

    name: str
    order: np.ndarray  # int [n], larger where the outcome is better; equal ones tie
    identity: np.ndarray  # int [n], equal where the outcome is the same


class _Finding(NamedTuple):
    log_p: float  # chance alone does this, or more, with at most this probability
    what: str


def check_runs(runs: Mapping[str, ArrayLike] | Sequence[ArrayLike]) -> None:
    """Warn if runs hardly are independent, and refuse them if they certainly are not.

    Refused are runs of an option that are sorted; that resemble the ones before them (how often
    they cross the option's median, in each option and in all together); and if all runs of an
    option, or all rows, occur several times. Warned of is, too, what stands out from other orders
    of the same runs: that runs resemble the ones before them, that they rise or fall, or that rows
    of all options go up and down together; and rows that repeat. Independent runs are refused with
    a probability of at most 1e-6, and warned of with one of at most .01, at each call.

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
    ValueError: runs: expected independent ones in the order in which they were made, got sorted ...
    """
    named = runs if isinstance(runs, Mapping) else {f"option {i}": x for i, x in enumerate(runs)}
    doubt = doubt_about(named)
    if doubt is not None:
        warnings.warn(doubt, DependentRunsWarning, stacklevel=2)


def doubt_about(runs: Mapping[str, ArrayLike]) -> str | None:
    """What ``check_runs`` warns of, if anything; ValueError as there."""
    return _doubt([_coded(name, of_one) for name, of_one in runs.items()])


def require_independent(options: Sequence[Runs]) -> bool:
    """Does ``check_runs`` warn of outcomes of any kind, in a function that a user has called?"""
    doubt = _doubt(options)
    if doubt is not None:
        warnings.warn(doubt, DependentRunsWarning, stacklevel=3)
    return doubt is not None


def _doubt(options: Sequence[Runs]) -> str | None:
    findings = [*_sorted(options), *_crossings(options), *_all_repeated(options)]
    rows = _rows(options)
    if rows is not None:
        findings += _all_repeated([Runs("all options", rows[:, 0], _identity(rows))])
    certain = _said(findings, REFUSED)
    if certain is not None:
        raise ValueError(certain)
    # Rows that repeat may also come of what the options have in common: not certain enough.
    findings += [] if rows is None else _rows_repeated(rows)
    doubt = _said(findings, _EXACT_SHARE * WARNED)
    pattern = pattern_of([one.name for one in options], [one.order for one in options])
    if doubt is None and pattern and pattern.probability <= (1 - _EXACT_SHARE) * WARNED:
        chance = f"chance makes what stands out as much once in {1 / WARNED:,.0f} tables"
        hint = f"; {IN_COMMON}" if pattern.is_common else ""
        doubt = f"{_EXPECTED}, got {pattern.what}; {chance}{hint}"
    return doubt and f"{doubt}: no certificate is guaranteed"


def _said(findings: list[_Finding], level: float) -> str | None:
    """The worst finding, if chance makes such a one less often than that."""
    worst = min(findings, default=_Finding(0.0, ""))
    if worst.log_p >= math.log(level):
        return None
    chance = f"chance does so less than once in {1 / level:,.0f} tries"
    return f"{_EXPECTED}, got {worst.what}; {chance}"


def _coded(name: str, values: ArrayLike) -> Runs:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biuf" or np.isnan(array).any():
        got = f"{array.dtype}{list(array.shape)}"
        raise ValueError(f"runs: expected numbers [n] of {name}, without NaN, got {got}")
    codes = _identity(array)
    return Runs(name, codes, codes)


def _identity(values: np.ndarray) -> np.ndarray:
    """Numbers [n] that are equal, and as large, as the values [n]; or equal as the rows [n, K]."""
    if len(values) == 0:
        return np.zeros(0, int)
    return np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)


def sorted_options(runs: Mapping[str, ArrayLike]) -> list[str]:
    """The options whose runs are certainly sorted."""
    named = {name: _sorted([_coded(name, of_one)]) for name, of_one in runs.items()}
    return [name for name, found in named.items() if _said(found, REFUSED)]


def _sorted(options: Sequence[Runs]) -> list[_Finding]:
    """Of all orders of an option's runs two are sorted."""
    findings = []
    for name, order, _ in options:
        if any((x[1:] >= x[:-1]).all() for x in (order, order[::-1])):
            orders = log_factorial(len(order)) - log_factorial(_counts(order)).sum()
            log_p = math.log(2 * len(options) / _SORTED_SHARE) - orders
            findings.append(_Finding(log_p, f"sorted runs of {name}: a clock or a step?"))
    return findings


def _crossings(options: Sequence[Runs]) -> list[_Finding]:
    """How often do runs change sides of their option's median?

    Given how many are on either side, all arrangements are equally likely: the number of stretches
    on one side has a known distribution (Wald and Wolfowitz 1940), which adds up over options.
    """
    findings, total, parts, lags = [], 0, [], []
    for name, order, _ in options:
        if len(order) < 2:
            continue
        above = order > np.median(order)
        at_least = order >= np.median(order)
        if abs(2 * at_least.sum() - len(order)) < abs(2 * above.sum() - len(order)):
            above = at_least
        number = 1 + int((above[1:] != above[:-1]).sum())
        num_above = int(above.sum())
        few = min(num_above, len(order) - num_above)
        law = _stretches(few, len(order) - few)
        total += number
        parts.append(law)
        lags.append(_lag_correlation(order))
        log_p = _two_sided(law, number) + math.log(len(options) / _OTHER_SHARE)
        what = f"{len(order)} runs of {name} with a lag-1 rank correlation of {lags[-1]:.2f}"
        findings.append(_Finding(log_p, what))
    if len(parts) > 1:
        log_p = _two_sided(_sum_of(parts), total) - math.log(_OTHER_SHARE)
        what = f"runs of all options with a mean lag-1 rank correlation of {np.mean(lags):.2f}"
        findings.append(_Finding(log_p, what))
    return findings


class _Law(NamedTuple):
    """A distribution over whole numbers."""

    start: int
    probabilities: np.ndarray  # of start, start + 1, ...


@functools.lru_cache(maxsize=1024)
def _stretches(few: int, many: int) -> _Law:
    """How many stretches of equal ones a shuffled row of two kinds has."""
    if few == 0:
        return _Law(1, np.ones(1))
    k = np.arange(1, few + 1)
    with np.errstate(divide="ignore"):
        # Ways to cut either kind into k parts, or k + 1.
        cut = [log_choose(n - 1, k - 1) for n in (few, many)]
        cut_more = [log_choose(n - 1, k) for n in (few, many)]
    even = math.log(2) + cut[0] + cut[1]
    odd = np.logaddexp(cut_more[0] + cut[1], cut[0] + cut_more[1])
    logs = np.concatenate([[-np.inf], np.stack([even, odd], 1).ravel()])
    return _trimmed(1, np.exp(logs - log_choose(few + many, few)))


def _trimmed(start: int, probabilities: np.ndarray) -> _Law:
    kept = np.flatnonzero(probabilities > _NEGLIGIBLE)
    return _Law(start + int(kept[0]), probabilities[kept[0] : kept[-1] + 1])


def _sum_of(parts: list[_Law]) -> _Law:
    """The distribution of the sum of independent numbers."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        added = [
            _trimmed(a.start + b.start, np.convolve(a.probabilities, b.probabilities))
            for a, b in pairs
        ]
        parts = added + parts[len(added) * 2 :]
    return parts[0]


def _two_sided(law: _Law, number: int) -> float:
    """ln of twice the probability of the number's side."""
    split = np.clip(number - law.start, 0, len(law.probabilities))
    below, above = law.probabilities[: split + 1].sum(), law.probabilities[split:].sum()
    return math.log(2 * max(min(below, above), _NEGLIGIBLE))


def _lag_correlation(order: np.ndarray) -> float:
    """Spearman's correlation of the runs with the ones after them."""
    both = []
    for part in (order[:-1], order[1:]):
        counts = _counts(codes := _identity(part))
        places = (np.cumsum(counts) - (counts - 1) / 2)[codes]
        both.append(places - places.mean())
    scale = math.sqrt((both[0] ** 2).sum() * (both[1] ** 2).sum())
    return float((both[0] * both[1]).sum() / scale) if scale else 0.0


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
    shared = math.log(2 / _OTHER_SHARE)  # with the rows of all options
    return [_Finding(float(x) + shared, whats[i]) for x, i in zip(sums, order, strict=True)]


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
    return [_Finding(expected - math.log(found) - math.log(_OTHER_SHARE), what)]


def _counts(codes: np.ndarray) -> np.ndarray:
    return np.unique(codes, return_counts=True)[1]
