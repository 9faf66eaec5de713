"""The model of tables with gaps: its covariance, its probabilities, its advice."""

import functools

import numpy as np
import pytest
import scipy.stats

from jaxrace.data import Votes
from jaxrace.selection.votes.linked import fit_linked, linked_advice, linked_confidence

Table = functools.partial(Votes, kind="margin", lines=np.zeros(0))

PLAYERS, TOP, GAMES = 12, 3, 80
POOLED = 2.0


def some_pairs(rng, count):
    return np.array([rng.choice(PLAYERS, 2, replace=False) for _ in range(count)])


def played(rng, qualities, pairs, kind):
    gaps = qualities[pairs[:, 0]] - qualities[pairs[:, 1]]
    if kind == "margins":
        return gaps + rng.normal(size=len(gaps))
    return np.where(rng.random(len(gaps)) < 1 / (1 + np.exp(-2 * gaps)), 1.0, -1.0)


def table_of(pairs, scores):
    return Table(tuple(map(str, range(PLAYERS))), pairs[:, 0], pairs[:, 1], scores)


def is_right(qualities, fit):
    return set(np.argsort(-qualities)[:TOP]) == set(np.argsort(-fit.qualities)[:TOP])


def test_the_covariance_is_that_of_least_squares():
    """Of differences, by the textbook: sigma^2 (X'X)^-1 with the last quality 0."""
    rng = np.random.default_rng(0)
    pairs = some_pairs(rng, 40)
    scores = played(rng, np.arange(12.0), pairs, "margins")
    fit = fit_linked(table_of(pairs, scores), 0.0)
    design = (np.eye(PLAYERS)[pairs[:, 0]] - np.eye(PLAYERS)[pairs[:, 1]])[:, :-1]
    found, squares, *_ = np.linalg.lstsq(design, scores, rcond=None)
    np.testing.assert_allclose(fit.qualities[:-1] - fit.qualities[-1], found)
    assert fit.degrees == 40 - 11
    assert fit.variance == pytest.approx(squares[0] / fit.degrees)
    inverse = np.linalg.inv(design.T @ design)
    c = fit.covariance
    np.testing.assert_allclose((c - c[-1:] - c[:, -1:] + c[-1, -1])[:-1, :-1], inverse, atol=1e-12)


def test_the_probability_of_two_options_is_that_of_students_t():
    scores = np.array([1.0, -0.5, 0.25, 0.75, 0.5])
    table = Table(("a", "b"), np.zeros(5, int), np.ones(5, int), scores)
    statistic = scores.mean() / (scores.std(ddof=1) / np.sqrt(5))
    found = linked_confidence(fit_linked(table, 0.0), 1, np.random.default_rng(0))
    assert found == pytest.approx(scipy.stats.t.cdf(statistic, 4), abs=0.02)


def test_what_cannot_be_known_is_not():
    apart = Table(("a", "b", "c", "d"), np.array([0, 2]), np.array([1, 3]), np.array([1.0, 2.0]))
    fit = fit_linked(apart, POOLED)
    assert not fit.is_connected
    assert np.isnan(linked_confidence(fit, 1, np.random.default_rng(0)))
    pairs, _ = linked_advice(fit, 1, 1, np.random.default_rng(0))
    assert (pairs // 2).sum() == 1, "it connects both pairs"
    once = Table(("a", "b"), np.array([0]), np.array([1]), np.array([1.0]))
    assert np.isnan(linked_confidence(fit_linked(once, 0.0), 1, np.random.default_rng(0)))


def test_advice_where_nobody_is_in_doubt():
    """Of chances below any float the largest is found."""
    pairs = np.array([[i, i + 1] for i in range(11)] * 8)
    scores = np.where(pairs[:, 0] == TOP - 1, 300.0, 900.0) + np.tile([1, -1], 44)
    advice, log_chance = linked_advice(
        fit_linked(table_of(pairs, scores), 0.0), TOP, 1, np.random.default_rng(0)
    )
    assert advice.tolist() == [[TOP - 1, TOP]]
    assert -np.inf < log_chance < -1_000


def calibration(tables, spread, kind):
    """Probability and rate of right selections, [tables] each."""
    rng, found = np.random.default_rng(1), []
    for _ in range(tables):
        qualities, pairs = rng.normal(0, spread, PLAYERS), some_pairs(rng, GAMES)
        fit = fit_linked(table_of(pairs, played(rng, qualities, pairs, kind)), POOLED)
        found.append((linked_confidence(fit, TOP, rng), is_right(qualities, fit)))
    return np.array(found, float).T


@pytest.mark.parametrize(
    ("spread", "tables"), [(1, 100), pytest.param(2, 2_000, marks=pytest.mark.slow)]
)
def test_probabilities_are_rates(spread, tables):
    """As a whole, and among those that look likely."""
    confidence, right = calibration(tables, spread, "margins")
    print(f"spread {spread}: {confidence.mean():.3f}, right {right.mean():.3f}")
    for chosen in (confidence >= 0, confidence > 0.5):
        error = np.sqrt((confidence * (1 - confidence))[chosen].sum())
        assert abs((confidence - right)[chosen].sum()) < 3 * error + 0.02 * chosen.sum()
