"""Intervals of what `jaxrace select` ranks by: how often they hold what they are about."""

import functools

import numpy as np

from jaxrace.data import Votes
from jaxrace.selection.votes.judgement import judgement_of

Table = functools.partial(Votes, kind="margin", lines=np.zeros(0))

QUALITIES = np.array([1.0, 0.4, 0.0, -0.5, -0.9])
SCORES = len(QUALITIES) * QUALITIES - QUALITIES.sum()


def coverage(pairs, repeats):
    """How often the intervals of scores, and of the gap, hold the truth."""
    first, second = np.array(pairs, np.int32).T
    inside, gaps = [], []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        margins = QUALITIES[first] - QUALITIES[second] + rng.normal(0, 0.7, len(first))
        table = Table((*"abcde",), first, second, margins)
        found = judgement_of(table, 2, pooled_samples=0)
        inside.append(np.abs(found.scores - SCORES) <= found.intervals.scores)
        last, other = found.ranking[1:3]
        gap = found.scores[last] - found.scores[other]
        gaps.append(abs(gap - (SCORES[last] - SCORES[other])) <= found.intervals.gap)
    return np.mean(inside), np.mean(gaps)


def test_intervals_of_pairs_hold_the_scores():
    upper = np.argwhere(np.triu(np.ones((5, 5)), 1))
    scores, gap = coverage(np.repeat(upper, 20, 0), 60)
    assert 0.9 < scores < 0.99
    assert gap > 0.85


def test_intervals_of_one_model_hold_the_scores():
    """A circle of pairs: the others never met."""
    circle = [(i, (i + 1) % 5) for i in range(5)]
    scores, gap = coverage(np.repeat(circle, 6, 0), 200)
    assert 0.92 < scores < 0.98
    assert gap > 0.9
