"""Dueling bandits: which arm is best, told only who wins duels; and bandits beside them."""

from jaxrace.dueling.arm_bandits import ActionElimination, KlUcb, Ucb1, UniformArms
from jaxrace.dueling.base import Algorithm
from jaxrace.dueling.beat_the_mean import BeatTheMean
from jaxrace.dueling.decisions import Best, Counting, Decision, NextBest
from jaxrace.dueling.double_thompson import DoubleThompson
from jaxrace.dueling.driver import Record, play, require_horizon, warn_without_winner
from jaxrace.dueling.duel_decisions import BordaWinner, CondorcetWinner, CopelandWinner
from jaxrace.dueling.interleaved_filter import InterleavedFilter
from jaxrace.dueling.job import DuelJob, DuelWork
from jaxrace.dueling.matrices import check_matrix, read_matrix
from jaxrace.dueling.problems import (
    Problem,
    arms,
    counting_bandit,
    draw_outcome,
    duels,
    rigged_bandit,
    shuffled,
    step_keys,
)
from jaxrace.dueling.rucb import Rucb
from jaxrace.dueling.savage import Introspection, Savage
from jaxrace.dueling.sup_klucb import SupKlucb
from jaxrace.dueling.uniform import Uniform
from jaxrace.dueling.winners import (
    MEASURES,
    borda_scores,
    borda_winners,
    condorcet_winner,
    copeland_scores,
    copeland_winners,
    smith_set,
    von_neumann_winner,
)

__all__ = [
    "MEASURES",
    "ActionElimination",
    "Algorithm",
    "BeatTheMean",
    "Best",
    "BordaWinner",
    "CondorcetWinner",
    "CopelandWinner",
    "Counting",
    "Decision",
    "DoubleThompson",
    "DuelJob",
    "DuelWork",
    "InterleavedFilter",
    "Introspection",
    "KlUcb",
    "NextBest",
    "Problem",
    "Record",
    "Rucb",
    "Savage",
    "SupKlucb",
    "Ucb1",
    "Uniform",
    "UniformArms",
    "arms",
    "borda_scores",
    "borda_winners",
    "check_matrix",
    "condorcet_winner",
    "copeland_scores",
    "copeland_winners",
    "counting_bandit",
    "draw_outcome",
    "duels",
    "play",
    "read_matrix",
    "require_horizon",
    "rigged_bandit",
    "shuffled",
    "smith_set",
    "step_keys",
    "von_neumann_winner",
    "warn_without_winner",
]
