"""The preference-based race with Copeland's surrogate, one option and one pair at a time.

Busa-Fekete et al. 2014, Algorithm 2, with its misprints corrected: z_i counts the certain wins of
option i and o_i its certain losses; option i is certainly better than j when z_i > K - 1 - o_j
("sharp"), or z_i > K - o_j as in Busa-Fekete et al. 2013, Procedure 2 ("printed").
"""

import dataclasses
import math

import numpy as np

from reference import reference_bounds


@dataclasses.dataclass
class Round:
    """What is known after one round."""

    drawn: np.ndarray  # bool [K], who was sampled
    active: np.ndarray  # bool [K, K], A after the round
    beats: np.ndarray  # bool [K, K], l_ij > 1/2
    selected: np.ndarray  # bool [K], C
    discarded: np.ndarray  # bool [K], D
    net: np.ndarray  # int [K, K], n^2 (2 S_ij - 1), frozen with the pair
    margin: np.ndarray  # [K, K], |S_ij - 1/2| / w - 1 of the dynamic race's comparisons


@dataclasses.dataclass
class History:
    """The whole race."""

    rounds: list[Round]
    samples: np.ndarray  # int [K]
    estimate: np.ndarray  # [K, K], S_ij
    counts: np.ndarray  # int [K, K], samples behind S_ij
    lower: np.ndarray  # [K, K], intervals, intersected over the rounds where asked for
    upper: np.ndarray
    copeland: np.ndarray  # int [K], first sort key
    borda: np.ndarray  # [K], second sort key: sum over j of 2 S_ij - 1
    ranking: list[int]
    finished: bool


def settle(beats, top, rule):
    """The sets C and D from the certain verdicts, as masks."""
    num_options = len(beats)
    options = range(num_options)
    wins = [sum(bool(beats[i][j]) for j in options if j != i) for i in options]
    losses = [sum(bool(beats[j][i]) for j in options if j != i) for i in options]
    selected = np.zeros(num_options, bool)
    discarded = np.zeros(num_options, bool)
    for i in options:
        others = [j for j in options if j != i]
        if rule == "sharp":
            worse = sum(wins[i] + losses[j] >= num_options for j in others)
            better = sum(wins[j] + losses[i] >= num_options for j in others)
            selected[i] = worse >= num_options - top
            discarded[i] = better >= top
        else:
            worse = sum(num_options - losses[j] < wins[i] for j in others)
            better = sum(num_options - losses[i] < wins[j] for j in others)
            selected[i] = worse > num_options - top
            discarded[i] = better > top
    return selected, discarded


def dynamic_events(num_options, max_rounds, undecided):
    """c_t of the dynamic correction (eq. 8); `undecided` lists m_1 .. m_t."""
    *past, now = undecided
    t = len(undecided)
    return (num_options - 1) * (sum(past) + (max_rounds - t + 1) * now)


def race(
    outcomes,
    prefer,
    top,
    max_rounds,
    delta,
    bound="published",
    rule="sharp",
    epsilon=0.0,
    dynamic=False,
    intersect=False,
    intervals=True,
):
    """Play a race on given samples [K, at least max_rounds, ...]; see `History`.

    Without `intervals` they are left out, and with them most of the time that a race takes.
    """
    num_options = len(outcomes)
    options = range(num_options)
    pairs = [(i, j) for i in options for j in options if i < j]
    active = ~np.eye(num_options, dtype=bool)
    beats = np.zeros((num_options, num_options), bool)
    selected, discarded = np.zeros(num_options, bool), np.zeros(num_options, bool)
    samples = np.zeros(num_options, int)
    estimate = np.full((num_options, num_options), 0.5)
    counts = np.zeros((num_options, num_options), int)
    net = np.zeros((num_options, num_options), int)
    lower, upper = np.zeros(estimate.shape), np.ones(estimate.shape)
    levels = reference_bounds.levels(bound, num_options, max_rounds, delta)
    undecided = []
    rounds = []
    n = 0
    while active.any() and n < max_rounds:
        n += 1
        level, size = levels[n - 1]
        drawn = np.array([active[i].any() for i in options])
        samples += drawn
        undecided.append(num_options - int((selected | discarded).sum()))
        margin = np.full(estimate.shape, np.inf)
        for i, j in pairs:
            if not active[i, j]:
                continue
            h = prefer(outcomes[i][:n], outcomes[j][:n])
            estimate[i, j] = h.sum() / n**2
            estimate[j, i] = 1 - estimate[i, j]
            counts[i, j] = counts[j, i] = n
            net[i, j] = round(2 * h.sum()) - n**2
            net[j, i] = -net[i, j]
            if dynamic:
                events = dynamic_events(num_options, max_rounds, undecided)
                width = math.sqrt(math.log(2 * events / delta) / (2 * n))
                i_wins = estimate[i, j] - width > 0.5
                j_wins = estimate[i, j] + width < 0.5
                margin[i, j] = margin[j, i] = abs(abs(estimate[i, j] - 0.5) / width - 1)
            else:
                i_wins = reference_bounds.decides(bound, estimate[i, j], level, size, epsilon)
                j_wins = reference_bounds.decides(bound, estimate[j, i], level, size, epsilon)
            if i_wins and j_wins:  # with epsilon only: the sign decides, then the index
                i_wins, j_wins = net[i, j] >= 0, net[i, j] < 0
            beats[i, j], beats[j, i] = i_wins, j_wins
            if intersect and intervals:
                _intersect(lower, upper, i, j, bound, num_options, max_rounds, delta, estimate, n)
        selected, discarded = settle(beats, top, rule)
        for i, j in pairs:
            settled = (selected[i] or discarded[i]) and (selected[j] or discarded[j])
            if settled or beats[i, j] or beats[j, i]:
                active[i, j] = active[j, i] = False
        rounds.append(
            Round(
                drawn,
                active.copy(),
                beats.copy(),
                selected,
                discarded,
                net.copy(),
                margin,
            )
        )
    if intervals and not intersect:
        for i in options:
            for j in options:
                lower[i, j], upper[i, j] = reference_bounds.interval(
                    bound, num_options, max_rounds, delta, estimate[i, j], counts[i, j]
                )
    # A pair with a verdict counts by it, any other by the sign of S_ij - 1/2. The verdict is
    # that sign, except where epsilon decides an exact tie.
    ahead = beats | (~beats.T & (net > 0))
    copeland = ahead.sum(axis=1)
    borda = (2 * estimate - 1).sum(axis=1)
    ranking = sorted(options, key=lambda i: (-copeland[i], -borda[i], i))
    return History(
        rounds,
        samples,
        estimate,
        counts,
        lower,
        upper,
        copeland,
        borda,
        ranking,
        finished=not active.any(),
    )


def _intersect(lower, upper, i, j, bound, num_options, max_rounds, delta, estimate, n):
    """Intersect the pair's interval with this round's; where empty, this round's stands."""
    low, high = reference_bounds.interval(bound, num_options, max_rounds, delta, estimate[i, j], n)
    if max(lower[i, j], low) <= min(upper[i, j], high):
        low, high = max(lower[i, j], low), min(upper[i, j], high)
    lower[i, j], upper[i, j] = low, high
    lower[j, i], upper[j, i] = 1 - high, 1 - low
