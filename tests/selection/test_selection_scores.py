"""Selectors by scores agree with their references step by step, and do what they say."""

import dataclasses
from functools import partial

import jax
import numpy as np
import pytest
from reference import selection as reference
from selection_cases import Normals, choose, selected

from jaxrace.selection import (
    HybridPocbam,
    KnowledgeGradient,
    MlPocbam,
    Pocbam,
    Uniform,
    observed_moments,
)
from jaxrace.selection.scores import counted, no_scores
from papers.top_k.ocba import Ocba
from papers.top_k.stationary import StationaryMlPocbam

SELECTORS = {
    "uniform": (partial(Uniform, warm_up=2), reference.UniformReference),
    "pocbam": (Pocbam, reference.PocbamReference),
    "restarted": (StationaryMlPocbam, reference.MlPocbamReference),
    "followed": (
        partial(StationaryMlPocbam, follows=True),
        partial(reference.MlPocbamReference, warm_start=True),
    ),
    "swept": (MlPocbam, partial(reference.MlPocbamReference, steps=1)),
    "hybrid": (HybridPocbam, reference.HybridReference),
    "pkg": (KnowledgeGradient, reference.KnowledgeGradientReference),
    "ocba": (Ocba, reference.OcbaReference),
}

POOLED = {"pooled_samples": 2}


def is_near_tie(oracle, pair, others):
    """Were both pairs worth the same, but for rounding? Then either may be asked for."""
    if not hasattr(oracle, "values") or not oracle.is_ready():
        return False
    values = oracle.values()
    return abs(values[pair] - values[others]) <= 1e-7 * max(1e-12, abs(values[pair]))


def assert_same_selection(got, oracle):
    """But for options of equal scores, which rounding may order either way."""
    expected = oracle.selected()
    scores = np.asarray(oracle.moments()[0])
    swapped = scores[sorted(set(got) ^ set(expected))]
    assert len(got) == len(expected)
    assert swapped.size == 0 or np.ptp(swapped) < 1e-9


def take_over_fit(selector, state, oracle):
    """Which of several modes is found depends on the way; that it is one is checked, by gradient.

    And that the likelihood is no lower there than where the search began.
    """
    n, m, v = oracle.scores.n, oracle.scores.m, oracle.scores.v
    v = reference.likely(n, v, oracle.pooled_samples)
    gamma = np.asarray(state.model.qualities)
    begin = oracle.gamma if oracle.fitted_at >= 0 and selector.follows else None
    begin = reference.start(n, m, v)[0] if begin is None else begin
    total = n.sum() / 2
    assert np.abs(reference.profile_gradient(gamma, n, m, v)).max() < 1e-6 * total
    likelihood = [reference.profile_log_likelihood(g, n, m, v) for g in (begin, gamma)]
    assert likelihood[1] >= likelihood[0] - 1e-9 * total
    oracle.gamma, oracle.fitted_at = gamma, oracle.told
    oracle.sigma2 = v + reference.residuals(gamma, m) ** 2


@pytest.mark.parametrize(
    ("name", "num_options", "top", "noise", "digits", "settings"),
    [
        *((name, 5, 2, 0.3, None, {}) for name in ("uniform", "hybrid", "pkg", "ocba")),
        ("swept", 5, 2, 0.3, None, POOLED),
        ("followed", 6, 4, 0, 1, {}),
        ("pocbam", 6, 4, 0, 0, POOLED),
    ],
)
def test_agrees_with_the_reference_step_by_step(
    float64, name, num_options, top, noise, digits, settings
):
    make, make_reference = SELECTORS[name]
    selector = make(num_options, top, **settings)
    oracle = make_reference(num_options, top, **settings)
    params, compare = selector.params(), Normals(5, num_options, noise, digits)
    state, rng = selector.init(params), np.random.default_rng(0)
    differ = 0
    for _ in range(selector.opening + 60):
        uniform = rng.uniform()
        got, expected = choose(selector, uniform, state, params), oracle.ask(uniform)
        if got != expected:
            assert is_near_tie(oracle, expected, got), (got, expected)
            differ += 1
        score = compare(*expected)
        oracle.tell(*expected, score)
        state = selector.tell(state, list(expected), score, params)
        if isinstance(selector, StationaryMlPocbam) and oracle.is_ready():
            take_over_fit(selector, state, oracle)
        result = selector.result(state, params)
        np.testing.assert_allclose(result.confidence, oracle.confidence(), rtol=1e-5, atol=1e-12)
        assert_same_selection(selected(selector, state, params), oracle)
    assert differ <= 3


