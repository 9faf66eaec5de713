"""One look at a table, against plain references, known answers and controls. Axes: K, T, n."""

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest

from jaxrace.evidence.groups import GroupPairs
from jaxrace.evidence.one_look import OneLook, handicapped, look_at_runs, look_at_tasks
from jaxrace.evidence.one_look_means import one_look_intervals
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs

DELTA = 0.05


def tasks(scores, null=0.0):
    """The look at scores [K, T], by mean."""
    pairs = SharedPairs(np.asarray(scores, float)[..., None], "mean", shared_bets(5.0))
    return look_at_tasks(pairs, DELTA, null)


def runs_of(columns: Any, by: Any, delta, null=0.0):
    """The look at independent runs."""
    return look_at_runs(columns, by, delta, null)


def plain_step_down(z, draws, delta):
    """The claims of all pairs, step by step: the largest against the largest that is left."""
    pairs = list(itertools.combinations(range(len(z)), 2))
    over, left = np.zeros(z.shape, bool), set(pairs)
    while left:
        one = max(left, key=lambda p: abs(z[p]))
        largest = np.max([np.abs(draws[:, i, j]) for i, j in left], 0)
        if (1 + (largest >= abs(z[one]) - 1e-4).sum()) / (1 + len(draws)) > delta:
            return over
        over[one if z[one] > 0 else one[::-1]] = True
        left.remove(one)
    return over


def test_step_down_is_the_plain_one():
    rng = np.random.default_rng(1)
    scores = (rng.random((6, 200)) < np.linspace(0.3, 0.7, 6)[:, None]).astype(float)
    look = dataclasses.replace(tasks(scores), number=999)
    law = look.laws[0]
    look = dataclasses.replace(look, laws=(law,))
    draws = law(np.random.default_rng(look.seed), 999)
    assert len(draws) == 999
    expected = plain_step_down(look.z, draws, DELTA)
    assert 5 < expected.sum() < 15
    assert (look.over() == expected).all()


def test_who_may_be_best_needs_the_maximum_over_rivals():
    rng = np.random.default_rng(2)
    scores = (rng.random((6, 300)) < np.r_[0.6, 0.58, np.full(4, 0.45)][:, None]).astype(float)
    look = dataclasses.replace(tasks(scores), number=999)
    draws = look.laws[0](np.random.default_rng(look.seed), 999)
    for option, may in enumerate(look.may_be_best()):
        rivals = np.delete(np.arange(6), option)
        seen, largest = look.z[rivals, option].max(), draws[:, rivals, option].max(1)
        assert may == ((1 + (largest >= seen - 1e-4).sum()) / 1000 > DELTA)
    assert look.may_be_best().tolist() == [True, True] + [False] * 4


