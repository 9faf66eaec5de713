"""A random walk that moves to options which beat the present one, as a surrogate of the top kappa.

Busa-Fekete et al. 2013, section 5.3: options are ranked by how often the walk visits them in the
long run. Axes: K options.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.racing import base

# The walk starts anew, anywhere, in one of fifty steps: the chain is irreducible then.
_FOLLOWED, _RESTARTED = 0.98, 0.02

# Visits are sorted in units of 2^-20: equal options tie, whatever the rounding of the inverse.
_SORTED_BITS = 20


class Walk(NamedTuple):
    """A Markov chain in the long run."""

    visits: jax.Array  # float32 [K], v, the stationary distribution
    group_inverse: jax.Array  # float32 [K, K], A# of A = I - S


def transition_matrix(estimate: jax.Array) -> jax.Array:
    """The walk's matrix, each row a distribution: .98 S_ij + .02 / K with S_ij = y_ji / sum_l y_li.

    The walk leaves i for those that beat it. The paper prints y_ij in the numerator, with which
    the rows do not sum to 1.

    Args:
        estimate: float32 [K, K], y_ij, how likely i beats j; 1/2 on the diagonal.

    Returns:
        float32 [K, K].

    >>> import jax.numpy as jnp
    >>> matrix = transition_matrix(jnp.array([[0.5, 1.0], [0.0, 0.5]]))
    >>> [[f"{share:.3f}" for share in row] for row in matrix]
    [['0.990', '0.010'], ['0.663', '0.337']]
    """
    beaten = estimate.sum(-2)  # r_i = sum_l y_li, at least the 1/2 of the diagonal
    return _FOLLOWED * estimate.T / beaten[:, None] + _RESTARTED / estimate.shape[-1]


def long_run(transition: jax.Array) -> Walk:
    """The stationary distribution v and A# = (I - S + 1 v^T)^-1 - 1 v^T of a chain.

    With u = 1/K and G = (I - S + 1 u^T)^-1 (I - S + 1 u^T maps 1 to 1, so that v^T = u^T G) the
    group inverse is A# = G - 1 v^T G: one inverse gives both.

    Args:
        transition: float32 [K, K], rows sum to 1, irreducible.

    >>> import jax.numpy as jnp
    >>> walk = long_run(jnp.array([[0.5, 0.5], [0.25, 0.75]]))
    >>> [f"{share:.3f}" for share in walk.visits]
    ['0.333', '0.667']
    >>> [[f"{number:.3f}" for number in row] for row in walk.group_inverse]
    [['0.889', '-0.889'], ['-0.444', '0.444']]
    """
    num_options = transition.shape[-1]
    identity = jnp.eye(num_options, dtype=jnp.float32)
    inverse = _inverse(identity - transition + jnp.float32(1 / num_options))
    visits = inverse.mean(-2)
    # Not as a matrix product: accelerators round those to fewer digits.
    return Walk(visits, inverse - (visits[:, None] * inverse).sum(-2)[None, :])


def _inverse(matrix: jax.Array) -> jax.Array:
    """By Gauss and Jordan, with the largest pivot of a column.

    Written out, because two programs with LAPACK's calls that run side by side on a CPU may wait
    for each other for ever, as blocks of a sweep do.
    """
    size = matrix.shape[-1]
    numbers = jnp.arange(size)

    def eliminate(column: jax.Array, both: jax.Array) -> jax.Array:
        candidates = jnp.where(numbers >= column, jnp.abs(both[:, column]), -1.0)
        pivot = jnp.argmax(candidates)
        swapped = both.at[column].set(both[pivot]).at[pivot].set(both[column])
        row = swapped[column] / swapped[column, column]
        factors = swapped[:, column].at[column].set(0.0)
        return (swapped - factors[:, None] * row[None, :]).at[column].set(row)

    both = jnp.concatenate([matrix, jnp.eye(size, dtype=matrix.dtype)], axis=-1)
    return lax.fori_loop(0, size, eliminate, both)[:, size:]


def settle_walk(
    net: jax.Array, rounds: jax.Array, upper: jax.Array, top: int, rule: str
) -> tuple[jax.Array, jax.Array]:
    """The top kappa by the walk's visits, once these are certain; nothing before.

    Two chains S and T with stationary distributions v and w have v - w = v (S - T) T#, so that
    no entry differs by more than B max |A#|, where B bounds the sums of |S - T| over a row and A#
    is that of the estimate. The race stops when v_(kappa) - v_(kappa + 1) > 2 B max |A#|.
    For B the *sharp* rule takes max_i .98 * 2 sum_j c_ij / r_i, with c_ij the distance of s_ij's
    bounds from S_ij and r_i as in ``transition_matrix``: a row divided by its sum moves by
    at most 2 |a - b| / |a| in the sum of absolute values. The *printed* K/3 max c_ik / r_i of the
    paper is no such bound, and has no proof.

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
    beaten = estimate.sum(-2)
    if rule == "printed":
        error = (num_options / 3 * radius.max(-1) / beaten).max()
    else:
        error = (_FOLLOWED * 2 * radius.sum(-1) / beaten).max()
    walk = long_run(transition_matrix(estimate))
    order = base.ranking_from_keys(sort_key(walk.visits))
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
    return long_run(transition_matrix((1 + _margins(net, rounds)) / 2)).visits


def sort_key(visits: jax.Array) -> jax.Array:
    """Visits as int32 [K], in which equal options tie."""
    return jnp.round(visits * 2**_SORTED_BITS).astype(jnp.int32)


def _margins(net: jax.Array, rounds: jax.Array) -> jax.Array:
    """2 S_ij - 1, float32 [K, K]."""
    return net.astype(jnp.float32) / jnp.maximum(rounds, 1).astype(jnp.float32) ** 2
