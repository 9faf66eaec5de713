"""Bad arguments of dominance races: what to call, and what the error says."""

from bad_races import (
    DOMINANCE_RACE,
    PARAMS,
    DominanceRace,
    first_always,
    run,
    run_dominance,
    sample_nan,
)

from jaxrace.kernels import total_order

BAD = {
    # Dominance races
    "dominance capacity": (
        lambda: DominanceRace(3, 1, 2**15, total_order),
        "capacity: expected at most 32767, got 32768",
    ),
    "block 29": (
        lambda: DominanceRace(3, 1, 9, total_order, 11, 29),
        "^block: expected one of .*, got 29",
    ),
    "dominance max_rounds 21": (
        lambda: DOMINANCE_RACE.params(0.1, 21),
        "max_rounds: expected at most the capacity 20, got 21",
    ),
    "slack < 0": (lambda: DOMINANCE_RACE.params(slack=-0.1), "slack: expected .*, got -0.1"),
    "bets 0": (lambda: DOMINANCE_RACE.params(bets=[0.0, 1.0]), "bets: expected a positive num"),
    "bets 2": (lambda: DOMINANCE_RACE.params(bets=[0.5, 2.0]), "bets: expected .* 1.95, got 2.0"),
    "weights of others": (
        lambda: DOMINANCE_RACE.params(bets=[0.5, 1.0], weights=[1.0]),
        "weights: expected as many as bets, 2, got 1",
    ),
    "dominance, other params": (
        lambda: run(DOMINANCE_RACE, params=PARAMS),
        "params: expected a DominanceParams, got PreferenceParams",
    ),
    "dominance compare not antisymmetric": (
        lambda: run_dominance(compare=first_always),
        "compare: expected opposite signs .*, got 1 and 1 for",
    ),
    "dominance drawn nan": (
        lambda: run(DOMINANCE_RACE, sampler=sample_nan),
        "outcomes: .* option 2 in round 1$",
    ),
}
