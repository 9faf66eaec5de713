"""The values of hands: counted over all of them, against another evaluator, and by hand."""

import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.envs.holdem import cards, deal, evaluation

# Hands of each category among all of five and of seven cards, and classes of equal hands.
# https://en.wikipedia.org/wiki/Poker_probability has both.
CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
FIVE = (1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40)
SEVEN = (
    *(23_294_460, 58_627_800, 31_433_400, 6_461_620, 6_180_020),
    *(4_047_644, 3_473_184, 224_848, 41_584),
)
FIVE_CLASSES, SEVEN_CLASSES = 7_462, 4_824

# From the lowest to the highest; those of one line are equal.
LADDER = (
    ("7h 5d 4s 3c 2c", "7d 5c 4h 3s 2s"),
    ("Ah Kd Qs Jc 9c",),
    ("2h 2d 5s 4c 3c", "2s 2c 5d 4h 3h"),
    ("2h 2d As 4c 3c",),
    ("2h 2d As Kc Qc",),
    ("Ah Ad 4s 3c 2c",),
    ("3h 3d 2s 2c 4c",),
    ("Kh Kd 2s 2c 3c",),
    ("Ah Ad Ks Kc 2c", "As Ac Kh Kd 2d"),
    ("Ah Ad Ks Kc Qc",),
    ("2h 2d 2s 4c 3c",),
    ("Ah Ad As Kc Qc",),
    ("Ah 2d 3s 4c 5c", "Ad 2h 3c 4s 5h"),
    ("2h 3d 4s 5c 6c",),
    ("Th Jd Qs Kc Ac",),
    ("7h 5h 4h 3h 2h", "7s 5s 4s 3s 2s"),
    ("Ah Kh Qh Jh 9h",),
    ("2h 2d 2s 3c 3d",),
    ("2h 2d 2s Ac Ad",),
    ("3h 3d 3s 2c 2d",),
    ("Ah Ad As Kc Kd",),
    ("2h 2d 2s 2c 3d",),
    ("2h 2d 2s 2c Ad",),
    ("Ah Ad As Ac Kd",),
    ("Ah 2h 3h 4h 5h", "As 2s 3s 4s 5s"),
    ("2h 3h 4h 5h 6h",),
    ("Th Jh Qh Kh Ah",),
)


def values_of(lines):
    return [int(evaluation.value(cards.parse(line))) for line in lines]


def all_hands(size):
    """All hands of so many cards, int32 [size, N]."""
    count = math.comb(52, size)
    flat = itertools.chain.from_iterable(itertools.combinations(range(52), size))
    return np.fromiter(flat, np.int32, count * size).reshape(count, size).T


def test_ladder():
    rungs = [values_of(line) for line in LADDER]
    assert all(len(set(rung)) == 1 for rung in rungs)
    assert all(low[0] < high[0] for low, high in itertools.pairwise(rungs))


@pytest.mark.parametrize(
    ("seven", "best", "name"),
    [
        ("Ah Ad Ks Kc Qh Qd Jh", "Ah Ad Ks Kc Qh", "two pair"),
        ("Ah Ad Ks Kc 3h 3d 2h", "Ah Ad Ks Kc 3h", "two pair"),
        ("Ah Ad As Kc Kh Kd Qh", "Ah Ad As Kc Kh", "full house"),
        ("2h 2d 2s Ac Ah Kd Kh", "2h 2d 2s Ac Ah", "full house"),
        ("2h 2d 2s 2c Ah Ad As", "2h 2d 2s 2c Ah", "four of a kind"),
        ("2h 3h 4h 5h 6h 7d 8s", "2h 3h 4h 5h 6h", "straight flush"),
        ("2h 3h 5h 9h Kh 4d 6s", "2h 3h 5h 9h Kh", "flush"),
        ("2h 3h 5h 9h Kh Qh Jh", "5h 9h Kh Qh Jh", "flush"),
        ("Ah 2d 3s 4c 5h 6d 7s", "3s 4c 5h 6d 7s", "straight"),
        ("Ah 2d 3s 4c 5h Kd Qs", "Ah 2d 3s 4c 5h", "straight"),
        ("Ah Ad As 9c 7h 5d 2s", "Ah Ad As 9c 7h", "three of a kind"),
        ("Ah Kd 9s 8c 6h 4d 2s", "Ah Kd 9s 8c 6h", "high card"),
        ("Ah Ad 9s 8c 6h 4d 2s", "Ah Ad 9s 8c 6h", "pair"),
    ],
)
def test_seven_cards_are_worth_their_best_five(seven, best, name):
    expected, found = values_of((best, seven))
    assert found == expected
    assert CATEGORIES[found >> 26] == name


