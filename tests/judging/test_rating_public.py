"""Rankings of sets with the shape of public ones: beside Bradley-Terry by itself, and evalica's."""

import time

import numpy as np
import pytest
from rating_cases import some_pairs, with_ties

import jaxrace
from jaxrace.judging.rating.model import chance, rate, variance_of
from jaxrace.tables import Votes

# Options, votes, ties, how unlike options are in how often they are asked for, their spread.
SETS = {
    "an arena of the first months": (20, 33_000, 1.0, 0.3, 0.7),
    "an arena of many models": (64, 57_000, 0.9, 0.5, 0.8),
    "people on answers to 80 questions": (6, 3_355, 0.8, 0.0, 1.0),
    "a league of teams": (20, 3_800, 0.7, 0.0, 0.6),
    "engines, mostly drawn": (12, 40_000, 4.0, 0.0, 0.4),
}


def drawn(name):
    size, count, ties, unlike, spread = SETS[name]
    rng = np.random.default_rng(0)
    qualities = rng.normal(0, spread, size)
    first, second = some_pairs(rng, size, count, unlike)
    scores = with_ties(rng, qualities[first] - qualities[second], ties)
    return size, first, second, scores


def bradley_terry(size, first, second, scores):
    """Hunter's minorization (2004), a tie half a win: the most likely one without a penalty."""
    wins = np.zeros((size, size))
    np.add.at(wins, (first, second), scores)
    np.add.at(wins, (second, first), 1 - scores)
    games, strength = wins + wins.T, np.ones(size)
    for _ in range(10_000):
        new = wins.sum(1) / (games / (strength[:, None] + strength)).sum(1)
        new /= np.exp(np.log(new).mean())
        if np.abs(np.log(new / strength)).max() < 1e-10:
            break
        strength = new
    return np.log(strength)


def assert_order(rating, estimates, likeliest):
    """The same, but for two that are a hundredth of a standard error apart."""
    i, j = np.triu_indices(len(likeliest), 1)
    apart = (likeliest[i] - likeliest[j]) / np.sqrt(variance_of(rating.covariance, i, j))
    is_turned = (estimates[i] - estimates[j]) * apart <= 0
    assert np.abs(apart[is_turned]).max(initial=0) < 0.01
    assert is_turned.sum() <= 2


@pytest.mark.parametrize("name", SETS)
def test_rankings_are_those_of_bradley_terry(name):
    size, first, second, scores = drawn(name)
    rating = rate(Votes((*map(str, range(size)),), first, second, scores, "win", first))
    likeliest = bradley_terry(size, first, second, scores)
    assert_order(rating, rating.qualities, likeliest)
    assert_order(rating, rating.expected(), likeliest)
    assert np.abs(rating.qualities - rating.qualities.mean() - likeliest).max() < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_rankings_are_those_of_evalica(name):
    evalica = pytest.importorskip("evalica")
    size, first, second, scores = drawn(name)
    kinds = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    winners = [kinds[score] for score in scores.tolist()]
    options = range(size)
    other = evalica.bradley_terry(first.tolist(), second.tolist(), winners, limit=10_000)
    likeliest = np.log([other.scores[n] for n in options])
    np.testing.assert_allclose(
        likeliest - likeliest.mean(), bradley_terry(size, first, second, scores), atol=1e-3
    )
    rating = rate(Votes((*map(str, options),), first, second, scores, "win", first))
    assert_order(rating, rating.expected(), likeliest)


def test_many_votes_take_their_share_of_the_time():
    """Of 200 models, from columns to the answer: five times as many take five times as long."""
    rng, size, count = np.random.default_rng(0), 200, 200_000
    qualities, first = rng.normal(size=size), rng.integers(size, size=count)
    second = (first + rng.integers(1, size, count)) % size
    scores = (rng.random(count) < chance(qualities[first] - qualities[second])).astype(float)
    votes = {"first": first, "second": second, "score": scores}
    took, found = [], None
    for part in (count // 5, count):
        begin = time.process_time()
        found = jaxrace.select({name: column[:part] for name, column in votes.items()})
        took.append(time.process_time() - begin)
    assert took[1] < 10 * took[0]
    assert found is not None
    assert found.best == [str(np.argmax(qualities))]
