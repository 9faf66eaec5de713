"""Groups of tasks: against a plain loop, all orders of small lists, and what clocks draw."""

import dataclasses
import itertools
import math
from collections import Counter

import numpy as np
import pytest

from jaxrace.evidence.groups import (
    GroupPairs,
    Lottery,
    groups_of_list,
    groups_of_stream,
    in_group_order,
    in_groups,
)
from jaxrace.evidence.levels import Bets
from jaxrace.evidence.process import intervals
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs
from papers.audits import groups as audit

FIRST, SECOND = np.array([0]), np.array([1])
BETS = Bets((0.25, 0.55, 0.95), (0.4, 0.3, 0.3))


def pairs_of(differences, group, weights, sizes, bets=BETS):
    own = np.array(differences, float)
    return GroupPairs(
        values=np.stack([own, 0 * own])[..., None],
        by="mean",
        bets=bets,
        num_tasks=None if sizes is None else sum(sizes),
        group=np.array(group),
        weights=np.array(weights),
        sizes=None if sizes is None else np.array(sizes),
    )


def plain_evidence(differences, group, weights, sizes, null):
    """The largest ln E before the first task that is missing, step by step."""
    number, total, logs, highest = Counter(), Counter(), np.log(BETS.weights), -math.inf
    for d, g in zip(differences, group, strict=True):
        if math.isnan(d):
            break
        expected, left = null, 1.0
        if sizes is not None:
            left = sum(w * (1 - number[k] / sizes[k]) for k, w in enumerate(weights))
            done = sum(w * total[k] / sizes[k] for k, w in enumerate(weights))
            expected = max((null - done) / left, -1)
        for place, bet in enumerate(BETS.bets):
            bet = min(bet / left, 0.99 / max(1 + expected, 1e-6))
            logs[place] += math.log(1 + bet * (d - expected))
        highest = max(highest, float(np.logaddexp.reduce(logs)))
        number[g] += 1
        total[g] += d
    return highest


@pytest.mark.parametrize("null", [0.0, -0.1, 0.3])
@pytest.mark.parametrize("sizes", [None, (8, 20, 40)])
def test_a_plain_loop(null, sizes):
    rng = np.random.default_rng(0)
    weights = (0.5, 0.3, 0.2)
    for missing in (60, 25, 0):
        group = rng.permutation(np.repeat([0, 1, 2], (8, 20, 40)))
        d = rng.choice([-0.5, 0.0, 0.25, 1.0], 68)
        d[missing] = np.nan
        found = pairs_of(d, group, weights, sizes).process(FIRST, SECOND, null)
        expected = plain_evidence(d, group, weights, sizes, null)
        assert found.highest[0] in (pytest.approx(expected), math.inf)
        means = [np.nanmean(d[group == g]) for g in range(3)]
        assert found.mean[0] == pytest.approx(np.dot(weights, means))
        # Certain, if it were better even with -1 for what is missing.
        least = [np.nan_to_num(d, nan=-1)[group == g].mean() for g in range(3)]
        is_certain = sizes is not None and np.dot(weights, least) > null
        assert (found.highest[0] == math.inf) == is_certain


def all_orders(groups):
    """All ways to take the tasks of groups, which are lists: which group, and its difference."""
    for rows in itertools.product(*map(itertools.permutations, groups)):
        names = [g for g, own in enumerate(groups) for _ in own]
        for drawn in set(itertools.permutations(names)):
            ahead = [iter(row) for row in rows]
            yield drawn, [next(ahead[g]) for g in drawn]


def chance_of(drawn, weights, sizes):
    number, found = Counter(), 1.0
    for g in drawn:
        rates = [w * (1 - number[k] / sizes[k]) for k, w in enumerate(weights)]
        found *= rates[g] / sum(rates)
        number[g] += 1
    return found


def test_the_mean_factor_is_at_most_one():
    """Over all orders of two lists whose weighted mean is 0; in the order of a file it is not."""
    groups, weights, sizes = [[0.9, 0.3], [0.1, -0.7, -0.3, -0.3]], (1 / 3, 2 / 3), (2, 4)
    assert np.dot(weights, [*map(np.mean, groups)]) == pytest.approx(-0.2 + 0.2)
    one_bet = Bets((0.4,), (1.0,))
    means, in_order, total = np.zeros(5), np.zeros(5), 0.0
    within = math.prod(math.factorial(n) for n in sizes)
    for drawn, d in all_orders(groups):
        chance = chance_of(drawn, weights, sizes) / within
        total += chance
        for place in range(5):
            cut = [*d[: place + 1], *[math.nan] * (5 - place)]
            found = pairs_of(cut, drawn, weights, sizes, one_bet).process(FIRST, SECOND)
            e = math.exp(found.log_bets[0, 0])
            means[place] += chance * e
            in_order[place] += e / within if drawn == (0, 0, 1, 1, 1, 1) else 0.0
    assert total == pytest.approx(1)
    assert (means <= 1 + 1e-9).all()
    assert (means > 0.8).all()
    assert in_order[0] == pytest.approx(1 + 0.4 * 0.6)


