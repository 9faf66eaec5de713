"""Races by Borda's score and by the random walk, one option and one pair at a time.

Busa-Fekete et al. 2013, Procedures 1, 3 and 4, with these corrections: bounds of Borda's scores
average all other options (not only the undecided); the "sharp" rule counts up to its threshold; the
walk goes from i to j in proportion to y_ji; the "sharp" bound of the walk is a sum over each row.
Also the random instances that the races are compared on.
"""

import dataclasses
import itertools

import numpy as np

from reference import reference_bounds, reference_relations

PREFER = {
    "numbers": reference_relations.larger,
    "ties": reference_relations.larger,
    "pareto": reference_relations.dominates,
}


@dataclasses.dataclass
class Round:
    """What is known after one round."""

    drawn: np.ndarray  # bool [K]
    net: np.ndarray  # int [K, K]
    selected: np.ndarray  # bool [K]
    discarded: np.ndarray  # bool [K]
    margin: float  # how far the closest comparison was from an equality


@dataclasses.dataclass
class History:
    """The whole race."""

    rounds: list[Round]
    samples: np.ndarray  # int [K]
    counts: np.ndarray  # int [K, K]
    scores: np.ndarray  # [K]
    finished: bool


def draw_samples(kind, seed, number, num_options, num_rounds):
    """Samples float32 [number, K, n, ...], from equal options to well separated ones."""
    rng = np.random.default_rng(seed)
    spread = np.array([0.0, 1.0, 4.0, 20.0])[np.arange(number) % 4, None, None]
    places = rng.permuted(np.tile(np.arange(num_options), (number, 1)), axis=1)[:, :, None]
    noise = rng.normal(size=(number, num_options, num_rounds))
    first = (spread * places + noise).astype(np.float32)
    if kind == "numbers":
        return first
    first = np.round(first)
    if kind == "ties":
        return first
    other = np.round(spread * places + rng.normal(size=first.shape)).astype(np.float32)
    return np.stack([first, other], -1)


def draw_neighbours(rng, num_options):
    """Two matrices y, and radii [K, K] that are the most by which they differ."""
    estimate, other = np.full((2, num_options, num_options), 0.5)
    radius = rng.choice([0.01, 0.1, 0.4]) * rng.random((num_options, num_options))
    for i, j in itertools.combinations(range(num_options), 2):
        estimate[i, j] = rng.choice([0.0, rng.random(), 1.0])
        other[i, j] = np.clip(estimate[i, j] + radius[i, j] * rng.choice([-1, 1]), 0, 1)
        estimate[j, i], other[j, i] = 1 - estimate[i, j], 1 - other[i, j]
    return estimate, other, np.triu(radius, 1) + np.triu(radius, 1).T


def settle_borda(lower, upper, selected, discarded, top, rule):
    """Decide on the reduced problem, again and again; returns the closest comparison."""
    options = range(len(lower))
    least = [np.mean([lower[i, j] for j in options if j != i]) for i in options]
    most = [np.mean([upper[i, j] for j in options if j != i]) for i in options]
    closest = np.inf
    changed = True
    while changed:
        left = [i for i in options if not selected[i] and not discarded[i]]
        places = top - selected.sum()
        new_selected, new_discarded = selected.copy(), discarded.copy()
        for i in left:
            others = [j for j in left if j != i]
            closest = min([closest, *(abs(least[i] - most[j]) for j in others)])
            worse = sum(most[j] < least[i] for j in others)
            better = sum(most[i] < least[j] for j in others)
            if rule == "sharp":
                new_selected[i] = worse >= len(left) - places
                new_discarded[i] = better >= places
            else:
                new_selected[i] = worse > len(left) - places
                new_discarded[i] = better > places
        changed = (new_selected != selected).any() or (new_discarded != discarded).any()
        selected, discarded = new_selected, new_discarded
    return selected, discarded, closest


def borda_can_end(estimate, lower, upper, counted, selected, discarded, shrink, top):
    """Would the options beside the boundary be told apart at n_max? Also by how much, or not."""
    options = range(len(estimate))
    total = estimate.sum(axis=1)
    standing = selected.astype(int) - discarded
    order = sorted(options, key=lambda i: (-standing[i], -round(total[i], 6), i))
    first, second = order[top - 1], order[top]
    needed = 0.0
    for i in (first, second):
        for j in options:
            half_width = (upper[i, j] - lower[i, j]) / 2 if j != i else 0.0
            needed += half_width * (shrink if counted[i, j] else 1.0)
    spare = total[first] - total[second] - needed
    return bool(spare > 0), float(abs(spare))


def walk(estimate):
    """The chain's matrix, its stationary distribution by eigenvectors, and A# by definition."""
    num_options = len(estimate)
    matrix = np.zeros((num_options, num_options))
    for i in range(num_options):
        row = np.array([estimate[j, i] for j in range(num_options)])
        matrix[i] = 0.98 * row / row.sum() + 0.02 / num_options
    values, vectors = np.linalg.eig(matrix.T)
    visits = np.real(vectors[:, np.argmin(abs(values - 1))])
    visits = visits / visits.sum()
    limit = np.outer(np.ones(num_options), visits)
    inverse = np.linalg.inv(np.eye(num_options) - matrix + limit) - limit
    return matrix, visits, inverse


