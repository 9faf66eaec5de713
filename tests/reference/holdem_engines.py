"""An engine that others wrote, asked about every step of recorded hands.

Seats are ours: the button is 0, the big blind is 1. The engine calls them 1 and 0.
"""

from typing import Any

import numpy as np

from reference.holdem_recordings import Recording

POTS = (0.5, 1.0, 1.5, 2.0)
NO_RAISE = 1, 0


class OpenSpiel:
    """The server of the Annual Computer Poker Competition, as OpenSpiel wraps it."""

    def __init__(self) -> None:
        import pyspiel  # pyright: ignore[reportMissingImports]

        self.game = pyspiel.load_game(pyspiel.hunl_game_string("fullgame"))

    def begin(self, deck: np.ndarray) -> "OpenSpielHand":
        """A hand with these nine cards."""
        return OpenSpielHand(self.game.new_initial_state(), deck.tolist())


class OpenSpielHand:
    """One hand; amounts are of the whole hand.

    Legal raises are read off `legal_actions`, which is slow and lists them all: the engine tells
    its largest raise, but not its least.
    """

    def __init__(self, state: Any, deck: list[int]) -> None:
        self.state = state
        self.cards = iter(deck[2:4] + deck[:2] + deck[4:])  # the big blind's come first
        self._deal()

    def _deal(self) -> None:
        while self.state.is_chance_node():
            self.state.apply_action(next(self.cards))
        # All legal raises one by one: once a step is enough.
        self.legal = self.state.legal_actions()

    def seat(self) -> int | None:
        return None if self.state.is_terminal() else 1 - self.state.current_player()

    def may_fold(self) -> bool:
        return self.legal[0] == 0

    def raises(self) -> tuple[int, int]:
        sizes = self.legal[self.legal.index(1) + 1 :]
        assert not sizes or len(sizes) == sizes[-1] - sizes[0] + 1
        return (sizes[0], sizes[-1]) if sizes else NO_RAISE

    def sizes(self) -> list[int]:
        return [self.state.pot_size(pots) for pots in POTS]

    def act(self, action: int) -> None:
        self.state.apply_action(action)
        self._deal()

    def payoffs(self) -> list[int]:
        return [int(amount) for amount in self.state.returns()[::-1]]


def first_difference(engine: Any, recording: Recording, number: int) -> str | None:
    """What an engine says differently about a recorded hand; None if it agrees to the end."""
    hand: OpenSpielHand = engine.begin(recording.decks[:, number])
    steps = type(recording.steps)(*(leaf[:, number] for leaf in recording.steps))
    for place in range(len(steps.on)):
        step = type(steps)(*(leaf[place] for leaf in steps))
        seat = hand.seat()
        if step.on != (seat is not None):
            return f"action {place}: the hand is on: {step.on}, expected {seat is not None}"
        if seat is None:
            break
        wrong = _difference_of_step(hand, seat, step)
        if wrong:
            return f"action {place}: {wrong}"
        hand.act(_amount(hand, step))
    if hand.seat() is not None or not recording.finished[number]:
        return f"the end: {hand.seat()} is to act, ours is over: {recording.finished[number]}"
    ours, theirs = recording.payoffs[number].tolist(), hand.payoffs()
    return None if ours == theirs else f"payoffs {ours}, expected {theirs}"


def _difference_of_step(hand: OpenSpielHand, seat: int, step: Any) -> str | None:
    may_fold, (least, most), sizes = hand.may_fold(), hand.raises(), hand.sizes()
    legal = [may_fold, True, *(least <= size < most for size in sizes), least <= most]
    for what, ours, theirs in (
        ("seat", step.seat, seat),
        ("fold", step.may_fold, may_fold),
        ("raises", (step.least, step.most), (least, most)),
        ("legal", step.legal.tolist(), legal),
        ("sizes", step.totals[2:6].tolist(), sizes),
        ("all-in", step.totals[6], most if least <= most else step.totals[6]),
    ):
        if ours != theirs:
            return f"{what} {ours}, expected {theirs}"
    action = int(step.action)
    if not (action == 1 or (action == 0 and may_fold) or least <= action <= most):
        return f"action {action} is not legal"
    return None


def _amount(hand: OpenSpielHand, step: Any) -> int:
    """The action as the engine takes it: of a size, it works out the amount itself."""
    if 2 <= step.choice <= 5:
        return hand.sizes()[step.choice - 2]
    return int(step.action)