def test_clocks_draw_as_the_lottery_does():
    weights, sizes = {"a": 0.7, "b": 0.3}, {"a": 2, "b": 3}
    number = 4000
    listed = Counter(tuple(groups_of_list(weights, sizes, seed)) for seed in range(number))
    assert sum(listed.values()) == number
    for drawn, count in listed.items():
        chance = chance_of(["ab".index(g) for g in drawn], (0.7, 0.3), (2, 3))
        assert abs(count - number * chance) < 4.5 * math.sqrt(number * chance) + 1
    streams = Counter(
        tuple(groups_of_stream(weights, {"a": 1, "b": 1}, seed)[:2]) for seed in range(number)
    )
    for drawn, count in streams.items():
        chance = math.prod(weights[g] for g in drawn)
        assert abs(count - number * chance) < 4.5 * math.sqrt(number * chance)


def test_draws_do_not_move():
    """With more tasks, and groups in another order."""
    weights = {"a": 0.5, "b": 0.3, "c": 0.2}
    few = groups_of_stream(weights, {"a": 5, "b": 5, "c": 0}, 7)
    turned = dict(reversed(weights.items()))
    many = groups_of_stream(turned, {"a": 100, "b": 50, "c": 90}, 7)
    assert few == many[: len(few)]
    assert groups_of_list(weights, dict.fromkeys("abc", 9), 7) == groups_of_list(
        turned, dict.fromkeys("cba", 9), 7
    )
    tasks = [str(n) for n in range(20)]
    assert in_group_order(tasks, "a", 1) == in_group_order(tasks[::-1], "a", 1)
    assert in_group_order(tasks, "a", 1) != in_group_order(tasks, "b", 1)


def test_by_size_it_is_one_list():
    rng = np.random.default_rng(1)
    group = rng.permutation(np.repeat([0, 1], (10, 30)))
    values = rng.random((2, 40, 2))
    one = SharedPairs(values, "wins", shared_bets(5.0, 40), 40)
    lot = Lottery({"a": 0.25, "b": 0.75}, {"a": 10, "b": 30}, True, None)
    several = in_groups(one, ["ab"[g] for g in group], lot, 5.0)
    assert several.bets == one.bets
    for end in (25, 40):
        cut = values.copy()
        cut[:, end:] = np.nan
        for null in (0.0, -0.1):
            found = [
                dataclasses.replace(x, values=cut).process(FIRST, SECOND, null)
                for x in (one, several)
            ]
            near = 1e-9 if end == 40 else 0.1  # only one is weighted
            np.testing.assert_allclose(found[0].mean, found[1].mean, atol=near)
            for name in ("highest", "common", "whole", "tied"):
                np.testing.assert_allclose(*(getattr(x, name) for x in found), atol=1e-9)


def test_a_gap_that_is_filled_moves_nothing():
    rng = np.random.default_rng(2)
    d, group = rng.choice([-1.0, 0.0, 1.0], 60), rng.integers(0, 2, 60)
    for fill in (-1.0, 1.0):
        cut = np.where(np.arange(60) == 30, np.nan, d)
        full = np.where(np.arange(60) == 30, fill, d)
        before, at, after = (
            pairs_of(x, group, (0.5, 0.5), None).process(FIRST, SECOND).highest[0]
            for x in (np.where(np.arange(60) < 30, d, np.nan), cut, full)
        )
        assert before == at <= after


def test_intervals_hold_the_mean():
    rng = np.random.default_rng(3)
    group, weights = rng.integers(0, 3, 90), (0.6, 0.3, 0.1)
    pairs = pairs_of(rng.uniform(-1, 1, 90), group, weights, None)
    low, high = intervals(pairs, FIRST, SECOND, 3.0)
    assert low[0] < pairs.process(FIRST, SECOND).mean[0] < high[0]


def test_a_whole_list_is_known():
    """The macro mean, where the pooled one is of the other sign."""
    d, group = [1.0, -0.4, -0.4, -0.4], [0, 1, 1, 1]
    found = pairs_of(d, group, (0.5, 0.5), (1, 3)).process(FIRST, SECOND)
    assert (found.highest[0], found.mean[0], found.whole[0]) == (math.inf, pytest.approx(0.3), True)
    equal = pairs_of([0.4, *d[1:]], group, (0.5, 0.5), (1, 3)).process(FIRST, SECOND)
    assert (equal.highest[0], equal.tied[0]) == (-math.inf, True)


def test_small_audit():
    """Two equal options are hardly ever told apart; in the order of the file they are."""
    lists = audit.Line("", np.arange(20, 120, 5))
    in_order = dataclasses.replace(lists, in_order=True)
    number = 150
    wrong = [sum(map(one.wrong, range(number))) / number for one in (lists, in_order)]
    assert wrong[0] < 0.1 < 0.15 < wrong[1]
    clusters = [
        np.mean([audit.of_passages(seed, are_clusters=x) for seed in range(number)])
        for x in (True, False)
    ]
    assert clusters[0] < 0.1 < 0.2 < clusters[1]
