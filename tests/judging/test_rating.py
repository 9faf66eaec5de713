"""The model of comparisons: known answers, slow references, and how often it is right."""

import dataclasses
import functools
import subprocess
import sys

import numpy as np
import pytest
import scipy.optimize
import scipy.special
import scipy.stats
from rating_cases import KINDS, coins, margins, stopped, table_of, tried

import jaxrace
from jaxrace.judging.rating.advice import advice, log_loss, log_tail
from jaxrace.judging.rating.model import chance, rate
from jaxrace.tables import Votes, read_votes

Table = functools.partial(Votes, kind="margin", lines=np.zeros(0))


def drawn_table(name, seed=0):
    return table_of(KINDS[name], np.random.default_rng(seed))[1]


def test_wins_are_those_of_bradley_and_terry():
    """With many votes it is the most likely model, found by a general search."""
    rng = np.random.default_rng(3)
    qualities, (first, second) = rng.normal(size=6), rng.integers(6, size=(2, 60_000))
    apart = first != second
    first, second = first[apart], second[apart]
    scores = (rng.random(len(first)) < chance(qualities[first] - qualities[second])).astype(float)
    found = rate(Votes((*"abcdef",), first, second, scores, "win", np.arange(len(first))))

    def cost(candidate):
        gaps = candidate[first] - candidate[second]
        return float((np.logaddexp(0, gaps) - scores * gaps).mean() + candidate.mean() ** 2)

    likeliest = scipy.optimize.minimize(cost, np.zeros(6), options={"gtol": 1e-9}).x
    np.testing.assert_allclose(found.qualities, likeliest, atol=2e-3)
    assert list(np.argsort(found.qualities)) == list(np.argsort(likeliest))
    # With so many votes the covariance of two is that of the inverse information.
    gaps = likeliest[:, None] - likeliest
    met = found.pairs.met()
    weights = met * chance(gaps) * chance(-gaps)
    inverse = np.linalg.pinv(np.diag(weights.sum(1)) - weights)
    contrast = np.array([1, -1, 0, 0, 0, 0])
    expected = found.noise * contrast @ inverse @ contrast
    assert contrast @ found.covariance @ contrast == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(("won", "lost"), [(5, 0), (7, 3), (3, 2), (30, 19)])
def test_the_probability_of_two_options(won, lost):
    """By adding up the likelihoods on a grid of differences, with the penalty that was found."""
    rating = rate(read_votes([("a", "b", 1.0)] * won + [("a", "b", 0.0)] * lost))
    drawn = rating.draws(40_000, np.random.default_rng(0))
    gaps = np.linspace(-40, 40, 100_001)
    weights = chance(gaps) ** won * chance(-gaps) ** lost * np.exp(-rating.penalty * gaps**2 / 4)
    right = weights[gaps > 0].sum() / weights.sum()
    found = (drawn[:, 0] > drawn[:, 1]).mean()
    # Where one has won all, what is known is lopsided, and a normal law is timid.
    assert right - (0.02 if lost else 0.03) < found < right + 0.02


def test_the_penalty_is_half_a_game_or_more():
    """Half a game weighs 1/8 in log-odds; of options that are alike it is many games."""
    far = rate(
        read_votes([("abcdef"[i], "abcdef"[j]) for i in range(6) for j in range(i + 1, 6)] * 9)
    )
    assert far.penalty == pytest.approx(1 / 8)
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(12, 1)
    first, second = np.tile(first, 10), np.tile(second, 10)
    scores = rng.integers(2, size=len(first)).astype(float)
    alike = rate(Votes((*"abcdefghijkl",), first, second, scores, "win", first))
    assert alike.penalty > 10


def test_margins_are_averages_over_penalties():
    """By the law of all n margins together, whose covariance is 1 + tau^2 X X'."""
    table = drawn_table("12, margins, some pairs")
    rating = rate(table)
    design, y = np.eye(12)[table.first] - np.eye(12)[table.second], table.scores
    number, logs, means, covariances, variances = len(y), [], [], [], []
    for log_tau in np.linspace(-5, 6, 221):
        tau2 = np.exp(2 * log_tau)
        inverse = np.linalg.inv(np.eye(number) + tau2 * design @ design.T)
        variance = (y @ inverse @ y + (y**2).mean()) / (number + 1)
        likely = np.linalg.slogdet(inverse)[1] - (number + 1) * np.log(variance)
        logs.append(likely / 2 + log_tau - np.log1p(tau2 / 9))
        means.append(tau2 * design.T @ inverse @ y)
        covariances.append(variance * tau2 * (np.eye(12) - tau2 * design.T @ inverse @ design))
        variances.append(variance)
    weights = np.exp(logs - np.max(logs))
    weights /= weights.sum()
    mean = weights @ means
    np.testing.assert_allclose(rating.qualities, mean, atol=1e-6)
    assert rating.noise == pytest.approx(weights @ variances)  # nothing disagrees
    away = np.array(means) - mean
    own = np.einsum("t,tij->ij", weights, covariances) + (weights * away.T) @ away
    widened = rating.degrees / (rating.degrees - 2)
    np.testing.assert_allclose(rating.covariance, widened * own, atol=1e-6)
    drawn = rating.draws(100_000, np.random.default_rng(0))
    np.testing.assert_allclose(np.cov(drawn.T), rating.covariance, atol=0.02)
    assert rating.noise == pytest.approx(1, abs=0.4)