@pytest.mark.parametrize("size", [6, 7])
def test_the_best_five_of_random_cards(size):
    drawn = deal(jax.random.key(size), 20_000)[:size]
    best = jnp.max(
        jnp.stack(
            [
                jax.jit(evaluation.value)(drawn[jnp.array(five)])
                for five in itertools.combinations(range(size), 5)
            ]
        ),
        axis=0,
    )
    assert (evaluation.value(drawn) == best).all()


def test_all_hands_of_five_cards():
    values = jax.jit(evaluation.value)(jnp.asarray(all_hands(5)))
    assert tuple(np.bincount(values >> 26, minlength=9)) == FIVE
    assert len(np.unique(values)) == FIVE_CLASSES


def hand_number(number, size):
    """The hand that has a number among all of so many cards: int32 [size, ...].

    With cards c_1 < c_2 < ..., that number is the sum of binom(c_k, k).
    """
    found = []
    for chosen in range(size, 0, -1):
        table = jnp.array([math.comb(card, chosen) for card in range(52)], jnp.int32)
        card = (table[:, None] <= number).sum(axis=0, dtype=jnp.int32) - 1
        number = number - table[card]
        found.append(card)
    return jnp.stack(found)


@functools.partial(jax.jit, static_argnums=1)
def values_from(first, count):
    """Of so many hands of seven cards; what comes after the last one is nonsense."""
    return evaluation.value(hand_number(first + jnp.arange(count, dtype=jnp.int32), 7))


def test_hands_are_numbered():
    numbers = jnp.arange(math.comb(52, 3), dtype=jnp.int32)
    found = np.sort(np.asarray(hand_number(numbers, 3)), axis=0)
    assert len({tuple(hand) for hand in found.T}) == math.comb(52, 3)
    cards.require_cards("found", found)


@pytest.mark.slow
def test_all_hands_of_seven_cards():
    total, size = math.comb(52, 7), 2**20
    counts, classes = np.zeros(9, np.int64), set()
    for first in range(0, total, size):
        values = np.asarray(values_from(jnp.int32(first), size))[: total - first]
        counts += np.bincount(values >> 26, minlength=9)
        classes.update(np.unique(values).tolist())
    assert tuple(counts) == SEVEN
    assert len(classes) == SEVEN_CLASSES


def test_the_order_of_cards_does_not_count():
    drawn = np.asarray(deal(jax.random.key(6), 1_000)[:7])
    shuffled = np.random.default_rng(0).permuted(drawn, axis=0)
    assert (evaluation.value(drawn) == evaluation.value(shuffled)).all()


def test_showdown():
    decks = deal(jax.random.key(7), 5_000)
    first = evaluation.value(jnp.concatenate([decks[:2], decks[4:]]))
    second = evaluation.value(decks[2:])
    found = evaluation.showdown(decks)
    assert (found == jnp.sign(first - second)).all()
    exchanged = jnp.concatenate([decks[2:4], decks[:2], decks[4:]])
    assert (evaluation.showdown(exchanged) == -found).all()
    assert set(np.asarray(found).tolist()) == {-1, 0, 1}
    assert found.dtype == jnp.int32


@pytest.mark.parametrize("size", [4, 8])
def test_wrong_number_of_cards(size):
    with pytest.raises(ValueError, match=f"cards: expected 5 to 7 .*, got \\({size},\\)"):
        evaluation.value(np.arange(size))


def test_wrong_cards():
    with pytest.raises(ValueError, match="cards: expected different cards, got 2c twice"):
        evaluation.value(np.array([0, 1, 2, 3, 0]))
    with pytest.raises(ValueError, match="decks: expected different cards, got As twice"):
        evaluation.showdown(np.array([0, 1, 2, 3, 4, 5, 6, 51, 51]))
    with pytest.raises(ValueError, match=r"decks: expected 9 cards .*, got \(7,\)"):
        evaluation.showdown(np.arange(7))
