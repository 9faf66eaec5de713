"""What is looked at once outcomes are told: are they valid, and is a preference a sign?

Axes: K options, n outcomes.
"""

import dataclasses
import functools
from collections.abc import Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.core import narrowing
from jaxrace.core.compilation import is_traced, jit
from jaxrace.core.validation import BadArgument
from jaxrace.racing.base import LOOKS, finite_rounds
from jaxrace.racing.comparing import Compare, require_sign

NO_SIGN = -1  # of ``invalid``: a preference that is no antisymmetric sign
_LOOKED_AT = 4  # options, and outcomes of each, in every race under a trace


def _look(race: Any, found: Any, first: Any, source: Hashable) -> Any:
    """Raise if outcomes cannot be raced, the ``first`` ones once for a source; see ``LOOKS``."""
    if is_traced(found):
        return _void_without_sign(race, found, first)
    raise_if_invalid(race, found.invalid)
    if getattr(race, "_compares", False):
        check_once(race.compare, source, *first)
    return found


LOOKS.append(_look)


def raise_if_invalid(race: Any, invalid: jax.Array, where: str = "") -> None:
    """Raise for the first counted outcome that is NaN, infinite or out of range; not under a trace.

    ``invalid``, int32 [..., K], is its round, or 0.
    """
    if is_traced(invalid) or not (rounds := np.asarray(invalid)).any():
        return
    at = tuple(int(axis) for axis in np.argwhere(rounds.any(-1))[0])
    of_race = f" of race {', '.join(map(str, at))}" if at else ""
    in_race = np.where(rounds[at] > 0, rounds[at], np.iinfo(np.int32).max)
    low, high = getattr(race, "low", None), getattr(race, "high", None)
    expected, got = f"scores from {low} to {high}", "another one"
    if low is None or high is None:
        expected, got = getattr(race, "_valid", ("finite numbers", "NaN or infinity"))
    hint = f" for option {in_race.argmin()} {race._where} {in_race.min()}{of_race}{where}"
    raise BadArgument("outcomes", expected, got, hint)


def check_compare(compare: Compare, outcomes: Any) -> np.ndarray:
    """Raise unless ``compare(a, b)`` is an antisymmetric sign on some outcomes, leaves [n, ...].

    It must be pure JAX and return one signed integer. Outcomes that are not finite are left out.
    Returns the signs of all pairs, int8 [n, n].

    >>> check_compare(lambda a, b: 1 - 2 * (a < b), np.array([1, 2]))
    Traceback (most recent call last):
    jaxrace.core.validation.BadArgument: compare: expected 0 for an outcome and itself, got 1 for 1
    """
    outcomes = narrowing.as_arrays("outcomes", outcomes)
    lengths = {x.shape[:1] for x in jax.tree.leaves(outcomes)}
    if len(lengths) != 1 or not all(lengths) or (0,) in lengths:
        shapes = [list(x.shape) for x in jax.tree.leaves(outcomes)]
        raise BadArgument("outcomes", "leaves [n, ...] with one n >= 1", f"{shapes}")
    single = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), outcomes)
    require_sign(compare, single)
    signs, finite = map(np.asarray, _compare_all(compare, outcomes))
    both = finite[:, None] & finite[None, :]

    def shown(index: int) -> str:
        return str(jax.tree.map(lambda x: np.asarray(x)[index].tolist(), outcomes))

    itself = np.eye(len(signs), dtype=bool) & (signs != 0)
    for wrong, expected in (
        ((signs > 1) | (signs < -1), "-1, 0 or +1"),
        (itself, "0 for an outcome and itself"),
        (signs != -signs.T, "opposite signs for two outcomes and the two exchanged"),
    ):
        for i, j in np.argwhere(both & wrong)[:1]:
            got = f"{signs[i, j]} for {shown(i)}"
            if i != j:
                exchanged = f" and {signs[j, i]}" if "opposite" in expected else ""
                got = f"{signs[i, j]}{exchanged} for {shown(i)} and {shown(j)}"
            raise BadArgument("compare", expected, got)
    return signs.astype(np.int8)


def check_once(compare: Any, source: Hashable, kept: Any, num_rounds: jax.Array | int) -> None:
    """``check_compare`` on ``first_few`` samples of a source, unless that has passed before."""
    leaves, structure = jax.tree.flatten(kept)
    passed = _passed(compare, source, structure, *((x.shape[2:], x.dtype) for x in leaves))
    if passed:
        return
    few = jax.tree.map(lambda x: np.asarray(x)[:, : max(int(num_rounds), 1)], kept)
    check_compare(compare, jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), few))
    passed.append(True)


def _void_without_sign(race: Any, result: Any, first: Any) -> Any:
    """The result of one race under a trace; void if ``compare`` is no antisymmetric sign.

    That of plain Python raises instead. Looks at few of the ``first`` outcomes.
    """
    if not getattr(race, "_compares", False) or kernels.only_orders(race.compare):
        return result
    kept, num_rounds = first
    few = jax.tree.map(lambda x: x[:_LOOKED_AT, :_LOOKED_AT], kept)
    told = jnp.arange(_LOOKED_AT) < num_rounds
    counts = finite_rounds(few) & told[: jax.tree.leaves(few)[0].shape[1]]
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), few)
    signs = jax.vmap(jax.vmap(race.compare, (None, 0)), (0, None))(flat, flat)
    wrong = (jnp.abs(signs) > 1) | (signs != -signs.T)
    is_void = (wrong & counts.reshape(-1, 1) & counts.reshape(-1)).any()
    invalid = jnp.where(is_void, jnp.int32(NO_SIGN), result.invalid)
    return dataclasses.replace(result, invalid=invalid)._if_valid()


@functools.lru_cache(maxsize=32)
def _passed(*check: Hashable) -> list[bool]:
    """Not empty once a preference has passed, with what drew its outcomes."""
    return []


@jit(1)
def _compare_all(compare: Compare, outcomes: Any) -> tuple[jax.Array, jax.Array]:
    """Signs [n, n] of all pairs, and whether each outcome [n] is finite."""
    signs = jax.vmap(jax.vmap(compare, (None, 0)), (0, None))(outcomes, outcomes)
    return signs, finite_rounds(jax.tree.map(lambda x: x[None], outcomes))[0]