@pytest.mark.parametrize("name", ["10, all pairs", "15, ties, some pairs", "6, margins"])
def test_a_vote_says_the_same_from_both_sides(name):
    table = drawn_table(name)
    turned = 1 - table.scores if table.kind == "win" else -table.scores
    other = dataclasses.replace(table, first=table.second, second=table.first, scores=turned)
    np.testing.assert_allclose(rate(other).qualities, rate(table).qualities, atol=1e-12)


def test_margins_in_another_unit_say_the_same():
    table = drawn_table("6, margins")
    one, other = rate(table), rate(dataclasses.replace(table, scores=1e9 * table.scores))
    np.testing.assert_allclose(other.qualities, 1e9 * one.qualities, rtol=1e-9)
    assert other.penalty == pytest.approx(one.penalty)


def test_two_votes_less_are_two_votes_less():
    """Whatever they leave: one model of full tables and of those with gaps."""
    first, second = np.triu_indices(10, 1)
    rng = np.random.default_rng(2)
    pairs = [(int(i), int(j)) for i, j in zip(first, second, strict=True) for _ in range(3)]
    votes = [
        (f"o{i}", f"o{j}", float(rng.random() < chance(np.array((j - i) / 4)))) for i, j in pairs
    ]
    whole, less = jaxrace.select(votes, 3), jaxrace.select(votes[:-2], 3)  # the pair met once now
    assert whole.confidence is not None
    assert less.confidence == pytest.approx(whole.confidence, abs=0.05)
    assert set(less.best) == set(whole.best)


def test_ties_are_less_noisy_than_coins():
    """A half each time, or won as often as lost: equal options, but the first is known."""
    coins = read_votes([("a", "b", 1.0), ("a", "b", 0.0)] * 50)
    ties = read_votes([("a", "b", 1.0), ("a", "b", 0.0)] * 10 + [("a", "b", 0.5)] * 80)
    ratio = rate(ties).noise / rate(coins).noise
    assert ratio == pytest.approx(0.2, abs=0.01)


def test_pairs_that_go_round_say_less():
    """Everybody beats the next three of seven, in 300 votes of each pair."""
    votes = []
    for i in range(7):
        for step in (1, 2, 3):
            votes += [(f"o{i}", f"o{(i + step) % 7}", 1.0)] * 200
            votes += [(f"o{i}", f"o{(i + step) % 7}", 0.0)] * 100
    assert rate(read_votes(votes)).noise > 5


def test_what_cannot_be_known_is_not():
    found = jaxrace.select([("a", "b", 1.0), ("c", "d", 1.0)])
    assert (found.connected, found.confidence, found.gap.low) == (False, None, None)
    assert "compare options that no chain of comparisons connects" in found.meaning()
    pair = found.next[0]
    assert len({pair.better, pair.worse} & {"a", "b"}) == 1, "it connects both"


def test_advice_where_nobody_is_in_doubt():
    """Of chances below any float the largest is found."""
    pairs = np.array([[i, i + 1] for i in range(11)] * 8)
    scores = np.where(pairs[:, 0] == 2, 300.0, 900.0) + np.tile([1, -1], 44)
    names = tuple(map(str, range(12)))
    rating = rate(Table(names, pairs[:, 0], pairs[:, 1], scores))
    proposed, log_chance = advice(rating, 3, 1, np.random.default_rng(0))
    assert proposed.tolist() == [[2, 3]]
    assert -np.inf < log_chance < -20


def test_tails_of_the_normal_law():
    near = np.concatenate([[0, 1e-300], np.geomspace(1e-6, 8, 1_000)])
    direct = scipy.stats.norm.pdf(near) - near * scipy.stats.norm.sf(near)
    np.testing.assert_allclose(log_loss(near), np.log(direct), rtol=1e-12)
    far = np.geomspace(1e3, 1e100, 1_000)
    beyond = np.log1p(-3 / far / far) - 2 * np.log(far) - far**2 / 2 - np.log(2 * np.pi) / 2
    np.testing.assert_allclose(log_loss(far), beyond, rtol=1e-12)
    both = np.append(near, far)
    found = [log_tail(b) for b in both.tolist()]
    np.testing.assert_allclose(found, scipy.special.log_ndtr(-both), rtol=1e-12)


