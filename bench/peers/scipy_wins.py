"""The final win matrix of one race by SciPy's Mann-Whitney U, all ordered pairs in one call."""

import numpy as np
from numpy.typing import NDArray
from scipy import stats


def total_wins(outcomes: NDArray[np.float32]) -> NDArray[np.float64]:
    """Half units [K, K] of numbers [K, n], as ``jaxrace.kernels.total_wins``.

    U counts a win 1 and a tie one half. The p-values come along: SciPy has no call without them.
    """
    first, second = np.broadcast_arrays(outcomes[:, None], outcomes[None, :])
    return 2 * stats.mannwhitneyu(first, second, axis=-1, method="asymptotic").statistic
