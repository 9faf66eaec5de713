"""Outcomes on a task: scores, or what a preference compares. Axes: R values on a task."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace.racing.comparing import require_sign

Compare = Callable[[Any, Any], jax.Array]


def require_outcome(example: Any, values: int, compare: Compare | None) -> None:
    """Raise ValueError unless an outcome has R ``values`` that a race can compare.

    ``example`` has leaves of shapes and dtypes; of single values where R is 1. Without a preference
    they are scores.
    """
    leaves = jax.tree.leaves(example)
    wanted = (values,) if values > 1 else ()
    if compare is None and (len(leaves) != 1 or leaves[0].shape != wanted):
        got = [list(leaf.shape) for leaf in leaves]
        raise ValueError(f"example_outcome: expected one array {list(wanted)} of scores, got {got}")
    for leaf in leaves:
        if leaf.shape[: len(wanted)] != wanted:
            raise ValueError(
                f"example_outcome: expected {values} values first, got {list(leaf.shape)}"
            )
        if jnp.issubdtype(leaf.dtype, jnp.complexfloating):
            raise ValueError(f"example_outcome: expected real numbers, got {leaf.dtype}")
    if compare is not None:
        one = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[len(wanted) :], x.dtype), example)
        require_sign(compare, one)


def net_wins(compare: Compare, values: int, first: Any, second: Any) -> jax.Array:
    """The sign of two outcomes, averaged over all pairs of their R values: float32 [].

    >>> from jaxrace.kernels import total_order
    >>> print(net_wins(total_order, 2, jnp.array([1.0, 3.0]), jnp.array([1.0, 2.0])))
    0.25
    """
    if values == 1:
        return compare(first, second).astype(jnp.float32)
    signs = jax.vmap(jax.vmap(compare, (None, 0)), (0, None))(first, second)
    return signs.sum(dtype=jnp.int32).astype(jnp.float32) / values**2
