"""Races that are played on runs that nobody has made yet. Axes: K options, S races, N runs of each.

After a pilot each race has a truth of its own, drawn from what the pilot leaves possible: of n
tasks (or runs of an option) n - 1 are drawn with replacement, and one is a task of the pilot whose
options have changed places by lot. New tasks are drawn from these n. So the gap between two options
has about the mean and the variance that the pilot gives it, and n is as large as the one task makes
it: it takes back what a bootstrap loses of the spread. What is drawn of a list ends with the list.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxrace.evidence.blocks import BlockPairs, block_values
from jaxrace.evidence.levels import Bets, BoolArray, By, FloatArray, IntArray
from jaxrace.evidence.process import NEVER
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.judging.question import BLOCK, FIRST_BLOCK

_FIRST_LENGTH = 64  # runs of each that are looked at first; then twice as many, and so on


class Goal(NamedTuple):
    """What is to be certain: the best ``top``, so many ``tiers``, or all about a ``baseline``."""

    top: int
    tiers: int | None
    baseline: int | None


class EvidenceRules(NamedTuple):
    """By what evidence it is."""

    by: By
    bets: Bets
    level: float  # of a verdict
    null: float  # what is certain is that differences have a larger mean
    is_shared: bool
    num_tasks: int | None  # of a list


def drawn_tasks(
    rng: np.random.Generator, pilot: FloatArray, num_races: int, length: int
) -> FloatArray:
    """New shared tasks, after a pilot [K, n, R]: [K, S, length, R]."""
    num_options, number, _ = pilot.shape
    truth = rng.integers(number, size=(num_races, number))
    place = rng.integers(number, size=(num_races, length))
    task = np.take_along_axis(truth, place, 1)
    lots = rng.permuted(np.tile(np.arange(num_options), (num_races, 1)), axis=1).T[..., None]
    is_mixed = (place == number - 1)[None]
    return pilot[np.where(is_mixed, lots, np.arange(num_options)[:, None, None]), task[None]]


def drawn_in_groups(
    rng: np.random.Generator,
    pilot: FloatArray,
    groups: NDArray[np.str_],
    shares: Mapping[str, float],
    num_races: int,
    length: int,
) -> FloatArray:
    """New shared tasks of groups, each of which comes with its share: [K, S, length, R].

    ``groups`` [n] are those of the tasks of the pilot [K, n, R].
    """
    which = rng.choice(len(shares), (num_races, length), p=[*shares.values()])
    found = np.full((len(pilot), num_races, length, pilot.shape[2]), np.nan)
    for number, group in enumerate(shares):
        race, place = np.nonzero(which == number)
        nth = (which == number).cumsum(1)[race, place] - 1
        own = drawn_tasks(rng, pilot[:, groups == group], num_races, int(nth.max(initial=-1)) + 1)
        found[:, race, place] = own[:, race, nth]
    return found


def drawn_runs(
    rng: np.random.Generator, pilot: Sequence[FloatArray], num_races: int, length: int
) -> FloatArray:
    """New independent runs, after those of a pilot, [n_i] each: [K, S, length, 1]."""
    found = []
    for runs in pilot:
        truth = rng.choice(runs, (num_races, len(runs)))
        lots = rng.integers(len(pilot), size=num_races)
        truth[:, -1] = [rng.choice(pilot[option]) for option in lots]
        place = rng.integers(len(runs), size=(num_races, length))
        found.append(np.take_along_axis(truth, place, 1))
    return np.stack(found)[..., None]


def stated_runs(
    rng: np.random.Generator,
    means: FloatArray,
    spread: float,
    correlation: float,
    num_races: int,
    length: int,
    *,
    is_normal: bool,
) -> FloatArray:
    """Scores of stated means [K], standard deviation and correlation: [K, S, length, 1].

    They are normal, or lie a spread above or below 0.5, as answers that are right or wrong do.
    """
    shape = (len(means), num_races, length)
    if is_normal:
        common, own = rng.standard_normal(shape[1:]), rng.standard_normal(shape)
        noise = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
        return (means[:, None, None] + spread * noise)[..., None]
    is_common = rng.random(shape[1:]) < correlation
    chance = np.where(is_common, rng.random(shape[1:]), rng.random(shape))
    share = (means[:, None, None] - 0.5 + spread) / (2 * spread)  # of the higher ones
    return (0.5 + spread * np.where(chance < share, 1.0, -1.0))[..., None]


def answered_after(values: FloatArray, rules: EvidenceRules, goal: Goal) -> IntArray:
    """Runs of each option, [S], with which races of runs [K, S, N, R] have their right answers.

    All options run alike; ``NEVER`` if N are not enough. Right is what all N runs say.
    """
    num_options, num_races, most, _ = values.shape
    right = np.array([_true_verdicts(values[:, race], rules) for race in range(num_races)])
    wanted = _wanted(right, goal)
    found, length = np.full(num_races, NEVER), min(_FIRST_LENGTH, most)
    while True:
        races = np.flatnonzero(found == NEVER)
        at, i, j = np.nonzero(wanted[races])
        table = values[:, races, :length].reshape(-1, length, values.shape[-1])
        times = np.full((len(races), num_options, num_options), NEVER)
        about = i * len(races) + at, j * len(races) + at, rules.null, rules.level
        times[at, i, j] = _pairs(table, rules).reached(*about)
        found[races] = _answers(times, goal)
        if length == most:
            return found
        length = min(2 * length, most)


def _pairs(values: FloatArray, rules: EvidenceRules) -> SharedPairs | BlockPairs:
    """Of a table [K S, N, R]."""
    if rules.is_shared:
        return SharedPairs(values, rules.by, rules.bets, rules.num_tasks)

    def differences(first: IntArray, second: IntArray, start: IntArray, size: int) -> FloatArray:
        x, y = block_values(values[..., 0], first, second, start, size)
        return x - y if rules.by == "mean" else np.sign(x - y)

    return BlockPairs(
        differences, np.full(len(values), values.shape[1]), rules.bets, FIRST_BLOCK, BLOCK
    )


def _true_verdicts(values: FloatArray, rules: EvidenceRules) -> BoolArray:
    """Which option is over which by all runs [K, N, R]: bool [K, K]."""
    if rules.by == "mean":
        means = np.nanmean(values, -1).mean(-1)
        return np.subtract.outer(means, means) > rules.null + 1e-9
    options = np.arange(len(values))
    pairs = SharedPairs(values, rules.by, rules.bets)
    means = np.array([pairs.differences(options * 0 + i, options).mean(1) for i in options])
    return (means > rules.null + 1e-9) & ~np.eye(len(values), dtype=bool)


def _wanted(right: BoolArray, goal: Goal) -> BoolArray:
    """Of right verdicts [S, K, K] those that may matter."""
    others = ~np.eye(right.shape[-1], dtype=bool)
    if goal.baseline is not None:
        is_base = np.arange(len(others)) == goal.baseline
        return right & (is_base[:, None] != is_base)
    if goal.tiers is not None:
        return right & others
    may_lead = (right & others).sum(2) >= len(others) - goal.top
    may_follow = (right & others).sum(1) >= goal.top
    return right & others & may_lead[:, :, None] & may_follow[:, None, :]


def _answers(times: IntArray, goal: Goal) -> IntArray:
    """When all that is wanted is certain, by when each verdict is, [S, K, K]: [S]."""
    num_options = times.shape[-1]
    if goal.baseline is not None:
        for_it, against = times[:, :, goal.baseline], times[:, goal.baseline]
        return np.delete(np.minimum(for_it, against), goal.baseline, 1).max(1)
    if goal.tiers is None:
        return _boundary(times, goal.top)
    every = [_boundary(times, top) for top in range(1, num_options)]
    return np.sort(every, 0)[goal.tiers - 2]


def _boundary(times: IntArray, top: int) -> IntArray:
    """When so many options are certainly over the rest: those that are soonest over enough."""
    enough = np.sort(times, -1)[..., times.shape[-1] - top - 1]
    place = np.argsort(np.argsort(enough, 1, kind="stable"), 1)
    cross = (place < top)[:, :, None] & (place >= top)[:, None, :]
    return np.where(cross, times, 0).max((1, 2))
