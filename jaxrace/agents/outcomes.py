"""What a history is judged by, folded while it is simulated: see ``envs.OutcomeFold``."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace.core.narrowing import as_float32
from jaxrace.envs import OutcomeFold, Transition


@dataclasses.dataclass(frozen=True)
class Return:
    """The undiscounted sum of rewards: float32 [].

    >>> fold = Return()
    >>> step = Transition(state=None, action=None, reward=2.5, terminal=False, next_state=None)
    >>> print(fold.update(fold.init(None, None), step, None))
    2.5
    """

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
    """Two outcomes of one history: a tuple of what ``first`` and ``second`` return.

    >>> fold = Both(Return(), Return())
    >>> float(fold.init(None, None)[0])
    0.0
    """

    first: OutcomeFold
    second: OutcomeFold

    def init(self, state: Any, params: Any) -> tuple[Any, Any]:
        """Both carries."""
        return self.first.init(state, params), self.second.init(state, params)

    def update(
        self, carry: tuple[Any, Any], transition: Transition, params: Any
    ) -> tuple[Any, Any]:
        """Update both."""
        first, second = carry
        return (
            self.first.update(first, transition, params),
            self.second.update(second, transition, params),
        )

    def finish(self, carry: tuple[Any, Any], params: Any) -> tuple[Any, Any]:
        """Both outcomes."""
        return self.first.finish(carry[0], params), self.second.finish(carry[1], params)
