"""Jobs that are done in one step."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class OnceState(NamedTuple):
    """A job, and whether it has been done."""

    job: Any
    is_done: jax.Array  # bool []


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Once:
    """Work whose jobs take one step and leave one row; a row with NaN says that a job failed.

    Attributes:
        function: ``function(constants, job) -> row``, pure and hashable.
        constants: What all jobs share, a pytree of arrays.

    >>> from jaxrace import sweep
    >>> work = Once(lambda constants, job: constants + job, jnp.float32(0.5))
    >>> sweep.run(work, sweep.stacked(jnp.arange(3, dtype=jnp.float32))).rows.row.tolist()
    [0.5, 1.5, 2.5]
    """

    function: Callable[[Any, Any], Any] = dataclasses.field(metadata={"static": True})
    constants: Any

    def init(self, job: Any) -> OnceState:
        """See ``sweep.Work``."""
        return OnceState(job, jnp.zeros((), bool))

    def step(self, state: OnceState) -> tuple[OnceState, Any]:
        """See ``sweep.Work``."""
        return OnceState(state.job, jnp.ones((), bool)), self.function(self.constants, state.job)

    def done(self, state: OnceState) -> jax.Array:
        """See ``sweep.Work``."""
        return state.is_done

    def failed(self, row: Any) -> jax.Array:
        """See ``sweep.Work``."""
        leaves = [x for x in jax.tree.leaves(row) if jnp.issubdtype(x.dtype, jnp.floating)]
        return jnp.stack([jnp.zeros((), bool), *(jnp.isnan(x).any() for x in leaves)]).any()
