"""Numbers of Groves and Branke, "Exploiting transitivity": docs/papers/top_k_selection.md."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.selection import (
    MlPocbam,
    NormalScores,
    Pocbam,
    Top,
    borda_top,
    driver,
    intransitivity_index,
    normal_score,
    observed_moments,
    run,
    thurstone,
)

EXPECTED_GAP = 1 / 11  # of the best two of 10 qualities, section 5.1.1


def assert_near(values, expected, error=0.0):
    """The mean is within four standard errors, those of both."""
    own = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - expected) < 4 * np.hypot(own, error)


@jax.jit
@functools.partial(jax.vmap, in_axes=(0, None))
def play_match(key, params):
    """Eq. 16: is it won by the best of ten, with the deviation .5 that the paper takes?"""
    means = jnp.array([[0.0, EXPECTED_GAP], [-EXPECTED_GAP, 0.0]], jnp.float32)
    problem = NormalScores(means, jnp.full((2, 2), 0.5))
    log = run(Top(2, 1), key, normal_score, problem, 10, params, 10)
    return log.selected[-1, 0] & log.done[-1]


@pytest.mark.parametrize(("comparisons", "published"), [(1, 0.572), (10, 0.717)])
@pytest.mark.slow
def test_a_match_is_won_as_often_as_published(comparisons, published):
    keys = jax.random.split(jax.random.key(0), 50_000)
    won = play_match(keys, Top(2, 1).params(repetitions=comparisons))
    assert_near(np.asarray(won), published, error=0.0005)


@functools.partial(jax.jit, static_argnums=0)
def after_250(selector, keys, problems):
    """The selector's states, and whether it has found the best 4 of 10."""
    params = selector.params()

    def play(key, problem):
        rest = 250 - selector.opening
        work = driver.SelectionWork(selector, normal_score, 250, rest, params)
        state = work.advanced(work.init(driver.SelectionJob(key, problem))).selector
        selected = selector.result(state, params).selected
        return state, (selected == borda_top(problem.means, 4)).all()

    return jax.vmap(play)(keys, problems)


def draw_problems(count, noise):
    keys = jax.random.split(jax.random.key(3), count)
    return keys, jax.vmap(functools.partial(thurstone, num_options=10, noise=noise))(keys)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "pooled", "index", "error"),
    [
        (0.0, 0.0, 0.107, 0.001),
        (0.4, 0.0, 0.157, 0.001),
        (0.0, 2.0, 0.042, 0.001),
        (0.4, 2.0, 0.086, 0.001),
    ],
)
def test_the_index_grows_with_what_the_model_misses(noise, pooled, index, error):
    """Figure 6, our numbers; and with pooled samples, which make it smaller."""
    selector = MlPocbam(10, 4, pooled_samples=pooled)
    states, _ = after_250(selector, *draw_problems(2_000, noise))
    fitted = jax.vmap(lambda state: selector.moments(state, selector.params()))(states)
    observed = jax.vmap(functools.partial(observed_moments, pooled_samples=pooled))(states.scores)
    assert_near(np.asarray(jax.vmap(intransitivity_index)(observed, fitted)), index, error)


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "advantage"), [(0.0, 0.026), (0.4, -0.030)])
def test_the_model_helps_where_it_fits_and_does_harm_where_not(noise, advantage):
    """Figure 5c, our numbers."""
    drawn = draw_problems(2_000, noise)
    methods = MlPocbam(10, 4), Pocbam(10, 4)
    found = [np.asarray(after_250(selector, *drawn)[1], float) for selector in methods]
    gain = found[0] - found[1]
    assert_near(gain, advantage, error=0.005)
    assert np.sign(gain.mean()) == np.sign(advantage)
