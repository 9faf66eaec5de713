"""Cards as text and as numbers, and dealing."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxrace.envs.holdem import cards, deal


def test_every_card_has_its_own_text():
    names = [cards.spell([card]) for card in range(cards.DECK_SIZE)]
    assert names[:5] == ["2c", "2d", "2h", "2s", "3c"]
    assert names[-1] == "As"
    assert cards.parse("".join(names)).tolist() == list(range(cards.DECK_SIZE))


@pytest.mark.parametrize("text", ["1c", "As K", "as", "10h", "Xx"])
def test_text_that_is_no_card(text):
    with pytest.raises(
        ValueError, match=r"text: expected cards, each of 2.*A followed by .* got '"
    ):
        cards.parse(text)


def test_repeated_cards_are_named():
    with pytest.raises(ValueError, match="text: expected different cards, got Kd twice"):
        cards.parse("Kd Ac Kd")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([0, 52], r"cards: expected cards in 0\.\.51, got 52"),
        ([-1], r"cards: expected cards in 0\.\.51, got -1"),
        ([0.5], "cards: expected cards as integers, got float64"),
        ([7, 3, 7], "cards: expected different cards, got 3s twice"),
    ],
)
def test_numbers_that_are_no_cards(wrong, message):
    with pytest.raises(ValueError, match=message):
        cards.spell(wrong)


def test_repeated_cards_of_a_batch():
    decks = np.array([[1, 2, 3], [4, 5, 3]])
    with pytest.raises(ValueError, match="decks: expected different cards, got 2s twice"):
        cards.require_cards("decks", decks)
    cards.require_cards("decks", decks[:, :2])


def places_of(decks):
    """The place of each card among those that the ones before have left, [9, N]."""
    earlier = [(decks[:i] < decks[i]).sum(axis=0) for i in range(len(decks))]
    return decks - np.array(earlier)


def test_nine_cards_come_from_one_draw():
    generator = np.random.default_rng(0)
    left = 52 - np.arange(9)[:, None]
    places = generator.integers(0, left, (9, 20_000)).astype(np.int32)
    dealt = np.asarray(cards.cards_at(jnp.asarray(places)))
    cards.require_cards("dealt", dealt)
    assert (places_of(dealt) == places).all()


def test_draws_are_uniform_and_independent():
    """So are the orders of nine cards, as each comes from one draw (the tests above)."""
    decks = np.asarray(deal(jax.random.key(1), 200_000))
    places = places_of(decks)
    levels = []
    for i in range(9):
        counts = np.bincount(places[i], minlength=52 - i)
        assert len(counts) == 52 - i
        levels.append(stats.chisquare(counts).pvalue)
    for i, j in itertools.combinations(range(9), 2):
        pairs = np.bincount(places[i] * 52 + places[j], minlength=52 * 52).reshape(52, 52)
        levels.append(stats.chisquare(pairs[: 52 - i, : 52 - j].ravel()).pvalue)
    assert min(levels) > 0.01 / len(levels)


@pytest.mark.parametrize("count", [0, -1, 2.0, True, "2"])
def test_wrong_number_of_decks(count):
    with pytest.raises(ValueError, match="num_decks: expected an integer of at least 1, got"):
        deal(jax.random.key(0), count)
