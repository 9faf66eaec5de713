"""The marketing simulator: sessions against NumPy, and returns against what is stated."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from papers.improvements.marketing import (
    CLICKED,
    CLICKS,
    LAST_SHOWN,
    RETURN_RANGE,
    SHOWN,
    USER,
    VISIT,
    Marketing,
)
from papers.improvements.open_bandit import load_click_model
from papers.improvements.open_bandit.fit import INITIAL_RETURN

ENV = Marketing()
PARAMS = ENV.default_params
VISITS = ENV.horizon


@functools.cache
def customers(number):
    keys = jax.random.split(jax.random.key(1), number)
    return jax.jit(jax.vmap(ENV.reset, (0, None)))(keys, PARAMS)


@jax.jit
def sessions(states, actions):
    """States after each visit and rewards, leaves [N, T, ...]; actions [N, T]."""

    def one(state, actions):
        def advance(state, action):
            state, reward, _ = ENV.step(jax.random.key(0), state, action, PARAMS)
            return state, (state, reward)

        return jax.lax.scan(advance, state, actions)[1]

    return jax.vmap(one)(states, actions)


@jax.jit(static_argnums=0)
def returns(policy, states):
    """Normalised returns [N] of a policy of observations."""

    def one(state):
        def advance(state, _):
            action = policy(ENV.observe(state, PARAMS))
            state, reward, _ = ENV.step(jax.random.key(0), state, action, PARAMS)
            return state, reward

        low, high = RETURN_RANGE
        return (jax.lax.scan(advance, state, None, VISITS)[1].sum() - low) / (high - low)

    return jax.vmap(one)(states)


def test_customers_are_drawn_as_they_occur():
    states, model = customers(40_000), load_click_model()
    kinds, counts = np.unique(np.asarray(states.user), axis=0, return_counts=True)
    np.testing.assert_array_equal(kinds, model.customers)
    shares = model.counts / model.counts.sum()
    errors = np.sqrt(shares * (1 - shares) / 40_000)
    assert np.all(np.abs(counts / 40_000 - shares) < 4.5 * errors)
    thresholds = np.asarray(states.click_thresholds)
    # The standard deviation of each count is 268.
    np.testing.assert_allclose(np.histogram(thresholds, 10, (0, 1))[0], 80_000, atol=1300)
    # Who the customer is says nothing about the first threshold; the standard error is .005.
    assert abs(np.corrcoef(states.appeal[:, 0], thresholds[:, 0])[0, 1]) < 0.02


def test_sessions_agree_with_numpy():
    states, model = customers(2000), load_click_model()
    actions = np.random.default_rng(4).integers(0, 2, (2000, VISITS)).astype(np.int32)
    history, rewards = jax.tree.map(np.asarray, sessions(states, jnp.asarray(actions)))
    users = np.asarray(states.user, np.float64)
    thresholds = np.asarray(states.click_thresholds)
    differing = 0
    for n in range(2000):
        base = model.intercept + model.shift + users[n] @ model.user_weights
        taste = model.cluster_weight + users[n] @ model.preference_weights
        clicks = rewards[n]
        for t in range(VISITS):
            c = actions[n, t]
            score = base + (c - 0.5) * taste
            for before in range(t):
                if actions[n, before] == c:
                    score -= 2.0 * 0.2 ** (t - 1 - before)
                    score += 2.0 * 0.8 ** (t - 1 - before) * clicks[before]
            clicked = thresholds[n, t] < 1 / (1 + np.exp(-score))
            differing += bool(clicked) != bool(clicks[t])
    assert differing <= 1  # a threshold may lie within float32's rounding of the probability
    np.testing.assert_array_equal(history.clicks, np.cumsum(rewards, axis=1))
    assert 1000 < rewards.sum() < 4000  # the test has seen clicks


def test_observations():
    states = customers(500)
    actions = np.random.default_rng(5).integers(0, 2, (500, VISITS)).astype(np.int32)
    history, rewards = sessions(states, jnp.asarray(actions))
    observe = jax.jit(jax.vmap(jax.vmap(lambda state: ENV.observe(state, PARAMS))))
    seen, rewards = np.asarray(observe(history)), np.asarray(rewards)
    assert seen.shape == (500, VISITS, 15)
    assert seen.dtype == np.float32
    assert 0 <= seen.min() <= seen.max() <= 1

    def recency(happened):
        ago = [t - s for s in range(t + 1) if happened[s]]
        return 1 / (1 + min(ago)) if ago else 0

    for n in range(100):
        for t in range(VISITS):
            for c in range(2):
                shown = actions[n, : t + 1] == c
                assert seen[n, t, LAST_SHOWN][c] == (actions[n, t] == c)
                np.testing.assert_allclose(seen[n, t, SHOWN][c], recency(shown), rtol=1e-6)
                clicked = shown & (rewards[n, : t + 1] == 1)
                np.testing.assert_allclose(seen[n, t, CLICKED][c], recency(clicked), rtol=1e-6)
    np.testing.assert_allclose(seen[..., CLICKS], np.cumsum(rewards, axis=1) / 20, rtol=1e-6)
    np.testing.assert_allclose(seen[..., VISIT], np.tile(np.arange(1, 21) / 20, (500, 1)))
    np.testing.assert_array_equal(seen[:, 7, USER], states.user)
    first = np.asarray(ENV.observe(jax.tree.map(lambda leaf: leaf[0], states), PARAMS))
    np.testing.assert_array_equal(first[:8], 0)  # nothing shown, nothing clicked


@pytest.mark.slow
def test_the_initial_policy_earns_what_the_paper_shows():
    states = customers(100_000)
    actions = jax.random.randint(jax.random.key(6), (100_000, VISITS), 0, 2, jnp.int32)
    sample = np.asarray(sessions(states, actions)[1].sum(axis=1), np.float64) / RETURN_RANGE[1]
    # The standard error is .0003.
    assert abs(sample.mean() - INITIAL_RETURN) < 4 * sample.std() / np.sqrt(sample.size)
    assert sample.std() / np.sqrt(sample.size) < 0.0004
    assert INITIAL_RETURN == 0.063


def alternate(observation):
    return jnp.where(observation[LAST_SHOWN][0] == 1, jnp.int32(1), jnp.int32(0))


def test_returns_cannot_leave_the_range():
    start = jax.tree.map(lambda leaf: leaf[:1], customers(2000))
    surely = start._replace(click_thresholds=jnp.full((1, VISITS), -1.0, jnp.float32))
    never = start._replace(click_thresholds=jnp.ones((1, VISITS), jnp.float32))
    totals = [float(returns(alternate, state)[0]) for state in (never, surely)]
    assert totals == [0.0, 1.0]
