"""Races that compare outcomes in pairs: the samples they keep, and what they need of outcomes.

The form of a preference is checked whenever a program is traced; its values on a few outcomes by
``racing.checks``, once for each preference and source of outcomes. Axes: K options, n outcomes,
r rounds.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.core import narrowing
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
        hint = ": np.asarray makes an array of lists" if isinstance(told, list) else ""
        raise BadArgument("outcomes", f"the structure {expected}", f"{got}", hint)
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
