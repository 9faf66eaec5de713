"""Races that compare outcomes in pairs: the samples they keep, and what they need of outcomes.

The form of a preference is checked whenever a program is traced; its values on a few outcomes, once
for each preference and source of outcomes. Axes: K options, n outcomes, r rounds.
"""

import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.core import narrowing
from jaxrace.core.compilation import jit
from jaxrace.core.validation import BadArgument, require_function, require_integer
from jaxrace.racing import base

Compare = Callable[[Any, Any], jax.Array]

_MOST_OUTCOMES = 64  # of a race that are compared with one another


@dataclasses.dataclass(frozen=True)
class ComparingRace(base.Race):
    """A race that keeps its samples in ``state.outcomes``, leaves [K, N, ...], and compares them.

    Attributes:
        capacity: N, the most samples that an option may have; samples are kept.
        compare: ``compare(a, b)`` of two single outcomes: int8 +1 where a is preferred, -1
            where b is, 0 for a tie or incomparable outcomes; antisymmetric, pure JAX.
    """

    capacity: int
    compare: Compare

    _params_depend_on: ClassVar = ("num_options", "capacity")
    _most: ClassVar[int] = kernels.MAX_ROUNDS  # samples of an option
    _spare: ClassVar[int] = 0  # samples behind the capacity that there is room for

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer("capacity", self.capacity, 1, self._most)
        if self._compares:
            require_function("compare", self.compare)

    @property
    def _compares(self) -> bool:
        """Is the preference asked, or are outcomes scores?"""
        return True

    @property
    def chunk(self) -> int:
        return 16 if 10 * (-self.capacity % 32) > self.capacity else 32

    @property
    def work(self) -> float:
        return self.num_options * (self.num_options - 1) / 2 * self.capacity**2

    def _horizon(self, max_rounds: int | None) -> int:
        """n_max: the capacity unless given; ValueError unless it is in 1 .. capacity."""
        max_rounds = self.capacity if max_rounds is None else max_rounds
        require_integer("max_rounds", max_rounds, 1)
        if max_rounds > self.capacity:
            limit = f"at most the capacity {self.capacity}"
            raise BadArgument("max_rounds", limit, f"{max_rounds}")
        return max_rounds

    def _room(self, example: Any) -> Any:
        """Zeros for all samples, leaves [K, N, ...]; ValueError unless outcomes can be compared."""
        if self._compares:
            require_sign(self.compare, example)
        if not self._compares or kernels.only_orders(self.compare):
            require_real("example_outcome", example, " to be compared")
        return self._zeros(example)

    def _zeros(self, example: Any) -> Any:
        shape = self.num_options, self.capacity + self._spare
        return jax.tree.map(lambda x: jnp.zeros((*shape, *x.shape), x.dtype), example)

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        room = {x.shape[1] for x in jax.tree.leaves(state.outcomes)}
        if room != {self.capacity + self._spare}:
            expected = f"that of a race with capacity {self.capacity}"
            got = f"room for {', '.join(map(str, sorted(room)))} samples"
            raise BadArgument("state", expected, got)

    def _check_outcomes(self, state: Any, outcomes: Any) -> None:
        require_outcomes(state.outcomes, outcomes)

    def _check_numbers(self, state: Any, outcomes: Any, params: Any) -> None:
        asked = np.asarray(self.ask(state, params))
        for new, kept in zip(
            jax.tree.leaves(outcomes), jax.tree.leaves(state.outcomes), strict=True
        ):
            if isinstance(new, jax.Array) and new.dtype == kept.dtype:
                continue
            values = np.asarray(new)
            counts = self._counted(asked, values.shape[1])
            if not self._compares:
                narrowing.require_range("outcomes", values[counts], kept.dtype)
            elif not narrowing.are_kept(values, kept.dtype):
                narrowing.require_told_apart("outcomes", values[counts], kept.dtype)

    def _counted(self, asked: np.ndarray, rounds: int) -> np.ndarray:
        """Which of the told samples count, bool [K, r]."""
        return np.broadcast_to(asked[:, None], (self.num_options, rounds))

    def _first_outcomes(self, state: Any) -> Any:
        """Leaves [few, few, ...], and the number of rounds told."""
        return first_few(state.outcomes), state.round

    def _check_found(self, found: Any, first: Any, source: Hashable = None) -> None:
        super()._check_found(found, first, source)
        if self._compares:
            check_once(self.compare, source, *first)


