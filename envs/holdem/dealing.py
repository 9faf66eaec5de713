"""Dealing the nine cards of a hand of two players.

A deck is the cards of a hand in this order: two of hand 0, two of hand 1, the flop's three, the
turn and the river. Axes: N decks.
"""

import functools

import jax
import jax.numpy as jnp

from jaxrace.core.validation import MOST_INT32, require_integer
from jaxrace.envs.holdem.cards import DECK_SIZE

CARDS_DEALT = 9
FIRST_HOLE, SECOND_HOLE, BOARD = slice(0, 2), slice(2, 4), slice(4, 9)


def deal(key: jax.Array, num_decks: int) -> jax.Array:
    """Decks of different cards, each order of nine cards equally likely: int32 [9, N].

    Card i is drawn among the 52 - i that are left, by its place among them.

    >>> from jaxrace.envs.holdem.cards import spell
    >>> spell(deal(jax.random.key(0), 1)[:, 0])
    'Kd 2s 5d 2h Jh Ks 5c 4h 2d'
    """
    require_integer("num_decks", num_decks, 1, MOST_INT32)
    return _deal(key, num_decks)


@functools.partial(jax.jit, static_argnums=1)
def _deal(key: jax.Array, num_decks: int) -> jax.Array:
    left = DECK_SIZE - jnp.arange(CARDS_DEALT, dtype=jnp.int32)
    shape = CARDS_DEALT, num_decks
    return cards_at(jax.random.randint(key, shape, 0, left[:, None], jnp.int32))


def cards_at(places: jax.Array) -> jax.Array:
    """The cards drawn one after the other from a sorted deck, int32 [M, ...].

    `places` tell of each card its place among those left when it is drawn: the i-th in 0..51 - i.
    """
    cards = []
    for drawn in range(places.shape[0]):
        card = places[drawn]
        # Put back the cards drawn before, the last one first: each moves those at and above its
        # place up by one.
        for earlier in reversed(range(drawn)):
            card = card + (card >= places[earlier]).astype(jnp.int32)
        cards.append(card)
    return jnp.stack(cards)
