"""How good the forecasts of `DominanceResult.further_samples` are.

    python docs/figures/further_samples.py [PAIRS]

Prints, of pairs of normal options that are in doubt after some samples, quantiles of the forecast
over what it then took until a verdict, at a horizon of 3,000 samples.
"""

import bisect
import sys

import numpy as np

from jaxrace.kernels import total_order
from jaxrace.racing import DominanceRace, judge

_HORIZON = 3_000

# Gaps in standard deviations, and samples after which to look.
_CASES = ((0.3, 100), (0.5, 50), (0.8, 25))

_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def ratios(gap: float, number: int, pairs: int) -> list[float]:
    """Of the pairs in doubt, the forecast over what it took."""
    race = DominanceRace(2, 1, _HORIZON, total_order)
    params = race.params(delta=0.05)
    found = []
    for seed in range(pairs):
        samples = np.random.default_rng(seed).normal([[gap], [0]], 1, (2, _HORIZON))

        def is_decided(count: int, samples: np.ndarray = samples) -> bool:
            return bool(judge(race, [*samples[:, :count]], params).decided)

        if is_decided(number):
            continue
        forecast = judge(race, [*samples[:, :number]], params).further_samples.max()
        counts = range(number, _HORIZON)
        needed = bisect.bisect(counts, False, key=is_decided)  # a verdict stays
        found.append(forecast / needed)
    return found


def main() -> None:
    """Print the quantiles of all cases."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for gap, number in _CASES:
        found = ratios(gap, number, pairs)
        quantiles = ", ".join(f"{x:.2f}" for x in np.quantile(found, _QUANTILES))
        print(f"gap {gap}: {len(found)} of {pairs} in doubt after {number}; {quantiles}")


if __name__ == "__main__":
    main()
