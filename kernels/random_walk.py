"""A random walk that moves to options which beat the present one, as a score of all options.

Options are ranked by how often the walk visits them in the long run (Busa-Fekete et al. 2013,
section 5.3). Axes: K options.
"""

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.kernels.rules import ranking

# One of fifty steps starts anew anywhere, so that the chain is irreducible.
_FOLLOWED, _RESTARTED = 0.98, 0.02
_SORTED_BITS = 20  # of visits: equal options tie in spite of rounding


def transition_matrix(estimate: jax.Array) -> jax.Array:
    """The walk's matrix [K, K]: .98 S_ij + .02 / K with S_ij = y_ji / sum_l y_li.

    ``estimate`` float32 [K, K] is y_ij, how likely i beats j, 1/2 on the diagonal. The paper prints
    y_ij in the numerator: rows would not sum to 1.

    >>> matrix = transition_matrix(jnp.array([[0.5, 1.0], [0.0, 0.5]]))
    >>> [[f"{share:.3f}" for share in row] for row in matrix]
    [['0.990', '0.010'], ['0.663', '0.337']]
    """
    beaten = estimate.sum(-2)  # r_i = sum_l y_li, at least the 1/2 of the diagonal
    return _FOLLOWED * estimate.T / beaten[:, None] + _RESTARTED / estimate.shape[-1]


def long_run(transition: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The stationary distribution v [K] of an irreducible chain S, and A# of A = I - S, float32.

    A# = (I - S + 1 v^T)^-1 - 1 v^T, [K, K]; by G = (I - S + 1 u^T)^-1 with u = 1/K: v^T = u^T G and
    A# = G - 1 v^T G.

    >>> visits, _ = long_run(jnp.array([[0.5, 0.5], [0.25, 0.75]]))
    >>> [f"{share:.3f}" for share in visits]
    ['0.333', '0.667']
    """
    num_options = transition.shape[-1]
    identity = jnp.eye(num_options, dtype=jnp.float32)
    inverted = _inverse(identity - transition + jnp.float32(1 / num_options))
    visits = inverted.mean(-2)
    # No matrix product, which accelerators round to fewer digits.
    return visits, inverted - (visits[:, None] * inverted).sum(-2)[None, :]


# Without LAPACK: programs that call it side by side on a CPU may wait for each other for ever.
def _inverse(matrix: jax.Array) -> jax.Array:
    """Of a regular float [K, K], by Gauss and Jordan with pivots from the column."""
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


def visits_key(visits: jax.Array) -> jax.Array:
    """Visits as int32 [K], in which equal options tie."""
    return jnp.round(visits * 2**_SORTED_BITS).astype(jnp.int32)


def settle_walk(
    estimate: jax.Array, radius: jax.Array, top: int, rule: str
) -> tuple[jax.Array, jax.Array]:
    """The top kappa by the walk's visits, once they are certain, and the rest: bool [K] each.

    ``radius`` float32 [K, K] is c_ij, the largest error of y_ij, 0 on the diagonal. Chains S, the
    estimate, and T, the true one, have stationary distributions v and w with v - w = v (S - T) T#:
    no entry differs by more than B max |A#|, where sums of |S - T| over a row are at most B. The
    top is certain if v_(kappa) - v_(kappa + 1) > 2 B max |A#|.

    By the *sharp* rule B is max_i .98 * 2 sum_j c_ij / r_i, with r_i the divisor in
    ``transition_matrix``: a row a divided by its sum moves by at most 2 |a - b| / |a|. The
    *printed* K/3 max c_ik / r_i of the paper is not a bound.
    """
    beaten = estimate.sum(-2)
    if rule == "printed":
        error = (estimate.shape[-1] / 3 * radius.max(-1) / beaten).max()
    else:
        error = (_FOLLOWED * 2 * radius.sum(-1) / beaten).max()
    visits, group_inverse = long_run(transition_matrix(estimate))
    order = ranking(visits_key(visits))
    gap = visits[order[top - 1]] - visits[order[top]]
    certain = gap > 2 * error * jnp.abs(group_inverse).max()
    in_top = jnp.argsort(order) < top
    return certain & in_top, certain & ~in_top
