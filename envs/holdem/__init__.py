"""Heads-up no-limit Texas Hold'em: cards, betting, and hands between two players.

The rules are those of the Annual Computer Poker Competition, with seven actions or any legal raise
(`betting`, `abstraction`); the players are functions. Everything is pure and works on batches.
"""

from jaxrace.envs.holdem import (
    abstraction,
    betting,
    cards,
    dealing,
    evaluation,
    lanes,
    match,
    player,
    policies,
    table,
)
from jaxrace.envs.holdem.betting import BettingState, Rules
from jaxrace.envs.holdem.dealing import deal
from jaxrace.envs.holdem.match import play
from jaxrace.envs.holdem.table import SEATINGS, Deals, Move, Observation, Seating, prepare

__all__ = [
    "SEATINGS",
    "BettingState",
    "Deals",
    "Move",
    "Observation",
    "Rules",
    "Seating",
    "abstraction",
    "betting",
    "cards",
    "deal",
    "dealing",
    "evaluation",
    "lanes",
    "match",
    "play",
    "player",
    "policies",
    "prepare",
    "table",
]
