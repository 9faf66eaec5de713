"""Decks for the tests of hold'em."""

import jax
import jax.numpy as jnp

from jaxrace.envs import holdem


def numbered_deals(hands):
    """Decks with strengths by which each hand and street can be told."""
    decks = holdem.deal(jax.random.key(0), hands)
    strengths = jnp.arange(4 * 2 * hands, dtype=jnp.float32).reshape(4, 2, hands)
    return holdem.prepare(decks, strengths / (8 * hands))