def check_compare(compare: Compare, outcomes: Any) -> np.ndarray:
    """Raise unless ``compare(a, b)`` is an antisymmetric sign on some outcomes, leaves [n, ...].

    It must be pure JAX and return one signed integer. Outcomes that are not finite are left out.
    Returns the signs of all pairs, int8 [n, n].

    >>> check_compare(lambda a, b: jnp.where(a >= b, 1, -1), jnp.array([1, 2]))
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


@functools.lru_cache(maxsize=32)
def _passed(*check: Hashable) -> list[bool]:
    """Not empty once a preference has passed, with what drew its outcomes."""
    return []


def first_few(kept: Any) -> Any:
    """Those of a race's samples, leaves [K, N, ...], that are looked at: [few, few, ...]."""
    num_options, capacity = jax.tree.leaves(kept)[0].shape[:2]
    options = min(num_options, _MOST_OUTCOMES // 2)
    rounds = min(capacity, _MOST_OUTCOMES // options)
    return jax.tree.map(lambda x: x[:options, :rounds], kept)


def require_outcomes(kept: Any, told: Any) -> None:
    """Raise ValueError unless told samples [K, r, ...] fit those that a race keeps, [K, N, ...]."""
    expected = jax.tree.structure(kept)
    if (got := jax.tree.structure(told)) != expected:
        raise BadArgument("outcomes", f"the structure {expected}", f"{got}")
    num_told = {x.shape[1:2] for x in jax.tree.leaves(told)}
    for old, new in zip(jax.tree.leaves(kept), jax.tree.leaves(told), strict=True):
        # Compared without the rounds; a leaf [K] that lacks their axis does not fit.
        fits = new.ndim == old.ndim and new.shape[:1] == old.shape[:1]
        fits &= new.shape[2:] == old.shape[2:]
        if not fits or len(num_told) != 1 or 0 in new.shape[1:2]:
            wanted = ", ".join([str(old.shape[0]), "rounds", *map(str, old.shape[2:])])
            raise BadArgument(
                "outcomes", f"leaves [{wanted}] with one number of rounds", f"{list(new.shape)}"
            )
        holds = bool(jnp.can_cast(narrowing.dtype_of(new), old.dtype))
        if jnp.issubdtype(old.dtype, jnp.floating):
            holds = not jnp.issubdtype(narrowing.dtype_of(new), jnp.complexfloating)
        if not holds:
            raise BadArgument("outcomes", f"{old.dtype} as in the example outcome", f"{new.dtype}")


def require_real(name: str, example: Any, why: str = "") -> None:
    """Raise ValueError if a leaf has complex numbers."""
    for leaf in jax.tree.leaves(example):
        if jnp.issubdtype(leaf.dtype, jnp.complexfloating):
            raise BadArgument(name, f"real numbers{why}", f"{leaf.dtype}")


def require_sign(compare: Any, example: Any) -> None:
    """Raise ValueError unless a preference returns one signed integer; computes nothing."""
    if compare is kernels.total_order and getattr(example, "shape", None) != ():
        hint = "; return a number, or give the race a compare= of two outcomes"
        got = str(_shown(example))
        raise BadArgument("outcomes", "single numbers, of which larger is better", got, hint)
    try:
        sign = jax.eval_shape(compare, example, example)
    except Exception as error:  # of code that is not ours
        first_line = next(iter(str(error).splitlines()), "")
        got = f"{type(error).__name__}: {first_line}"
        raise BadArgument("compare", "a function of two outcomes in pure JAX", got) from error
    is_one = isinstance(sign, jax.ShapeDtypeStruct) and sign.shape == ()
    if not is_one or not jnp.issubdtype(sign.dtype, jnp.signedinteger):
        hint = "; end it with .astype(jnp.int8)" if is_one else ""
        if is_one and sign.dtype == bool:
            hint = "; a preference has three answers: 1, -1, and 0 of a tie"
        expected = "one signed integer (int8) per pair of outcomes"
        raise BadArgument("compare", expected, str(_shown(sign)), hint)


def _shown(tree: Any) -> Any:
    """The types and shapes of the arrays of a tree, such as "float32[3]"."""
    return jax.tree.map(lambda x: f"{x.dtype}{list(x.shape)}", tree)


@jit(1)
def _compare_all(compare: Compare, outcomes: Any) -> tuple[jax.Array, jax.Array]:
    """Signs [n, n] of all pairs, and whether each outcome [n] is finite."""
    signs = jax.vmap(jax.vmap(compare, (None, 0)), (0, None))(outcomes, outcomes)
    return signs, base.finite_rounds(jax.tree.map(lambda x: x[None], outcomes))[0]
