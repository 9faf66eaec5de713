"""Heads-up no-limit Texas Hold'em: cards, betting, and hands between two players.

The rules are those of the Annual Computer Poker Competition, with seven actions or any legal raise
(`betting`, `abstraction`). Players are functions (`table.Policy`). Everything is pure and works on
batches.
"""

from jaxrace.envs.holdem.betting import BettingState as BettingState
from jaxrace.envs.holdem.betting import Rules as Rules
from jaxrace.envs.holdem.cards import deal as deal
from jaxrace.envs.holdem.table import SEATINGS as SEATINGS
from jaxrace.envs.holdem.table import Deals as Deals
from jaxrace.envs.holdem.table import Move as Move
from jaxrace.envs.holdem.table import Observation as Observation
from jaxrace.envs.holdem.table import Seating as Seating
from jaxrace.envs.holdem.table import play as play
from jaxrace.envs.holdem.table import prepare as prepare
