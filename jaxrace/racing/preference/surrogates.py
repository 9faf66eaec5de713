"""Borda's and the random walk's surrogates of the top kappa (Busa-Fekete et al. 2013, section 5).

Both work on the intervals of all pairs: what is known of s_ij is the estimate S_ij and an upper
bound u_ij; the lower bound is l_ij = 1 - u_ji. Bounds are kept as margins 2 u_ij - 1 in
``base.fixed_point``, rounded outwards: their sums are exact, so that a verdict depends neither on
the order of the options nor on how many races run side by side. Axes: K options.
"""

from typing import Literal, get_args

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace import kernels
from jaxrace.racing import base

Ranking = Literal["copeland", "borda", "random_walk"]
RANKINGS: tuple[str, ...] = get_args(Ranking)

# Units of the fixed point that a bound is moved outwards, for the rounding of its estimate.
_OUTWARDS = 4

# The divergence in float32 is wrong by less than this, relative and absolute.
_DIVERGENCE_ERROR = 1e-6

# Enough for the last digit of a float32, and any number of steps leaves a valid bound.
_NEWTON_STEPS = 6


def upper_margins(
    net: jax.Array, rounds: jax.Array, allowed: jax.Array, divergence: str
) -> jax.Array:
    """Upper confidence bounds of all pairs, as margins 2 u_ij - 1.

    Args:
        net: int32 [..., K, K], the net counts, antisymmetric.
        rounds: int32, samples per option behind them; broadcasts against ``net``.
        allowed: float32, the largest divergence of s_ij from S_ij: L / n, and infinite where
            nothing is known; broadcasts against ``net``.
        divergence: "hoeffding", 2 (u - S)^2, or "kl"; see ``kernels.Bound``.

    Returns:
        int32 [..., K, K], ``base.fixed_point``, at most the fixed point of 1. The lower bounds
        2 l_ij - 1 are the negative transpose.

    >>> import jax.numpy as jnp
    >>> net = jnp.array([[0, 50], [-50, 0]], jnp.int32)  # S_12 = .75 after 10 rounds
    >>> upper = upper_margins(net, jnp.int32(10), jnp.float32(0.02), "hoeffding")
    >>> [[f"{(1 + margin / 2**24) / 2:.3f}" for margin in row] for row in upper]  # radius .1
    [['0.600', '0.850'], ['0.350', '0.600']]
    """
    margin = net.astype(jnp.float32) / jnp.maximum(rounds, 1).astype(jnp.float32) ** 2
    if divergence == "kl":
        upper = _largest_within(margin, allowed)
    else:
        upper = jnp.minimum(margin + jnp.sqrt(2 * allowed), 1.0)  # 2 sqrt(allowed / 2)
    num_options = net.shape[-1]
    one = base.fixed_point(jnp.float32(1), num_options)
    return jnp.minimum(base.fixed_point(upper, num_options) + _OUTWARDS, one)


def _largest_within(margin: jax.Array, allowed: jax.Array) -> jax.Array:
    """max {2 q - 1 : kl(S, q) <= allowed} where ``margin`` is 2 S - 1.

    By Newton's method from above: kl is convex in q, so that no step passes the root. It starts
    at the nearer of S + sqrt(allowed / 2) (Pinsker) and of the root of the divergence's part
    that grows without bound, kl(S, q) >= -H(S) - (1 - S) ln(1 - q).
    """
    allowed = allowed * (1 + _DIVERGENCE_ERROR) + _DIVERGENCE_ERROR
    win, loss = (1 + margin) / 2, (1 - margin) / 2
    entropy = jax.scipy.special.entr(win) + jax.scipy.special.entr(loss)
    start = jnp.minimum(win + jnp.sqrt(allowed / 2), -jnp.expm1(-(allowed + entropy) / loss))

    def step(_: jax.Array, bound: jax.Array) -> jax.Array:
        excess = jax.scipy.special.rel_entr(win, bound) - allowed
        excess += jax.scipy.special.rel_entr(loss, 1 - bound)
        lower = bound - excess * bound * (1 - bound) / (bound - win)
        return jnp.where(lower > win, lower, bound)  # not where 1 is the bound: NaN

    bound = lax.fori_loop(0, _NEWTON_STEPS, step, start)
    return jnp.where(loss > 0, 2 * bound - 1, 1.0)


