"""Hand strength against enumerations of the opponent's hands."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.envs import holdem
from jaxrace.envs.holdem import cards, evaluation
from papers.holdem import strength


def not_beaten(hole, board):
    """On the river, every hand of the opponent, one by one."""
    unseen = [card for card in range(52) if card not in {*hole, *board}]
    hands = [[*two, *board] for two in (hole, *itertools.combinations(unseen, 2))]
    own, *others = np.asarray(evaluation.value(np.array(hands, np.int32).T))
    better = sum(other > own for other in others)
    return 1 - better / 990


RIVERS = [
    "As Kd  2c 3c 4c 5d 6h",  # the board is a straight that a seven beats
    "2c 7d  Ks Kh Qd Qs Jc",  # plays the board but for a kicker
    "Ah Ad  As Ac Kd 3h 4s",  # quads
    "9h 4h  2h 5h Kh 3c 8d",  # a flush, which higher ones beat
]


@pytest.mark.parametrize("text", RIVERS)
def test_rivers(text):
    hand = cards.parse(text).tolist()
    found = strength.exact(jnp.array(hand[:2], jnp.int32), jnp.array(hand[2:], jnp.int32))
    assert float(found) == pytest.approx(not_beaten(hand[:2], hand[2:]), abs=1e-6)


def test_every_river_makes_the_turn():
    """The mean over the 46 cards that may come; those on the river are checked above."""
    decks = np.asarray(holdem.deal(jax.random.key(0), 4))
    for deck in decks.T:
        hole, board = deck[:2], deck[4:8]
        to_come = np.setdiff1d(np.arange(52), [*hole, *board])
        boards = np.concatenate([np.tile(board, (46, 1)), to_come[:, None]], axis=1)
        rivers = jax.vmap(strength.exact, in_axes=(None, 0))(hole, jnp.asarray(boards, jnp.int32))
        assert float(strength.exact(hole, board)) == pytest.approx(float(rivers.mean()), abs=1e-6)


@pytest.fixture(scope="module")
def decks():
    return holdem.deal(jax.random.key(1), 40)


def test_streets_and_hands_in_their_places(decks):
    found = np.asarray(strength.strengths(jax.random.key(2), decks, 64))
    assert found.shape == (4, 2, 40)
    assert found.dtype == np.float32
    for number in (0, 39):
        deck = decks[:, number]
        for place, hole in enumerate((deck[:2], deck[2:4])):
            assert found[2, place, number] == strength.exact(hole, deck[4:8])
            assert found[3, place, number] == strength.exact(hole, deck[4:9])


def test_equal_decks_are_sampled_anew(decks):
    """What is not exact is another estimate each time, of every deck and of both hands."""
    same = jnp.broadcast_to(decks[:, :1], decks.shape)
    found = np.asarray(strength.strengths(jax.random.key(2), same, 64))
    assert (np.ptp(found[:2], axis=-1) > 0).all()
    assert (np.ptp(found[2:], axis=-1) == 0).all()


@pytest.mark.slow
def test_estimates_have_the_error_that_is_stated(decks):
    """On the turn, where strengths are exact, and on the flop, against the mean over all turns."""
    samples, repeats = 256, 50
    keys = jax.random.split(jax.random.key(3), repeats)
    deck = decks[:, 0]
    sampled = jax.vmap(strength.sampled, in_axes=(0, None, None, None))
    exact = float(strength.exact(deck[:2], deck[4:8]))
    found = np.asarray(sampled(keys, deck[:2], deck[4:8], samples))
    error = np.sqrt(exact * (1 - exact) / samples)
    assert abs(found.mean() - exact) < 4 * error / np.sqrt(repeats)
    assert found.std() == pytest.approx(error, rel=0.4)  # 4 standard errors of it

    hole, flop = deck[:2], deck[4:7]
    to_come = np.setdiff1d(np.arange(52), np.array([*hole, *flop]))
    turns = np.concatenate([np.tile(flop, (47, 1)), to_come[:, None]], axis=1).astype(np.int32)
    exact = float(jax.lax.map(lambda board: strength.exact(hole, board), turns).mean())
    found = np.asarray(sampled(keys, hole, flop, samples))
    error = np.sqrt(exact * (1 - exact) / samples)
    assert abs(found.mean() - exact) < 4 * error / np.sqrt(repeats)


def test_aces_before_the_flop():
    """Against a random hand, tables of others have them win 84.93 % and tie 0.54 %."""
    aces = jnp.asarray(cards.parse("As Ah"))
    found = strength.sampled(jax.random.key(0), aces, jnp.zeros(0, jnp.int32), 200_000)
    assert float(found) == pytest.approx(0.8547, abs=4 * 0.0008)


@pytest.mark.parametrize(
    ("decks", "samples", "message"),
    [
        (np.zeros((9, 2), int), 16, "decks: expected different cards"),
        (np.arange(9), 16, r"decks: expected shape \(9, N\), got \(9,\)"),
        (np.arange(8)[:, None], 16, r"decks: expected shape \(9, N\), got \(8, 1\)"),
        (np.arange(9)[:, None], 0, "samples: expected an integer of at least 1, got 0"),
        (np.arange(9)[:, None], 2.5, "samples: expected an integer of at least 1, got 2.5"),
    ],
)
def test_bad_input(decks, samples, message):
    with pytest.raises(ValueError, match=message):
        strength.strengths(jax.random.key(0), decks, samples)
