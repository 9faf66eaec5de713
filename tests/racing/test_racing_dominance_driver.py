"""The dominance race in the fused driver and in the ask/tell loop: the same, sample by sample."""

import functools

import dominance_cases as cases
import jax
import numpy as np
import pytest
import scripted

from jaxrace import racing
from jaxrace.kernels import devices

RACE = cases.make_race("ties", 4, 2, 100)
CHOICES = [
    {"delta": 0.3},
    {"delta": 0.05, "slack": 0.0},
    {"delta": 0.3, "max_rounds": 41},
    {"delta": 0.9, "max_rounds": 15},
    {"delta": 0.3, "max_rounds": 4},
]
KEY = jax.random.key(1)


def params_of(**numbers):
    return RACE.params(**{"bets": cases.BETS, **numbers})


def tell_asked(state, values, rounds, params):
    """Tell the next samples of who has asked, and NaN to everybody else."""
    told = np.full((RACE.num_options, rounds), np.nan, np.float32)
    simulated = np.asarray(state.simulated)
    for option in np.flatnonzero(np.asarray(RACE.ask(state, params))):
        start = simulated[option]
        piece = values[option, start : start + rounds]
        told[option, : len(piece)] = piece
    return RACE.tell(state, told, params)


def ask_and_tell(values, params, at_once=None, later=None):
    """The loop of a user who has the samples [K, n] in NumPy; ``later`` after the first block."""
    state = RACE.init(np.float32(0), params)
    while RACE.ask(state, params).any():
        assert np.max(state.simulated) < 100 + 25, "the race does not end"
        rounds = at_once or (later if state.simulated.any() else None)
        state = tell_asked(state, values, rounds or RACE.rounds_to_tell(state), params)
    return RACE.result(state, params)


def fused(values, params, chunk=None):
    options = scripted.options(KEY, values)
    return racing.run(RACE, KEY, scripted.sample, options, params, chunk)


def test_the_driver_equals_the_loop():
    outcomes = cases.draw("ties", 1, 5, 4, 100)
    certificates = []
    for number, values in enumerate(outcomes):
        params = params_of(**CHOICES[number % len(CHOICES)])
        looped = ask_and_tell(values, params)
        result = fused(values, params)
        cases.assert_equal_results(result, looped)
        # What is drawn is drawn in whole blocks, and all of it counts.
        if params.max_rounds >= 11:
            np.testing.assert_array_equal(result.simulated, result.samples)
        else:
            assert result.samples.tolist() == [params.max_rounds] * 4
        certificates.append(result.certificate)
    assert set(certificates) == {"dominance", None}


def test_a_gpu_draws_three_blocks_at_once():
    outcomes = cases.draw("ties", 1, 5, 4, 100)
    numbers = [params_of(**CHOICES[number % 3]) for number in range(len(outcomes))]
    jax.clear_caches()
    with devices.made_with(devices.GPU):
        found = list(map(fused, outcomes, numbers))
    jax.clear_caches()
    for values, params, result in zip(outcomes, numbers, found, strict=True):
        cases.assert_equal_results(result, ask_and_tell(values, params, later=15))
        counted = np.minimum(result.simulated, params.max_rounds)
        np.testing.assert_array_equal(result.samples, 11 + (counted - 11) // 5 * 5)
        assert ((np.asarray(result.simulated) - 11) % 15 == 0).all()
    usual = [fused(*told).samples for told in zip(outcomes, numbers, strict=True)]
    assert any((a.samples != b).any() for a, b in zip(found, usual, strict=True))


def test_samples_told_in_pieces_of_three():
    """They complete blocks at odd times. The race may ask for others; the blocks are the same."""
    outcomes = cases.draw("ties", 2, 3, 4, 100)
    for number, values in enumerate(outcomes):
        params = params_of(**CHOICES[number % 3])
        result = ask_and_tell(values, params, at_once=3)
        samples = np.asarray(result.samples)
        assert ((samples - 11) % 5 == 0).all()
        assert (samples <= np.minimum(params.max_rounds, result.simulated)).all()
        assert (np.asarray(result.simulated) % 3 == 0).all()
        expected = cases.highest_of(RACE, cases.signs_of("ties", values), samples, params)
        np.testing.assert_allclose(result.highest, expected, rtol=1e-5, atol=1e-5)
        best = np.isin(np.arange(4), result.best)
        over = expected > float(params.level)
        assert bool(result.decided) == over[np.ix_(best, ~best)].all()


def test_what_is_missing_of_a_block():
    params = params_of(delta=0.05, slack=1.0)  # with more of it all ask on
    values = cases.draw("ties", 4, 1, 4, 100)[0]
    state = RACE.init(np.float32(0), params)
    assert RACE.rounds_to_tell(state) == 11
    for told, missing in ((3, 8), (6, 5), (9, 2), (12, 4), (15, 1), (18, 3)):
        state = tell_asked(state, values, 3, params)
        asked = np.asarray(RACE.ask(state, params))
        assert state.simulated.max() == told
        assert RACE.rounds_to_tell(state) == missing
        assert asked.all() == (told < 11)
        assert asked.any()
    while RACE.ask(state, params).any():
        state = tell_asked(state, values, RACE.rounds_to_tell(state), params)
    assert RACE.rounds_to_tell(state) == 0
    assert set(np.asarray(state.samples) % 5) == {1}


def test_a_counted_outcome_that_is_not_finite_is_an_error():
    values = cases.draw("ties", 6, 1, 4, 100)[0]
    params = params_of(delta=0.05)
    for bad, place in ((np.nan, 4), (np.inf, 13)):
        broken = values.copy()
        broken[:, 4:] = values[:1, 4:]  # nobody is told apart in so few samples
        broken[3, place] = bad
        message = rf"outcomes: expected finite numbers, .* option 3 in round {place + 1}$"
        for act in (ask_and_tell, fused, functools.partial(fused, chunk=25)):
            with pytest.raises(ValueError, match=message):
                act(broken, params)


@pytest.mark.parametrize("max_rounds", [100, 41, 7])
def test_what_never_counts_may_be_nan(max_rounds):
    """The rest of a cut block, and what is drawn for a race that has ended or not asked."""
    values = cases.draw("ties", 7, 1, 4, 100)[0]
    values[3] += 4
    params = params_of(delta=0.05, max_rounds=max_rounds)
    in_threes = functools.partial(ask_and_tell, at_once=3)
    for play in (ask_and_tell, in_threes, fused, functools.partial(fused, chunk=25)):
        expected = play(values, params)
        broken = values.copy()
        for option, count in enumerate(np.asarray(expected.samples)):
            broken[option, count:] = np.nan
        assert np.isnan(broken).any(1).all()
        cases.assert_equal_results(play(broken, params), expected)


def test_new_numbers_and_equal_races_do_not_compile_again(count_compilations):
    outcomes = cases.draw("ties", 9, len(CHOICES), 4, 100)
    keys = [jax.random.key(seed) for seed in range(len(CHOICES))]
    choices = [params_of(**choice) for choice in CHOICES]

    def everything(number):
        race = cases.make_race("ties", 4, 2, 100)
        options = scripted.options(keys[number], outcomes[number])
        result = racing.run(race, keys[number], scripted.sample, options, choices[number])
        return str(result), str(ask_and_tell(outcomes[number], choices[number]))

    everything(0)
    with count_compilations() as compilations:
        for number in range(1, len(CHOICES)):
            everything(number)
    assert compilations.count == 0
    with count_compilations() as compilations:  # the counter counts
        RACE.init(np.float32(0), params_of(bets=(0.5, 1.9)))
    assert compilations.count > 0
