"""Random hands of heads-up no-limit Texas Hold'em by OpenSpiel's universal_poker.

The amounts are kept here: asking the engine for its legal actions lists every legal raise.
"""

import random
from typing import Any

import pyspiel  # pyright: ignore[reportMissingImports]

STACK, BLINDS = 20_000, (100, 50)  # player 0 is the big blind


def load() -> Any:
    """The game."""
    return pyspiel.load_game(pyspiel.hunl_game_string("fullgame"))


def play(game: Any, seed: int, hands: int) -> list[float]:
    """What player 0 wins in each hand, of two that choose among seven actions at random."""
    generator = random.Random(seed)
    return [_play_hand(game, generator) for _ in range(hands)]


def _play_hand(game: Any, generator: random.Random) -> float:
    state = game.new_initial_state()
    cards = iter(generator.sample(range(52), 9))
    put_in = list(BLINDS)
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(next(cards))
            continue
        player, highest = state.current_player(), max(put_in)
        actions = [1] if put_in[player] == highest else [0, 1]
        if highest < STACK:
            actions += [size * highest for size in (2, 3, 4, 5) if size * highest < STACK]
            actions.append(STACK)
        action = generator.choice(actions)
        state.apply_action(action)
        if action:
            put_in[player] = highest if action == 1 else action
    return state.returns()[0]
