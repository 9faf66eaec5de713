"""Who may be the best of a leaderboard, and where does each system rank? honestboard beside ours.

    python bench/compared/board.py             two minutes; needs `pip install honestboard`

60 boards of 20 systems on 500 questions, right or wrong, by ability and difficulty
(`papers/studies/leaderboards.py`). Shown are how many systems may be the best, the share of boards
on which the best one is among them, how many ranks each system may have, and the share of boards on
which all ranks are right at once. honestboard is 0.6.1, with 1,000 draws.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from papers.studies.leaderboards import STEPS, SYSTEMS, at_all_looks, board, one_look

BOARDS, DRAWS = 60, 1000


def of_honestboard(scores):
    """Who may be best, and the least and the largest rank, [K] each."""
    import honestboard  # pyright: ignore[reportMissingImports]

    judged = honestboard.Board([str(number) for number in range(SYSTEMS)], scores)
    members = {*judged.confidence_set_best(B=DRAWS)["members"]}
    rows = sorted(judged.rank_summary(B=DRAWS), key=lambda row: int(row["name"]))
    low, high = (np.array([row[end] for row in rows]) for end in ("rank_lo", "rank_hi"))
    return np.array([row["name"] in members for row in rows]), np.floor(low), np.ceil(high)


METHODS = {"honestboard": of_honestboard, "rank --final": one_look, "rank, all looks": at_all_looks}


def main():
    """Print the table."""
    print(f"{'':36}may be best   best in   ranks   all right")
    for name, step in STEPS.items():
        for label, method in METHODS.items():
            found = []
            for number in range(BOARDS):
                scores, ability = board(number, step)
                may, low, high = method(scores)
                rank = 1 + (ability > ability[:, None]).sum(1)
                right = ((low <= rank) & (rank <= high)).all()
                found.append((may.sum(), may[ability.argmax()], (high - low + 1).mean(), right))
            size, best, ranks, right = np.mean(found, 0)
            print(f"{name:20}{label:16}{size:>11.2f}{best:>10.2f}{ranks:>8.2f}{right:>12.2f}")


if __name__ == "__main__":
    main()
