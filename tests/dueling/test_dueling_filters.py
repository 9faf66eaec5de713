"""Interleaved Filter, Beat the Mean and random pairs against the plain reference."""

import functools

import duel_traces
import jax
import numpy as np
import pytest
from reference import duel_filters, duels

from jaxrace import dueling
from jaxrace.dueling import BeatTheMean, InterleavedFilter, UniformDuels


@pytest.mark.parametrize("num_arms", [3])
def test_uniform_against_the_reference(num_arms):
    algorithm = UniformDuels(num_arms)
    trace = duel_traces.trace(algorithm, duel_traces.matrices_of(num_arms, 5), None, 400)
    duel_traces.assert_same_duels(
        trace,
        lambda: duels.Uniform(num_arms),
        lambda reference, noise: reference.choose(noise.astype(float)),
    )


@pytest.mark.parametrize(("num_arms", "horizon"), [(3, 1)])
def test_interleaved_filter_against_the_reference(num_arms, horizon):
    algorithm = InterleavedFilter(num_arms)
    matrices = duel_traces.matrices_of(num_arms, 10)
    trace = duel_traces.trace(algorithm, matrices, algorithm.params(horizon), 1500)
    duel_traces.assert_same_duels(
        trace,
        lambda: duel_filters.InterleavedFilter(num_arms, horizon),
        lambda reference, noise: reference.choose(),
    )
    # New candidates, and ends.
    assert (trace.recommended > 0).any()
    assert (trace.decided_at[:, -1] > 0).any()


def test_duels_of_a_round_at_once_are_those_one_by_one():
    """Records of one duel each cut every round in pieces; those of 300 have many whole rounds."""
    algorithm = InterleavedFilter(7)
    problems = jax.vmap(dueling.duels)(duel_traces.matrices_of(7, 10))

    def logs(records):
        play = functools.partial(dueling.run, algorithm, horizon=1_500, records=records)
        return jax.vmap(lambda key, problem: play(key, problem, params=algorithm.params(1)))(
            jax.random.split(jax.random.key(1), 10), problems
        )

    one, many = logs(1_500), logs(5)
    np.testing.assert_array_equal(many.recommended, one.recommended[:, 299::300])
    np.testing.assert_array_equal(many.decided_at, one.decided_at[:, 299::300])
    np.testing.assert_array_equal(many.time[0], [300, 600, 900, 1_200, 1_500])
    each = one.regret.reshape(10, 5, 300, -1).sum(2)
    np.testing.assert_allclose(many.regret, each, rtol=1e-5, atol=1e-5)
    assert (one.recommended[:, 0] != one.recommended[:, -1]).any()
    assert 0 < (many.decided_at[:, -1] > 0).sum() < 10


@pytest.mark.parametrize(("num_arms", "gamma"), [(3, 1.0), (12, 1.3)])
def test_beat_the_mean_against_the_reference(num_arms, gamma):
    algorithm = BeatTheMean(num_arms)
    matrices = duel_traces.matrices_of(num_arms, 5)
    params = algorithm.params(1, gamma)
    trace = duel_traces.trace(algorithm, matrices, params, 1500)
    duel_traces.assert_same_duels(
        trace,
        lambda: duel_filters.BeatTheMean(num_arms, 1, gamma),
        lambda reference, noise: reference.choose(noise.astype(float)),
    )
    if num_arms == 3:  # of 12, none is dropped so soon: it is the choice of pairs that is compared
        assert (trace.decided_at[:, -1] > 0).any()


def test_only_what_was_asked_for_can_be_told():
    """Neither a pair turned round, nor arms that are not their turn."""
    algorithm, params = InterleavedFilter(4), InterleavedFilter(4).params(10)
    state = algorithm.init(params)
    for pair in ([1, 0], [0, 2], [2, 3], [1, 1]):
        with pytest.raises(ValueError, match=r"^choice: expected \[0, 1\], as asked, got"):
            algorithm.tell(state, pair, True, params)
    state = algorithm.tell(state, [0, 1], True, params)
    with pytest.raises(ValueError, match=r"^choice: expected \[0, 2\], as asked, got"):
        algorithm.tell(state, [0, 1], True, params)
    algorithm, params = BeatTheMean(4), BeatTheMean(4).params(10)
    state = algorithm.tell(algorithm.init(params), [2, 2], True, params)
    state = algorithm.tell(state, [0, 2], True, params)
    with pytest.raises(ValueError, match=r"^choice: expected one of \[1, 3\] against one of \[0,"):
        algorithm.tell(state, [2, 1], True, params)
