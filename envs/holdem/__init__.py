"""Heads-up no-limit Texas Hold'em: cards, betting, and hands between two players.

The rules are those of the Annual Computer Poker Competition, with seven actions or any legal raise
(`betting`, `abstraction`). Players without memory are functions, those with one are objects
(`player`), such as `Ashe`. Everything is pure and works on batches.
"""

from jaxrace.envs.holdem import (
    abstraction,
    ashe,
    betting,
    cards,
    dealing,
    evaluation,
    lanes,
    match,
    networks,
    pattern_tree,
    player,
    policies,
    strength,
    table,
    utility,
)
from jaxrace.envs.holdem.ashe import Ashe
from jaxrace.envs.holdem.betting import BettingState, Rules
from jaxrace.envs.holdem.dealing import deal
from jaxrace.envs.holdem.lanes import play_lane
from jaxrace.envs.holdem.match import play
from jaxrace.envs.holdem.networks import NUM_WEIGHTS
from jaxrace.envs.holdem.strength import strengths
from jaxrace.envs.holdem.table import SEATINGS, Deals, Move, Observation, Seating, prepare

__all__ = [
    "NUM_WEIGHTS",
    "SEATINGS",
    "Ashe",
    "BettingState",
    "Deals",
    "Move",
    "Observation",
    "Rules",
    "Seating",
    "abstraction",
    "ashe",
    "betting",
    "cards",
    "deal",
    "dealing",
    "evaluation",
    "lanes",
    "match",
    "networks",
    "pattern_tree",
    "play",
    "play_lane",
    "player",
    "policies",
    "prepare",
    "strength",
    "strengths",
    "table",
    "utility",
]
