"""Values of hands of seven cards by eval7, a C evaluator with tables."""

from typing import Any

import eval7  # pyright: ignore[reportMissingImports]
import numpy as np

RANKS, SUITS = "23456789TJQKA", "cdhs"

# By our numbers.
CARDS = [eval7.Card(rank + suit) for rank in RANKS for suit in SUITS]


def as_hands(cards: np.ndarray) -> list[list[Any]]:
    """Hands [7, N] as eval7 takes them."""
    return [[CARDS[card] for card in hand] for hand in cards.T.tolist()]


def evaluate(hands: list[list[Any]]) -> list[int]:
    """The values; larger is better."""
    return [eval7.evaluate(hand) for hand in hands]