def test_many_options_are_as_far_apart_as_they_are():
    """Of 8 votes an option: nothing is shrunk too much, and what is not known has its size."""
    rng, size, count = np.random.default_rng(0), 1_000, 4_000
    first, truth = rng.integers(size, size=count), rng.normal(size=size)
    second = (first + rng.integers(1, size, count)) % size
    scores = (rng.random(count) < chance(truth[first] - truth[second])).astype(float)
    names = tuple(map(str, range(size)))
    found = rate(Votes(names, first, second, scores, "win", np.arange(count)))
    near, truth = (x - x.mean() for x in (found.qualities, truth))
    assert near @ truth / (near @ near) == pytest.approx(1, abs=0.12)
    squares = (truth - near) ** 2 / np.diagonal(found.covariance)
    assert squares.mean() == pytest.approx(1, abs=0.15)


def test_few_votes_do_not_make_options_alike():
    """Of 4 votes an option: what the penalty leaves unfitted is no disagreement of the votes."""
    squares = []
    for seed in range(8):
        rng, size, count = np.random.default_rng(seed), 100, 200
        first, truth = rng.integers(size, size=count), rng.normal(size=size)
        second = (first + rng.integers(1, size, count)) % size
        scores = (rng.random(count) < chance(truth[first] - truth[second])).astype(float)
        found = rate(Votes((*map(str, range(size)),), first, second, scores, "win", first))
        near, truth = (x - x.mean() for x in (found.qualities, truth))
        squares.append(((truth - near) ** 2 / np.diagonal(found.covariance)).mean())
    assert np.median(squares) == pytest.approx(1, abs=0.5)


def test_who_has_won_all_of_many_options():
    """A likelihood without a maximum, and a share of next to 1."""
    found = jaxrace.select({"winner": ["x"] * 1_400, "loser": [f"o{n}" for n in range(1_400)]})
    assert found.best == ["x"]
    assert 0.99 < found.options[0].score < 1


def test_equal_options_are_in_the_order_of_their_names():
    """Of a round robin each has a win and a loss: what differs by rounding alone says nothing."""
    names = [f"o{n}" for n in range(9)]
    around = [(names[i], names[(i + step) % 9]) for step in (1, 2) for i in range(9)]
    assert [one.name for one in jaxrace.select(around).options] == names


def test_numpy_is_all_that_is_needed():
    code = (
        "import sys, jaxrace\n"
        "jaxrace.select([('a', 'b'), ('b', 'c')])\n"
        "print([name for name in ('jax', 'scipy', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["12, some pairs", "8, ties"])
def test_probabilities_are_rates(name):
    """On average, and intervals hold what they should: 200 tables."""
    found = tried(name, 200)
    error = np.sqrt((found.stated * (1 - found.stated)).sum())
    assert abs((found.stated - found.right).sum()) < 3 * error
    assert 0.92 < found.covered < 0.975


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_probabilities_are_calibrated(name):
    """In each bin, to .05 where they are said, but for what chance does to so many tables."""
    found = tried(name, 2_000)
    print(name, found.off(), found.covered)
    for stated, right, count in found.off():
        error = np.sqrt(stated * (1 - stated) / count)
        assert abs(stated - right) < (0.05 if stated >= 0.4 else 0.1) + 2 * error
    assert 0.91 < found.covered < 0.965


@pytest.mark.slow
@pytest.mark.parametrize("play", [coins, margins])
def test_stopping_when_it_is_sure_does_not_spoil_it(play):
    sure, right = stopped(play, 400, 120)
    assert sure.mean() > 0.4
    assert right[sure].mean() > 0.95 - 2 * np.sqrt(0.05 * 0.95 / sure.sum())


def test_expected_shares_are_means_over_what_may_be():
    """Two games say little, however likely it is that their winner is the best."""
    rating = rate(read_votes([("a", "b", 1.0), ("a", "c", 1.0)]))
    drawn = rating.draws(40_000, np.random.default_rng(0))
    shares = chance(drawn[:, :, None] - drawn[:, None]).mean(0)
    np.testing.assert_allclose(rating.expected(), (shares.sum(1) - 0.5) / 2, atol=0.04)


def test_what_is_hardly_known_has_no_number():
    found = jaxrace.select([("a", "b", 1), ("b", "c", 1), ("c", "a", 1), ("a", "d", 1)], 2)
    assert found.confidence is not None
    assert found.confidence < 0.4
    assert (
        "the guess is right with a probability below 0.4, an estimate for ONE look"
        in found.meaning()
    )
