"""Evolved hold'em players and decks with strengths, for their tests."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.envs import holdem
from papers.holdem import pattern_tree
from papers.holdem.ashe import Ashe
from papers.holdem.networks import NUM_WEIGHTS

PLAYER = Ashe()
SHAPE = pattern_tree.shape_of(PLAYER.rules)


def draw_weights(seed, count):
    shape = count, NUM_WEIGHTS
    return jax.random.uniform(jax.random.key(seed), shape, jnp.float32, -1, 1)


def draw_deals(hands):
    """With strengths by chance: players see no cards, and to count real ones takes its time."""
    rng = np.random.default_rng(0)
    decks = rng.permuted(np.tile(np.arange(52), (hands, 1)), axis=1)[:, :9].T
    return holdem.prepare(decks, rng.random((4, 2, hands)))
