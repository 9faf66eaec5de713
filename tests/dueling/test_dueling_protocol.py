"""What holds of every algorithm that duels: `run` is the loop of its verbs; bad input is named."""

from typing import Any

import duel_traces
import jax
import numpy as np
import pytest

from jaxrace import dueling
from jaxrace.dueling import matrices
from papers.duels import families
from papers.duels.dts_plus import DoubleThompsonPlus
from papers.savage.questions import Best, Counting, NextBest

slow = pytest.mark.slow
DOUBLE = dueling.DoubleThompson(4)
PLUS = DoubleThompsonPlus(4)
FILTER, MEAN = dueling.InterleavedFilter(4), dueling.BeatTheMean(4)
RUCB, KLUCB = dueling.Rucb(4), dueling.SupKlucb(4)
RMED, SPARRING, MERGE = dueling.Rmed1(4), dueling.SelfSparring(4), dueling.MergeRucb(4, 2)
SAVAGE = dueling.Savage(4, dueling.CopelandWinner(4))
KEY = jax.random.key(8)

# With two sets of numbers.
ALGORITHMS = {
    "uniform": (dueling.UniformDuels(4), None, None),
    "filter": (FILTER, FILTER.params(2), FILTER.params(9)),
    "mean": (MEAN, MEAN.params(2), MEAN.params(9, gamma=1.3)),
    "rucb": (RUCB, RUCB.params(), RUCB.params(alpha=2)),
    "thompson": (DOUBLE, DOUBLE.params(), DOUBLE.params(alpha=2)),
    "thompson-plus": (PLUS, PLUS.params(), PLUS.params(alpha=2)),
    "klucb": (KLUCB, KLUCB.params(), KLUCB.params(c1=1, c2=0.5)),
    "rmed": (RMED, RMED.params(), RMED.params(slack=0)),
    "sparring": (SPARRING, SPARRING.params(), SPARRING.params(rate=0.5)),
    "merge": (MERGE, MERGE.params(delta=0.9), MERGE.params(alpha=0.6)),
    "savage": (SAVAGE, SAVAGE.params(0.1, 100), SAVAGE.params(0.3, None, 0.5, KEY)),
}


def each(*quick, but=""):
    """Every algorithm; those that are not quick to compile are slow."""
    names = [name for name in ALGORITHMS if name != but]
    cases = [pytest.param(name, marks=() if name in quick else slow) for name in names]
    return pytest.mark.parametrize("name", cases)


@each("rucb", but="savage")  # that plays by rounds, whose costs are summed in another order
def test_play_is_the_loop_of_ask_and_tell(name):
    algorithm, params, _ = ALGORITHMS[name]
    duel_traces.assert_play_is_the_loop(algorithm, params)


@each("mean", "rucb", "klucb")
def test_other_numbers_compile_nothing(name, count_compilations):
    algorithm, params, others = ALGORITHMS[name]
    duel_traces.assert_other_numbers_compile_nothing(algorithm, params, others, count_compilations)


@pytest.mark.parametrize("name", ["uniform", "mean", "klucb"])
def test_bad_calls_are_named(name):
    algorithm, params, _ = ALGORITHMS[name]
    duel_traces.assert_bad_calls_raise(algorithm, params)


# Much here has the wrong type on purpose, so type checkers are told nothing of these.
BEST: Any = Best
SUP: Any = dueling.SupKlucb
WRONG: Any = SAVAGE

NO_PROBLEM: Any = np.full((4, 4), 0.5)

BAD = [
    *(
        (
            lambda kind=kind, least=least: kind(least - 1),
            f"num_arms: expected an integer of at least {least}",
        )
        for kind, least in (
            (dueling.InterleavedFilter, 2),
            (dueling.Rucb, 2),
            (dueling.SupKlucb, 3),
            (dueling.CopelandWinner, 2),
        )
    ),
    # Numbers of the algorithms.
    (lambda: FILTER.params(0), "horizon: expected an integer of at least 1"),
    (lambda: MEAN.params(10, 0.9), "gamma: expected a number in"),
    (lambda: RUCB.params(0), "alpha: expected a number in"),
    (lambda: RMED.params(slack=-1), "slack: expected a number in"),
    (lambda: SPARRING.params(rate=0), "rate: expected a number in"),
    (lambda: MERGE.params(alpha=0.5), "alpha: expected a number in"),
    (lambda: MERGE.params(delta=1.0), "delta: expected"),
    (lambda: dueling.MergeRucb(4, 1), "batch_size: expected an integer of at least 2"),
    (lambda: SUP(3, "smith"), "score: expected one of copeland, borda"),
    (lambda: KLUCB.params(c1=-1.0), "c1: expected a number in"),
    (lambda: WRONG.params(delta=0.0), "delta: expected"),
    (lambda: WRONG.params(max_width=-0.1), "max_width: expected"),
    (lambda: WRONG.params(key=3), "key: expected"),
    (lambda: dueling.Savage(3, BEST(3), dueling.Introspection()).params(), "key: expected"),
    (lambda: dueling.Savage(4, dueling.CopelandWinner(3)), "decision: .* about num_arms = 4"),
    (lambda: dueling.Introspection(simulations=0), "simulations: expected"),
    # Decisions.
    (lambda: NextBest(3, 3), "skipped: expected less than 3"),
    (lambda: dueling.CopelandWinner(3, -1), "max_defeats: expected"),
    (lambda: Counting(3, 0.6, 0.4), "(above|below): expected"),
    # Problems.
    (lambda: families.cyclic(2), "num_arms: expected"),
    (lambda: matrices.flat(3, 0.4), "probability: expected"),
    (lambda: families.plackett_luce([1.0, 0.0]), "weights: expected"),
    (lambda: families.thurstone([1.0, np.inf]), "means: expected"),
    (lambda: dueling.arms([0.5, 1.5], [1, 2]), "means: expected"),
    (lambda: dueling.arms([0.5, 0.6], [1, np.nan]), "utilities: expected"),
    (
        lambda: dueling.shuffled(jax.random.key(0), dueling.arms([0.1, 0.9], [0.1, 0.9])),
        "problem: expected a problem of duels, got a problem of arms",
    ),
    (
        lambda: dueling.run(RUCB, jax.random.key(0), NO_PROBLEM, 400, RUCB.params()),
        r"problem: expected a Problem, got a ndarray: dueling.duels\(matrix\) makes one",
    ),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_numbers_are_named(make, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        make()
