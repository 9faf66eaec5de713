"""Outcomes of any kind that were made already: ``jaxrace.race`` by a preference in JAX.

Axes: K options, n_i outcomes of option i, n different ones of all together.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxrace import kernels
from jaxrace.core import narrowing
from jaxrace.core.validation import BadArgument
from jaxrace.judging import RaceOfTable, race, scores
from jaxrace.racing.checks import check_compare
from jaxrace.racing.comparing import Compare, require_real

_MOST = 8_000  # different outcomes, whose signs take 64 MB
_AT_ONCE = 256  # outcomes are filled up to a multiple: with a few more nothing is compiled anew


def judge(
    compare: Compare, samples: Mapping[str, Any] | Sequence[Any], top: int = 1, **settings: Any
) -> RaceOfTable:
    """``jaxrace.race`` for outcomes of any kind: a preference compares any two of them.

    Numbers of which only the order counts (``kernels.only_orders``) are raced as they are.

    Args:
        compare: ``compare(a, b)`` of two outcomes, as for a ``PreferenceRace``.
        samples: Of each option its outcomes in the order in which they were made, leaves [n_i, ...]
            as JAX holds them; by name, or in a list.
        top: How many of the best are wanted, kappa.
        **settings: ``delta``, ``tolerance``, ``horizon`` and others of ``jaxrace.race``.

    Raises:
        ValueError: Outcomes are not alike, not finite, or of more than 8,000 kinds; ``compare`` is
            no antisymmetric sign; or as ``jaxrace.race`` does.

    >>> from jaxrace.kernels import total_order
    >>> a, b, c = np.random.default_rng(0).normal([0.0, 1.0, 3.0], size=(25, 3)).T
    >>> judge(total_order, {"a": a[:12], "b": b, "c": c}).best
    ['c']
    """
    if not isinstance(samples, Mapping | Sequence):
        hint = ": a table [n, K] is list(table.T)"
        raise BadArgument("samples", "samples by name, or a list", f"{type(samples)}", hint)
    by_name = isinstance(samples, Mapping)
    named = samples if by_name else {f"option {i}": x for i, x in enumerate(samples)}
    options = [_host_arrays(of_option) for of_option in named.values()]

    def raced(columns: Sequence[np.ndarray], **how: Any) -> RaceOfTable:
        """Each column is an option, whatever its name."""
        rows = tuple(np.arange(len(column)) for column in columns)
        tasks = tuple(map(str, range(max(map(len, columns), default=0))))
        table = scores.ScoreTable((*named,), (*columns,), rows, tasks, numbered=True)
        return race(table, top, **how, **settings)

    only_orders = kernels.only_orders(compare)
    are_numbers = all(isinstance(x, np.ndarray) and x.ndim == 1 for x in options)
    # Two criteria may contradict each other on any numbers: 0.
    if only_orders and are_numbers and (sign := check_compare(compare, np.arange(2.0))[1, 0]):
        return raced(options, by="wins", smaller=bool(sign < 0), larger=bool(sign > 0))
    counts = [_count(name, of_option) for name, of_option in zip(named, options, strict=True)]
    shapes = {str(jax.tree.map(lambda x: x.shape[1:], of_option)) for of_option in options}
    if len(shapes) != 1:
        raise BadArgument("samples", "outcomes that are alike", " and ".join(sorted(shapes)))
    outcomes = jax.tree.map(functools.partial(_together, only_orders), *options)
    leaves = [x.reshape(len(x), math.prod(x.shape[1:])) for x in jax.tree.leaves(outcomes)]
    rows = np.hstack([np.ascontiguousarray(x).view(np.uint8) for x in leaves])
    _, first, codes = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    if len(first) > _MOST:
        raise BadArgument("samples", f"at most {_MOST:,} different outcomes", f"{len(first):,}")
    first = np.resize(first, -(-len(first) // _AT_ONCE) * _AT_ONCE)
    signs = check_compare(compare, jax.tree.map(lambda x: x[first], outcomes))
    columns = np.split(codes.reshape(-1), np.cumsum(counts)[:-1])
    return raced(columns, compare=lambda i, j: int(signs[i, j]))


def _host_arrays(samples: Any) -> Any:
    if isinstance(samples, list | tuple) and all(map(np.isscalar, samples)):
        samples = np.asarray(samples)  # numbers, and not a pytree of them
    return jax.tree.map(_host_array, samples)


def _host_array(leaf: Any) -> np.ndarray:
    array = np.asarray(narrowing.as_host_array("samples", leaf))
    require_real("samples", array)
    if not np.isfinite(array).all():
        raise BadArgument("samples", "finite numbers", "NaN or infinity")
    return array


def _together(only_orders: bool, *arrays: np.ndarray) -> np.ndarray:
    """[n_1 + ... + n_K, ...]; int32 ranks, where only the order of numbers counts."""
    if only_orders:
        found = zip(scores.ranks([x.reshape(-1) for x in arrays]), arrays, strict=True)
        arrays = tuple(ranks.reshape(x.shape).astype(np.int32) for ranks, x in found)
    values = np.concatenate(arrays)
    narrowing.require_told_apart("samples", values, narrowing.dtype_of(values))
    return values


def _count(name: Any, outcomes: Any) -> int:
    lengths = {x.shape[0] if x.ndim else -1 for x in jax.tree.leaves(outcomes)}
    if len(lengths) != 1 or -1 in lengths:
        got = str([list(x.shape) for x in jax.tree.leaves(outcomes)])
        raise BadArgument("samples", f"arrays [n, ...] of one length for {name}", got)
    return lengths.pop()
