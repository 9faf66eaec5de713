"""The fit of the Thurstone model the way the paper has it: a quasi-Newton search over everything.

Groves and Branke, section 4: L-BFGS over the qualities and the deviations of all pairs, here by
optax. Written for float64; use it under ``jax.enable_x64``. Axes: L instances, K options, P pairs.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from reference import selection as reference

_MOST_STEPS = 2_000


def fit_lbfgs(counts, means, variances):
    """Qualities [L, K] and variances [L, K, K] of stationary points, from arrays [L, K, K]."""
    first, second = np.triu_indices(counts.shape[-1], 1)
    n, m, v = (jnp.asarray(x)[:, first, second] for x in (counts, means, variances))
    starts = [reference.start(*instance) for instance in zip(counts, means, variances, strict=True)]
    gamma = jnp.array([start[0] for start in starts])
    log_sigma = jnp.log(jnp.array([start[1][first, second] for start in starts])) / 2
    with jax.numpy_dtype_promotion("standard"):  # optax mixes widths
        gamma, log_sigma = jax.jit(jax.vmap(_fit))((gamma, log_sigma), n, m, v)
    full = np.ones(counts.shape)
    full[:, first, second] = full[:, second, first] = np.exp(2 * log_sigma)
    return np.asarray(gamma), full


def _fit(parameters, n, m, v):
    num_options = parameters[0].shape[0]
    first, second = np.triu_indices(num_options, 1)
    solver = optax.lbfgs(memory_size=10)

    def loss(parameters):
        """The negative of eq. (4), up to a constant."""
        gamma, log_sigma = parameters
        residual = m - gamma[first] + gamma[second]
        return (n * (log_sigma + (v + residual**2) * jnp.exp(-2 * log_sigma) / 2)).sum()

    value_and_gradient = optax.value_and_grad_from_state(loss)

    def is_open(carry):
        _, state = carry
        gradient = optax.tree.get(state, "grad")
        steepest = jnp.maximum(*(jnp.abs(leaf).max() for leaf in gradient))
        count = optax.tree.get(state, "count")
        return (count == 0) | ((steepest > 1e-8 * n.sum()) & (count < _MOST_STEPS))

    def step(carry):
        parameters, state = carry
        value, gradient = value_and_gradient(parameters, state=state)
        updates, state = solver.update(
            gradient, state, parameters, value=value, grad=gradient, value_fn=loss
        )
        return optax.apply_updates(parameters, updates), state

    return lax.while_loop(is_open, step, (parameters, solver.init(parameters)))[0]
