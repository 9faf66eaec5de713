"""Are outcomes, and the preference between them, what a ``PreferenceRace`` needs?

A preference is an antisymmetric sign of two outcomes. Its form (one signed integer, in pure JAX)
is seen whenever a program is traced. Its values are seen on a few outcomes, once for each
preference and source of outcomes, and never under a trace. Axes: K options, n outcomes, r rounds.
"""

import collections
import functools
from collections.abc import Callable, Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import narrowing
from jaxrace.compilation import bounded_jit

Compare = Callable[[Any, Any], jax.Array]

# Outcomes of a race that are compared with one another, at most: 4096 pairs cost nothing.
_MOST_OUTCOMES = 64

# Preferences that have passed, each with its source; only the newest, to bound the memory.
_passed: collections.OrderedDict[Hashable, None] = collections.OrderedDict()
_MOST_PASSED = 32


def check_compare(compare: Compare, outcomes: Any, shown: Any = None) -> None:
    """Raise unless a preference is an antisymmetric sign on some outcomes.

    Every outcome is compared with every other, and with itself. Outcomes with NaN or infinity
    in them are left out.

    Args:
        compare: ``compare(a, b)`` of two single outcomes.
        outcomes: Leaves [n, ...], at least one outcome.
        shown: What messages show instead, leaves [n, ...].

    Raises:
        ValueError: ``compare`` is not pure JAX; returns anything but one signed integer; returns
            another number than -1, 0 or +1; or ``compare(a, b)`` is not ``-compare(b, a)``, which
            is 0 for an outcome and itself.

    >>> import jax.numpy as jnp
    >>> def at_least(a, b):
    ...     return jnp.where(a >= b, 1, -1)
    >>> check_compare(at_least, jnp.array([1.0, 2.0]))
    Traceback (most recent call last):
    ValueError: compare: expected 0 for an outcome and itself, got 1 for 1.0
    """
    outcomes = narrowing.as_arrays("outcomes", outcomes)
    lengths = {x.shape[:1] for x in jax.tree.leaves(outcomes)}
    if len(lengths) != 1 or not all(lengths) or (0,) in lengths:
        raise ValueError(
            "outcomes: expected leaves [n, ...] with one n >= 1, got "
            f"{[list(x.shape) for x in jax.tree.leaves(outcomes)]}"
        )
    single = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), outcomes)
    require_sign(compare, single)
    signs, finite = map(np.asarray, _compare_all(compare, outcomes))
    shown = outcomes if shown is None else shown
    _raise_unless_antisymmetric(signs.astype(np.int64), finite, shown)


def check_once(
    compare: Compare, source: Hashable, kept: Any, num_rounds: jax.Array | int, shown: Any = None
) -> None:
    """``check_compare`` on the first samples of a race, unless that has passed before.

    Args:
        compare: The race's preference.
        source: What draws the samples, or None; with the samples' kind it names the check.
        kept: The samples that are looked at, from ``first_few``.
        num_rounds: How many rounds there are already.
        shown: What messages show of the samples, if not these.
    """
    leaves, structure = jax.tree.flatten(kept)
    check = (compare, source, structure, *((x.shape[2:], x.dtype) for x in leaves))
    if check in _passed:
        _passed.move_to_end(check)
        return
    few = _take_few(kept, int(num_rounds))
    check_compare(compare, few, few if shown is None else _take_few(shown, int(num_rounds)))
    _passed[check] = None
    if len(_passed) > _MOST_PASSED:
        _passed.popitem(last=False)


