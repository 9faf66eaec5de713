"""The dominance race on ties, short horizons, and samples that are the same but for a symmetry."""

import dominance_cases as cases
import jax
import numpy as np
import pytest


def test_decision_by_decision():
    race = cases.make_race("ties", 4, 2, 100)
    outcomes = cases.draw("ties", 4, 40, 4, 100)
    params = cases.params_of(race, 40, cases.CHOICES)
    histories = cases.compare_with_reference(race, "ties", outcomes, params)
    assert {"a", None} <= cases.ends(histories)
    assert len({len(history.steps) for history in histories}) >= 3
    # Options are drawn unequally.
    assert any(np.ptp(history.blocks) >= 2 for history in histories)


def test_ties_everywhere_are_never_certified():
    race = cases.make_race("ties", 4, 2, 100)
    outcomes = np.ones((40, 4, 100), np.float32)
    params = cases.params_of(race, 40, cases.CHOICES)
    asked, results = cases.play(race, outcomes, params)
    assert set(results.certificate) == {""}
    # Everybody to the end: 17 blocks of 5 after the first, which is told in three tells.
    assert np.asarray(asked[: 3 + 17, :3]).all()
    assert not np.asarray(asked[3 + 17 :]).any()
    assert results.samples[:3].tolist() == [[96] * 4] * 3
    assert results.ranking.tolist() == [[0, 1, 2, 3]] * 40
    assert not np.asarray(results.selected | results.discarded).any()


@pytest.mark.parametrize("kind", ["ties", "numbers"])
def test_a_horizon_below_the_first_block(kind):
    """All that there may be is drawn and ranked; there is no block to be certain of anything."""
    race = cases.make_race("ties", 4, 2, 100)
    horizons = np.arange(40) % 10 + 1
    outcomes = cases.draw(kind, 3, 40, 4, 100)
    params = cases.params_of(race, 40, [{"max_rounds": int(n)} for n in horizons[:10]])
    asked, results = jax.tree.map(np.asarray, cases.play(race, outcomes, params))
    assert set(results.certificate) == {""}
    for number, horizon in enumerate(horizons):
        np.testing.assert_array_equal(asked[:, number].all(1), np.arange(len(asked)) * 5 < horizon)
        assert results.samples[number].tolist() == [horizon] * 4
        signs = cases.signs_of(kind, outcomes[number])
        wins, totals = cases.full_keys(signs, [horizon] * 4)
        np.testing.assert_array_equal(results.wins[number], wins)
        cases.assert_ranked(results.ranking[number], wins, totals)
    assert (results.highest == -np.inf).all()
    assert not results.oracle_calls.any()
    np.testing.assert_allclose(results.log_evidence, 0, atol=1e-6)
    np.testing.assert_array_equal(results.p_values, 1)
    np.testing.assert_array_equal(results.e_values, 0.5)


def test_a_horizon_that_cuts_a_block():
    max_rounds = 15
    race = cases.make_race("ties", 4, 2, 100)
    outcomes = cases.draw("ties", 4, 40, 4, 100)
    params = cases.params_of(race, 40, [{"delta": 0.01, "max_rounds": max_rounds}])
    cases.compare_with_reference(race, "ties", outcomes, params)
    _, results = cases.play(race, outcomes, params)
    assert np.asarray(results.samples).max() == 11 + (max_rounds - 11) // 5 * 5


def test_a_verdict_waits_while_the_margin_is_against_it():
    """Options that change for the worse: what was certain counts no more once S turns."""
    race = cases.make_race("ties", 4, 2, 100)
    rng = np.random.default_rng(12)
    outcomes = cases.draw("numbers", 12, 40, 4, 100)
    turn = rng.choice([11, 16, 21, 31], (40, 4, 1))
    first, later = rng.normal(size=(2, 40, 4, 1))
    outcomes += np.where(np.arange(100) < turn, first, later).astype(np.float32)
    params = cases.params_of(race, 40, [{"delta": 0.2, "slack": slack} for slack in (0.0, 1.5)])
    histories = cases.compare_with_reference(race, "ties", outcomes, params)
    level = float(params.level[0])
    against = [(history.highest >= level) & (history.margins < 0) for history in histories]
    assert sum(pairs.any() for pairs in against) >= 3
