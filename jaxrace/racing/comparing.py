"""Races that compare outcomes in pairs: the samples they keep, and what they need of outcomes.

The form of a preference (one signed integer, in pure JAX) is seen whenever a program is traced; its
values are looked at on a few outcomes, once for each preference and source of outcomes, and never
under a trace. Axes: K options, n outcomes, r rounds.
"""

import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.agents.preferences import only_orders
from jaxrace.core import narrowing
from jaxrace.core.compilation import jit
from jaxrace.core.validation import require_function, require_integer
from jaxrace.racing import base

Compare = Callable[[Any, Any], jax.Array]

# Outcomes of a race that are compared with one another, at most: 4096 pairs cost nothing.
_MOST_OUTCOMES = 64


@dataclasses.dataclass(frozen=True)
class ComparingRace(base.Race):
    """A race that keeps its samples, and compares them.

    Its state has ``outcomes``, leaves [K, N, ...] with N = capacity, and ``round``, int32 [], the
    number of samples told of every option.

    Attributes:
        capacity: N, the most samples that an option may have; samples are kept.
        compare: ``compare(a, b)`` of two single outcomes: int8 +1 where a is preferred, -1
            where b is, 0 for a tie or incomparable outcomes; antisymmetric, pure JAX.
    """

    capacity: int
    compare: Callable[[Any, Any], jax.Array]

    params_depend_on: ClassVar = ("num_options", "capacity")

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer("capacity", self.capacity, 1, kernels.MAX_ROUNDS)
        require_function("compare", self.compare)

    @property
    def chunk(self) -> int:
        """Rounds that a driver draws at once unless it is told otherwise."""
        # Whole vector registers: with 25 rounds the last of each option would go by itself.
        return 16 if 10 * (-self.capacity % 32) > self.capacity else 32

    @property
    def work(self) -> float:
        """Comparisons of two outcomes that a race makes at most."""
        return self.num_options * (self.num_options - 1) / 2 * self.capacity**2

    def _horizon(self, max_rounds: int | None) -> int:
        """n_max: the capacity unless given; ValueError unless it is in 1 .. capacity."""
        max_rounds = self.capacity if max_rounds is None else max_rounds
        require_integer("max_rounds", max_rounds, 1)
        if max_rounds > self.capacity:
            raise ValueError(
                f"max_rounds: expected at most the capacity {self.capacity}, got {max_rounds}"
            )
        return max_rounds

    def _room(self, example: Any) -> Any:
        """Room for all samples, leaves [K, N, ...]; ValueError if ``compare`` gives no sign."""
        require_sign(self.compare, example)
        if only_orders(self.compare):
            for leaf in jax.tree.leaves(example):
                if jnp.issubdtype(leaf.dtype, jnp.complexfloating):
                    raise ValueError(
                        f"example_outcome: expected real numbers to be compared, got {leaf.dtype}"
                    )
        shape = (self.num_options, self.capacity)
        return jax.tree.map(lambda x: jnp.zeros((*shape, *x.shape), x.dtype), example)

    def check_state(self, state: Any) -> None:
        """Raise ValueError unless ``state`` is of this kind, size and capacity of race."""
        super().check_state(state)
        room = {x.shape[1] for x in jax.tree.leaves(state.outcomes)}
        if room != {self.capacity}:
            raise ValueError(
                f"state: expected that of a race with capacity {self.capacity}, "
                f"got room for {', '.join(map(str, sorted(room)))} samples"
            )

    def check_outcomes(self, state: Any, outcomes: Any) -> None:
        """Raise ValueError unless ``outcomes`` fits the example that ``init`` was given."""
        require_outcomes(state.outcomes, outcomes)

    def check_numbers(self, state: Any, outcomes: Any, params: Any) -> None:
        """Raise ValueError unless the state's dtypes hold the numbers and tell them apart."""
        for new, kept in zip(
            jax.tree.leaves(outcomes), jax.tree.leaves(state.outcomes), strict=True
        ):
            if isinstance(new, jax.Array) and new.dtype == kept.dtype:
                continue
            values = np.asarray(new)
            if not narrowing.are_kept(values, kept.dtype):
                counted = values[np.asarray(self.ask(state, params))]
                counted = counted.reshape(-1, *values.shape[2:])
                narrowing.require_told_apart("outcomes", counted, kept.dtype)

    def first_outcomes(self, state: Any) -> Any:
        """Leaves [K, few, ...], and the number of rounds told."""
        return first_few(state.outcomes), state.round

    def check_preferences(self, first: Any, source: Hashable = None) -> None:
        """Raise ValueError unless ``compare`` is an antisymmetric sign on the first outcomes."""
        check_once(self.compare, source, *first)


