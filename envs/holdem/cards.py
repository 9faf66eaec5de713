"""Cards as numbers and as text.

A card is 4 * rank + suit: ranks 0..12 are the deuce to the ace, suits 0..3 are clubs, diamonds,
hearts and spades. Its text is two letters, such as "As" or "Tc". Axes: M cards.
"""

from collections.abc import Sequence

import numpy as np
from jax.typing import ArrayLike

from jaxrace.core.validation import BadArgument

RANKS = "23456789TJQKA"
SUITS = "cdhs"
DECK_SIZE = len(RANKS) * len(SUITS)


def parse(text: str) -> np.ndarray:
    """The cards that a text names, int32 [M], all different; spaces do not count.

    >>> parse("2c As")
    array([ 0, 51], dtype=int32)
    """
    letters = "".join(text.split())
    names = [letters[place : place + 2] for place in range(0, len(letters), 2)]
    cards = np.array([_number(name) for name in names], np.int32)
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


def _number(name: str) -> int:
    if len(name) != 2 or name[0] not in RANKS or name[1] not in SUITS:
        expected = f"cards, each of {RANKS} followed by one of {SUITS}"
        raise BadArgument("text", expected, repr(name))
    return len(SUITS) * RANKS.index(name[0]) + SUITS.index(name[1])


def _name(card: int) -> str:
    return RANKS[card // len(SUITS)] + SUITS[card % len(SUITS)]