def test_two_options_are_the_sign_test():
    """Right or wrong, 2 options, m tasks apart: flips give the binomial law."""
    for m in (5, 6, 8, 12):
        for won in range(m // 2 + 1, m + 1):
            first = np.r_[np.ones(won), np.zeros(m - won), np.ones(10)]
            second = np.r_[np.zeros(won), np.ones(m - won), np.ones(10)]
            tail = sum(math.comb(m, k) for k in range(won, m + 1)) / 2**m
            if 0.8 < 2 * tail / DELTA < 1.25:
                continue
            look = tasks([first, second])
            flips = dataclasses.replace(look, laws=look.laws[:1])
            assert flips.over()[0, 1] == (2 * tail <= DELTA)
            assert flips.may_be_best()[1] == (tail > DELTA) or 0.8 < tail / DELTA < 1.25
            assert look.over()[0, 1] <= flips.over()[0, 1]


def test_order_of_tasks_and_direction_make_no_difference():
    rng = np.random.default_rng(3)
    scores = rng.random((4, 80)) * np.array([0.5, 0.6, 0.9, 1])[:, None]
    look, turned = tasks(scores), tasks(scores[:, ::-1] - 1.0)
    assert np.allclose(look.z, turned.z)
    assert (look.over() == turned.over()).all()


def test_a_handicap_is_nearly_the_exact_limit_of_seldom_losses():
    """Of T tasks n lose 1 and each other one wins a little, s: Poisson's limit for n."""
    for n, limit in ((0, 3.00), (2, 6.30), (10, 16.96)):  # exact upper 95 % limits
        num_tasks = 20_000

        def z(mean, n=n, num_tasks=num_tasks):
            small = mean / num_tasks
            sums = (n * (-1.0) ** k + num_tasks * small**k for k in (1, 2, 3))
            total, square, cube = map(np.array, sums)
            return float(handicapped(total, square, cube, 1.0))

        means = np.linspace(limit - 2, limit + 2, 401)
        reached = next(mean for mean in means if z(mean) >= 1.645)
        assert limit - 0.1 <= reached <= limit + 0.3
    assert handicapped(np.array(-50.0), np.array(50.0), np.array(-50.0), 1.0) < -3


def test_a_few_tasks_of_a_seldom_loss_say_nothing():
    """d = 1/19 but for -1 in one of twenty, not seen yet: no claim, with the handicap."""
    first, second = np.full(20, 0.5 + 1 / 19), np.full(20, 0.5)
    look = tasks([first, second])
    assert not look.over().any()
    assert look.may_be_best().all()
    bare = dataclasses.replace(look, z=np.array([[-np.inf, 20**0.5], [-(20**0.5), -np.inf]]))
    assert bare.over()[0, 1]


def test_a_null_that_is_not_equality():
    rng = np.random.default_rng(4)
    scores = (rng.random((2, 2000)) < np.array([[0.5], [0.55]])).astype(float)
    first, second = np.array([0]), np.array([1])
    assert not tasks(scores).claims(first, second).any()
    assert tasks(scores, null=-0.15).claims(first, second).all()
    runs = runs_of(scores, "mean", DELTA, -0.15)
    assert runs.claims(first, second).all()
    assert not runs_of(scores, "mean", DELTA, -0.01).claims(first, second).any()


def test_without_any_difference_nothing_is_said():
    look = tasks(np.ones((3, 30)))
    assert look.may_be_best().all()
    assert not look.over().any()
    runs = runs_of([np.ones(5)] * 3, "wins", DELTA)
    assert runs.may_be_best().all()
    assert not runs.over().any()


def test_clean_sweeps_of_runs_are_the_permutation_test():
    """5 runs over 5: 1 of 252 permutations; of 4 over 4, 2 of 70 are more than .025."""
    for n, sure in ((5, True), (4, True), (3, False)):
        look = runs_of([np.arange(n) + 10.0, np.arange(n) + 0.0], "wins", DELTA)
        assert look.over()[0, 1] == sure
    assert abs(runs_of([np.arange(5) + 9.0, np.arange(5.0)], "wins", DELTA).z[0, 1] - 2.66) < 0.1


def errors(make, looked, number, wrong=lambda look: look.over().any()):
    """The share of tables with a wrong claim; nobody is better."""
    rng, found = np.random.default_rng(5), 0
    for _ in range(number):
        found += bool(wrong(dataclasses.replace(looked(make(rng)), number=199)))
    return found / number


def test_errors_are_few_and_controls_have_many():
    """500 tables a line: .05 and four standard errors are .09."""

    def coins(rng):
        return (rng.random((6, 60)) < 0.3).astype(float)

    def unlike(rng):
        return [np.where(rng.random(20) < 0.05, 1.0, 0.45 / 0.95), np.full(20, 0.5)]

    def runs(rng):
        return [rng.normal(0, 5, 8), rng.normal(0, 1, 30), rng.normal(0, 1, 20)]

    def each_alone(look):
        return (look.z > 1.96).any()

    assert errors(coins, tasks, 500) < 0.09
    assert errors(coins, tasks, 500, each_alone) > 0.3
    assert errors(coins, tasks, 500, lambda look: not look.may_be_best()[0]) < 0.09
    assert errors(unlike, tasks, 500) < 0.09
    bare = errors(
        unlike, tasks, 500, lambda look: abs(look.estimate[0, 1]) > 0 and look.z.max() < 0
    )
    assert bare > 0.2  # the seldom one was not seen, and a handicap is all that speaks against it
    assert errors(runs, lambda x: runs_of(x, "wins", DELTA), 60) < 0.2


@pytest.mark.parametrize("by", ["mean", "wins"])
def test_the_laws_have_the_spread_of_the_statistics(by):
    """Draws of unequal runs: variance 1, and what two pairs have in common."""
    rng = np.random.default_rng(6)
    columns = [rng.uniform(0.4, 0.6, 30), rng.uniform(0, 1, 60), rng.uniform(0, 1, 200)]
    look = runs_of(columns, by, DELTA)
    assert isinstance(look, OneLook)
    draws = look.laws[0](np.random.default_rng(0), 20_000)
    assert np.allclose(draws[:, 0, 1].std(), 1, atol=0.03)
    assert np.allclose(draws[:, 0, 1], -draws[:, 1, 0])
    if by == "mean":
        of_each = [x.var(ddof=1) / len(x) for x in columns]
        common = of_each[1] / math.sqrt((of_each[0] + of_each[1]) * (of_each[1] + of_each[2]))
        assert abs(np.corrcoef(draws[:, 0, 1], draws[:, 2, 1])[0, 1] - common) < 0.03


def test_what_was_seen_is_one_of_the_draws():
    """Beyond all B draws the share is 1 / (1 + B): claimed at .05 with 19 of them, not with 18."""
    seen = np.array([[-np.inf, 9.0], [-9.0, -np.inf]])

    def nothing(rng, most):
        return np.zeros((most, 2, 2))

    for number, is_claimed in ((19, True), (18, False)):
        look = OneLook(seen, np.zeros((2, 2)), (nothing,), 0.05, number)
        assert look.claims(np.array([0]), np.array([1])).tolist() == [is_claimed]
        assert look.may_be_best().tolist() == [True, not is_claimed]


def in_groups(sizes, lost, won):
    """Two options, right or wrong: in each group the first loses and wins tasks so often."""

    def made(rng):
        drawn = [rng.random(n) for n in sizes]
        first = [x >= of_one for x, of_one in zip(drawn, lost, strict=True)]
        second = [x < 1 - of_one for x, of_one in zip(drawn, won, strict=True)]
        return np.stack([np.concatenate(first), np.concatenate(second)]).astype(float)

    return made


def grouped(scores, sizes):
    """The look at groups that count the same."""
    group, weights = np.repeat(np.arange(len(sizes)), sizes), np.full(len(sizes), 1 / len(sizes))
    values = np.asarray(scores, float)[..., None]
    bets = shared_bets(5.0)
    pairs = GroupPairs(values=values, by="mean", bets=bets, group=group, weights=weights)
    return look_at_tasks(pairs, DELTA)


def test_groups_are_weighted_and_added():
    """z is that of the weighted sum, with one more task of the group that counts most."""
    sizes, rng = (60, 20), np.random.default_rng(7)
    scores = (rng.random((2, 80)) < 0.6).astype(float)
    look = grouped(scores, sizes)
    d = (scores[0] - scores[1]) * np.repeat((1 / 3, 1.0), sizes)
    total, square, cube = (np.array((d**k).sum()) for k in (1, 2, 3))
    assert look.z[0, 1] == pytest.approx(float(handicapped(total, square, cube, 1.0)))
    means = [x.mean() for x in np.split(scores[0] - scores[1], [60])]
    assert look.estimate[0, 1] == pytest.approx(np.mean(means))


@pytest.mark.parametrize(
    ("lost", "won"),
    [
        ((0, 0, 0.05), (0.05, 0, 0)),  # in .13 of tables the small group has no loss yet
        ((0.1, 0.1, 0.1), (0.1, 0.1, 0.1)),
        ((0, 0.15, 0.3), (0.45, 0, 0)),
    ],
)
def test_errors_of_groups_are_few(lost, won):
    """The means of groups differ, and their mean is 0; 150 tables: .05 and four errors are .12."""
    sizes = (400, 100, 40)
    made = in_groups(sizes, lost, won)

    def looked(x):
        return grouped(x, sizes)

    assert errors(made, looked, 150) < 0.12
    assert errors(made, looked, 150, lambda look: not look.may_be_best()[0]) < 0.12
    if lost[2] == 0.05:  # the control: without one more task
        assert errors(made, lambda x: bare_of(x, sizes), 150) > 0.1


def bare_of(x, sizes):
    """Without one more task of the group that counts most."""
    d = (x[0] - x[1]) * np.repeat((0.1, 0.4, 1.0), sizes)
    z = d.sum() / max((d * d).sum(), 1e-9) ** 0.5
    return dataclasses.replace(grouped(x, sizes), z=np.array([[-np.inf, z], [-z, -np.inf]]))


@pytest.mark.parametrize(
    ("sizes", "chances"),
    [
        ((80,), (0.99,)),
        ((20,), (0.5,)),
        ((1000, 250, 80), (0.8, 0.8, 0.99)),
        ((1000, 250, 80), (0.02, 0.02, 0.02)),
        ((5, 500), (0.9, 0.5)),
        ((20,) * 57, (0.9,) * 57),
    ],
)
def test_intervals_of_one_option_hold(sizes, chances):
    """Right or wrong: each end is wrong in .025 of tables, and in no more than .034 of 2,000."""
    rng, number = np.random.default_rng(8), 2_000
    group, weights = np.repeat(np.arange(len(sizes)), sizes), np.full(len(sizes), 1 / len(sizes))
    right = (rng.random((number, len(group))) < np.array(chances)[group]).astype(float)
    truth = float(np.mean(chances))
    # Each table is one option by itself.
    low, high = one_look_intervals(right, group, weights, DELTA * number)
    assert (low > truth + 1e-12).mean() < 0.035
    assert (high < truth - 1e-12).mean() < 0.035
    assert (high - low).mean() < 1.0
