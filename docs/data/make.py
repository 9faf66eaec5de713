"""Makes the tables of the examples in README.md: made-up numbers.

python docs/data/make.py [FOLDER]
"""

import csv
import itertools
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

# Mean score and number of runs.
_MODELS = {
    "baseline": (0.0, 30),
    "small": (0.3, 30),
    "medium": (0.9, 90),
    "large": (1.6, 90),
    "distilled": (1.4, 90),
    "pruned": (0.2, 45),
}
_ABILITIES = {"small": -0.5, "base": 0.0, "large": 1.0, "tuned": 1.9, "distilled": 0.4}
_PLAYERS = ("ann", "bob", "cy", "dan", "eve", "fay", "gus", "hal")


def scores() -> Iterable[list[Any]]:
    """A column for each model, a row for each run."""
    rng = np.random.default_rng(3)
    columns = [rng.normal(mean, 1, number) for mean, number in _MODELS.values()]
    yield [*_MODELS]
    for run in range(max(map(len, columns))):
        yield [f"{column[run]:.3f}" if run < len(column) else "" for column in columns]


def answers() -> Iterable[list[Any]]:
    """A column for each model, a row for each of 400 questions: right or wrong."""
    rng = np.random.default_rng(5)
    ability = np.array(list(_ABILITIES.values()))
    difficulty = rng.normal(0, 2.5, 400)
    chance = 1 / (1 + np.exp(difficulty[:, None] - ability))
    yield ["task", *_ABILITIES]
    for number, right in enumerate((rng.random(chance.shape) < chance).astype(int)):
        yield [f"q{number + 1}", *right.tolist()]


def games() -> Iterable[list[Any]]:
    """Four games of every two players."""
    rng = np.random.default_rng(7)
    skill = dict(zip(_PLAYERS, rng.normal(0, 1, len(_PLAYERS)), strict=True))
    yield ["first", "second", "score"]
    for _ in range(4):
        for first, second in itertools.combinations(_PLAYERS, 2):
            yield [first, second, f"{skill[first] - skill[second] + rng.normal():.2f}"]


def log() -> Iterable[list[Any]]:
    """Two steps each: heating pays above 0, cooling below, and the policy in use tosses a coin."""
    rng = np.random.default_rng(7)
    yield ["trajectory", "action", "probability", "reward", "temperature"]
    for trajectory in range(500):
        for _ in range(2):
            temperature, action = rng.normal(), int(rng.integers(2))
            mean = 7 if (temperature > 0) == (action == 1) else 2
            reward = np.clip(rng.normal(mean, 1.5), 0, 10)
            yield [trajectory, action, 0.5, f"{reward:.1f}", f"{temperature:.2f}"]


def main(folder: Path) -> None:
    """Write all four."""
    for rows in (scores, answers, games, log):
        with (folder / f"{rows.__name__}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent))
