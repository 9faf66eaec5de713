"""How often is a tier, a rank or a tie wrong? Theorems: docs/theory/tiers.md.

Pairs of options that are equally good, or apart by just the tolerance, far from all others, so that
errors are as likely as can be: then every pair is a boundary that may be wrong. Of equal ones the
first counts as the better one. Tables are looked at eight times, and are wrong if any look is.
Broken controls show that errors would be seen. Axes: M tables, K options, T tasks.

    python -m papers.audits.boards           the full audit, 20,000 tables per line, in Markdown
    python -m papers.audits.boards 2000      a smaller one
"""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jaxrace.evidence import decision
from jaxrace.evidence.blocks import BlockPairs, block_values, independent_bets
from jaxrace.evidence.boundaries import board_levels, board_of
from jaxrace.evidence.levels import By, IntArray, Levels
from jaxrace.evidence.process import Pairs
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs
from papers.audits import reckoning

DELTA, FULL_SIZE, LOOKS = 0.05, 20_000, 8
_BATCH = 50  # tables at once
Draw = Callable[[np.random.Generator, int], np.ndarray]  # (rng, T) -> scores in [0, 1], [K, T]


@dataclasses.dataclass(frozen=True)
class Line:
    """Options whose true order is that of their numbers, with ties."""

    name: str
    draw: Draw
    num_tasks: int
    by: By = "mean"
    kind: str = "stream"  # or list, or independent
    tolerance: float = 0.0
    claim: str = "tiers"  # or ranks, ties
    equal: int = 2  # so many neighbours are equally good
    level: float | None = None  # of a control

    def errors(self, rng: np.random.Generator, tables: int) -> int:
        """Of so many tables those of which anything is wrong that is said, at any look."""
        drawn = [self.draw(rng, self.num_tasks) for _ in range(tables)]
        if self.kind == "list":
            drawn = [scores[:, rng.permutation(self.num_tasks)] for scores in drawn]
        scores = np.stack(drawn)
        level = board_levels(self.by, scores.shape[1], DELTA)
        if self.level is not None:
            level = level._replace(verdict=self.level, strong=self.level)
        wrong = np.zeros(tables, bool)
        for end in np.linspace(0, self.num_tasks, LOOKS + 1)[1:].astype(int):
            wrong |= self._wrong(scores[..., :end], level)
        return int(wrong.sum())

    def _wrong(self, scores: np.ndarray, level: Levels) -> np.ndarray:
        """Of tables [M, K, T] those that are wrong: bool [M]."""
        tables, number, _ = scores.shape
        null = -self.tolerance * (1 if self.by == "mean" else 2)
        others = np.kron(np.eye(tables), ~np.eye(number, dtype=bool)).astype(bool)
        first, second = np.nonzero(others)
        pairs = self._pairs(scores.reshape(tables * number, -1), level.verdict)
        group = np.arange(number) // self.equal
        highest, mean, near = np.full((3, tables, number, number), -np.inf)
        at = first // number, first % number, second % number
        found = pairs.process(first, second)
        highest[at], mean[at] = found.highest, found.mean
        if self.claim == "ties":
            near[at] = pairs.process(first, second, null).highest
            is_near = (near >= level.strong) & (mean >= null)
            tied = is_near & is_near.swapaxes(1, 2)
            return (tied & np.not_equal.outer(group, group)).any((1, 2))
        wrong = np.zeros(tables, bool)
        for table in range(tables):
            seen = decision.seen_of(highest[table], mean[table], level.verdict, level.strong)
            if self.claim == "ranks":  # of equal ones both orders are right
                wrong[table] = (seen.strong & np.greater.outer(group, group)).any()
                continue
            board = board_of(seen.over, seen.strong, np.where(np.eye(number), 0, mean[table]))
            # A beginning of the list has no option in it that is better outside.
            wrong[table] = any(board.ranking[:end].max() >= end for end in board.ends)
        return wrong

    def _pairs(self, scores: np.ndarray, level: float) -> Pairs:
        num_tasks = self.num_tasks if self.kind == "list" else None
        if self.kind != "independent":
            return SharedPairs(scores[..., None], self.by, shared_bets(level, num_tasks), num_tasks)
        sign = np.sign if self.by == "wins" else np.asarray

        def differences(first: IntArray, second: IntArray, start: IntArray, size: int) -> Any:
            return sign(np.subtract(*block_values(scores, first, second, start, size)))

        counts = np.full(len(scores), scores.shape[1])
        return BlockPairs(differences, counts, independent_bets(level, 300), 5, 5)


