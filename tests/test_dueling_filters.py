"""Interleaved Filter, Beat the Mean and random pairs against the plain reference."""

import itertools

import duel_traces
import jax
import numpy as np
import pytest
from reference import duel_filters, duels
from scipy import stats

from jaxrace.dueling import BeatTheMean, InterleavedFilter, Uniform, play, shuffled
from jaxrace.dueling import duels as duels_with
from jaxrace.dueling.matrices import flat

slow = pytest.mark.slow


@pytest.mark.parametrize("num_arms", [3, pytest.param(8, marks=slow)])
def test_uniform_against_the_reference(num_arms):
    algorithm = Uniform(num_arms)
    trace = duel_traces.trace(algorithm, duel_traces.matrices_of(num_arms, 5), None, 400)
    duel_traces.assert_same_duels(
        trace,
        lambda: duels.Uniform(num_arms),
        lambda reference, noise: reference.choose(noise.astype(float)),
    )


def test_every_pair_is_as_likely():
    trace = duel_traces.trace(Uniform(3), duel_traces.matrices_of(3, 5), None, 400)
    pairs = [tuple(pair) for pair in trace.pair.reshape(-1, 2).tolist()]
    numbers = [pairs.count(pair) for pair in itertools.permutations(range(3), 2)]
    assert sum(numbers) == len(pairs)
    assert stats.chisquare(numbers).pvalue > 1e-3


@pytest.mark.parametrize(("num_arms", "horizon"), [(3, 1), pytest.param(6, 2, marks=slow)])
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
    assert (trace.settled_at[:, -1] > 0).any()


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
        assert (trace.settled_at[:, -1] > 0).any()


@slow
@pytest.mark.parametrize(
    "algorithm", [InterleavedFilter(6), BeatTheMean(6)], ids=["filter", "mean"]
)
def test_the_winner_is_found(algorithm):
    """Arms in random orders, in nearly all of 200 runs; then it is played on, at no cost."""
    horizon, problem = 20_000, duels_with(flat(6, 0.9))

    def one(key):
        shuffle_key, play_key = jax.random.split(key)
        own = shuffled(shuffle_key, problem)
        return play(algorithm, play_key, own, horizon, algorithm.params(horizon), 20)

    log = jax.vmap(one)(jax.random.split(jax.random.key(0), 200))
    settled_at, found = np.asarray(log.settled_at), np.asarray(log.recommended)
    assert (settled_at[:, -1] > 0).all()
    assert (found[:, -1] == 0).mean() >= 0.99
    over = (settled_at > 0) & (settled_at <= log.time - 1000)  # at the begin of this record
    right = over & (found == 0)
    assert right.any(1).all()
    assert (np.asarray(log.regret)[right] == 0).all()


@slow
def test_uniform_regret_grows_with_time():
    """Arm 0 is in a third of all pairs of six, and half of a duel without it costs 0.2."""
    regret, last = duel_traces.total_regret(Uniform(6), None, flat(6, 0.7), 5000, 50)
    assert regret[-1] / regret[0] == pytest.approx(10, rel=0.02)
    assert regret[-1] == pytest.approx(5000 * (2 / 3 * 0.2 + 1 / 3 * 0.1), rel=0.02)
    assert (last.recommended == 0).all()


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
