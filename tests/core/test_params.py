"""Right answers of params and tables: numbers that would be infinite, 0 or 1 on a device."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from right_answers import check, params

from jaxrace import dueling, selection
from jaxrace.improvement import BOUNDS, lower_bound
from papers.duels import families
from papers.preference_racing.learners import label_ranking, tabular
from papers.savage import arms, questions

KEY = jax.random.key(0)
BEST = questions.Best(4)
MOST = ValueError(r"expected a number of at most 3\.4e\+38, got 1e\+39")
TOLD = ValueError("expected a number between 0 and 1 that float32 tells from both")

# Each with a number that is kept as a float32.
KEPT = [
    (dueling.Rucb(4), "alpha"),
    (dueling.DoubleThompson(4), "alpha"),
    (dueling.SupKlucb(4), "c1"),
    (dueling.SupKlucb(4), "c2"),
    (arms.Ucb1(4, BEST), "scale"),
    (arms.KlUcb(4, BEST), "scale"),
    (dueling.Savage(4, dueling.CopelandWinner(4)), "max_width"),
]

# Each with a probability that is kept as one.
CHANCES = [
    (arms.ActionElimination(4, BEST), "delta"),
    (selection.ActiveRanking(4, 1), "delta"),
    (selection.PairwiseRace(4, 1), "delta"),
    (selection.Pocbam(4, 1), "confidence"),
]


def _params(listed, value, right):
    for algorithm, name in listed:
        said = f"{type(algorithm).__name__}, {name} = {value}"
        yield said, lambda one=algorithm, name=name: one.params(**{name: value}), right


def cell(low, high, *observation):
    return int(tabular.Grid(low, high, 3).cell(jnp.array(observation)))


CASES = [
    *_params(KEPT, 1e39, MOST),
    *_params(CHANCES, 1e-50, TOLD),
    *_params(CHANCES, 1 - 1e-12, TOLD),
    ("a bound's delta of 1e-50", lambda: lower_bound(BOUNDS["t"], KEY, [0.1] * 5, 1e-50), TOLD),
    (
        "a gamma whose fourth power is infinite",
        lambda: dueling.BeatTheMean(4).params(gamma=1e10),
        ValueError(r"gamma: expected a number of at most 1e\+09, got 10000000000.0"),
    ),
    (
        "the largest gamma",
        lambda: math.isfinite(dueling.BeatTheMean(4).params(2**31, 1e9).level),
        True,
    ),
    ("10^400", lambda: dueling.Rucb(4).params(alpha=10**400), ValueError("alpha: expected a num")),
    ("pooled samples", lambda: selection.Pocbam(4, 1, pooled_samples=1e39), MOST),
    (
        "2^31 samples of each pair",
        lambda: selection.Pocbam(4, 1, warm_up=2**31),
        ValueError("warm_up: expected at most 2147483647, got 2147483648"),
    ),
    ("a scale of 1e39", lambda: families.thurstone(np.zeros(3), 1e39), MOST),
    # Cells of a table.
    ("a cell", lambda: cell((0.0,), (3.0,), 1.5), 1),
    (
        "a box of 1e39",
        lambda: cell((0.0,), (1e39,), 1.5),
        ValueError(r"high: expected numbers that a float32 holds, got 1e\+39"),
    ),
    (
        "a box of 1 beside 1e9",
        lambda: cell((1e9,), (1e9 + 1,), 1e9),
        ValueError("high: expected numbers above those of low .*, that float32 tells from them"),
    ),
    (
        "a box as wide as float32 is not",
        lambda: cell((-3e38,), (3e38,), 0.0),
        ValueError("high: expected numbers .*, at a finite distance, got"),
    ),
    (
        "an action of 1e39",
        lambda: tabular.GreedyTable(tabular.Grid((0.0,), (1.0,), 2), (0.0, 1e39)),
        ValueError(r"actions: expected numbers that a float32 holds, got 1e\+39"),
    ),
    (
        "ranked actions of 1e39",
        lambda: label_ranking.LabelRanking(1, (0.0, 1e39)),
        ValueError(r"actions: expected numbers that a float32 holds, got 1e\+39"),
    ),
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)
