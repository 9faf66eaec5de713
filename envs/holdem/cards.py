"""Cards as numbers and as text, and dealing. Axes: M cards, N decks.

A card is 4 * rank + suit: ranks 0..12 are the deuce to the ace, suits 0..3 are clubs, diamonds,
hearts and spades. Its text is two letters, such as "As" or "Tc". A deck is nine cards: two of hand
0, two of hand 1, the flop's three, the turn and the river.
"""

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxrace.core.validation import MOST_INT32, BadArgument, require_integer

RANKS = "23456789TJQKA"
SUITS = "cdhs"
DECK_SIZE = len(RANKS) * len(SUITS)
CARDS_DEALT = 9
FIRST_HOLE, SECOND_HOLE, BOARD = slice(0, 2), slice(2, 4), slice(4, 9)


def parse(text: str) -> np.ndarray:
    """The cards that a text names, int32 [M], all different; spaces do not count.

    >>> parse("2c As")
    array([ 0, 51], dtype=int32)
    """
    letters = "".join(text.split())
    cards = [_number(letters[place : place + 2]) for place in range(0, len(letters), 2)]
    cards = np.array(cards, np.int32)
    require_cards("text", cards)
    return cards


def spell(cards: ArrayLike | Sequence[int]) -> str:
    """The text of different cards [M].

    >>> spell([51, 0])
    'As 2c'
    """
    cards = np.atleast_1d(np.asarray(cards))
    require_cards("cards", cards)
    return " ".join(_name(card) for card in cards)


def require_cards(name: str, cards: ArrayLike | Sequence[int]) -> None:
    """Raise unless numbers [M, ...] are different cards along the first axis.

    >>> require_cards("deck", [51, 0, 51])
    Traceback (most recent call last):
    jaxrace.core.validation.BadArgument: deck: expected different cards, got As twice
    """
    numbers = np.asarray(cards)
    if numbers.size == 0:
        return
    if numbers.dtype.kind not in "iu":
        raise BadArgument(name, "cards as integers", str(numbers.dtype))
    if numbers.min() < 0 or numbers.max() >= DECK_SIZE:
        wrong = numbers[(numbers < 0) | (numbers >= DECK_SIZE)][0]
        raise BadArgument(name, f"cards in 0..{DECK_SIZE - 1}", str(wrong))
    ordered = np.sort(numbers, axis=0)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if repeated.size:
        raise BadArgument(name, "different cards", f"{_name(repeated[0])} twice")


def deal(key: jax.Array, num_decks: int) -> jax.Array:
    """Decks of different cards, each order of nine cards equally likely: int32 [9, N].

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


def _number(name: str) -> int:
    if len(name) != 2 or name[0] not in RANKS or name[1] not in SUITS:
        expected = f"cards, each of {RANKS} followed by one of {SUITS}"
        raise BadArgument("text", expected, repr(name))
    return len(SUITS) * RANKS.index(name[0]) + SUITS.index(name[1])


def _name(card: int) -> str:
    return RANKS[card // len(SUITS)] + SUITS[card % len(SUITS)]
