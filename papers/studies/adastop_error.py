"""How often AdaStop says of two agents that are equal that one is better.

Five normal scores of each, one look, the level that is stated and half of it. Its statistic is the
largest absolute difference, its threshold that of signed ones: `pip install adastop` (0.1.3).

    python -m papers.studies.adastop_error           2,000 comparisons, a minute
"""

import math

import numpy as np

NUMBER, RUNS = 2_000, 5


def error(level):
    """The share of comparisons with a difference, and its standard error."""
    import adastop  # pyright: ignore[reportMissingImports]

    rng, found = np.random.default_rng(0), 0
    for _ in range(NUMBER):
        comparator = adastop.MultipleAgentsComparator(n=RUNS, K=1, B=10_000, alpha=level)
        scores = {name: rng.normal(size=RUNS) for name in ("one", "other")}
        comparator.partial_compare(scores, verbose=False)
        found += comparator.decisions["[0 1]"] != "equal"
    share = found / NUMBER
    return share, math.sqrt(share * (1 - share) / NUMBER)


if __name__ == "__main__":
    for stated in (0.05, 0.025):
        print(stated, "{:.3f} ± {:.3f}".format(*error(stated)), flush=True)
