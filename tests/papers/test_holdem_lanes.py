"""Lanes: hands between players with memory."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from holdem_cases import numbered_deals
from reference.holdem_policies import always_all_in, by_strength, folds_too_much, half_pots

from jaxrace.envs.holdem import table
from jaxrace.envs.holdem.abstraction import FOLD
from jaxrace.envs.holdem.betting import Rules
from jaxrace.envs.holdem.table import SEATINGS, Seating
from papers.holdem import lanes, policies
from papers.holdem.lanes import Memoryless, Player

HANDS = 400


@pytest.fixture(scope="module")
def deals():
    return numbered_deals(HANDS)


def play(pair, deals, seating, **kwargs):
    return table.play(pair, jax.random.key(1), deals, seating, Rules(), **kwargs)


class Diary(NamedTuple):
    """What a `Diarist` remembers of all hands."""

    hands: Any
    chips: Any  # won
    moves: Any  # int32 [2], own ones and the opponent's
    chips_put_in: Any  # int32 [2]
    shown: Any  # hands shown by the opponent
    sum_shown: Any  # of the strengths of those on the river


@dataclasses.dataclass(frozen=True)
class Diarist:
    """A player that writes everything down; raises, and after a number of hands folds instead."""

    def begin(self, weights):
        del weights
        zero = jnp.int32(0)
        return Diary(
            zero, zero, jnp.zeros(2, jnp.int32), jnp.zeros(2, jnp.int32), zero, jnp.float32(0)
        )

    def begin_hand(self, memory, seat):
        del memory
        return seat, jnp.zeros(2, jnp.int32)

    def look(self, memory, notes, observation):
        del notes, observation
        return memory.hands

    def decide(self, key, weights, view, observation):
        del key
        tired = (view >= weights) & observation.legal[FOLD]
        return jnp.where(tired, FOLD, half_pots(None, observation)).astype(jnp.int32)

    def watch(self, memory, notes, move):
        del memory
        seat, counts = notes
        return seat, counts.at[jnp.where(move.seat == seat, 0, 1)].add(1)

    def end_hand(self, memory, notes, ending):
        seat, counts = notes
        made, own = ending.moves.made, ending.moves.seat == seat
        put_in = ending.moves.total - ending.moves.own
        put_in = [jnp.sum(jnp.where(made & who, put_in, 0)) for who in (own, ~own)]
        return Diary(
            memory.hands + 1,
            memory.chips + ending.winnings,
            memory.moves + counts,
            memory.chips_put_in + jnp.stack(put_in).astype(jnp.int32),
            memory.shown + (ending.folded < 0).astype(jnp.int32),
            memory.sum_shown + ending.other_strengths[3],
        )


def lane(contenders, deals, seating=SEATINGS[0], weights=(None, None)):
    return lanes.play_lane(contenders, weights, jax.random.key(1), deals, seating, Rules())


@pytest.mark.parametrize("seating", SEATINGS)
def test_players_without_memory_play_the_same_in_a_lane(deals, seating):
    for pair in ((by_strength, by_strength), (by_strength, always_all_in)):
        found = lane(tuple(Memoryless(policy) for policy in pair), deals, seating)
        assert (found.winnings == play(pair, deals, seating).winnings).all()
        assert not found.illegal.any()


@pytest.mark.parametrize("button", [0, 1])
@pytest.mark.parametrize("place", [0, 1])
def test_what_players_are_told(deals, button, place):
    """Against a policy whose moves are known from the driver for players without memory."""
    seating = Seating(button, 0)
    pair = [by_strength, by_strength]
    pair[place] = half_pots
    contenders: list[Player] = [Memoryless(by_strength), Memoryless(by_strength)]
    contenders[place] = Diarist()
    never = jnp.int32(HANDS)
    found = lane((contenders[0], contenders[1]), deals, seating, (never, never))
    expected = play((pair[0], pair[1]), deals, seating, with_moves=True)
    found, expected, strengths = jax.tree.map(np.asarray, (found, expected, deals.strengths))
    diary, moves = found.memories[place], expected.moves
    own = moves.seat == (0 if place == button else 1)
    assert (found.winnings == expected.winnings).all()
    assert diary.hands == HANDS
    assert diary.chips == expected.winnings.sum() * (1 if place == 0 else -1)
    for i, who in enumerate((own, ~own)):
        assert diary.moves[i] == (moves.made & who).sum()
        assert diary.chips_put_in[i] == (moves.total - moves.own)[moves.made & who].sum()
    folded = (moves.made & (moves.action == FOLD)).any(axis=0)
    assert 0 < folded.sum() < HANDS
    assert diary.shown == HANDS - folded.sum()
    np.testing.assert_allclose(diary.sum_shown, strengths[3, 1 - place, ~folded].sum(), rtol=1e-4)


def test_memory_lasts_from_hand_to_hand(deals):
    """Two players of one kind: the one on the button gives up after 30 hands, the other never."""
    weights = jnp.int32(30), jnp.int32(HANDS)
    found = lane((Diarist(), Diarist()), deals, SEATINGS[0], weights)
    assert (found.winnings[:30] == 12_800 * deals.winner[:30]).all()
    assert (found.winnings[30:] == -50).all()
    chips = [int(memory.chips) for memory in found.memories]
    assert chips[0] == -chips[1] == int(found.winnings.sum())


def test_what_is_no_integer_is_no_action(deals):
    def calls(key, observation):
        return observation.legal[1]

    contenders = Memoryless(policies.always_call), Memoryless(calls)
    with pytest.raises(ValueError, match="action: expected an integer, got"):
        lane(contenders, deals)


def test_illegal_actions_in_lanes(deals):
    contenders = Memoryless(policies.always_call), Memoryless(folds_too_much)
    with pytest.raises(ValueError, match="players: expected legal actions, got another one in"):
        lane(contenders, deals)
    flags = jax.jit(lambda deals: lane(contenders, deals).illegal)(deals)
    assert flags.all()
