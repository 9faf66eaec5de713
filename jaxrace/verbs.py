"""The verbs of algorithms that ask for one choice at a time, compiled once per algorithm.

An algorithm is static, frozen and hashable, with traced methods ``begin``, ``draw``, ``choose``
and ``update``; its numbers are in ``params``, its progress in ``state``.
"""

from typing import Any, Protocol

import jax

from jaxrace.compilation import bounded_jit


class Asking(Protocol):
    """What the verbs need of an algorithm."""

    def begin(self, params: Any) -> Any:
        """The first state."""
        ...

    def draw(self, key: jax.Array) -> Any:
        """The random numbers of one choice."""
        ...

    def choose(self, noise: Any, state: Any, params: Any) -> jax.Array:
        """The next choice."""
        ...

    def update(self, state: Any, choice: jax.Array, outcome: jax.Array, params: Any) -> Any:
        """The state after a choice."""
        ...


@bounded_jit(1)
def init(algorithm: Asking, params: Any) -> Any:
    """``begin``, compiled."""
    return algorithm.begin(params)


@bounded_jit(1)
def ask(algorithm: Asking, key: jax.Array, state: Any, params: Any) -> jax.Array:
    """``choose`` with fresh random numbers, compiled."""
    return algorithm.choose(algorithm.draw(key), state, params)


@bounded_jit(1)
def tell(algorithm: Asking, state: Any, choice: jax.Array, outcome: jax.Array, params: Any) -> Any:
    """``update``, compiled."""
    return algorithm.update(state, choice, outcome, params)
