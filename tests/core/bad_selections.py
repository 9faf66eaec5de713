"""Bad arguments of top-k selection: what to call, and what the error says."""

from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import selection
from jaxrace.selection import NormalScores

KEY = jax.random.key(0)
SELECTOR = selection.Uniform(4, 1)
EVEN = jnp.full((4, 4), 0.5)
FIRST = SELECTOR.init(SELECTOR.params())
FOREIGN: Any = selection.PairwiseRace(4, 1).params()

# Much here has the wrong type on purpose, so type checkers are told nothing of these.
thurstone: Any = selection.thurstone
borda_top: Any = selection.borda_top
POCBAM, RANKING, RACE = selection.Pocbam, selection.ActiveRanking, selection.PairwiseRace
TOP, WRONG = selection.Top(4, 2), cast(Any, "wrong")


def run(compare, problem):
    return selection.run(SELECTOR, KEY, compare, problem, 24, SELECTOR.params(), 6)


def normal(means, deviations=1.0):
    return NormalScores(jnp.asarray(means, float), jnp.full((4, 4), deviations))


def tell(score, pair: Any = (0, 1)):
    return SELECTOR.tell(SELECTOR.init(SELECTOR.params()), pair, score, SELECTOR.params())


def tell_pairs(pairs, scores):
    state = SELECTOR.init(SELECTOR.params())
    return SELECTOR.tell_many(state, pairs, scores, SELECTOR.params())


def run_for(budget, **options):
    problem, params = thurstone(KEY, 4), SELECTOR.params()
    compare = selection.normal_score
    return selection.run(SELECTOR, KEY, compare, problem, budget, params, **options)


def tell_many(score):
    state = SELECTOR.init(SELECTOR.params())
    return SELECTOR.tell_many(state, [[0, 1]], [score], SELECTOR.params())


THREE = thurstone(KEY, 3)

BAD = {
    # Settings
    "all on top": (lambda: POCBAM(3, 3), "top: expected less than the 3 options, got 3"),
    "key of TOP": (lambda: selection.Top(3, 1).params(key=WRONG), "key: expected"),
    # Comparisons
    "selection, nan": (lambda: tell(np.nan), "score: expected a number .* got nan"),
    # Sizes of a run
    "selection, warm-up": (lambda: run_for(17), "budget: expected at least 18, the warm-up of Un"),
    "selection, interval": (
        lambda: run_for(42, interval=7),
        "interval: expected a divisor of the 24 comparisons",
    ),
    "selection, batch of interval": (
        lambda: run_for(42, interval=6, batch=4),
        "batch: expected a divisor of interval = 6",
    ),
    "selection, batch of TOP": (
        lambda: selection.run(TOP, KEY, selection.win, EVEN, 40, TOP.params(), 10, 2),
        "batch: expected 1, as Top chooses one by one",
    ),
    # Problems of another size
    "selection, fewer normal": (
        lambda: run(selection.normal_score, THREE),
        r"problem: expected shape \[4, 4\], got \[3, 3\]",
    ),
    "selection, more wins": (
        lambda: run(selection.win, jnp.full((5, 5), 0.5)),
        r"problem: expected shape \[4, 4\], got \[5, 5\]",
    ),
    # Problems that cannot be
    "selection, no preferences": (
        lambda: run(selection.win, EVEN.at[0, 1].set(0.75)),
        r"problem: expected p_ij \+ p_ji = 1, got 0.75 \+ 0.5 for 0 and 1",
    ),
    "selection, no probability": (
        lambda: run(selection.win, EVEN.at[1, 2].set(1.5)),
        "problem: expected probabilities, got 1.5 for 1 against 2",
    ),
    "selection, means": (
        lambda: run(selection.normal_score, normal(EVEN)),
        "problem: expected means mu_ij = -mu_ji, got 0.5 and 0.5 for 0 and 0",
    ),
    "selection, deviations": (
        lambda: run(selection.normal_score, normal(0 * EVEN, -1.0)),
        "problem: expected symmetric deviations without negative ones, got -1.0",
    ),
    "thurstone noise": (lambda: thurstone(KEY, 3, -0.1), r"noise: expected a number in \[0, inf"),
    "thurstone uniform": (
        lambda: thurstone(KEY, 3, uniform="sigma"),
        "uniform: expected one of variance, deviation, got 'sigma'",
    ),
    "too many rounds": (
        lambda: selection.PairwiseRace(3, 1).params(max_rounds=2**40),
        "max_rounds: expected at most 2147483647",
    ),
    "borda all": (lambda: borda_top(EVEN, 4), "top: expected less than the 4 options, got 4"),
    "selection, tell many scores": (
        lambda: tell_pairs([[0, 1]], 1.0),
        r"scores: expected one of each of the 1 pairs, \[1\], got \[\]",
    ),
    "selection, tell many lengths": (
        lambda: jax.jit(tell_pairs)(jnp.array([[0, 1], [1, 2]]), jnp.ones(1)),
        r"scores: expected one of each of the 2 pairs, \[2\], got \[1\]",
    ),
    **{
        f"selection, foreign params, {name}": (
            call,
            "params: expected a ScoreParams, got RaceParams",
        )
        for name, call in {
            "init": lambda: SELECTOR.init(FOREIGN),
            "tell": lambda: SELECTOR.tell(FIRST, [0, 1], 1.0, FOREIGN),
            "result": lambda: SELECTOR.result(FIRST, FOREIGN),
            "tell many": lambda: SELECTOR.tell_many(FIRST, [[0, 1]], [1.0], FOREIGN),
            "run": lambda: selection.run(SELECTOR, KEY, selection.win, EVEN, 24, FOREIGN, 6),
        }.items()
    },
    "selection, budget": (lambda: run_for(42.0), "budget: expected an integer of at least 1"),
    # Numbers that float32 does not have
    "selection, tell many": (lambda: tell_many(-1e30), r"score: expected a number .*, got -1e"),
    "selection, compare": (
        lambda: run(lambda key, problem, first, second: problem, jnp.float32(1e30)),
        "compare: expected finite scores",
    ),
    "recorded, square": (
        lambda: selection.recorded([0], [1], [1e30]),
        r"scores: expected two different options and a finite score .* 1e\+30 in row 1",
    ),
}
