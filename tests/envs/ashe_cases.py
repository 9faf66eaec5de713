"""Evolved hold'em players and decks with strengths, for their tests."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.envs import holdem
from jaxrace.envs.holdem import pattern_tree

PLAYER = holdem.Ashe()
SHAPE = pattern_tree.shape_of(PLAYER.rules)


def draw_weights(seed, count):
    shape = count, holdem.NUM_WEIGHTS
    return jax.random.uniform(jax.random.key(seed), shape, jnp.float32, -1, 1)


def draw_deals(hands):
    """With strengths by chance: players see no cards, and to count real ones takes its time."""
    rng = np.random.default_rng(0)
    decks = rng.permuted(np.tile(np.arange(52), (hands, 1)), axis=1)[:, :9].T
    return holdem.prepare(decks, rng.random((4, 2, hands)))


def numbered_deals(hands):
    """Decks with strengths by which each hand and street can be told."""
    decks = holdem.deal(jax.random.key(0), hands)
    strengths = jnp.arange(4 * 2 * hands, dtype=jnp.float32).reshape(4, 2, hands)
    return holdem.prepare(decks, strengths / (8 * hands))