def borda_scores(net: jax.Array, rounds: jax.Array) -> jax.Array:
    """y_i, the mean of S_ij over all j != i: float32 [K].

    Args:
        net: int32 [K, K], the net counts.
        rounds: int32 [K, K], samples per option behind them.

    >>> import jax.numpy as jnp
    >>> net = jnp.array([[0, 4, 2], [-4, 0, 0], [-2, 0, 0]], jnp.int32)
    >>> print(borda_scores(net, jnp.full((3, 3), 2, jnp.int32)))
    [0.875 0.25  0.375]
    """
    num_options = net.shape[-1]
    total = base.fixed_point_margins(net, rounds).sum(-1, dtype=jnp.int32)
    one = base.fixed_point(jnp.float32(1), num_options).astype(jnp.float32)
    return 0.5 + total.astype(jnp.float32) / (2 * (num_options - 1) * one)


def settle_borda(
    upper: jax.Array, selected: jax.Array, discarded: jax.Array, top: int, rule: str
) -> tuple[jax.Array, jax.Array]:
    """Options that certainly are, and certainly are not, among the top kappa by Borda's score.

    Option i is better than j for certain when l_i > u_j; see ``kernels.settle_reduced``. The
    bounds of y_i average those of s_ij over *all* j != i: the paper sums over the undecided
    only, which makes y_i another number whenever an option leaves. The *sharp* rule asks for as
    many options as are needed, the *printed* one for one more.

    Args:
        upper: int32 [K, K], from ``upper_margins``; the diagonal is not read.
        selected: bool [K], what is selected already.
        discarded: bool [K], what is discarded already.
        top: kappa.
        rule: "sharp" or "printed".

    Returns:
        selected, discarded: bool [K], with those already decided.

    >>> import jax.numpy as jnp
    >>> upper = jnp.array([[0, 9, 9], [-5, 0, 4], [-5, 4, 0]], jnp.int32)
    >>> nobody = jnp.zeros(3, bool)
    >>> print(*settle_borda(upper, nobody, nobody, top=1, rule="sharp"))
    [ True False False] [False  True  True]
    """
    apart = ~jnp.eye(upper.shape[-1], dtype=bool)
    upper = jnp.where(apart, upper, 0)
    highest = upper.sum(-1, dtype=jnp.int32)  # (K - 1) (2 u_i - 1)
    lowest = -upper.sum(-2, dtype=jnp.int32)  # l_ij = 1 - u_ji
    better = lowest[:, None] > highest[None, :]
    more = 1 if rule == "printed" else 0
    return kernels.settle_reduced(better, selected, discarded, top, more)


def borda_can_end(
    scores: jax.Array,
    upper: jax.Array,
    active: jax.Array,
    selected: jax.Array,
    discarded: jax.Array,
    shrink: jax.Array,
    top: int,
) -> jax.Array:
    """Will the boundary be decided by n_max, if the estimates stay what they are?

    The two options beside the boundary are told apart once the gap between their scores exceeds
    half the widths of both. What decided options are sampled for is to narrow these.

    Args:
        scores: int32 [K], sums of 2 S_ij - 1 in fixed point.
        upper: int32 [K, K], from ``upper_margins``.
        active: bool [K, K], pairs that can still become narrower.
        selected: bool [K].
        discarded: bool [K].
        shrink: float32 [], by which their width will have been multiplied at n_max.
        top: kappa.

    Returns:
        bool [].

    >>> import jax.numpy as jnp
    >>> upper = jnp.array([[0, 9], [5, 0]], jnp.int32)  # 2 S_12 - 1 is 2, and its bounds -5, 9
    >>> pair, nobody = ~jnp.eye(2, dtype=bool), jnp.zeros(2, bool)
    >>> scores = jnp.array([2, -2], jnp.int32)
    >>> for shrink in (0.5, 0.25):
    ...     print(borda_can_end(scores, upper, pair, nobody, nobody, jnp.float32(shrink), 1))
    False
    True
    """
    num_options = scores.shape[0]
    standing = selected.astype(jnp.int32) - discarded.astype(jnp.int32)
    order = base.ranking_from_keys(standing, scores)
    beside = jnp.stack([order[top - 1], order[top]])
    half_width = (upper + upper.T) // 2
    apart = ~jnp.eye(num_options, dtype=bool)
    narrowing = jnp.where(apart & active, half_width, 0).sum(-1, dtype=jnp.int32)[beside]
    frozen = jnp.where(apart & ~active, half_width, 0).sum(-1, dtype=jnp.int32)[beside]
    gap = scores[beside[0]] - scores[beside[1]]
    needed = shrink * narrowing.astype(jnp.float32) + frozen.astype(jnp.float32)
    return gap.astype(jnp.float32) > needed[0] + needed[1]
