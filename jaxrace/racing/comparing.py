"""What races that compare outcomes in pairs share: the samples they keep, and their preference."""

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels, narrowing
from jaxrace.preferences import only_orders
from jaxrace.racing import base, checks
from jaxrace.validation import require_function, require_integer


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
        checks.require_sign(self.compare, example)
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
        checks.require_outcomes(state.outcomes, outcomes)

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
        return checks.first_few(state.outcomes), state.round

    def check_preferences(self, first: Any, source: Hashable = None) -> None:
        """Raise ValueError unless ``compare`` is an antisymmetric sign on the first outcomes."""
        checks.check_once(self.compare, source, *first)
