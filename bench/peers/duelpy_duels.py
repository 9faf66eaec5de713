"""duelpy 1.0.0's RUCB, SAVAGE and DTS on a hard Condorcet matrix; needs its own environment.

`python duelpy_duels.py ALGORITHM ARMS DUELS` says "ready" when it has made its warm-up duels. For
every line that it reads, a seed, it begins anew with the arms in another order, makes DUELS duels,
and answers with the arm that it recommends after them, 0 for the best, and its processor seconds.
"""

import sys
import time
from typing import Any

import numpy as np
from duelpy.algorithms.double_thompson_sampling import (  # pyright: ignore[reportMissingImports]
    DoubleThompsonSampling,
)
from duelpy.algorithms.relative_ucb import (  # pyright: ignore[reportMissingImports]
    RelativeUCB,
)
from duelpy.algorithms.savage import Savage  # pyright: ignore[reportMissingImports]
from duelpy.feedback import MatrixFeedback  # pyright: ignore[reportMissingImports]
from duelpy.stats import PreferenceEstimate  # pyright: ignore[reportMissingImports]
from duelpy.stats.confidence_radius import (  # pyright: ignore[reportMissingImports]
    HoeffdingConfidenceRadius,
)

HORIZON = 1_000_000


class SignedFeedback(MatrixFeedback):
    """RelativeUCB tests the outcome of a duel with `< 0`, which no boolean is."""

    def duel(self, arm_i_index: int, arm_j_index: int) -> int:
        """1 if the first arm wins, else -1."""
        return 1 if super().duel(arm_i_index, arm_j_index) else -1


class CorrectedSavage(Savage):
    """As shipped the union bound divides by what it should multiply with."""

    def __init__(self, feedback: Any, horizon: int) -> None:
        super().__init__(feedback, failure_probability=1 / horizon, time_horizon=horizon)
        arms = feedback.get_num_arms()
        events = arms * (arms - 1) * horizon  # 2 N T
        radius = HoeffdingConfidenceRadius(1 / horizon, lambda samples: events)
        self.preference_estimate = PreferenceEstimate(arms, radius)

    def step(self) -> None:
        """One duel."""
        self.explore()


def make(name: str, order: np.ndarray, seed: int) -> Any:
    """An algorithm with a method ``step`` that makes a duel; its arm i is arm ``order[i]``."""
    arms = len(order)
    matrix = np.full((arms, arms), 0.5)
    for i in range(arms):
        matrix[i, i + 1 :] = 0.5 + np.arange(i + 2, arms + 1) / (2 * arms)
        matrix[i + 1 :, i] = 1 - matrix[i, i + 1 :]
    matrix = matrix[order][:, order]
    kind = SignedFeedback if name == "rucb" else MatrixFeedback
    feedback = kind(matrix, random_state=np.random.RandomState(2 * seed))
    if name == "savage":
        return CorrectedSavage(feedback, HORIZON)
    algorithm = {"rucb": RelativeUCB, "dts": DoubleThompsonSampling}[name]
    return algorithm(
        feedback, time_horizon=HORIZON, random_state=np.random.RandomState(2 * seed + 1)
    )


def play(name: str, arms: int, duels: int, seed: int) -> int:
    """The arm that beats most others by the estimates after so many duels; ties by chance."""
    order = np.random.RandomState(seed).permutation(arms)
    algorithm = make(name, order, seed)
    for _ in range(duels):
        algorithm.step()
    winners = algorithm.preference_estimate.get_mean_estimate_matrix().get_copeland_winners()
    return int(order[np.random.RandomState(seed).choice(sorted(winners))])


def main() -> None:
    """See above."""
    name, arms, duels = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    play(name, arms, 20, 0)
    print("ready", flush=True)
    for line in sys.stdin:
        started = time.process_time()
        arm = play(name, arms, duels, int(line))
        print(arm, time.process_time() - started, flush=True)


if __name__ == "__main__":
    main()
