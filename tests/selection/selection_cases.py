"""What tests of selectors share: problems, and games between a selector and its reference."""

import jax
import jax.numpy as jnp
import numpy as np


def draw_problem(seed, num_options, noise=0.0):
    """Means [K, K] and deviations [K, K] of Groves and Branke, float64."""
    rng = np.random.default_rng(seed)
    qualities = rng.uniform(size=num_options)
    errors = np.triu(rng.normal(0, noise, (num_options, num_options)), 1)
    variances = np.triu(rng.uniform(size=(num_options, num_options)), 1)
    means = qualities[:, None] - qualities[None, :] + errors - errors.T
    return means, np.sqrt(variances + variances.T)


class Normals:
    """Normal scores; `round_to` digits make ties."""

    def __init__(self, seed, num_options, noise=0.0, digits=None):
        self.means, self.deviations = draw_problem(seed, num_options, noise)
        self.rng, self.digits = np.random.default_rng([seed, 1]), digits

    def __call__(self, i, j):
        score = self.means[i, j] + self.deviations[i, j] * self.rng.normal()
        return score if self.digits is None else float(round(score, self.digits))


def choose(selector, uniform, state, params):
    """`ask` with a random number of one's own."""
    noise = None if selector.draw(jax.random.key(0)) is None else jnp.float32(uniform)
    return tuple(int(i) for i in _choose(selector, noise, state, params))


def _choose(selector, noise, state, params):
    key = selector, noise is None
    if key not in _COMPILED:
        _COMPILED[key] = jax.jit(selector.choose)
    return _COMPILED[key](noise, state, params)


_COMPILED = {}


def selected(selector, state, params):
    return np.flatnonzero(selector.result(state, params).selected).tolist()
