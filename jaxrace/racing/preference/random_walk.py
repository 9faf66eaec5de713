"""Top kappa by the visits of a random walk, in a race. Axes: K options."""

import jax
import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.racing import base


def settle_walk(
    net: jax.Array, rounds: jax.Array, upper: jax.Array, top: int, rule: str
) -> tuple[jax.Array, jax.Array]:
    """The top kappa by the walk's visits, once these are certain; nothing before.

    Two chains S and T with stationary distributions v and w have v - w = v (S - T) T#, so that
    no entry differs by more than B max |A#|, where B bounds the sums of |S - T| over a row and A#
    is that of the estimate. The race stops when v_(kappa) - v_(kappa + 1) > 2 B max |A#|.
    B is ``kernels.walk_error``, with c_ij the distance of s_ij's bounds from S_ij.

    Args:
        net: int32 [K, K], the net counts.
        rounds: int32 [K, K], samples per option behind them.
        upper: int32 [K, K], from ``surrogates.upper_margins``.
        top: kappa.
        rule: "sharp" or "printed".

    Returns:
        selected, discarded: bool [K].

    >>> import jax.numpy as jnp
    >>> net = jnp.array([[0, 100], [-100, 0]], jnp.int32)
    >>> rounds = jnp.full((2, 2), 10, jnp.int32)
    >>> one = 2**24
    >>> upper = jnp.array([[one, one], [-0.99 * one, one]]).astype(jnp.int32)
    >>> print(*settle_walk(net, rounds, upper, top=1, rule="sharp"))
    [ True False] [False  True]
    """
    num_options = net.shape[-1]
    margin = _margins(net, rounds)
    one = base.fixed_point(jnp.float32(1), num_options).astype(jnp.float32)
    above = upper.astype(jnp.float32) / one - margin  # 2 (u_ij - S_ij)
    radius = jnp.maximum(above, above.T) / 2  # c_ij; S_ij - l_ij = u_ji - S_ji
    radius = jnp.where(jnp.eye(num_options, dtype=bool), 0.0, radius)
    estimate = (1 + margin) / 2
    error = kernels.walk_error(estimate, radius, rule)
    walk = kernels.long_run(kernels.transition_matrix(estimate))
    order = base.ranking_from_keys(kernels.visits_key(walk.visits))
    gap = walk.visits[order[top - 1]] - walk.visits[order[top]]
    certain = gap > 2 * error * jnp.abs(walk.group_inverse).max()
    in_top = jnp.argsort(order) < top
    return certain & in_top, certain & ~in_top


def walk_scores(net: jax.Array, rounds: jax.Array) -> jax.Array:
    """v, the share of its time that the walk spends at each option: float32 [K].

    Args:
        net: int32 [K, K], the net counts.
        rounds: int32 [K, K], samples per option behind them.

    >>> import jax.numpy as jnp
    >>> net = jnp.array([[0, 2], [-2, 0]], jnp.int32)  # S_12 = .75 after 2 rounds
    >>> [f"{share:.2f}" for share in walk_scores(net, jnp.full((2, 2), 2, jnp.int32))]
    ['0.64', '0.36']
    """
    return kernels.long_run(kernels.transition_matrix((1 + _margins(net, rounds)) / 2)).visits


def _margins(net: jax.Array, rounds: jax.Array) -> jax.Array:
    """2 S_ij - 1, float32 [K, K]."""
    return net.astype(jnp.float32) / jnp.maximum(rounds, 1).astype(jnp.float32) ** 2
