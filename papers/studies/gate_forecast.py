"""How good is a gate's forecast? What it took, over what was forecast, as quartiles.

Candidates right or wrong on half of the tasks alike, on a quarter by .06 more often, or as often.

    python -m papers.studies.gate_forecast          400 tables a line, half a minute
"""

import math

import numpy as np

from jaxrace.evidence.levels import FloatArray
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.judging.claims import certain_of, forecast

DELTA, TABLES, TASKS, STEP = 0.05, 400, 2_000, 50
LOOKS = 100, 200
# By name: the gap, the margin, and the length of the list.
KINDS = {
    "stream, gap .06": (0.06, 0.0, None),
    "list of 2,000, gap .06": (0.06, 0.0, TASKS),
    "stream, equal, margin .06": (0.0, 0.06, None),
}


def differences(gap: float, of: int | None, rng: np.random.Generator) -> FloatArray:
    """Of right and wrong answers: [tables, tasks]."""
    more, less = (0.25 + gap) / 2, (0.25 - gap) / 2
    if of is None:
        drawn = rng.random((TABLES, TASKS))
        return np.select([drawn < more, drawn < more + less], [1.0, -1.0], 0.0)
    whole = np.zeros(of)
    whole[: round(more * of)], whole[-round(less * of) :] = 1, -1
    return rng.permuted(np.tile(whole, (TABLES, 1)), axis=1)


def ratios(gap: float, margin: float, of: int | None) -> list[FloatArray]:
    """What it took over what was forecast, of those without a verdict at each of LOOKS."""
    d = differences(gap, of, np.random.default_rng(0))
    level, first = -np.log(np.full((2, TABLES), DELTA)), np.arange(TABLES)
    second = first + TABLES
    ended, told = np.full(TABLES, np.inf), {}
    for seen in range(STEP, TASKS + 1, STEP):
        values = np.concatenate([d[:, :seen], 0 * d[:, :seen]])[..., None]
        pairs = SharedPairs(values, "mean", shared_bets(math.log(3 / DELTA), of), of)
        found = certain_of(pairs, first, second, margin, level)
        ended = np.where(found.claims.any(0), np.minimum(ended, seen - STEP / 2), ended)
        if seen in LOOKS:
            each = zip(found.processes, found.levels, strict=True)
            ahead = [forecast(x, y, pairs.bets.weights, of) for x, y in each]
            told[seen] = np.min(ahead, 0)
    return [((ended - seen) / more)[ended > seen] for seen, more in told.items()]


if __name__ == "__main__":
    for name, kind in KINDS.items():
        for look, found in zip(LOOKS, ratios(*kind), strict=True):
            low, middle, high = np.quantile(found, [0.25, 0.5, 0.75]).round(2)
            print(f"{name}, after {look}: {middle} ({low} to {high}) of {len(found)}")
