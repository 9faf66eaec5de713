"""Choosing among options, and which ones certainly belong to the top kappa, given the verdicts.

The target is the kappa options with the largest Copeland scores d_i = #{j != i : s_ij > 1/2}
(Busa-Fekete et al. 2014, eq. 6).
"""

from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace.core.validation import BadArgument

Rule = Literal["sharp", "printed"]
RULES: tuple[str, ...] = get_args(Rule)


def ranking(*keys: jax.Array) -> jax.Array:
    """The places of the largest first key [K] first, of equal ones the second, ...: int32 [K].

    >>> print(ranking(jnp.array([1, 2, 1]), jnp.array([0.5, 0.0, 0.7])))
    [1 2 0]
    """
    return jnp.lexsort(tuple(-key for key in reversed(keys))).astype(jnp.int32)


def pick(marked: jax.Array, uniform: jax.Array) -> jax.Array:
    """One of the marked options, each with the same probability, int32 []; 0 if none is.

    ``marked`` is bool [K], and ``uniform`` a float32 [] uniform in [0, 1).

    >>> [int(pick(jnp.array([True, False, True]), jnp.float32(u))) for u in (0.1, 0.6)]
    [0, 2]
    """
    place = jnp.cumsum(marked.astype(jnp.int32))  # from 1, of the marked ones
    count = place[-1]
    chosen = jnp.minimum((uniform * count.astype(jnp.float32)).astype(jnp.int32), count - 1) + 1
    return jnp.argmax(marked & (place == chosen)).astype(jnp.int32)


def first_best(values: jax.Array) -> jax.Array:
    """The place of the largest of values float32 [K], the first one of several: int32 [].

    ``argmax`` on a CPU takes pairs of value and place one by one, with all that was fused into it.

    >>> int(first_best(jnp.array([0.1, 0.7, 0.7])))
    1
    """
    values = lax.optimization_barrier(values)
    count = values.shape[0]
    places = jnp.arange(count, dtype=jnp.int32)
    return jnp.where(values == values.max(), places, count - 1).min()


def select_and_discard(
    beats: jax.Array, top: int, rule: str = "sharp"
) -> tuple[jax.Array, jax.Array]:
    """Options that certainly are, and certainly are not, among the top kappa: bool [K] each.

    ``beats`` bool [K, K], or [K, K, B] of B races, tells whether i certainly beats j. With z_i
    certain wins and o_j certain losses, z_i + o_j >= K proves d_i > d_j; otherwise some completion
    of the open pairs has d_j >= d_i. The *sharp* rule counts these. The *printed* rule is Algorithm
    2 of Busa-Fekete et al. 2014 with z and o exchanged back (as printed it selects certain losers).
    It asks for one more win than needed, and its strict thresholds are never met by the options
    ranked kappa and kappa + 1: valid, wasteful, and kept to reproduce the published curves.
    ValueError for another rule.

    >>> beats = jnp.array([[False, True, True], [False, False, False], [False, False, False]])
    >>> print(*select_and_discard(beats, top=1))
    [ True False False] [False  True  True]
    """
    num_options = beats.shape[0]
    certain_wins, certain_losses = _count(beats, 1), _count(beats, 0)  # z_i, o_j
    total = certain_wins[:, None] + certain_losses[None, :]
    if rule == "sharp":
        better = total >= num_options
        return _count(better, 1) >= num_options - top, _count(better, 0) >= top
    if rule == "printed":
        better = total > num_options
        return _count(better, 1) > num_options - top, _count(better, 0) > top
    raise BadArgument("rule", f"one of {', '.join(RULES)}", repr(rule))


def _count(better: jax.Array, axis: int) -> jax.Array:
    # The narrowest type, for vector registers; sums of two counts fit too.
    return better.sum(axis, dtype=np.min_scalar_type(-2 * better.shape[axis]))


def settle_reduced(
    better: jax.Array, selected: jax.Array, discarded: jax.Array, top: int, more: int = 0
) -> tuple[jax.Array, jax.Array]:
    """Who certainly is, and certainly is not, among the top kappa, given who is better for certain.

    Procedure 3 of Busa-Fekete et al. 2013: of the K' open options G, kappa' places are left. Option
    i is selected with at least K' - kappa' (+ ``more``) options of G certainly worse, and discarded
    with at least kappa' (+ ``more``) certainly better, until nothing changes. ``better`` bool [K,
    K] is a strict order; ``selected`` and ``discarded``, bool [K], stay so.

    >>> better, nobody = jnp.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], bool), jnp.zeros(3, bool)
    >>> print(*settle_reduced(better, nobody, nobody, top=1))
    [ True False False] [False  True  True]
    """

    def settle(carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        selected, discarded, _ = carry
        undecided = ~(selected | discarded)
        compared = better & undecided[:, None] & undecided[None, :]
        worse_than, better_than = (compared.sum(axis, dtype=jnp.int32) for axis in (1, 0))
        places = top - selected.sum(dtype=jnp.int32)  # kappa'
        rest = undecided.sum(dtype=jnp.int32) - places  # K' - kappa'
        selects = undecided & (worse_than >= rest + more)
        discards = undecided & (better_than >= places + more)
        return selected | selects, discarded | discards, (selects | discards).any()

    carry = (selected, discarded, jnp.bool_(True))
    selected, discarded, _ = lax.while_loop(lambda carry: carry[2], settle, carry)
    return selected, discarded
