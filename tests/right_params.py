"""Right answers of params and tables: numbers that would be infinite, 0 or 1 on a device."""

import jax
import jax.numpy as jnp

from jaxrace import dueling, selection, tabular
from jaxrace.improvement import BOUNDS, lower_bound

KEY = jax.random.key(0)
BEST = dueling.Best(4)
MOST = ValueError(r"expected a number of at most 3\.4e\+38, got 1e\+39")
TOLD = ValueError("expected a number between 0 and 1 that float32 tells from both")

# Each with a number that is kept as a float32.
KEPT = [
    (dueling.Rucb(4), "alpha"),
    (dueling.DoubleThompson(4), "alpha"),
    (dueling.SupKlucb(4), "c1"),
    (dueling.SupKlucb(4), "c2"),
    (dueling.Ucb1(4, BEST), "scale"),
    (dueling.KlUcb(4, BEST), "scale"),
    (dueling.Savage(4, dueling.CopelandWinner(4)), "max_width"),
]

# Each with a probability that is kept as one.
CHANCES = [
    (dueling.ActionElimination(4, BEST), "delta"),
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
    ("a bound's delta of 1e-50", lambda: lower_bound(BOUNDS["t"], KEY, [0.1] * 5, 1e-50), TOLD),
    (
        "a gamma whose fourth power is infinite",
        lambda: dueling.BeatTheMean(4).params(gamma=1e10),
        ValueError(r"gamma: expected a number of at most 1e\+09, got 10000000000.0"),
    ),
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
]
