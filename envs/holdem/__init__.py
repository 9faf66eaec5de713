"""Heads-up no-limit Texas Hold'em: cards, betting, and hands between two players.

The rules are those of the Annual Computer Poker Competition, with seven actions or any legal raise
(`betting`, `abstraction`). Players without memory are functions, those with one are objects
(`lanes.Player`). Everything is pure and works on batches.
"""

from jaxrace.envs.holdem import abstraction as abstraction
from jaxrace.envs.holdem import betting as betting
from jaxrace.envs.holdem import cards as cards
from jaxrace.envs.holdem import dealing as dealing
from jaxrace.envs.holdem import evaluation as evaluation
from jaxrace.envs.holdem import lanes as lanes
from jaxrace.envs.holdem import match as match
from jaxrace.envs.holdem import policies as policies
from jaxrace.envs.holdem import strength as strength
from jaxrace.envs.holdem import table as table
from jaxrace.envs.holdem.betting import BettingState as BettingState
from jaxrace.envs.holdem.betting import Rules as Rules
from jaxrace.envs.holdem.dealing import deal as deal
from jaxrace.envs.holdem.lanes import play_lane as play_lane
from jaxrace.envs.holdem.match import play as play
from jaxrace.envs.holdem.strength import strengths as strengths
from jaxrace.envs.holdem.table import SEATINGS as SEATINGS
from jaxrace.envs.holdem.table import Deals as Deals
from jaxrace.envs.holdem.table import Move as Move
from jaxrace.envs.holdem.table import Observation as Observation
from jaxrace.envs.holdem.table import Seating as Seating
from jaxrace.envs.holdem.table import prepare as prepare
