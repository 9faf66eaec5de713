"""The guarantee of the dominance race, measured: wrong certificates, against delta."""

import dataclasses
import itertools
import math

import jax
import numpy as np
import pytest
from dominance_cases import stopping_races
from scipy import stats

from jaxrace import kernels, racing
from jaxrace.evidence import decision
from papers.audits.dominance import means, null_pairs, options, races
from papers.audits.dominance.options import draw
from papers.audits.reckoning import DELTAS

REDUCED = 20_000
FEW = 2_000  # enough to catch a broken race


def check_races(findings):
    """No claim is refuted, and there were enough errors for that to mean something."""
    assert [f for f in findings if f.refuted] == []
    assert [f for f in findings if f.races >= 10_000 and not f.upheld] == []
    for alone, both in zip(findings[::2], findings[1::2], strict=True):
        # Theorem 2: certificate (b) has epsilon delta to itself.
        by_counts = dataclasses.replace(
            both, errors=both.errors - alone.errors, allowed=races.COUNTS_SHARE * both.delta
        )
        assert not by_counts.refuted
    coin = [f for f in findings if f.task == options.TASKS[0].name]
    assert all(f.errors > f.races * f.delta / 10 for f in coin)


def test_broken_bets_are_caught_and_sound_ones_are_not():
    kinds = null_pairs.NULL_PAIRS[:1]
    sound = [*null_pairs.audit_pairs(FEW, kinds=kinds, horizons=[300])]
    assert not any(f.refuted for f in sound)
    assert all(f.errors > f.races * f.allowed / 8 for f in sound)
    assert all(f.refuted for f in null_pairs.control_pairs(FEW))


@pytest.mark.slow
def test_certificates_at_reduced_size(plain):
    check_races(plain(races.audit_races, REDUCED, horizons=[300]))


def check_counts(findings):
    """Only one of the six statements that share epsilon delta is false, so that errors are few."""
    assert [f for f in findings if not f.upheld] == []
    assert sum(f.errors for f in findings) > sum(f.races * f.allowed for f in findings) / 60


@pytest.mark.slow
def test_counts_alone_at_reduced_size(plain):
    check_counts(plain(races.audit_counts, REDUCED, horizons=[300]))


@pytest.mark.slow
def test_a_broken_race_is_refuted(plain):
    findings = plain(races.control_races, REDUCED, horizons=[300])
    assert [f.refuted for f in findings] == [True] * 2 * len(DELTAS)


@pytest.mark.slow
def test_e_values_at_reduced_size(plain):
    kinds = [null_pairs.NULL_PAIRS[number] for number in (0, 2, 5)]
    findings = plain(null_pairs.audit_pairs, REDUCED, kinds=kinds, horizons=[300])
    assert [f for f in findings if not f.upheld] == []
    assert all(f.errors > f.races * f.allowed / 4 for f in findings)


def test_means_of_few_races_and_a_control():
    found = [*means.audit_means(FEW, means.TASKS[:3]), *means.control_means(FEW)]
    assert [f.refuted for f in found] == [False] * 3 + [True] * 2
    assert all(f.errors > f.races * f.allowed / 10 for f in found)


@pytest.mark.slow
def test_means_at_reduced_size(plain):
    findings = plain(means.audit_means, REDUCED)
    assert [f for f in findings if not f.upheld] == []
    assert all(f.refuted for f in plain(means.control_means, REDUCED))


@pytest.mark.slow
def test_e_values_of_races_that_stop_when_they_like(plain):
    """What the e-process is then has too large a mean, which this test is strong enough to see."""
    process, e_values, p_values = plain(stopping_races, 40_000)
    for values, allowed in ((process, False), (e_values, True)):
        error = values.std() / math.sqrt(len(values))
        assert (values.mean() - 4 * error <= 1) == allowed
    # Nor do small p-values come too often.
    for level in (0.5, 0.1, 0.01):
        rate = (p_values <= level).mean()
        assert rate <= level + 4 * math.sqrt(level / len(process))


CASES = {case.name: case for case in (*options.TASKS, *null_pairs.NULL_PAIRS)}


