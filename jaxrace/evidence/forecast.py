"""How many more runs it takes until there is evidence, if they go on as so far. P pairs."""

from collections.abc import Sequence

import numpy as np

from jaxrace.evidence.levels import FloatArray, log_sum
from jaxrace.evidence.process import Process

UNLIKELY = 100  # times what there is: what would take longer is not forecast


def forecast(
    process: Process, level: FloatArray, weights: Sequence[float], num_tasks: int | None
) -> FloatArray:
    """Further runs of both until there is evidence of ``level``, if they go on as so far: [P].

    ln E of a bet grows like the number n of runs, and in a list of N tasks, where bets grow, like
    n N / (N - n). inf if that of none grows, or all tasks of the list.
    """
    number, logs = process.common[:, None], np.log(weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = process.log_bets * (1 / number - (0 if num_tasks is None else 1 / num_tasks))
        total = np.where(rate > 0, (level[:, None] - logs) / rate, np.inf).min(1)  # by one bet
        least = np.zeros_like(total)
        for _ in range(20 * np.isfinite(total).any()):  # all together need fewer
            middle = np.where(np.isfinite(total), (least + total) / 2, total)
            does = ~(log_sum(logs + rate * middle[:, None]) < level)
            least, total = np.where(does, least, middle), np.where(does, middle, total)
    if num_tasks is not None:
        total = 1 / (1 / total + 1 / num_tasks)
    return np.ceil(np.maximum(total - process.common, 1))