def test_running_moments_are_those_of_the_samples(float64):
    oracle, scores, rng = reference.Scores(4), no_scores(4), np.random.default_rng(3)
    count = jax.jit(counted)
    for _ in range(80):
        i, j = rng.choice(4, 2, replace=False)
        score = 100 + rng.normal()
        oracle.add(i, j, score)
        scores = count(scores, np.array([i, j]), score)
    n, m, v = oracle.n, oracle.m, oracle.v
    np.testing.assert_array_equal(scores.counts, n)
    np.testing.assert_allclose(scores.means, m, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(scores.variances, v, rtol=1e-9, atol=1e-9)
    mu, variance, _ = reference.score_moments(n, m, v)
    moments = jax.jit(observed_moments)(scores)
    np.testing.assert_allclose(moments.means, mu, rtol=1e-10)
    np.testing.assert_allclose(moments.variances, variance, rtol=1e-8)


@pytest.mark.parametrize(
    "selector",
    [
        Pocbam(5, 2, pooled_samples=2),
        MlPocbam(5, 2),
        KnowledgeGradient(5, 2),
        Ocba(5, 2),
    ],
)
@pytest.mark.parametrize("noisy", [True, False], ids=["noisy", "without noise"])
def test_choices_do_not_depend_on_the_scale_of_scores(float64, selector, noisy):
    # Powers of two, so that nothing is rounded.
    choices = []
    for scale in (1.0, 2.0**20, 2.0**-20):
        params, compare = selector.params(), Normals(2, 5)
        if not noisy:
            compare.deviations[:] = 0
        state, asked = selector.init(params), []
        for number in range(60):
            pair = selector.ask(jax.random.key(number), state, params)
            asked.append(pair.tolist())
            state = selector.tell(state, pair, scale * compare(*asked[-1]), params)
        choices.append(asked)
    assert choices[0] == choices[1] == choices[2]


@pytest.mark.parametrize(
    "selector",
    [
        Pocbam(4, 2),
        MlPocbam(4, 2),
    ],
)
def test_all_equal_scores_are_sampled_evenly(selector):
    params = selector.params()
    state = selector.init(params)
    for number in range(60):
        pair = selector.ask(jax.random.key(number), state, params)
        state = selector.tell(state, pair, 0.0, params)
    counts = np.asarray(state.scores.counts)[np.triu_indices(4, 1)]
    assert counts.tolist() == [10] * 6
    assert selected(selector, state, params) == [0, 1]


def play_with_a_constant_pair(selector):
    """The state after 80 comparisons of which those of 0 and 1 are all the same; 2 is best."""
    qualities, rng = np.array([0, 0.5, 2, 1]), np.random.default_rng(0)
    params = selector.params()
    state = selector.init(params)
    for number in range(80):
        i, j = selector.ask(jax.random.key(number), state, params).tolist()
        noise = 0 if {i, j} == {0, 1} else rng.normal(0, 2)
        state = selector.tell(state, [i, j], qualities[i] - qualities[j] + noise, params)
    return state


@pytest.mark.parametrize(
    "selector",
    [
        Pocbam(4, 1),
        MlPocbam(4, 1),
        Ocba(4, 1),
    ],
)
def test_a_pair_without_variance_does_not_stop_the_others(selector):
    """Nor does it look certain who is best."""
    state = play_with_a_constant_pair(selector)
    result = selector.result(state, selector.params())
    assert np.isfinite(result.scores).all()
    assert 0 < float(result.confidence) < 1
    assert selected(selector, state, selector.params()) == [2]


def test_a_pair_without_variance_keeps_a_little_of_what_others_have():
    selector = StationaryMlPocbam(4, 1, follows=True)
    params = selector.params()
    state = play_with_a_constant_pair(selector)
    n, m, v = (np.asarray(x, np.float64) for x in dataclasses.astuple(state.scores))
    least = reference.FLOOR * reference.pooled_of_pairs(n, v)
    assert float(v[0, 1]) < least
    gamma, moments = np.asarray(state.model.qualities), selector.moments(state, params)
    expected = least + reference.residuals(gamma, m)[0, 1] ** 2
    assert float(moments.pair_variances[0, 1]) == pytest.approx(expected, rel=1e-3)
    correct = reference.log_correct(
        np.asarray(moments.means), np.asarray(moments.variances), selector.top
    )
    result = selector.result(state, params)
    assert float(result.confidence) == pytest.approx(np.exp(correct), rel=1e-3)
    assert selected(selector, state, params) == [2]


def test_variances_are_mixed_with_the_pooled_one():
    told = np.array([[0, 1], [0, 2], [1, 2]] * 2)
    scores = [1.0, 1.0, 3.0, 1.0, 5.0, 4.0]
    selector = Pocbam(3, 1, warm_up=2, pooled_samples=3)
    state = selector.init(selector.params())
    state = selector.tell_many(state, told, scores, selector.params())
    # Sums of squares 0, 8 and .5 of one degree each, and every pair counts twice.
    pooled = 8.5 / 3
    expected = (np.array([0, 8, 0.5]) + 3 * pooled) / (1 + 3)
    moments = selector.moments(state, selector.params())
    got = np.asarray(moments.pair_variances)[np.triu_indices(3, 1)]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_a_batch_of_one_is_what_ask_says():
    selector = Pocbam(5, 2)
    compare = Normals(4, 5)
    params, key = selector.params(), jax.random.key(0)
    state = selector.init(params)
    for _ in range(50):
        pair = selector.ask(key, state, params)
        assert selector.ask_many(key, state, params, 1).tolist() == [pair.tolist()]
        score = compare(*pair.tolist())
        one = selector.tell(state, pair, score, params)
        state = selector.tell_many(state, [pair.tolist()], [score], params)
        jax.tree.map(np.testing.assert_array_equal, one, state)


def test_a_batch_is_chosen_as_if_each_left_what_is_known():
    # By hand: the next choice after the counts of the first have been raised.
    selector, compare = Pocbam(5, 2), Normals(4, 5)
    params, key = selector.params(), jax.random.key(0)
    state = selector.init(params)
    assert (
        selector.ask_many(key, state, params, 12).tolist()
        == [[i, j] for _ in range(2) for i in range(5) for j in range(i + 1, 5)][:12]
    )
    for _ in range(40):
        pair = selector.ask(key, state, params)
        state = selector.tell(state, pair, compare(*pair.tolist()), params)
    pairs = selector.ask_many(key, state, params, 6)
    moments = observed_moments(state.scores)
    n, s2 = np.array(moments.counts), np.asarray(moments.pair_variances, np.float64)
    mu = np.asarray(moments.means, np.float64)
    for i, j in pairs.tolist():
        variance = np.where(n > 0, s2 / np.maximum(n, 1), 0).sum(1)
        expected = reference.log_expected_correct(mu, variance, s2, n, 2)
        assert expected[i, j] >= np.max(expected) - 1e-5
        n[i, j] += 1
        n[j, i] += 1
