"""Mountain car: an engine too weak for the hill, so the car must swing back before it can climb.

Sutton and Barto 1998 (Reinforcement learning: an introduction, section 8.4), shortened: by default
a decision holds for 20 steps of the physics, and an episode has at most 20 decisions. Position x
and velocity v have no unit.
"""

import dataclasses
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxrace.core.float32 import Float32Params, require_held
from jaxrace.core.validation import MOST_INT32, require_integer

POSITION_LIMITS = (-1.2, 0.6)
SPEED_LIMIT = 0.07
GOAL = 0.5
START = -0.5

# Worst and best return by default: twenty decisions, and the six that the goal takes.
RETURN_RANGE = (-20.0, -6.0)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class MountainCarParams(Float32Params):
    """Coefficients of the physics, float32 scalars [] (or batched: `vmap` over them)."""

    force: jax.Array  # velocity that the engine adds in one step
    gravity: jax.Array  # velocity that the steepest slope takes in one step


class MountainCarState(NamedTuple):
    """Where the car is; leaves float32 []."""

    position: jax.Array  # x
    velocity: jax.Array  # v


@dataclasses.dataclass(frozen=True)
class MountainCar:
    """The car in the valley, without chance; it starts at x = -0.5 at rest.

    An action is an int32 [] in 0..2: throttle back, none or ahead (a = -1, 0, 1), unchecked. One
    step of the physics is

        v' = v + force * a - gravity * cos(3 x), clipped to [-0.07, 0.07]
        x' = x + v', clipped to [-1.2, 0.6]; at x' = -1.2 a negative v' becomes 0

    and each of `horizon` decisions takes `hold` of them. The goal is x >= 0.5, where a car stands
    still from then on. The reward is -1 for each decision up to the one that reaches it, where the
    episode ends. An observation is x and v, each brought to [0, 1], float32 [2].

    >>> env = MountainCar(hold=1)
    >>> params, key = env.default_params, jax.random.key(0)
    >>> car, reward, terminal = env.step(key, env.reset(key, params), jnp.int32(2), params)
    >>> print(car.velocity.round(6), reward, terminal)
    0.000823 -1.0 False
    """

    horizon: int = 20
    hold: int = 20
    continues_after_terminal = False

    def __post_init__(self) -> None:
        for name in ("horizon", "hold"):
            require_integer(name, getattr(self, name), 1, MOST_INT32)

    @property
    def default_params(self) -> MountainCarParams:
        """Force 0.001 and gravity 0.0025."""
        return MountainCarParams(jnp.asarray(0.001, jnp.float32), jnp.asarray(0.0025, jnp.float32))

    def reset(self, key: jax.Array, params: MountainCarParams) -> MountainCarState:
        """The car at rest at x = -0.5."""
        del key, params
        return MountainCarState(jnp.asarray(START, jnp.float32), jnp.zeros((), jnp.float32))

    def step(
        self, key: jax.Array, state: MountainCarState, action: jax.Array, params: MountainCarParams
    ) -> tuple[MountainCarState, jax.Array, jax.Array]:
        """Hold `action` for `hold` steps of the physics."""
        del key
        chex.assert_rank(action, 0)
        require_held("action", action, jnp.int32)
        require_held("state", state, jnp.float32)
        arrived = state.position >= GOAL
        push = params.force * (jnp.asarray(action, jnp.int32) - 1).astype(jnp.float32)

        def advance(_: int, car: MountainCarState) -> MountainCarState:
            velocity = car.velocity + push - params.gravity * jnp.cos(3.0 * car.position)
            velocity = jnp.clip(velocity, -SPEED_LIMIT, SPEED_LIMIT)
            low, high = POSITION_LIMITS
            position = jnp.clip(car.position + velocity, low, high)
            # The wall on the left is inelastic.
            velocity = jnp.where((position <= low) & (velocity < 0.0), jnp.float32(0.0), velocity)
            stands = car.position >= GOAL
            moved = MountainCarState(position, velocity)
            return jax.tree.map(lambda old, new: jnp.where(stands, old, new), car, moved)

        next_state = jax.lax.fori_loop(0, self.hold, advance, state)
        reward = jnp.where(arrived, jnp.float32(0.0), jnp.float32(-1.0))
        return next_state, reward, next_state.position >= GOAL

    def observe(self, state: MountainCarState, params: MountainCarParams) -> jax.Array:
        """(x, v) brought to [0, 1], float32 [2]."""
        del params
        low, high = POSITION_LIMITS
        position = (state.position - low) / (high - low)
        velocity = (state.velocity + SPEED_LIMIT) / (2 * SPEED_LIMIT)
        # Rounding may lead a hair beyond the ends, which Fourier features would notice.
        return jnp.clip(jnp.stack([position, velocity]), 0.0, 1.0)
