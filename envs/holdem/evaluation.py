"""What a poker hand of 5 to 7 cards is worth: one integer that orders hands. Axes: M cards.

The cards of a suit are a mask of 13 bits, one per rank. Intersections of the four masks tell which
ranks occur twice, three and four times, population counts find the flush, shifts the straight.
"""

import functools
import operator

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import Tracer
from jax.typing import ArrayLike

from jaxrace.core.validation import BadArgument
from jaxrace.envs.holdem.cards import BOARD, FIRST_HOLE, SECOND_HOLE, require_cards

# A value is (category, ranks that make the category, ranks of the kickers), 13 bits per mask;
# categories are 0 (high card) to 8 (straight flush).
_MASK_BITS = 13


def value(cards: ArrayLike) -> jax.Array:
    """The value of the best five of the cards: int32 [...], larger is better, ties equal.

    `cards` are int32 [M, ...]; fast as [M, N] with N large. BadArgument unless there are 5 to 7
    different ones, which compiled code does not check.

    >>> from jaxrace.envs.holdem.cards import parse
    >>> aces, wheel = value(parse("As Ah Kd Kc 2s 3s 4h")), value(parse("As 2h 3d 4c 5s Kh Kd"))
    >>> bool(wheel > aces)
    True
    """
    if jnp.ndim(cards) == 0 or not 5 <= jnp.shape(cards)[0] <= 7:
        raise BadArgument("cards", "5 to 7 along the first axis", str(jnp.shape(cards)))
    if not isinstance(cards, Tracer):
        require_cards("cards", cards)
    return _value(jnp.asarray(cards, jnp.int32))


def showdown(decks: ArrayLike) -> jax.Array:
    """Which of the two hands wins: int32 [...], 1 for hand 0, -1 for hand 1, 0 for a tie.

    `decks` are int32 [9, ...], of different cards.

    >>> from jaxrace.envs.holdem.cards import parse
    >>> int(showdown(parse("2c 3c  As Ad  4c 5c 6c Ks Kd")))
    1
    """
    if jnp.ndim(decks) == 0 or jnp.shape(decks)[0] != BOARD.stop:
        expected = f"{BOARD.stop} cards along the first axis"
        raise BadArgument("decks", expected, str(jnp.shape(decks)))
    if not isinstance(decks, Tracer):
        require_cards("decks", decks)
    return _showdown(jnp.asarray(decks, jnp.int32))


@jax.jit
def _showdown(decks: jax.Array) -> jax.Array:
    first, second = (
        _value(jnp.concatenate([decks[hole], decks[BOARD]])) for hole in (FIRST_HOLE, SECOND_HOLE)
    )
    return jnp.sign(first - second)


@jax.jit
def _value(cards: jax.Array) -> jax.Array:
    unused = cards.shape[0] - 5
    suits = _suit_masks(cards)
    once, twice, thrice, fourfold = _ranks_by_count(suits)
    flush = functools.reduce(
        operator.or_, [jnp.where(lax.population_count(mask) >= 5, mask, 0) for mask in suits]
    )
    # Seven cards with a flush have neither a full house nor four of a kind, and a straight beside
    # the flush does not count.
    straight = _highest(_straights(jnp.where(flush != 0, flush, once)))

    # There may be three pairs, or two triples.
    pairs = lax.population_count(twice)
    two_pairs = jnp.where(pairs == 3, _without_lowest(twice), twice)
    triple = _highest(thrice)
    full = (thrice != 0) & (pairs >= 2)
    beside = jnp.where(full, twice & ~triple, once & ~two_pairs)
    beside = _highest(jnp.where(fourfold != 0, once & ~fourfold, beside))

    found = _pack(0, 0, _without_lowest(once, unused))
    # From the lowest category to the highest: the last one that holds counts.
    found = jnp.where(twice != 0, _pack(1, twice, _without_lowest(once & ~twice, unused)), found)
    found = jnp.where(pairs >= 2, _pack(2, two_pairs, beside), found)
    found = jnp.where(thrice != 0, _pack(3, thrice, _without_lowest(once & ~thrice, unused)), found)
    found = jnp.where(straight != 0, _pack(4, straight, 0), found)
    found = jnp.where(flush != 0, _pack(5, _top_five(flush), 0), found)
    found = jnp.where(full, _pack(6, triple, beside), found)
    found = jnp.where(fourfold != 0, _pack(7, fourfold, beside), found)
    return jnp.where((flush != 0) & (straight != 0), _pack(8, straight, 0), found)


def _suit_masks(cards: jax.Array) -> list[jax.Array]:
    """The ranks of each suit, int32 [...] of 13 bits."""
    bits = jnp.int32(1) << (cards >> 2)
    suits = cards & 3
    # Card by card, not as one reduction: all is fused into one loop over the last axis.
    return [
        functools.reduce(
            operator.or_,
            [jnp.where(own == suit, bit, 0) for own, bit in zip(suits, bits, strict=True)],
        )
        for suit in range(4)
    ]


def _ranks_by_count(suits: list[jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """The ranks that occur at least once, twice, three and four times."""
    a, b, c, d = suits
    one_of_ab, both_ab, one_of_cd, both_cd = a | b, a & b, c | d, c & d
    return (
        one_of_ab | one_of_cd,
        both_ab | both_cd | (one_of_ab & one_of_cd),
        (both_ab & one_of_cd) | (both_cd & one_of_ab),
        both_ab & both_cd,
    )


def _straights(ranks: jax.Array) -> jax.Array:
    """Bit i is set where the five ranks from i - 1 on are there; rank -1 is the ace."""
    with_low_ace = (ranks << 1) | (ranks >> 12)
    pairs = with_low_ace & (with_low_ace >> 1)
    return pairs & (pairs >> 2) & (with_low_ace >> 4)


def _without_lowest(mask: jax.Array, count: int = 1) -> jax.Array:
    """The mask without its `count` lowest bits."""
    for _ in range(count):
        mask = mask & (mask - 1)
    return mask


def _highest(mask: jax.Array) -> jax.Array:
    """The highest bit of a mask of at most three; 0 if it has none."""
    upper_two = _without_lowest(mask)
    uppermost = _without_lowest(upper_two)
    return jnp.where(uppermost != 0, uppermost, jnp.where(upper_two != 0, upper_two, mask))


def _top_five(mask: jax.Array) -> jax.Array:
    """The five highest bits of a mask of 5 to 7."""
    count = lax.population_count(mask)
    mask = jnp.where(count >= 6, _without_lowest(mask), mask)
    return jnp.where(count == 7, _without_lowest(mask), mask)


def _pack(place: int, ranks: jax.Array | int, kickers: jax.Array | int) -> jax.Array:
    number = jnp.int32(place) << (2 * _MASK_BITS)
    return number | (jnp.int32(ranks) << _MASK_BITS) | jnp.int32(kickers)
