"""The fit of the Thurstone model against the paper's quasi-Newton search over all parameters.

The likelihood has several modes; both searches end in one, and now and then not in the same.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import selection as reference
from reference.thurstone_lbfgs import fit_lbfgs
from selection_cases import Normals, draw_problem

from jaxrace.selection.scores import all_told
from papers.top_k import stationary

fit_thurstone = jax.jit(stationary.fit_thurstone)


def draw_scores(seed, noise, num_options=10, rounds=3, wins=False):
    """n, m, v after so many scores (or wins) of every pair, and the best options."""
    means, deviations = draw_problem(seed, num_options, noise)
    rng, scores = np.random.default_rng([seed, 2]), reference.Scores(num_options)
    for i, j in reference.pair_list(num_options):
        for _ in range(rounds):
            score = means[i, j] + deviations[i, j] * rng.normal()
            scores.add(i, j, np.sign(score) if wins else score)
    best = set(np.argsort(-means.sum(1))[:4].tolist())
    return (scores.n, scores.m, reference.likely(scores.n, scores.v)), best


def found_best(gamma, best):
    return set(np.argsort(-gamma)[:4].tolist()) == best


def compare_searches(noise, instances):
    """Rows (ends in another mode, gain of likelihood over quasi-Newton, right, other right)."""
    drawn = [draw_scores(seed, noise) for seed in range(instances)]
    with jax.enable_x64(True):
        others = fit_lbfgs(*map(np.array, zip(*(scores for scores, _ in drawn), strict=True)))
        rows = [compare(*case, *other) for case, *other in zip(drawn, *others, strict=True)]
    return np.array(rows, float)


def compare(scores, best, other, other_variances):
    """A row of ``compare_searches``."""
    n, m, v = scores
    fit = fit_thurstone(n, m, v, stationary.thurstone_start(jnp.asarray(m)))
    gamma, total = np.asarray(fit.qualities), n.sum() / 2
    # Ours is a stationary point, and no lower than where it began.
    assert np.abs(reference.profile_gradient(gamma, *scores)).max() < 1e-6 * total
    begin = reference.start(*scores)[0]
    height, before = (reference.profile_log_likelihood(g, *scores) for g in (gamma, begin))
    assert height >= before
    # So is the other, nearly: where a pair is almost without noise, its line search stops early.
    assert np.abs(reference.profile_gradient(other, *scores)).max() < 1e-4 * total
    theirs = reference.thurstone_log_likelihood(other, other_variances, *scores)
    differs = np.abs((gamma - gamma[0]) - (other - other[0])).max() > 1e-3
    # In the same mode at the same height.
    if not differs:
        assert height == pytest.approx(theirs, abs=1e-5)
    return differs, height - theirs, found_best(gamma, best), found_best(other, best)


@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_climbs_as_high_as_scipy(noise):
    """From the same qualities, with so many scores of a pair that one mode is left: in all cases.

    To a billionth per score, where the start is lower by a thousandth.
    """
    for seed in range(3):
        (n, m, v), _ = draw_scores(seed, noise, rounds=30)
        total = n.sum() / 2
        with jax.enable_x64(True):
            fit = fit_thurstone(n, m, v, stationary.thurstone_start(jnp.asarray(m)))
        assert fit.converged
        height = reference.profile_log_likelihood(np.asarray(fit.qualities), n, m, v)
        before = reference.profile_log_likelihood(reference.start(n, m, v)[0], n, m, v)
        assert height > before + 1e-3 * total
        scipy_height = reference.thurstone_log_likelihood(
            *reference.fit_quasi_newton(n, m, v), n, m, v
        )
        assert height >= scipy_height - 1e-9 * total


def test_searches_end_with_a_small_gradient_on_wins_too(float64):
    """There likelihoods are so steep that rounding hides the last steps' gains."""
    for seed in range(8):
        n, m, v = draw_scores(seed, 0.0, wins=True)[0]
        fit = fit_thurstone(n, m, v, stationary.thurstone_start(jnp.asarray(m)))
        begin, gamma, total = reference.start(n, m, v)[0], np.asarray(fit.qualities), n.sum() / 2
        before, height = (reference.profile_log_likelihood(g, n, m, v) for g in (begin, gamma))
        assert height >= before
        gradient = np.abs(reference.profile_gradient(gamma, n, m, v)).max() / total
        assert gradient < 1e-6
        spread = np.sqrt((n * (v + m**2)).sum() / n.sum())
        assert gradient * spread <= 1e-7
        assert fit.converged


@pytest.fixture
def five_steps(monkeypatch):
    """Searches end after five steps; what JAX traced before, or traces here, is not for others."""
    monkeypatch.setattr(stationary, "_MOST_STEPS", 5)
    jax.clear_caches()
    yield
    jax.clear_caches()


