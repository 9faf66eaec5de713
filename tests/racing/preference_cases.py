"""What tests of races by preference share: preferences, and samples of options."""

import numpy as np
from reference import reference_relations

from jaxrace.kernels import pareto, total_order


def dominance(a, b):
    """Pareto order of vectors."""
    return pareto(*(total_order(a[c], b[c]) for c in range(a.shape[-1])))


def draw_samples(kind, seed, number, num_options, num_rounds):
    """Samples float32 [number, K, n, ...] of options between equal and far apart."""
    rng = np.random.default_rng(seed)
    spread = rng.choice([0.0, 0.7, 2.0, 6.0], (number, 1, 1))
    means = spread * rng.random((number, num_options, 1))
    means[::4] = np.round(means[::4])  # exactly equal options
    means[1::3] += 3 * np.arange(num_options)[:, None]  # races that end soon
    noise = rng.normal(size=(number, num_options, num_rounds))
    if kind == "numbers":
        return (means + noise).astype(np.float32)
    first = np.round(means + noise).astype(np.float32)
    if kind == "ties":
        return first
    other = np.round(0.5 * means + rng.normal(size=first.shape)).astype(np.float32)
    return np.stack([first, other], -1)


COMPARE = {"numbers": total_order, "ties": total_order, "pareto": dominance}
PREFER = {
    "numbers": reference_relations.larger,
    "ties": reference_relations.larger,
    "pareto": reference_relations.dominates,
}
