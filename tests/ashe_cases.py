"""Evolved hold'em players and decks with strengths, for their tests."""

import jax
import jax.numpy as jnp

from jaxrace.envs import holdem
from jaxrace.envs.holdem import pattern_tree

PLAYER = holdem.Ashe()
SHAPE = pattern_tree.shape_of(PLAYER.rules)


def draw_weights(seed, count):
    shape = count, holdem.NUM_WEIGHTS
    return jax.random.uniform(jax.random.key(seed), shape, jnp.float32, -1, 1)


def draw_deals(hands):
    decks = holdem.deal(jax.random.key(0), hands)
    return holdem.prepare(decks, holdem.strengths(jax.random.key(1), decks, 64))
