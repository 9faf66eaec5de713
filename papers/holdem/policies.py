"""Players as functions of a key and of what they see.

Each is a `jaxrace.envs.holdem.table.Policy`. Axes: A = 7 actions.
"""

import jax
import jax.numpy as jnp

from jaxrace.envs.holdem.abstraction import CALL, FOLD, NUM_ACTIONS
from jaxrace.envs.holdem.table import Observation


def pot_odds(total: jax.Array, other: jax.Array) -> jax.Array:
    """What a player who has put in `other` pays to call `total`, as a share of the pot then."""
    return (total - other).astype(jnp.float32) / (2 * total).astype(jnp.float32)


def play_uniformly(key: jax.Array, observation: Observation) -> jax.Array:
    """Choose each legal action with the same probability."""
    uniform = jax.random.uniform(key, observation.seat.shape, jnp.float32)
    legal = observation.legal.astype(jnp.int32)
    # Below the number of legal actions even after rounding, as `uniform` is at most 1 - 2^-23.
    skipped = (uniform * legal.sum(0, dtype=jnp.int32).astype(jnp.float32)).astype(jnp.int32)
    action, so_far = jnp.zeros_like(skipped), jnp.zeros_like(skipped)
    for place in range(NUM_ACTIONS):
        so_far = so_far + legal[place]
        action = action + (so_far <= skipped).astype(jnp.int32)
    return action


def always_call(key: jax.Array, observation: Observation) -> jax.Array:
    """Check or call."""
    return jnp.full_like(observation.seat, CALL)


def always_fold(key: jax.Array, observation: Observation) -> jax.Array:
    """Fold, or check where folding is not offered."""
    return jnp.where(observation.legal[FOLD], jnp.int32(FOLD), jnp.int32(CALL))


def by_pot_odds(key: jax.Array, observation: Observation) -> jax.Array:
    """Check or call where the strength of the hand is at least the `pot_odds`, else fold.

    Needs decks with strengths.
    """
    price = pot_odds(observation.other, observation.own)
    calls = (observation.strength >= price) | ~observation.legal[FOLD]
    return jnp.where(calls, jnp.int32(CALL), jnp.int32(FOLD))
