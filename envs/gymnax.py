"""An adapter to gymnax environments, which does not import gymnax.

It uses `reset_env`, `step_env` and `default_params` alone, of gymnax 0.0.x and 1.x, which do not
reset by themselves: a history ends with its first terminal step.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxrace.core.float32 import as_float32, strongly_typed
from jaxrace.core.validation import MOST_INT32, BadArgument, require_integer


class GymnaxState(NamedTuple):
    """The state of the gymnax environment, and the observation that came with it.

    It is kept, as some environments draw it with a key.
    """

    inner: Any
    observation: Any


@dataclasses.dataclass(frozen=True)
class GymnaxAdapter:
    """A gymnax environment, such as `gymnax.make("CartPole-v1")[0]`, under our contract.

    In gymnax 0.0.x a step is also terminal at its own time limit `max_steps_in_episode`. Numbers
    become strongly typed arrays, rewards float32 scalars. Adapters of one object are equal and
    share compiled code. BadArgument if the object lacks one of the methods.

    >>> class Countdown:  # of gymnax's interface
    ...     default_params = {"start": 2}
    ...     def reset_env(self, key, params):
    ...         return params["start"], params["start"]
    ...     def step_env(self, key, state, action, params):
    ...         return state - 1, state - 1, -1.0, state - 1 <= 0, {}
    >>> env, key = GymnaxAdapter(Countdown(), horizon=5), jax.random.key(0)
    >>> state, reward, terminal = env.step(key, env.reset(key, env.default_params), 0, None)
    >>> print(env.observe(state, None), reward, terminal)
    1 -1.0 False
    """

    env: Any
    horizon: int
    continues_after_terminal = False

    def __post_init__(self) -> None:
        for name in ("reset_env", "step_env", "default_params"):
            if not hasattr(self.env, name):
                got = type(self.env).__name__
                raise BadArgument("env", f"a gymnax environment with {name}", got)
        require_integer("horizon", self.horizon, 1, MOST_INT32)

    @property
    def default_params(self) -> Any:
        return strongly_typed(self.env.default_params, "default_params")

    def reset(self, key: jax.Array, params: Any) -> GymnaxState:
        observation, inner = self.env.reset_env(key, params)
        return strongly_typed(GymnaxState(inner, observation), "state")

    def step(
        self, key: jax.Array, state: GymnaxState, action: Any, params: Any
    ) -> tuple[GymnaxState, jax.Array, jax.Array]:
        observation, inner, reward, terminal, _ = self.env.step_env(
            key, state.inner, action, params
        )
        next_state = strongly_typed(GymnaxState(inner, observation), "state")
        return next_state, as_float32("reward", reward), jnp.asarray(terminal, jnp.bool_)

    def observe(self, state: GymnaxState, params: Any) -> Any:
        return state.observation