def first_few(kept: Any) -> Any:
    """As many of a race's samples, leaves [K, N, ...], as are looked at: [few, few, ...]."""
    num_options, capacity = jax.tree.leaves(kept)[0].shape[:2]
    options = min(num_options, _MOST_OUTCOMES // 2)
    rounds = min(capacity, _MOST_OUTCOMES // options)
    return jax.tree.map(lambda x: x[:options, :rounds], kept)


def require_outcomes(kept: Any, told: Any) -> None:
    """Raise unless told samples fit those that a race keeps.

    Args:
        kept: Leaves [K, N, ...].
        told: Leaves [K, r, ...], r >= 1.

    Raises:
        ValueError: The structures, shapes or dtypes do not fit.

    >>> import jax.numpy as jnp
    >>> require_outcomes(jnp.zeros((3, 100)), jnp.zeros((4, 1)))
    Traceback (most recent call last):
    ValueError: outcomes: expected leaves [3, rounds] with one number of rounds, got [4, 1]
    """
    expected = jax.tree.structure(kept)
    if jax.tree.structure(told) != expected:
        raise ValueError(
            f"outcomes: expected the structure {expected}, got {jax.tree.structure(told)}"
        )
    num_told = {x.shape[1:2] for x in jax.tree.leaves(told)}
    for old, new in zip(jax.tree.leaves(kept), jax.tree.leaves(told), strict=True):
        # Compared without the rounds; a leaf [K] that lacks their axis does not fit.
        fits = new.ndim == old.ndim and new.shape[:1] == old.shape[:1]
        fits &= new.shape[2:] == old.shape[2:]
        if not fits or len(num_told) != 1 or 0 in new.shape[1:2]:
            wanted = ", ".join([str(old.shape[0]), "rounds", *map(str, old.shape[2:])])
            raise ValueError(
                f"outcomes: expected leaves [{wanted}] with one number of rounds, "
                f"got {list(new.shape)}"
            )
        if not _holds(old.dtype, narrowing.dtype_of(new)):
            raise ValueError(
                f"outcomes: expected {old.dtype} as in the example outcome, got {new.dtype}"
            )


def _holds(kept: Any, told: Any) -> bool:
    """Does a dtype hold the numbers of another one, but for the last digits of a float?"""
    if jnp.issubdtype(kept, jnp.floating):
        return not jnp.issubdtype(told, jnp.complexfloating)
    return bool(jnp.can_cast(told, kept))


def require_sign(compare: Compare, example: Any) -> None:
    """Raise unless a preference returns one signed integer; traces it, and computes nothing.

    Args:
        compare: ``compare(a, b)`` of two single outcomes.
        example: An outcome of ``jax.ShapeDtypeStruct``s.

    Raises:
        ValueError: It does not, or cannot be traced.

    >>> import jax, jax.numpy as jnp
    >>> number = jax.ShapeDtypeStruct((), jnp.float32)
    >>> require_sign(lambda a, b: jnp.sign(a - b), number)
    Traceback (most recent call last):
    ValueError: compare: expected one signed integer (int8) per pair of outcomes, got float32[]
    """
    try:
        sign = jax.eval_shape(compare, example, example)
    except Exception as error:  # of code that is not ours
        first_line = next(iter(str(error).splitlines()), "")
        raise ValueError(
            "compare: expected a function of two outcomes in pure JAX, got "
            f"{type(error).__name__}: {first_line}"
        ) from error
    is_one = isinstance(sign, jax.ShapeDtypeStruct) and sign.shape == ()
    if not is_one or not jnp.issubdtype(sign.dtype, jnp.signedinteger):
        got = jax.tree.map(lambda x: f"{x.dtype}{list(x.shape)}", sign)
        raise ValueError(
            f"compare: expected one signed integer (int8) per pair of outcomes, got {got}"
        )


def _take_few(kept: Any, num_rounds: int) -> Any:
    """The rounds that there are, as leaves [n, ...]."""
    # Sliced by NumPy: each slice of a device array would be a program of its own.
    kept = jax.tree.map(lambda x: np.asarray(x)[:, : max(num_rounds, 1)], kept)
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), kept)


@bounded_jit(1)
def _compare_all(compare: Compare, outcomes: Any) -> tuple[jax.Array, jax.Array]:
    """Signs [n, n] of all pairs, and whether each outcome [n] is finite."""
    signs = jax.vmap(jax.vmap(compare, (None, 0)), (0, None))(outcomes, outcomes)
    finite = jnp.ones(signs.shape[:1], bool)
    for x in jax.tree.leaves(outcomes):
        if jnp.issubdtype(x.dtype, jnp.inexact):
            finite &= jnp.isfinite(x).all(tuple(range(1, x.ndim)))
    return signs, finite


def _raise_unless_antisymmetric(signs: np.ndarray, finite: np.ndarray, outcomes: Any) -> None:
    shown = functools.partial(_shown, outcomes)
    if pair := _first_of(np.abs(signs) > 1, finite):
        i, j = pair
        raise ValueError(
            f"compare: expected -1, 0 or +1, got {signs[i, j]} for {shown(i)} and {shown(j)}"
        )
    if pair := _first_of(np.eye(len(signs), dtype=bool) & (signs != 0), finite):
        i, _ = pair
        raise ValueError(
            f"compare: expected 0 for an outcome and itself, got {signs[i, i]} for {shown(i)}"
        )
    if pair := _first_of(signs != -signs.T, finite):
        i, j = pair
        raise ValueError(
            "compare: expected opposite signs for two outcomes and the two exchanged, got "
            f"{signs[i, j]} and {signs[j, i]} for {shown(i)} and {shown(j)}"
        )


def _first_of(wrong: np.ndarray, finite: np.ndarray) -> tuple[int, int] | None:
    """The first pair [n, n] of finite outcomes with something wrong."""
    places = np.argwhere(finite[:, None] & finite[None, :] & wrong)
    return (int(places[0][0]), int(places[0][1])) if len(places) else None


def _shown(outcomes: Any, index: int) -> str:
    return str(jax.tree.map(lambda x: np.asarray(x)[index].tolist(), outcomes))
