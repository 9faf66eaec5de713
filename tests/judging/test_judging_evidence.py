"""The evidence of tables is that of plain references, and of sums by hand."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from reference import tables as reference

from jaxrace.evidence.blocks import BlockPairs, block_values
from jaxrace.evidence.levels import Bets
from jaxrace.evidence.process import intervals
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.judging import race
from jaxrace.judging.scores import padded

BETS = Bets((0.25, 0.55, 0.95), (0.4, 0.3, 0.3))
FIRST, SECOND = np.array(list(itertools.permutations(range(3), 2))).T


def blocks_of(columns, by, first_block=5, block=5):
    values = padded([np.asarray(column, float) for column in columns])

    def differences(*blocks):
        x, y = block_values(values, *blocks)
        return x - y if by == "mean" else np.sign(x - y)

    counts = np.array(list(map(len, columns)))
    return BlockPairs(differences, counts, BETS, first_block, block)


@pytest.mark.parametrize("by", ["wins", "mean"])
@pytest.mark.parametrize("blocks", [(5, 5), (7, 3)])
@pytest.mark.parametrize("null", [0.0, -0.2, 0.3])
def test_independent_runs(by, blocks, null):
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 5, n) / 4 + 0.0 for n in (23, 14, 4)]
    process = blocks_of(columns, by, *blocks).process(FIRST, SECOND, null)
    for place, (i, j) in enumerate(zip(FIRST, SECOND, strict=True)):
        x, y = columns[i], columns[j]
        first, later = blocks
        compare = reference.difference(by, 1)
        path = reference.independent(x, y, BETS.bets, BETS.weights, first, later, compare, null)
        assert process.highest[place] == pytest.approx(max(path, default=-math.inf), abs=1e-10)
        assert process.common[place] == sum(reference.sizes(min(len(x), len(y)), first, later))


@pytest.mark.parametrize("by", ["wins", "mean"])
@pytest.mark.parametrize("num_tasks", [None, 20, 24])
@pytest.mark.parametrize("null", [0.0, -0.1, 0.4])
@pytest.mark.parametrize("gaps", ["lost", "skip"])
def test_shared_tasks(by, num_tasks, null, gaps):
    """With tasks that were left out, up to two values each, and one option that lags."""
    rng = np.random.default_rng(1)
    number = rng.integers(0, 3, (3, 20))
    if num_tasks == 20:
        number = np.maximum(number, 1)
    number[2, 12:] = 0
    levels = rng.integers(0, 5, (3, 20, 2)) / 4 + np.array([0.3, 0.0, 0.0])[:, None, None]
    values = np.where(np.arange(2) < number[..., None], levels, np.nan)
    bets = shared_bets(5.0, num_tasks)
    process = SharedPairs(values, by, bets, num_tasks, gaps=gaps).process(FIRST, SECOND, null)
    lists = [
        [list(v[:n]) for v, n in zip(*option, strict=True)]
        for option in zip(levels, number, strict=True)
    ]
    for place, (i, j) in enumerate(zip(FIRST, SECOND, strict=True)):
        d = reference.averaged(lists[i], lists[j], by, 1.0)
        assert process.mean[place] == pytest.approx(np.mean(d))
        assert process.common[place] == len(d)
        if gaps == "lost":
            d = reference.with_losses(lists[i], lists[j], d)
        if num_tasks is None:
            path = reference.stream(d, *bets, null)
        else:
            path = reference.listed(d, num_tasks, *bets, null)
        assert process.highest[place] == pytest.approx(max(path), abs=1e-9)


def test_two_runs_by_hand():
    """Both of i beat both of j: (1 + lambda)^2 in each of the two permutations."""
    pairs = blocks_of([[3.0, 4.0], [1.0, 2.0]], "wins", 2, 2)
    found = pairs.process(np.array([0, 1]), np.array([1, 0])).highest
    expected = [
        math.log(sum(w * (1 + side * b) ** 2 for b, w in zip(*BETS, strict=True)))
        for side in (1, -1)
    ]
    np.testing.assert_allclose(found, expected)


def test_a_list_is_certain_once_the_rest_cannot_change_it():
    """Of five tasks i wins the first three; two losses at most are left."""
    values = np.array([[1.0, 1, 1], [0, 0, 0]])[:, :, None]
    for tasks, is_certain in ((2, False), (3, True)):
        pairs = SharedPairs(values[:, :tasks], "wins", shared_bets(5.0, 5), 5)
        found = pairs.process(np.array([0, 1]), np.array([1, 0]))
        assert np.isinf(found.highest[0]) == is_certain
        assert found.highest[1] < 0


def test_expectations_are_at_most_one():
    """Over all orders of a list with sum 0, and over all runs of two fair coins, one by one."""
    d = np.array([1.0, 0.5, 0.0, -0.5, -1.0])
    orders = np.array(list(itertools.permutations(d)))
    for length in (1, 2, 3, 4):
        values = np.stack([orders[:, :length], np.zeros((120, length))], 1)
        e = []
        for one in values:
            pairs = SharedPairs(one[:, :, None], "mean", Bets((0.9,), (1.0,)), 5)
            e.append(math.exp(pairs.process(np.array([0]), np.array([1])).log_bets[0, 0]))
        assert np.mean(e) <= 1 + 1e-9
        assert np.mean(e) > 0.9
    coins = np.array(list(itertools.product((0.0, 1.0), repeat=6)))
    e = [
        math.exp(
            blocks_of([one[:3], one[3:]], "mean", 3, 3)
            .process(np.array([0]), np.array([1]))
            .highest[0]
        )
        for one in coins
    ]
    assert np.mean(e) == pytest.approx(1)


def test_intervals_invert_the_evidence():
    rng = np.random.default_rng(2)
    columns = [rng.beta(2, 2, 40), rng.beta(3, 2, 40), rng.beta(2, 3, 30)]
    for pairs in (
        blocks_of(columns, "mean"),
        SharedPairs(padded(columns)[:, :, None], "mean", shared_bets(5.0), None),
        SharedPairs(padded(columns)[:, :, None], "wins", shared_bets(5.0, 60), 60),
    ):
        low, high = intervals(pairs, FIRST, SECOND, 3.0)
        mean = pairs.process(FIRST, SECOND).mean
        assert (low < mean).all()
        assert (mean < high).all()
        at_end = pairs.process(FIRST, SECOND, low).highest
        beyond = pairs.process(FIRST, SECOND, low + 2e-4).highest
        assert (at_end >= 3).all() or (low == -1)[at_end < 3].all()
        assert (beyond < 3).all()
        assert (pairs.process(SECOND, FIRST, -high - 0.05).highest >= 3).all()


@pytest.mark.parametrize("null", [0.0, -0.1])
def test_at_best_is_exact(null):
    """So many more runs that all go one way do, and no fewer."""
    tasks = np.array([[1.0, 0, 1, 1, 0, 1], [0, 1.0, 0, 0, 1, 0]])
    for num_tasks in (None, 40, 9):
        bets = shared_bets(5.0, num_tasks)
        one = SharedPairs(tasks[:, :, None], "wins", bets, num_tasks)
        process = one.process(np.array([0]), np.array([1]), null)
        (further,) = one.least_further(process, null, 5.0)
        for more in (further - 1, further):
            longer = np.concatenate([tasks, np.tile([[1.0], [0.0]], more)], 1)
            then = SharedPairs(longer[:, :, None], "wins", bets, num_tasks)
            highest = then.process(np.array([0]), np.array([1]), null).highest[0]
            assert (highest >= 5.0) == (more == further)
    columns = [[1.0, 0, 1, 1, 0], [0.0, 1, 0, 0, 1]]
    one = blocks_of(columns, "wins")
    process = one.process(np.array([0]), np.array([1]), null)
    (further,) = one.least_further(process, null, 5.0)
    assert further % 5 == 0
    for more in (further - 5, further):
        longer = [columns[0] + [1.0] * more, columns[1] + [0.0] * more]
        highest = blocks_of(longer, "wins").process(np.array([0]), np.array([1]), null).highest[0]
        assert (highest >= 5.0) == (more == further)


def test_equal_sums_of_a_whole_list_are_a_tie():
    tasks = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0.5, 0.25]])
    process = SharedPairs(tasks[:, :, None], "mean", shared_bets(5.0, 3), 3).process(FIRST, SECOND)
    for place, (i, j) in enumerate(zip(FIRST, SECOND, strict=True)):
        assert process.tied[place] == ({i, j} == {0, 1})
        assert process.highest[place] == (math.inf if j == 2 else -math.inf)


def test_sums_of_signs_are_exact():
    """Two options are even if and only if wins and losses are as many."""
    values = np.random.default_rng(0).integers(0, 3, (3, 65)).astype(float)
    means = blocks_of(values, "wins").process(FIRST, SECOND).mean
    for mean, i, j in zip(means, FIRST, SECOND, strict=True):
        x, y = values[i].reshape(13, 5, 1), values[j].reshape(13, 1, 5)
        assert mean == np.sign(x - y).sum() / (25 * 13)


@pytest.mark.parametrize(
    ("options", "runs", "shared", "most"), [(500, 10, False, 15e6), (40, 800, True, 80e6)]
)
def test_memory(options, runs, shared, most):
    """Two numbers of each pair, and flags; of shared tasks not all steps of all pairs."""
    scores = np.random.default_rng(0).normal(size=(options, runs)) + np.arange(options)[:, None]
    tracemalloc.start()
    try:
        result = race({f"m{n}": x for n, x in enumerate(scores)}, shared=shared)
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()
    assert result.best == [f"m{options - 1}"]


@pytest.mark.parametrize("seed", range(3))
def test_pairs_of_equal_evidence_are_shown_as_they_rank(seed):
    """Runs of the others are those of one, in another order within each block: u a + v modulo 5."""
    best, other = np.random.default_rng(seed).normal([[0.5], [0.0]], size=(2, 15))
    turns = [(slope * np.arange(5) + shift) % 5 for shift in (0, 1) for slope in (1, 2, 3)]
    columns = {f"m{n}": other.reshape(3, 5)[:, turn].ravel() for n, turn in enumerate(turns)}
    result = race({"best": best, **columns})
    assert [pair.worse for pair in result.pairs] == result.names[1:]
