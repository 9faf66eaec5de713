"""Rows that are there several times: they are one result, and evidence counts each.

If rows are drawn independently from one law, whatever it is, it is rare that most different ones
occur equally often, that a block of them comes again, or that equal ones stand next to each other.
Each is asked here of n rows by their codes, integers that are equal where the rows are.
"""

import math
from typing import NamedTuple

import numpy as np

from jaxrace.evidence.gamma import log_choose, log_factorial
from jaxrace.evidence.levels import FloatArray, IntArray

_TILTS = (0.1, 0.3, 1.0, 3.0)
_STAKES = (0.3, 0.6, 0.9, 1.0)  # of what may be staked at most
_ODD = 0x9E3779B97F4A7C15
_FEWEST = 6  # rows of a block
_LOOKED_AT = 64  # blocks of one size
_SORTED = math.log(1e-2)


class Copies(NamedTuple):
    """``log_p``: ln of a bound on the chance of what is found; ``what`` it is, in words."""

    log_p: float
    what: str


def found_in(codes: IntArray, *, ordered: bool) -> Copies:
    """How often rows occur, or blocks that come again, whichever is rarer.

    Args:
        codes: int [n], equal where rows are.
        ordered: Rows are in the order in which they were drawn; else they may have been sorted.

    >>> rows = np.random.default_rng(0).permutation(np.repeat(np.arange(30), 4))[1:]
    >>> found_in(rows, ordered=False).what
    '119 rows, of which 30 differ, most of them 4 times each'
    """
    if len(codes) < 2:
        return Copies(0.0, "")
    kinds, codes, counts = np.unique(codes, return_inverse=True, return_counts=True)
    codes = codes.reshape(-1)
    times = np.bincount(counts)
    found = [
        Copies(
            -log_e_of_counts(times),
            f"{len(codes):,} rows, of which {len(kinds):,} differ, most of them "
            f"{times.argmax()} times each",
        ),
    ]
    # Blocks of rows that are sorted are alike, whatever they are.
    number = 1 + int((codes[1:] != codes[:-1]).sum())
    if ordered or log_p_of_stretches(counts, number) > _SORTED:
        found.append(_blocks(codes))
    least = min(found)
    return least._replace(log_p=min(least.log_p + math.log(2), 0.0))


def log_e_of_counts(times: IntArray) -> float:
    """ln e of how many different rows, ``times`` [R], are there 0, 1, 2, ... times, in any order.

    Let the number of rows be a Poisson one, of mean n. Then a row of chance p is there r times with
    the chance x^r exp(-x) / r!, x = n p, and F_r, the sum of these over all rows there may be, is a
    moment over r!: by Cauchy's and Schwarz' inequality F_r^2 <= (r + 1) / r F_(r-1) F_(r+1). With g
    the root of (r + 1) / r, and any t > 0, the sum over rows of

        Z = [r times] - g t / 2 [r - 1 times] - g / (2 t) [r + 1 times]

    thus has no mean above 0, whatever the law is, and the product of 1 + b Z, rows being
    independent now, none above 1. That of exactly n rows is larger by at most the chance of n,
    n^n exp(-n) / n!. What is returned is of a mean over r, t and b.
    """
    n = int(times @ np.arange(len(times)))
    times = np.append(times, 0)
    r = np.flatnonzero(times[2:-1]) + 2
    if not len(r):
        return 0.0
    g = np.sqrt((r + 1) / r)
    log_es = []
    for tilt in _TILTS:
        below, above = g * tilt / 2, g / (2 * tilt)
        for stake in _STAKES:
            b = stake / np.maximum(below, above)
            log_es.append(
                times[r] * np.log1p(b)
                + _times_log(times[r - 1], 1 - b * below)
                + _times_log(times[r + 1], 1 - b * above)
            )
    shares = -np.log(r * (r - 1.0))
    log_e = float(np.logaddexp.reduce((np.array(log_es) + shares).ravel())) - math.log(len(log_es))
    return log_e + n * math.log(n) - n - float(log_factorial(n))


def _times_log(number: IntArray, factor: FloatArray) -> FloatArray:
    """ln factor^number, of factors down to 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(number > 0, number * np.log(np.maximum(factor, 0)), 0.0)


def _blocks(codes: IntArray) -> Copies:
    """Does a block of rows come again? Blocks of which rows, it may be chance; in which order not.

    Given which rows each of two blocks has, all orders of these are equally likely. There are less
    than n^2 / 2 pairs of blocks of one size. Rows in sorted order have but one, so they do not
    count.
    """
    n, best = len(codes), Copies(0.0, "")
    sizes = sorted({n // 2**k for k in range(1, 7) if n // 2**k >= _FEWEST})
    for size in sizes:
        one, other = equal_blocks(codes, size)
        if not len(one):  # then no larger one does
            break
        places = np.unique(np.linspace(0, len(one) - 1, _LOOKED_AT).astype(int))
        for a, b in zip(one[places].tolist(), other[places].tolist(), strict=True):
            block = codes[a : a + size]
            log_p = 2 * math.log(n) + math.log(len(sizes) / 2) - log_orders(np.bincount(block))
            if log_p < best.log_p and (block == codes[b : b + size]).all():
                best = Copies(log_p, f"the {size:,} rows from {a + 1:,} on again from {b + 1:,} on")
    return best


def equal_blocks(codes: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Where blocks of a size begin, the first and the last of those that are equal and apart.

    By their hashes: sums of numbers of the codes times powers of an odd one, modulo 2^64.
    """
    numbers = np.random.default_rng(0).integers(0, 2**64, codes.max() + 1, np.uint64)
    powers = np.full(len(codes), pow(_ODD, 1, 2**64), np.uint64).cumprod(dtype=np.uint64)
    back = np.full(len(codes), pow(_ODD, -1, 2**64), np.uint64).cumprod(dtype=np.uint64)
    sums = np.append(np.zeros(1, np.uint64), (numbers[codes] * powers).cumsum(dtype=np.uint64))
    hashes = (sums[size:] - sums[:-size]) * back[: len(codes) - size + 1]
    first = np.unique(hashes, return_index=True)[1]
    last = len(hashes) - 1 - np.unique(hashes[::-1], return_index=True)[1]
    apart = last - first >= size
    return first[apart], last[apart]


def log_p_of_stretches(counts: IntArray, number: int) -> float:
    """ln of a bound on the chance of at most so many stretches in a random order; ``counts`` [G].

    T things can be cut into r stretches in T - 1 choose r - 1 ways, and those be named in at most
    G (G - 1)^(r - 1); of all orders of the names there are T! / (n_1! ... n_G!).
    """
    if len(counts) < 2:
        return 0.0
    r, rest = np.arange(len(counts), number + 1), len(counts) - 1
    ways = log_choose(counts.sum() - 1, r - 1) + math.log(rest + 1) + (r - 1) * math.log(rest)
    return float(np.logaddexp.reduce(ways) - log_orders(counts))


def log_orders(counts: IntArray) -> float:
    """ln of the different orders of things of which so many are equal."""
    return float(log_factorial(counts.sum()) - log_factorial(counts).sum())
