"""What a history is judged by, folded while it is simulated: see ``envs.OutcomeFold``."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace.core.float32 import as_float32
from jaxrace.envs import OutcomeFold, Transition


@dataclasses.dataclass(frozen=True)
class Return:
    """The undiscounted sum of rewards: float32 []."""

    def init(self, state: Any, params: Any) -> jax.Array:
        """Nothing earned yet."""
        return jnp.zeros((), jnp.float32)

    def update(self, carry: jax.Array, transition: Transition, params: Any) -> jax.Array:
        """Add the step's reward, which is 0 after a terminal step."""
        return carry + as_float32("reward", transition.reward)

    def finish(self, carry: jax.Array, params: Any) -> jax.Array:
        """The return."""
        return carry


@dataclasses.dataclass(frozen=True)
class Both:
    """Two outcomes of one history: a tuple of what ``first`` and ``second`` return."""

    first: OutcomeFold
    second: OutcomeFold

    def init(self, state: Any, params: Any) -> tuple[Any, Any]:
        """Both carries."""
        return self.first.init(state, params), self.second.init(state, params)

    def update(self, carry: tuple[Any, Any], transition: Transition, params: Any) -> Any:
        """Update both."""
        parts = zip((self.first, self.second), carry, strict=True)
        return tuple(fold.update(one, transition, params) for fold, one in parts)

    def finish(self, carry: tuple[Any, Any], params: Any) -> tuple[Any, Any]:
        """Both outcomes."""
        return self.first.finish(carry[0], params), self.second.finish(carry[1], params)