def check_compare(compare: Compare, outcomes: Any) -> None:
    """Raise unless ``compare(a, b)`` is an antisymmetric sign on some outcomes, leaves [n, ...].

    Every outcome is compared with every other, and with itself; those with NaN or infinity in them
    are left out.

    Raises:
        ValueError: ``compare`` is not pure JAX, returns anything but one signed integer -1, 0 or
            +1, or ``compare(a, b)`` is not ``-compare(b, a)``.

    >>> check_compare(lambda a, b: jnp.where(a >= b, 1, -1), jnp.array([1.0, 2.0]))
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
    _raise_unless_antisymmetric(signs.astype(np.int64), finite, outcomes)


def check_once(compare: Compare, source: Hashable, kept: Any, num_rounds: jax.Array | int) -> None:
    """``check_compare`` on the first samples of a race, unless that has passed before.

    ``source`` is what draws the samples, or None; ``kept`` comes from ``first_few``, with
    ``num_rounds`` rounds in it.
    """
    leaves, structure = jax.tree.flatten(kept)
    check = (compare, source, structure, *((x.shape[2:], x.dtype) for x in leaves))
    passed = _passed(*check)
    if passed:
        return
    # Sliced by NumPy: each slice of a device array would be a program of its own.
    few = jax.tree.map(lambda x: np.asarray(x)[:, : max(int(num_rounds), 1)], kept)
    check_compare(compare, jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), few))
    passed.append(True)


@functools.lru_cache(maxsize=32)
def _passed(*check: Hashable) -> list[bool]:
    """Not empty once a preference has passed, with what drew its outcomes."""
    del check
    return []


def first_few(kept: Any) -> Any:
    """As many of a race's samples, leaves [K, N, ...], as are looked at: [few, few, ...]."""
    num_options, capacity = jax.tree.leaves(kept)[0].shape[:2]
    options = min(num_options, _MOST_OUTCOMES // 2)
    rounds = min(capacity, _MOST_OUTCOMES // options)
    return jax.tree.map(lambda x: x[:options, :rounds], kept)


def require_outcomes(kept: Any, told: Any) -> None:
    """Raise ValueError unless told samples [K, r, ...] fit those that a race keeps, [K, N, ...]."""
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
    """Raise ValueError unless a preference returns one signed integer; computes nothing.

    ``example`` is an outcome of ``jax.ShapeDtypeStruct``s.
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


@jit(1)
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
    first = functools.partial(_first_of, finite)
    for i, j in first(np.abs(signs) > 1):
        raise ValueError(
            f"compare: expected -1, 0 or +1, got {signs[i, j]} for {shown(i)} and {shown(j)}"
        )
    for i, _ in first(np.eye(len(signs), dtype=bool) & (signs != 0)):
        raise ValueError(
            f"compare: expected 0 for an outcome and itself, got {signs[i, i]} for {shown(i)}"
        )
    for i, j in first(signs != -signs.T):
        raise ValueError(
            "compare: expected opposite signs for two outcomes and the two exchanged, got "
            f"{signs[i, j]} and {signs[j, i]} for {shown(i)} and {shown(j)}"
        )


def _first_of(finite: np.ndarray, wrong: np.ndarray) -> np.ndarray:
    """The first pair of finite outcomes with something wrong [n, n], if any: [0 or 1, 2]."""
    return np.argwhere(finite[:, None] & finite[None, :] & wrong)[:1]


def _shown(outcomes: Any, index: int) -> str:
    return str(jax.tree.map(lambda x: np.asarray(x)[index].tolist(), outcomes))
