"""Bad arguments of dominance races: what to call, and what the error says."""

import numpy as np
from bad_races import (
    DOMINANCE_RACE,
    PARAMS,
    DominanceRace,
    first_always,
    run,
    run_dominance,
    sample_nan,
    tell,
)

from jaxrace.kernels import total_order

BAD = {
    # Dominance races
    "dominance top": (lambda: DominanceRace(3, 3, 9, total_order), "top: expected less than"),
    "dominance capacity": (
        lambda: DominanceRace(3, 1, 2**15, total_order),
        "capacity: expected at most 32767, got 32768",
    ),
    "first_block 1": (
        lambda: DominanceRace(3, 1, 9, total_order, 1),
        "first_block: expected one of 2, 3, 5, 7, 11, 13, 17, 19, 23, got 1",
    ),
    "block 29": (
        lambda: DominanceRace(3, 1, 9, total_order, 11, 29),
        "^block: expected one of .*, got 29",
    ),
    "dominance delta 1": (
        lambda: DOMINANCE_RACE.table(1.0),
        "delta: expected a number between 0 and 1",
    ),
    "dominance max_rounds 21": (
        lambda: DOMINANCE_RACE.params(0.1, 21),
        "max_rounds: expected at most the capacity 20, got 21",
    ),
    "dominance horizon 0": (
        lambda: DOMINANCE_RACE.params(horizon=0),
        "horizon: expected an integer of at least 1, got 0",
    ),
    "slack < 0": (lambda: DOMINANCE_RACE.params(slack=-0.1), "slack: expected .*, got -0.1"),
    "give_up < 0": (lambda: DOMINANCE_RACE.params(give_up=-1), "give_up: expected .*, got -1"),
    "bets 0": (lambda: DOMINANCE_RACE.params(bets=[0.0, 1.0]), "bets: expected a positive num"),
    "bets 2": (lambda: DOMINANCE_RACE.params(bets=[0.5, 2.0]), "bets: expected .* 1.95, got 2.0"),
    "no bets": (
        lambda: DOMINANCE_RACE.params(bets=[], weights=[]),
        "bets: expected at least one, got none",
    ),
    "weights of others": (
        lambda: DOMINANCE_RACE.params(bets=[0.5, 1.0], weights=[1.0]),
        "weights: expected as many as bets, 2, got 1",
    ),
    "weights 0": (
        lambda: DOMINANCE_RACE.params(bets=[0.5, 1.0], weights=[1.0, 0.0]),
        "weights: expected a positive number, got 0.0",
    ),
    "dominance, other params": (
        lambda: run(DOMINANCE_RACE, params=PARAMS),
        "params: expected a DominanceParams, got PreferenceParams",
    ),
    "dominance compare not antisymmetric": (
        lambda: run_dominance(compare=first_always),
        "compare: expected opposite signs .*, got 1 and 1 for",
    ),
    "dominance told nan": (
        lambda: tell(np.array([[0], [np.nan], [1]], np.float32).repeat(11, 1), DOMINANCE_RACE),
        "outcomes: expected finite numbers, got NaN or infinity for option 1 in round 1$",
    ),
    "dominance drawn nan": (
        lambda: run(DOMINANCE_RACE, sampler=sample_nan),
        "outcomes: .* option 2 in round 1$",
    ),
}
