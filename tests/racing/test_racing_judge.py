"""Samples that have been made already are judged as a race that draws them would."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
from reference import reference_dominance_race as reference

from jaxrace.evidence.decision import Seen, behind
from jaxrace.evidence.table_decision import decide, who_may_help
from jaxrace.kernels import total_order
from jaxrace.racing import DominanceRace, judge

COUNTS = (60, 12, 33, 11, 48)


def draw(seed, counts=COUNTS, spread=0.5):
    rng = np.random.default_rng(seed)
    return [rng.normal(spread * i, 1, n).astype(np.float32) for i, n in enumerate(counts)]


def race_of(num_options=5, top=2, capacity=60, compare=total_order):
    return DominanceRace(num_options, top, capacity, compare)


def test_evidence_is_that_of_the_reference():
    race, samples = race_of(), draw(0)
    params = race.params(0.05)
    result = judge(race, samples, params)
    for i in range(5):
        for j in range(5):
            if i == j:
                continue
            n = min(COUNTS[i], COUNTS[j])
            signs = np.sign(samples[i][:n, None] - samples[j][None, :n]).astype(np.int8)
            logs, highest, start = np.zeros(len(params.bets)), -np.inf, 0
            for size in reference.block_sizes(n):
                block = signs[start : start + size, start : start + size]
                logs = logs + [reference.log_factor(block, bet) for bet in np.asarray(params.bets)]
                highest = max(highest, np.logaddexp.reduce(np.asarray(params.log_weights) + logs))
                start += size
            assert float(result.highest[i, j]) == pytest.approx(highest, abs=1e-4)
    assert result.simulated.tolist() == list(COUNTS)
    assert result.samples.tolist() == [56, 11, 31, 11, 46]


def test_the_samples_of_a_race_are_judged_as_the_race_was(unchecked):
    """Also those of options that were drawn less than others."""
    race = race_of()
    params, ends = race.params(0.05), set()
    for seed in range(6):
        outcomes = np.stack(draw(seed, (60,) * 5, 0.4 + 0.3 * (seed % 3)))
        drawn = play(race, outcomes, params)
        counts = np.asarray(drawn.simulated)
        judged = judge(race, [x[:n] for x, n in zip(outcomes, counts, strict=True)], params)
        assert np.ptp(counts) > 0
        # Of products in 64 bits, where the race has 32.
        np.testing.assert_allclose(judged.highest, drawn.highest, atol=1e-4)
        np.testing.assert_array_equal(judged.samples, drawn.samples)
        ends.add(drawn.certificate)
        if drawn.decided:
            for name in ("ranking", "selected", "certificate_number"):
                np.testing.assert_array_equal(getattr(judged, name), getattr(drawn, name), name)
        else:  # the samples of others might go on
            assert judged.certificate in ("running", "exhausted")
    assert ends == {"dominance", "exhausted"}


def play(race, outcomes, params):
    """By ask and tell, on samples [K, n] that are there."""
    state = race.init(np.float32(0), params)
    while np.asarray(asked := race.ask(state, params)).any():
        at = np.asarray(state.simulated)[:, None] + np.arange(race.rounds_to_tell(state))
        told = np.take_along_axis(outcomes, np.minimum(at, outcomes.shape[1] - 1), 1)
        state = race.tell(state, np.where(asked[:, None], told, np.nan), params)
    return race.result(state, params)


def test_nothing_is_said_before_everybody_has_a_block():
    race, samples = race_of(), draw(0)
    samples[2] = samples[2][:4]
    result = judge(race, samples, race.params(0.05))
    assert result.certificate == "running"
    assert result.asked.tolist() == [False, False, True, False, False]
    assert "7 more samples of 2" in str(result)


def test_verdicts_stay_as_samples_are_added():
    race = race_of()
    params, samples = race.params(0.05), draw(4)
    before = judge(race, [x[:11] for x in samples], params)
    for n in (20, 35, 60):
        after = judge(race, [x[:n] for x in samples], params)
        assert (np.asarray(after.highest) >= np.asarray(before.highest)).all()
        before = after


def test_more_room_is_the_same_test():
    """The bets of a horizon: what was seen stays as it was, and more samples may follow."""
    samples = draw(4, (70,) * 5, 0.2)
    small, large = race_of(), race_of(capacity=70)
    before = judge(small, [x[:60] for x in samples], small.params(0.05))
    params = large.params(0.05, horizon=60)
    np.testing.assert_array_equal(
        judge(large, [x[:60] for x in samples], params).highest, before.highest
    )
    after = judge(large, samples, params)
    assert (np.asarray(after.highest) >= np.asarray(before.highest)).all()
    assert after.samples.tolist() == [66] * 5
    assert large.params(0.05).bets[0] < params.bets[0]


def test_who_is_sampled_to_the_end_is_exhausted():
    race = race_of()
    result = judge(race, draw(0, (60,) * 5, 0.0), race.params(0.05, max_rounds=40))
    assert result.samples.tolist() == [36] * 5
    assert result.certificate == "exhausted"
    assert not result.asked.any()


@pytest.mark.parametrize(
    ("samples", "match"),
    [
        (draw(0)[:4], "samples: expected those of 5 options, got 4"),
        ([np.zeros(61), *draw(0)[1:]], "capacity 60 of each option, got 61 of option 0"),
        ([np.float32(1), *draw(0)[1:]], "one length for option 0"),
        ([np.zeros((60, 2)), *draw(0)[1:]], "samples: expected outcomes that are alike"),
        ([np.array([0.0] * 10 + [np.nan]), *draw(0)[1:]], "infinity for option 0 in round 11"),
    ],
)
def test_what_is_no_sample_is_refused(samples, match):
    race = race_of()
    with pytest.raises(ValueError, match=match):
        judge(race, samples, race.params(0.05))


def test_a_preference_that_is_no_sign_is_refused():
    race = race_of(compare=lambda a, b: (a > b).astype(jnp.int8))
    with pytest.raises(ValueError, match="compare"):
        judge(race, draw(0), race.params(0.05))


def test_nobody_who_may_help_is_missed():
    """Against all sets of so many options, one by one."""
    rng = np.random.default_rng(0)
    num_options, top = 5, 2
    most, number = 10, 400
    # Mostly in line, so that some sets are left and some races have none.
    drawn = rng.random((number, num_options, num_options)) < 0.6
    over = np.triu(drawn | drawn.swapaxes(1, 2), 1)
    flipped = rng.random((number, 1, 1)) < 0.3
    over = np.where(flipped, over & drawn | (over & ~drawn).swapaxes(1, 2), over)
    complete = np.where(rng.random((number, num_options)) < 0.7, most, most - 2)
    shared = np.minimum(complete[:, :, None], complete[:, None, :])
    helps = np.zeros((number, num_options), bool)
    for place, (verdicts, common) in enumerate(zip(over, shared, strict=True)):
        seen = Seen(np.where(verdicts, 9.0, 0.0), verdicts, verdicts & False, np.zeros((5, 5)))
        doubtful = decide(seen, top, 5.0, 1.0).doubtful
        pairs = who_may_help(seen, doubtful, common >= most, top)
        helps[place] = behind(pairs, complete[place])
    barred = over.swapaxes(1, 2) | (~(over | over.swapaxes(1, 2)) & (shared >= most))
    left, certified = np.zeros(number, bool), np.zeros(number, bool)
    for inside in itertools.combinations(range(num_options), top):
        outside = [j for j in range(num_options) if j not in inside]
        left |= ~barred[:, inside][:, :, outside].any((1, 2))
        certified |= over[:, inside][:, :, outside].all((1, 2))
    assert helps[left & ~certified].any(1).all()
    assert (complete < most)[helps.any(1)].any(1).all()
    # What is left by the rule and not by the list of all sets is little.
    nothing = ~left
    assert nothing.sum() > 50
    assert helps[nothing].any(1).mean() < 0.2
