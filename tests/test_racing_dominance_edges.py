"""The dominance race on ties, short horizons, and samples that are the same but for a symmetry."""

import dominance_cases as cases
import jax
import numpy as np
import pytest

from jaxrace import kernels, racing


def test_decision_by_decision():
    race = cases.make_race("ties", 4, 2, 100)
    outcomes = cases.draw("ties", 4, 40, 4, 100)
    params = cases.params_of(race, 40, cases.CHOICES)
    histories = cases.compare_with_reference(race, "ties", outcomes, params)
    assert {"a", None} <= cases.ends(histories)
    assert len({len(history.steps) for history in histories}) >= 3
    # Options are drawn unequally.
    assert any(np.ptp(history.blocks) >= 2 for history in histories)


@pytest.mark.slow
def test_constant_options_are_told_apart_or_never():
    """K = 2, in one batch: equal constants, a fair coin against a constant, and a sure win."""
    race = cases.make_race("numbers", 2, 1, 120)
    outcomes = np.zeros((40, 2, 120), np.float32)
    outcomes[1, 0] = np.tile([1, -1], 60)
    outcomes[2, 1] = np.random.default_rng(0).permuted(outcomes[1, 0])
    outcomes[3, 1] = 1e-6
    params = cases.params_of(race, 40, [{"delta": 0.5}])
    cases.compare_with_reference(race, "numbers", outcomes, params)
    _, results = cases.play(race, outcomes, params)
    assert results.certificate[:4].tolist() == ["exhausted"] * 3 + ["dominance"]
    assert results.samples[:4].tolist() == [[116, 116]] * 3 + [[11, 11]]
    assert results.ranking[:4].tolist()[::3] == [[0, 1], [1, 0]]
    # Nothing was ever won or lost.
    np.testing.assert_allclose(results.highest[0], [[-np.inf, 0], [0, -np.inf]], atol=1e-6)
    assert np.exp(results.highest[3, 1, 0]) == pytest.approx(
        0.4 * 1.25**11 + 0.3 * 1.55**11 + 0.3 * 1.95**11, rel=1e-5
    )


def test_ties_everywhere_are_never_certified():
    race = cases.make_race("ties", 4, 2, 100)
    outcomes = np.ones((40, 4, 100), np.float32)
    params = cases.params_of(race, 40, cases.CHOICES)
    asked, results = cases.play(race, outcomes, params)
    assert set(results.certificate) == {"exhausted"}
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
    assert set(results.certificate) == {"exhausted"}
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("capacity", "first_block", "block", "counted"),
    [(3, 11, 5, 3), (1, 2, 2, 1), (4, 2, 5, 2), (12, 2, 23, 2), (16, 11, 5, 16)],
)
def test_a_capacity_that_has_no_room_for_a_block(capacity, first_block, block, counted):
    sizes = {"first_block": first_block, "block": block}
    race = racing.DominanceRace(3, 1, capacity, kernels.total_order, **sizes)
    params = race.params(0.05)

    def sample(key, option):
        return option + 0.01 * jax.random.normal(key, (), np.float32)

    options = np.zeros(3, np.float32)
    played = racing.run(race, jax.random.key(0), sample, options, params)
    told = race.init(np.float32(0), params)
    while race.ask(told, params).any():
        rounds = race.rounds_to_tell(told)
        told = race.tell(told, np.zeros((3, rounds), np.float32), params)

    for result in (played, race.result(told, params)):
        assert result.certificate == "exhausted"
        assert result.samples.tolist() == [counted] * 3


@pytest.mark.parametrize(
    "max_rounds", [15, *(pytest.param(n, marks=pytest.mark.slow) for n in (11, 16, 99, 100))]
)
def test_a_horizon_that_cuts_a_block(max_rounds):
    race = cases.make_race("ties", 4, 2, 100)
    outcomes = cases.draw("ties", 4, 40, 4, 100)
    params = cases.params_of(race, 40, [{"delta": 0.01, "max_rounds": max_rounds}])
    cases.compare_with_reference(race, "ties", outcomes, params)
    _, results = cases.play(race, outcomes, params)
    assert np.asarray(results.samples).max() == 11 + (max_rounds - 11) // 5 * 5