@pytest.mark.parametrize(
    "name", ["circle with a tied link", "normals, gaps 1e-4", "rarely great over even"]
)
def test_win_probabilities_are_those_of_the_samples(name):
    case = CASES[name]
    matrix = np.array(case.options.win_probabilities)
    num_options, number = len(matrix), 100_000
    np.testing.assert_allclose(matrix + matrix.T, 1, atol=1e-12)
    keys = jax.random.split(jax.random.key(1), (num_options, number))
    x = np.asarray(jax.jit(jax.vmap(jax.vmap(draw, (0, None))))(keys, case.options.laws))
    for i, j in itertools.combinations(range(num_options), 2):
        share = (np.sign(x[i] - x[j]) / 2 + 0.5).mean()
        # Four standard errors of a mean over so many values in [0, 1].
        assert abs(share - matrix[i, j]) < 4 * 0.5 / math.sqrt(number)


def test_ties_are_exact_and_differences_are_not_lost():
    """What a task calls a tie is one to the last digit, and what it calls ahead is ahead."""
    expected = {
        "0 against a coin": [0, 0],
        "two 0 against two coins": [0, 0, 0, 0],
        "2 equal normals": [0, 0],
        "5 equal normals": [0, 0, 0, 0, 0],
        "4 equal dice": [0, 0, 0, 0],
        "normals, gaps 1e-4": [0, 1, 2, 3],
        "normals, gaps 1e-6": [0, 1, 2],
        "circle at the boundary": [1, 1, 1],
        "circle above the boundary": [2, 2, 2, 0],
        "circle with a tied link": [0, 1, 1],
        "tied pair among clear ones": [5, 4, 2, 2, 1, 0],
    }
    assert {t.name: t.beats.sum(-1).tolist() for t in options.TASKS} == expected
    assert [p.options.win_probabilities[0][1] for p in null_pairs.NULL_PAIRS] == [
        *(0.5, 0.5, 0.5),
        pytest.approx(stats.norm.cdf(-0.007 / math.sqrt(2))),
        *(0.5, 0.5),
    ]


def test_which_certificates_are_wrong():
    link = CASES["circle with a tied link"]  # scores 0, 1 and 1
    best = np.array([[0, 1], [2, 0], [1, 2], [2, 1]], np.int32)
    a, b = races.DOMINANCE, races.COUNTS
    for certificate, wrong in ((a, [1, 1, 1, 1]), (b, [1, 1, 0, 0]), (0, [0] * 4), (3, [0] * 4)):
        by_a, by_b = races.wrong_certificates(link, np.full(4, certificate, np.int32), best)
        assert by_a.tolist() == [x and certificate == a for x in wrong]
        assert by_b.tolist() == [x and certificate == b for x in wrong]
    ladder = CASES["normals, gaps 1e-6"]
    each = np.arange(3, dtype=np.int32)[:, None]
    by_a, _ = races.wrong_certificates(ladder, np.full(3, a, np.int32), each)
    assert by_a.tolist() == [True, True, False]


def test_the_share_of_counts_is_that_of_the_race():
    task = CASES["4 equal dice"]
    for delta in DELTAS:
        params = races.race_params(task, 300, delta)
        share = races.COUNTS_SHARE
        assert float(params.level) == pytest.approx(math.log(4 / ((1 - share) * delta)), abs=1e-3)
        strong = math.log(12 / (share * delta))
        assert float(params.strong_level) == pytest.approx(strong, abs=1e-3)


@pytest.mark.slow
def test_the_race_of_the_audit_is_the_race():
    """Leaving out the guess, and adding bets of weight 0, changes no certificate."""
    task = options.TASKS[0]
    keys = jax.random.split(jax.random.key(2), 4000)
    params = races.race_params(task, 300, 0.5)
    certificate, best = races.play(races.make_race(task, 300), task.options.laws, keys, params)
    whole = racing.DominanceRace(2, 1, 300, kernels.total_order)
    padded = races.pad_bets(whole.params(0.5), params.bets.size + 2)
    expected, expected_best = races.play(whole, task.options.laws, keys, padded)
    np.testing.assert_array_equal(certificate, expected)
    certified = np.isin(expected, [decision.DOMINANCE, decision.COUNTS])
    assert 200 < certified.sum() < 2000
    np.testing.assert_array_equal(np.asarray(best)[certified], np.asarray(expected_best)[certified])


@pytest.mark.parametrize(
    "audit",
    [
        races.audit_races,
        races.audit_counts,
        races.control_races,
        null_pairs.audit_pairs,
        null_pairs.control_pairs,
        means.audit_means,
        means.control_means,
    ],
)
def test_no_races_are_refused(audit):
    with pytest.raises(ValueError, match="expected an integer of at least 1, got 0"):
        next(audit(0))