def _pairs_of_coins(rng: np.random.Generator, num_tasks: int) -> np.ndarray:
    """Three pairs, far from each other."""
    chances = np.repeat([0.95, 0.5, 0.05], 2)[:, None]
    return (rng.random((6, num_tasks)) < chances).astype(float)


def _halves(rng: np.random.Generator, num_tasks: int) -> np.ndarray:
    """The same on a list, exactly: of two one is right where the other is wrong, or both."""
    scores = np.zeros((6, num_tasks))
    scores[:2], scores[4:] = 1, 0
    half = num_tasks // 2
    scores[3, :half], scores[2, half:] = 1, 1
    for row, value in ((0, 0), (1, 0), (4, 1), (5, 1)):  # each once, on tasks of their own
        scores[row, rng.permutation(num_tasks)[: num_tasks // 20]] = value
    return scores


def _unlike(rng: np.random.Generator, num_tasks: int) -> np.ndarray:
    """Two of mean .8 and two of mean .2: a constant, and 0 or 1."""
    constant = np.broadcast_to(np.array([0.8, 0.2])[:, None], (2, num_tasks))
    coins = (rng.random((2, num_tasks)) < np.array([[0.8], [0.2]])).astype(float)
    return np.stack([coins[0], constant[0], coins[1], constant[1]])


def _apart(rng: np.random.Generator, num_tasks: int) -> np.ndarray:
    """Three pairs, far from each other, whose second is worse by .1."""
    chances = np.array([0.95, 0.85, 0.55, 0.45, 0.15, 0.05])[:, None]
    return (rng.random((6, num_tasks)) < chances).astype(float)


def _cycles(rng: np.random.Generator, num_tasks: int) -> np.ndarray:
    """Two rings of three: each beats the next, so that nothing but {first three} is a beginning.

    On a task the ring's scores are turned: of two neighbours one wins on 2/3 minus a little.
    """
    turn = rng.integers(0, 3, num_tasks)
    ring = (np.arange(3)[:, None] + turn) % 3 / 10
    tie = rng.random(num_tasks) < 0.9  # where all of a ring are equal
    ring = np.where(tie, 0.1, ring)
    return np.concatenate([0.6 + ring, ring])


LINES = (
    Line("three pairs of equal coins", _pairs_of_coins, 400),
    Line("the same, independent runs", _pairs_of_coins, 150, kind="independent"),
    Line("the same by wins", _pairs_of_coins, 400, by="wins"),
    Line("the same by wins, independent runs", _pairs_of_coins, 150, "wins", "independent"),
    Line("three pairs on a sorted list", _halves, 200, kind="list"),
    Line("equal means of unlike laws", _unlike, 400),
    Line("two rings, by wins", _cycles, 400, by="wins", equal=3),
    Line("three pairs, the second worse by .1", _apart, 400, claim="ranks", equal=1),
    Line("three pairs of equal coins", _pairs_of_coins, 400, claim="ranks", equal=1),
    Line("apart by just the tolerance", _apart, 3_000, tolerance=0.1, claim="ties", equal=1),
)
CONTROLS = (
    Line("control: a level of 2 delta each", _pairs_of_coins, 400, level=np.log(0.5 / DELTA)),
    Line("control: a sorted list, not drawn", _halves, 200),
    Line(
        "control: a tolerance that is more than the gap",
        *(_apart, 3_000),
        tolerance=0.15,
        claim="ties",
        equal=1,
    ),
)


def audit(tables: int, lines: tuple[Line, ...] = LINES) -> Iterator[reckoning.Finding]:
    """How often each line errs."""
    for number, line in enumerate(lines):
        sizes = [min(_BATCH, tables - start) for start in range(0, tables, _BATCH)]
        rngs = np.random.default_rng([7, number]).spawn(len(sizes))
        errors = sum(map(line.errors, rngs, sizes))
        claim = f"{line.claim}, {line.by}, {line.kind}"
        yield reckoning.Finding(line.name, claim, DELTA, DELTA, errors, tables)


if __name__ == "__main__":
    asked = reckoning.races_asked_for(__doc__ or "", FULL_SIZE)
    found = [*reckoning.told(audit(asked)), *reckoning.told(audit(min(asked, 2_000), CONTROLS))]
    print(reckoning.markdown_table(found, "What is said"))