def test_a_verdict_outlives_the_margin_that_it_came_from():
    """Options that change for the worse: a verdict stays, though the race draws on and S turns."""
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


def test_permuted_options_give_a_permuted_result():
    race = cases.make_race("ties", 4, 2, 100)
    outcomes = cases.draw("numbers", 5, 40, 4, 100)
    params = cases.params_of(race, 40, cases.CHOICES)
    rng = np.random.default_rng(6)
    order = np.stack([rng.permutation(4) for _ in outcomes])
    permuted = np.take_along_axis(outcomes, order[:, :, None], axis=1)
    asked, plain = jax.tree.map(np.asarray, cases.play(race, outcomes, params))
    asked_too, other = jax.tree.map(np.asarray, cases.play(race, permuted, params))
    np.testing.assert_array_equal(np.take_along_axis(asked, order[None], axis=2), asked_too)
    np.testing.assert_array_equal(other.certificate, plain.certificate)
    for field in ("samples", "wins", "total", "selected", "discarded", "asked"):
        expected = np.take_along_axis(getattr(plain, field), order, axis=1)
        np.testing.assert_array_equal(getattr(other, field), expected, field)
    np.testing.assert_array_equal(np.take_along_axis(order, other.ranking, 1), plain.ranking)
    for number, rows in enumerate(order):
        expected = plain.highest[number][np.ix_(rows, rows)]
        # The products of a block are summed in another order.
        np.testing.assert_allclose(other.highest[number], expected, rtol=1e-5, atol=1e-5)


def test_only_the_order_of_the_outcomes_counts():
    race = cases.make_race("ties", 4, 2, 100)
    outcomes = cases.draw("ties", 7, 40, 4, 100)
    params = cases.params_of(race, 40, cases.CHOICES)
    plain = cases.play(race, outcomes, params)
    for transformed in (outcomes**3 - 5, np.exp2(outcomes), 1e30 * outcomes):
        other = cases.play(race, transformed.astype(np.float32), params)
        jax.tree.map(np.testing.assert_array_equal, other, plain)


def test_opposite_preferences_turn_the_race_around():
    """With half of the options on top, the worst half of the reversed outcomes is the best."""
    race = cases.make_race("ties", 4, 2, 100)
    outcomes = cases.draw("numbers", 8, 40, 4, 100)
    params = cases.params_of(race, 40, cases.CHOICES)
    _, plain = cases.play(race, outcomes, params)
    _, other = cases.play(race, -outcomes, params)
    clear = plain.decided & other.decided
    assert clear.sum() >= 10
    np.testing.assert_array_equal(plain.selected[clear], other.discarded[clear])


@pytest.mark.slow
def test_the_verbs_may_be_batched():
    """Init, ask, tell and result under vmap, for races that end at different times."""
    race = cases.make_race("ties", 4, 2, 100)
    outcomes = cases.draw("ties", 11, 40, 4, 100)
    params = cases.params_of(race, 40, cases.CHOICES)
    tell, ask = jax.jit(jax.vmap(race.tell)), jax.jit(jax.vmap(race.ask))
    states = jax.vmap(lambda p: race.init(np.float32(0), p))(params)
    history = []
    while (asked := np.asarray(ask(states, params))).any():
        at = np.asarray(states.simulated)[..., None] + np.arange(5)
        told = np.take_along_axis(outcomes, np.minimum(at, 99), axis=2)
        told[~asked] = np.nan
        states = tell(states, told, params)
        history.append(asked)
    results = jax.vmap(race.result)(states, params)
    asked, expected = cases.play(race, outcomes, params)
    np.testing.assert_array_equal(history, asked[: len(history)])
    cases.assert_equal_results(results, expected)
