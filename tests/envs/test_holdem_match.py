"""Hands between players without memory."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from holdem_cases import numbered_deals
from reference.holdem_policies import always_all_in, by_strength, folds_too_much

from jaxrace.envs.holdem import abstraction, betting, deal, table
from jaxrace.envs.holdem.abstraction import CALL
from jaxrace.envs.holdem.betting import Rules
from jaxrace.envs.holdem.table import SEATINGS, Seating
from papers.holdem import policies

HANDS = 400


@pytest.fixture(scope="module")
def deals():
    return numbered_deals(HANDS)


def play(pair, deals, seating=SEATINGS[0], seed=1, **kwargs):
    return table.play(pair, jax.random.key(seed), deals, seating, Rules(), **kwargs)


@pytest.mark.parametrize("seating", SEATINGS)
def test_a_fold_loses_the_blind_of_the_seat(deals, seating):
    played = play((policies.always_fold, policies.always_call), deals, seating)
    # On the button it folds at once; in the big blind it checks to the showdown.
    if seating.button == 0:
        assert (played.winnings == -50).all()
    else:
        sign = 1 if seating.first == 0 else -1
        assert (played.winnings == 100 * sign * deals.winner).all()


@pytest.mark.parametrize("seating", SEATINGS)
def test_all_in_and_called(deals, seating):
    played = play((always_all_in, policies.always_call), deals, seating)
    sign = 1 if seating.first == 0 else -1
    assert (played.winnings == 20_000 * sign * deals.winner).all()


def test_a_player_against_itself_wins_nothing_from_duplicate_decks(deals):
    """With seats and cards exchanged, each hand runs as before, and the other player wins it."""
    for first, second in (SEATINGS[:2], SEATINGS[2:]):
        one = play((by_strength, by_strength), deals, first).winnings
        other = play((by_strength, by_strength), deals, second).winnings
        assert (one == -other).all()
        assert len(np.unique(one)) > 20


def test_seatings_of_each_hand(deals):
    seating = Seating(jnp.arange(HANDS) % 2, jnp.arange(HANDS) // 2 % 2)
    mixed = play((by_strength, always_all_in), deals, seating).winnings
    for button, first in SEATINGS:
        here = (seating.button == button) & (seating.first == first)
        alone = play((by_strength, always_all_in), deals, Seating(button, first)).winnings
        assert (mixed[here] == alone[here]).all()


@pytest.mark.parametrize("seating", SEATINGS)
def test_moves_can_be_played_again(deals, seating):
    """One by one at the public functions, which refuse what is illegal."""
    pair = policies.play_uniformly, by_strength
    played = play(pair, deals, seating, with_moves=True)
    assert (played.winnings == play(pair, deals, seating).winnings).all()
    moves = jax.tree.map(np.asarray, played.moves)
    assert moves.made.shape == (16, HANDS)
    for hand in range(40):
        state, count = betting.init(Rules()), moves.made[:, hand].sum()
        assert moves.made[:count, hand].all()
        for step in range(count):
            move = jax.tree.map(lambda leaf, s=step, h=hand: leaf[s, h], moves)
            own, other = betting.amounts(state)
            assert (move.seat, move.street) == (state.to_act, state.street)
            assert (move.own, move.other) == (own, other)
            state = abstraction.advance(state, move.action)
            assert state.contributions[move.seat] == move.total
        assert state.finished
        button_wins = deals.winner[hand] * (1 if seating.first == seating.button else -1)
        won = betting.payoffs(state, jnp.int32(button_wins))[seating.button]
        assert won == played.winnings[hand]


def test_pot_odds_pay_what_a_hand_is_worth(deals):
    pair = policies.play_uniformly, policies.by_pot_odds
    moves = jax.tree.map(np.asarray, play(pair, deals, with_moves=True).moves)
    own, other = moves.own.astype(float), moves.other.astype(float)
    # In this seating player 1 is the big blind and has hand 1.
    strength = np.asarray(deals.strengths)[moves.street, 1, np.arange(HANDS)]
    pays = strength >= (other - own) / (2 * other)
    ours = moves.made & (moves.seat == 1)
    expected = np.where(pays | (other <= own), CALL, abstraction.FOLD)
    np.testing.assert_array_equal(moves.action[ours], expected[ours])
    folds = (ours & ~pays & (other > own)).sum()
    assert min(folds, (ours & pays & (other > own)).sum()) > 30


def test_illegal_actions_are_refused(deals):
    with pytest.raises(ValueError, match=r"policies\[1\]: expected legal actions, got another one"):
        play((policies.always_call, folds_too_much), deals)


def test_illegal_actions_are_flagged_in_compiled_code(deals):
    pair = folds_too_much, policies.always_call
    played = jax.jit(lambda deals: play(pair, deals))(deals)
    assert played.illegal.all()
    assert (played.winnings == 0).all()


@pytest.mark.parametrize(
    ("seating", "message"),
    [
        (Seating(2, 0), r"seating\.button: expected players 0 or 1, got 2"),
        (Seating(0, -1), r"seating\.first: expected players 0 or 1, got -1"),
    ],
)
def test_wrong_seats(deals, seating, message):
    with pytest.raises(ValueError, match=message):
        play((policies.always_call, policies.always_call), deals, seating)


def test_wrong_deals(deals):
    one = jax.tree.map(lambda leaf: leaf[..., 0], deals)
    with pytest.raises(ValueError, match=r"deals: expected a list of them, got shape \(\)"):
        play((policies.always_call, policies.always_call), one)
    decks = deal(jax.random.key(0), 3)
    short = table.prepare(decks)._replace(strengths=jnp.zeros((4, 2, 2)))
    with pytest.raises(ValueError, match=r"deals\.strengths: expected shape \(4, 2, 3\)"):
        play((policies.always_call, policies.always_call), short)
    with pytest.raises(ValueError, match=r"seating\.first: expected shape \(\) or \(3,\)"):
        play(
            (policies.always_call, policies.always_call),
            table.prepare(decks),
            Seating(0, jnp.zeros(2, jnp.int32)),
        )
    with pytest.raises(ValueError, match=r"strengths: expected shape \(4, 2, 3\), got \(4, 3\)"):
        table.prepare(decks, jnp.zeros((4, 3)))
    with pytest.raises(ValueError, match=r"decks: expected different cards, got .* twice"):
        table.prepare(decks.at[8].set(decks[0]))
