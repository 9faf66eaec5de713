"""Rows that are there several times: seen in whatever order, hardly ever where they are not."""

import itertools
import math

import numpy as np
import pytest

from jaxrace.evidence.copies import found_in, log_e_of_counts, log_p_of_stretches
from jaxrace.evidence.independence import REFUSED, WARNED

rng = np.random.default_rng(7)


def coded(rows):
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


BASES = {
    "right or wrong, two options": rng.random((60, 2)) < 0.5,
    "right or wrong, eight": rng.random((60, 8)) < rng.beta(1, 1, (60, 1)),
    "percents": rng.integers(0, 101, (60, 2)),
    "continuous": rng.normal(size=(60, 2)),
}
IN_ORDER = {
    "less a row": lambda x: np.tile(x, (10, 1))[:-1],
    "twice": lambda x: np.tile(x, (2, 1)),
    "60, 59, ... 56 rows": lambda x: np.concatenate([x[: 60 - i] for i in range(5)]),
    "a block again": lambda x: np.concatenate([x, x[10:50]]),
}
SHUFFLED = {
    "less a row": lambda x: rng.permutation(np.tile(x, (10, 1)))[1:],
    "twice less a row": lambda x: rng.permutation(np.tile(x, (2, 1)))[1:],
}


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("copied", IN_ORDER)
def test_blocks_that_come_again(base, copied):
    found = found_in(coded(IN_ORDER[copied](BASES[base])), ordered=False)
    assert found.log_p < math.log(REFUSED)


@pytest.mark.parametrize("base", list(BASES)[1:])  # four kinds of rows tell nothing
@pytest.mark.parametrize("copied", SHUFFLED)
def test_copies_in_any_order(base, copied):
    found = found_in(coded(SHUFFLED[copied](BASES[base])), ordered=False)
    assert found.log_p < math.log(WARNED)
    assert "most of them" in found.what


LAWS = {
    "few kinds": lambda n: rng.integers(0, 4, n),
    "as many kinds as rows": lambda n: rng.integers(0, n, n),
    "a third": lambda n: rng.integers(0, n // 3, n),
    "a heavy tail": lambda n: rng.zipf(1.5, n),
    "half of them new": lambda n: np.where(rng.random(n) < 0.5, n + np.arange(n), rng.integers(n)),
    "sorted": lambda n: np.sort(rng.integers(0, 5, n)),
}


@pytest.mark.parametrize("law", LAWS)
def test_rows_that_are_no_copies(law):
    found = [found_in(LAWS[law](120), ordered=False).log_p for _ in range(100)]
    assert min(found) > math.log(WARNED)


@pytest.mark.parametrize(("n", "atoms"), [(4, 2), (4, 3), (5, 3), (5, 4)])
def test_the_mean_is_at_most_one_of_any_law(n, atoms):
    for p in [np.full(atoms, 1 / atoms), rng.dirichlet(np.full(atoms, 2.0))]:
        mean = 0.0
        for rows in itertools.product(range(atoms), repeat=n):
            times = np.bincount(np.bincount(rows))
            mean += float(np.prod(p[list(rows)])) * math.exp(log_e_of_counts(times))
        assert mean <= 1


def test_stretches_are_as_rare_as_they_are_counted():
    orders = {*itertools.permutations([0, 0, 0, 1, 1, 2])}
    for number in range(3, 7):
        few = [sum(1 for _ in itertools.groupby(one)) <= number for one in orders]
        assert math.exp(log_p_of_stretches(np.array([3, 2, 1]), number)) >= np.mean(few)
    assert log_p_of_stretches(np.array([20, 20]), 2) < math.log(1e-6)
