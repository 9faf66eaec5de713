"""Random hands of heads-up no-limit Texas Hold'em by PokerKit."""

import random
from typing import Any

from pokerkit import Automation, NoLimitTexasHoldem  # pyright: ignore[reportMissingImports]

STACK, BLINDS = 20_000, (50, 100)

AUTOMATIONS = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.CARD_BURNING,
    Automation.HOLE_DEALING,
    Automation.BOARD_DEALING,
    Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)


def load() -> Any:
    """The game, with everything but the players' decisions automatic."""
    return NoLimitTexasHoldem(AUTOMATIONS, True, 0, BLINDS, BLINDS[1])


def play(game: Any, seed: int, hands: int) -> list[int]:
    """What player 0 wins in each hand, of two that choose among seven actions at random."""
    generator = random.Random(seed)
    return [_play_hand(game, generator) for _ in range(hands)]


def _play_hand(game: Any, generator: random.Random) -> int:
    state = game(STACK, 2)
    put_in, before = [BLINDS[1], BLINDS[0]], 0
    street = state.street_index
    while state.status:
        if state.street_index != street:
            street, before = state.street_index, max(put_in)
        player, highest = state.actor_index, max(put_in)
        actions = [1] if put_in[player] == highest else [0, 1]
        if highest < STACK:
            actions += [size * highest for size in (2, 3, 4, 5) if size * highest < STACK]
            actions.append(STACK)
        action = generator.choice(actions)
        if action == 0:
            state.fold()
            continue
        if action == 1:
            state.check_or_call()
        else:
            state.complete_bet_or_raise_to(action - before)
        put_in[player] = highest if action == 1 else action
    return state.payoffs[0]