def test_only_a_small_gradient_has_converged(float64, five_steps):
    """Cut off after five steps some searches have converged, and others not."""
    found = set()
    for seed in range(8):
        n, m, v = draw_scores(seed, 0.0, rounds=30)[0]
        fit = fit_thurstone(n, m, v, stationary.thurstone_start(jnp.asarray(m)))
        gradient = np.abs(reference.profile_gradient(np.asarray(fit.qualities), n, m, v)).max()
        spread = np.sqrt((n * (v + m**2)).sum() / n.sum())
        assert bool(fit.converged) == (gradient * spread <= 1e-7 * n.sum() / 2)
        found.add(bool(fit.converged))
    assert found == {False, True}


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_never_converges(bad):
    (n, m, v), _ = draw_scores(0, 0.0)
    for place in (m, v):
        kept, place[0, 1] = place[0, 1], bad
        fit = fit_thurstone(n, m, v, stationary.thurstone_start(jnp.asarray(m)))
        assert not fit.converged
        place[0, 1] = kept


def test_the_inverse_of_a_changed_pair_is_that_of_the_changed_matrix(float64):
    """The pseudo-inverse of the Laplacian of random weights, of which one becomes another."""
    weights = np.triu(np.random.default_rng(0).uniform(0.5, 3, (5, 5)), 1)
    weights = weights + weights.T
    changed = weights.copy()
    changed[1, 3] = changed[3, 1] = 4.5

    def pseudo_inverse(weights):
        return np.linalg.pinv(np.diag(weights.sum(1)) - weights)

    before = jnp.asarray(pseudo_inverse(weights))
    fit = stationary.ThurstoneFit(jnp.zeros(5), before, jnp.bool_(True))
    got = stationary.with_changed_pair(
        fit, jnp.array([1, 3]), jnp.asarray(weights[1, 3]), jnp.asarray(4.5)
    )
    np.testing.assert_allclose(got.inverse, pseudo_inverse(changed), atol=1e-12)


def test_the_inverse_follows_the_pair_that_was_told(float64):
    """By Sherman and Morrison it is the inverse of the Hessian with the new score."""
    selector = stationary.StationaryMlPocbam(5, 2, follows=True)
    params, compare = selector.params(), Normals(2, 5)
    state = selector.init(params)
    for number in range(selector.opening + 20):
        i, j = selector.ask(jax.random.key(number), state, params).tolist()
        state = selector.tell(state, [i, j], compare(i, j), params)

    def curvatures(scores):
        v = reference.likely(np.asarray(scores.counts), np.asarray(scores.variances))
        qualities = np.asarray(state.model.qualities)
        squares = (np.asarray(scores.means) - qualities[:, None] + qualities) ** 2
        ones = (v + squares) ** 2 + np.eye(5)
        return np.asarray(scores.counts) * (v - squares) / ones

    def laplacian(weights):
        return np.diag(weights.sum(1)) - weights

    # Exactly the inverse before, so that what follows is the update alone.
    before = np.linalg.pinv(laplacian(curvatures(state.scores)))
    model = dataclasses.replace(state.model, inverse=jnp.asarray(before))
    pairs = jnp.array([[0, 3], [1, 2], [0, 3]])
    new = all_told(state.scores, pairs, jnp.array([0.4, -0.2, 0.1]))
    followed = stationary.followed_inverse(model, state.scores, new, pairs, 0.0).inverse
    # A second sample of a pair in one batch sees the first one: all end with the new scores.
    after = np.linalg.pinv(laplacian(curvatures(new)))
    center = np.eye(5) - 1 / 5
    np.testing.assert_allclose(center @ followed @ center, after, rtol=1e-6, atol=1e-9)
    assert np.abs(after - before).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("wins", "most"), [(False, 1e-3), (True, 0.1)])
def test_how_far_rounding_lets_float32_come(wins, most, capsys):
    """Along runs of 20 to 60 rounds; `-s` shows the numbers of docs/papers/top_k_selection.md."""
    sizes = []
    for seed in range(40):
        (n, m, v), _ = draw_scores(seed, 0.0, rounds=20 + seed, wins=wins)
        v = np.maximum(v, 1e-6 * v[n > 0].mean())
        arrays = (jnp.asarray(x, jnp.float32) for x in (m, v))
        fit = fit_thurstone(
            jnp.asarray(n, jnp.int32), *arrays, stationary.thurstone_start(jnp.float32(m))
        )
        gradient = reference.profile_gradient(np.asarray(fit.qualities, float), n, m, v)
        spread = np.sqrt((n * (v + m**2)).sum() / n.sum())
        sizes.append(np.abs(gradient).max() * spread / (n.sum() / 2))
    with capsys.disabled():
        print(f"\nwins = {wins}: median {np.median(sizes):.1g}, at worst {max(sizes):.1g}")
    assert max(sizes) < most


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_how_often_they_end_in_different_modes(noise, capsys):
    """400 instances; `-s` shows the numbers of docs/papers/top_k_selection.md."""
    rows = compare_searches(noise, 400)
    differ = rows[:, 0] > 0
    with capsys.disabled():
        print(
            f"\nd = {noise}: another mode in {differ.mean():.3f}, higher in "
            f"{(rows[differ, 1] > 0).mean():.3f} of these, by {rows[differ, 1].mean():.2f} on "
            f"average; right {rows[:, 2].mean():.3f}, quasi-Newton {rows[:, 3].mean():.3f}"
        )
    assert 0.05 < differ.mean() < 0.5
