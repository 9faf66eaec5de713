"""Outcomes of any kind that were made already: ``jaxrace.race`` by a preference in JAX.

Axes: K options, n_i outcomes of option i, n of all together.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxrace import kernels
from jaxrace.core import narrowing
from jaxrace.core.validation import BadArgument
from jaxrace.judging import RaceOfTable, race, scores
from jaxrace.racing.comparing import Compare, checked_signs, require_real

_MOST = 8_000  # outcomes, whose signs take 64 MB


def judge(
    compare: Compare, samples: Mapping[str, Any] | Sequence[Any], top: int = 1, **settings: Any
) -> RaceOfTable:
    """``jaxrace.race`` of outcomes of any kind, any two of which are compared at once.

    Args:
        compare: ``compare(a, b)`` of two outcomes, as for a ``PreferenceRace``.
        samples: Of each option its outcomes in the order in which they were made, leaves [n_i, ...]
            as JAX holds them; by name, or in a list.
        top: How many of the best are wanted, kappa.
        **settings: ``delta``, ``tolerance``, ``horizon`` and ``dependent`` of ``jaxrace.race``.

    Raises:
        ValueError: Outcomes are not alike, not finite, or more than 8,000; ``compare`` is no
            antisymmetric sign; or as ``jaxrace.race`` does.

    >>> from jaxrace.kernels import total_order
    >>> a, b, c = np.random.default_rng(0).normal([0.0, 1.0, 3.0], size=(25, 3)).T
    >>> judge(total_order, {"a": a[:12], "b": b, "c": c}).best
    ['c']
    """
    if not isinstance(samples, Mapping | Sequence):
        hint = ": a table [n, K] is list(table.T)"
        raise BadArgument("samples", "samples by name, or a list", f"{type(samples)}", hint)
    named = samples if isinstance(samples, Mapping) else dict(enumerate(samples))
    options = [_host_arrays(of_option) for of_option in named.values()]
    counts = [_count(name, of_option) for name, of_option in zip(named, options, strict=True)]
    if sum(counts) > _MOST:
        raise BadArgument("samples", f"at most {_MOST:,} outcomes", f"{sum(counts):,}")
    together = _ranked if kernels.only_orders(compare) else _told_apart
    try:
        outcomes = jax.tree.map(together, *options)
    except BadArgument:
        raise
    except (TypeError, ValueError) as error:
        raise ValueError(f"samples: expected outcomes that are alike: {error}") from error
    signs = checked_signs(compare, outcomes)
    codes = np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1])
    names = named if isinstance(samples, Mapping) else [f"option {i}" for i in named]
    by_name = dict(zip(names, codes, strict=True))
    return race(by_name, top, compare=lambda i, j: int(signs[i, j]), **settings)


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


def _ranked(*arrays: np.ndarray) -> np.ndarray:
    """The place of each number among all different ones, where only their order counts: int32."""
    found = zip(scores.ranks([x.reshape(-1) for x in arrays]), arrays, strict=True)
    return np.concatenate([ranks.reshape(x.shape) for ranks, x in found]).astype(np.int32)


def _told_apart(*arrays: np.ndarray) -> np.ndarray:
    values = np.concatenate(arrays)
    narrowing.require_told_apart("samples", values, narrowing.dtype_of(values))
    return values


def _count(name: Any, outcomes: Any) -> int:
    lengths = {x.shape[0] if x.ndim else -1 for x in jax.tree.leaves(outcomes)}
    if len(lengths) != 1 or -1 in lengths:
        raise ValueError(f"samples: expected arrays [n, ...] of one length for option {name}")
    return lengths.pop()