def settle_walk(estimate, lower, upper, top, rule):
    """The top by visits if they are apart; how far from an equality that was."""
    num_options = len(estimate)
    options = range(num_options)
    _, visits, inverse = walk(estimate)
    errors = []
    for i in options:
        beaten = sum(estimate[j, i] for j in options)
        radii = [
            max(upper[i, j] - estimate[i, j], estimate[i, j] - lower[i, j])
            for j in options
            if j != i
        ]
        wide = 0.98 * 2 * sum(radii) if rule == "sharp" else num_options / 3 * max(radii)
        errors.append(wide / beaten)
    # Visits that are equal but for rounding are equal.
    order = sorted(options, key=lambda i: (-round(visits[i], 6), i))
    gap = visits[order[top - 1]] - visits[order[top]]
    wide = 2 * max(errors) * abs(inverse).max()
    selected = np.zeros(num_options, bool)
    selected[order[:top]] = gap > wide
    discarded = np.zeros(num_options, bool)
    discarded[order[top:]] = gap > wide
    return selected, discarded, abs(gap - wide)


def race(outcomes, prefer, ranking, top, max_rounds, delta, bound, rule):
    """Play a race on given samples [K, at least max_rounds, ...]."""
    num_options = len(outcomes)
    shape = (num_options, num_options)
    estimate, lower, upper = np.full(shape, 0.5), np.zeros(shape), np.ones(shape)
    counts, net = np.zeros(shape, int), np.zeros(shape, int)
    selected, discarded = np.zeros(num_options, bool), np.zeros(num_options, bool)
    samples = np.zeros(num_options, int)
    active = ~np.eye(num_options, dtype=bool)
    levels = reference_bounds.levels(bound, num_options, max_rounds, delta, sides=2)
    last_level, last_size = levels[-1]
    rounds = []
    for n in range(1, max_rounds + 1):
        if not active.any():
            break
        drawn = np.array([row.any() for row in active])
        samples += drawn
        for i, j in zip(*np.nonzero(np.triu(active)), strict=True):
            wins = prefer(outcomes[i][:n], outcomes[j][:n]).sum()
            estimate[i, j], estimate[j, i] = wins / n**2, 1 - wins / n**2
            net[i, j] = round(2 * wins) - n**2
            net[j, i] = -net[i, j]
            counts[i, j] = counts[j, i] = n
            low, high = reference_bounds.interval(
                bound, num_options, max_rounds, delta, estimate[i, j], n
            )
            lower[i, j], upper[i, j] = low, high
            lower[j, i], upper[j, i] = 1 - high, 1 - low
        keep_decided = False
        if ranking == "borda":
            selected, discarded, margin = settle_borda(lower, upper, selected, discarded, top, rule)
            level, size = levels[n - 1]
            if rule == "sharp" and size and (selected | discarded).any():
                shrink = np.sqrt(last_level / last_size * size / level)
                keep_decided, spare = borda_can_end(
                    estimate, lower, upper, active, selected, discarded, shrink, top
                )
                margin = min(margin, spare)
        else:
            selected, discarded, margin = settle_walk(estimate, lower, upper, top, rule)
        rounds.append(Round(drawn, net.copy(), selected, discarded, float(margin)))
        for i, j in zip(*np.nonzero(active), strict=True):
            left = 2 - bool(selected[i] or discarded[i]) - bool(selected[j] or discarded[j])
            active[i, j] = left == 2 or (left == 1 and keep_decided)
    if ranking == "borda":
        scores = (estimate.sum(axis=1) - 0.5) / (num_options - 1)
    else:
        scores = walk(estimate)[1]
    return History(rounds, samples, counts, scores, bool((selected | discarded).all()))


def assert_agrees(told, result, expected):
    """Compare a race with its `History`: what was told after each round, and its result."""
    for t, wanted in enumerate(expected.rounds):
        asked, net, selected, discarded = (x[t] for x in told)
        np.testing.assert_array_equal(asked, wanted.drawn)
        np.testing.assert_array_equal(net, wanted.net)
        if (selected != wanted.selected).any() or (discarded != wanted.discarded).any():
            assert wanted.margin < 1e-4  # the device compares in float32
            return
    assert not told[0][len(expected.rounds) :].any()
    assert bool(result.decided) == expected.finished
    np.testing.assert_array_equal(result.samples, expected.samples)
    np.testing.assert_array_equal(result.rounds, expected.counts)
    np.testing.assert_allclose(result.scores, expected.scores, rtol=0, atol=2e-5)
    last = expected.rounds[-1]
    standing = last.selected.astype(int) - last.discarded
    for better, worse in itertools.pairwise(result.ranking.tolist()):
        difference = expected.scores[better] - expected.scores[worse]
        by_score = difference > 1e-12 or (difference > -1e-12 and better < worse)
        by_score |= 1e-12 < abs(difference) < 1e-6  # beyond the unit of the sort key
        in_order = standing[better] == standing[worse] and by_score
        assert standing[better] > standing[worse] or in_order
    if expected.finished:
        assert set(result.best.tolist()) == set(np.flatnonzero(last.selected).tolist())
