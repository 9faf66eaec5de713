"""How often are equal options told apart on groups of tasks? Proofs: docs/theory/groups.md.

Two options of the same macro mean differ on each group, which makes a table in the order of its
groups no stream, and no list in an order by lot. Counted are the tables whose evidence of "the
first is better" ever reaches 1 / delta. Controls read the same tables in the order of their file,
or take the questions of a cluster for tasks: they must be wrong more often.

    python -m papers.audits.groups           20,000 tables per line, in Markdown
    python -m papers.audits.groups 2000      fewer
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator

import numpy as np

from jaxrace.evidence.groups import GroupPairs, groups_of_list, groups_of_stream
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.runs import tables
from papers.audits import reckoning

DELTA, FULL_SIZE, OF_POWER = 0.05, 20_000, 2_000
LEVEL = math.log(1 / DELTA)
SIZES = np.random.default_rng(0).integers(30, 300, 20)  # of twenty groups
SUBJECTS = np.random.default_rng(1).integers(20, 120, 57)
GAPS = (0.04, 0.08)
SPREAD = 0.15  # standard deviation of the differences of groups
PASSAGES, QUESTIONS = 300, 5


def differences(rng: np.random.Generator, sizes: np.ndarray, gap: float) -> list[np.ndarray]:
    """Of each group the differences of two options on its tasks; their macro mean is the gap."""
    means = rng.normal(0, SPREAD, len(sizes))
    means += gap - means.mean()
    found = []
    for size, mean in zip(sizes, means, strict=True):
        own = rng.choice([-1.0, 0.0, 1.0], size, p=[0.2, 0.6, 0.2])
        found.append(np.clip(own + mean - own.mean(), -1, 1))
    off = np.mean([x.mean() for x in found]) - gap  # what was cut off
    return [np.clip(x - off, -1, 1) for x in found]


def by_lot(
    found: list[np.ndarray], weights: np.ndarray, seed: int, *, are_lists: bool, in_order: bool
) -> GroupPairs:
    """The pairs of an option and one that always scores 0, in an order by lot, or of the file."""
    names = [f"{number:02}" for number in range(len(found))]
    sizes = dict(zip(names, map(len, found), strict=True))
    weight = dict(zip(names, weights.tolist(), strict=True))
    if in_order:
        drawn = [name for name in names for _ in range(sizes[name])]
    elif are_lists:
        drawn = groups_of_list(weight, sizes, seed)
    else:
        drawn = groups_of_stream(weight, sizes, seed)
    group = np.array(drawn, int)
    own = np.full(len(group), np.nan)
    for number, of_group in enumerate(found):
        at = np.flatnonzero(group == number)[: len(of_group)]
        own[at] = of_group[: len(at)]
    counts = np.array([*sizes.values()])
    tasks = 1 / (weights**2 / counts).sum() if are_lists else None
    return GroupPairs(
        values=np.stack([own, np.zeros(len(own))])[..., None],
        by="mean",
        bets=shared_bets(LEVEL, tasks),
        num_tasks=int(counts.sum()) if are_lists else None,
        group=group,
        weights=weights,
        sizes=counts if are_lists else None,
    )


def is_told_apart(pairs: SharedPairs, null: float) -> bool:
    """Has "the first over the second" ever reached the level?"""
    return bool(pairs.process(np.array([0]), np.array([1]), null).highest[0] >= LEVEL)


@dataclasses.dataclass(frozen=True)
class Line:
    """Tables of one kind, read in one way."""

    name: str
    sizes: np.ndarray
    by_size: bool = False
    are_lists: bool = True
    in_order: bool = False

    def wrong(self, seed: int) -> bool:
        """Is one of two equal options better, in the table of this seed?"""
        rng = np.random.default_rng(seed)
        weights = self.sizes / self.sizes.sum() if self.by_size else np.ones(len(self.sizes))
        weights = weights / weights.sum()
        lists = found = differences(rng, self.sizes, 0.0)
        if not self.are_lists:  # the tasks are draws from these
            found = [rng.choice(of_group, len(of_group)) for of_group in lists]
        null = float(sum(w * x.mean() for w, x in zip(weights, lists, strict=True)))
        settings = {"are_lists": self.are_lists, "in_order": self.in_order}
        pairs = by_lot(found, weights, seed, **settings)
        pairs.values[:, -1] = np.nan  # once all is known, nothing is wrong any more
        return is_told_apart(pairs, null)


def of_passages(seed: int, *, are_clusters: bool) -> bool:
    """Is one of two equal options better on a stream of passages, of some questions each?

    On a passage the same option is better in all its questions but for a third of them.
    """
    rng = np.random.default_rng(seed)
    side = rng.choice([-1.0, 1.0], (PASSAGES, 1))
    own = rng.choice([-1.0, 1.0], (PASSAGES, QUESTIONS))
    scores = np.where(rng.random(own.shape) < 1 / 3, own, side)
    tasks = scores.mean(1) if are_clusters else scores.ravel()
    values = np.stack([tasks, np.zeros(len(tasks))])[..., None]
    return is_told_apart(SharedPairs(values, "mean", shared_bets(LEVEL)), 0.0)


LINES: dict[str, Callable[[int], bool]] = {
    line.name: line.wrong
    for line in (
        Line("20 lists of 30 to 300, each counts the same, by lot", SIZES),
        Line("the same, all tasks count the same", SIZES, by_size=True),
        Line("20 streams, each counts the same, by lot", SIZES, are_lists=False),
        Line("57 lists of 20 to 120, each counts the same, by lot", SUBJECTS),
        Line("57 streams, each counts the same, by lot", SUBJECTS, are_lists=False),
    )
} | {"300 passages of 5 questions": functools.partial(of_passages, are_clusters=True)}

CONTROLS: dict[str, Callable[[int], bool]] = {
    line.name: line.wrong
    for line in (
        Line("control: 20 lists in the order of the file", SIZES, in_order=True),
        Line("control: 57 lists in the order of the file", SUBJECTS, in_order=True),
        Line("control: 57 streams, the same", SUBJECTS, are_lists=False, in_order=True),
    )
} | {"control: 1,500 questions, pooled": functools.partial(of_passages, are_clusters=False)}


def audit(
    number: int = FULL_SIZE, lines: dict[str, Callable[[int], bool]] = LINES
) -> Iterator[reckoning.Finding]:
    """Count the tables in which equal options are told apart, which are allowed delta."""
    for name, wrong in lines.items():
        errors = sum(map(wrong, range(number)))
        yield reckoning.Finding(name, "mean", DELTA, DELTA, errors, number)


def control(number: int = FULL_SIZE) -> Iterator[reckoning.Finding]:
    """The same of readings that are known to be wrong."""
    return audit(min(number, 2_000), CONTROLS)


def tasks_needed(gap: float, seed: int) -> int:
    """Tasks of the lists until a gap is certain."""
    weights = np.full(len(SIZES), 1 / len(SIZES))
    found = differences(np.random.default_rng(seed), SIZES, gap)
    pairs = by_lot(found, weights, seed, are_lists=True, in_order=False)
    low, high = 0, len(pairs.group)
    while high - low > 1:  # evidence is a running maximum
        middle = (low + high) // 2
        values = pairs.values.copy()
        values[:, middle:] = np.nan
        if is_told_apart(dataclasses.replace(pairs, values=values), 0.0):
            high = middle
        else:
            low = middle
    return high


def power(number: int = OF_POWER) -> str:
    """A table of the tasks that gaps need."""
    rows = []
    for gap in GAPS:
        needed = np.array([tasks_needed(gap, seed) for seed in range(number)])
        error = needed.std() / math.sqrt(number)
        rows.append((f"{gap:g}", f"{needed.mean():,.0f} \N{PLUS-MINUS SIGN} {error:.0f}"))
    return tables.markdown_table(("Gap", f"tasks of {SIZES.sum():,}"), rows)


def tasks_that_count(number: int) -> tuple[float, float]:
    """Of streams that count the same: tasks until one has none left, and the standard error."""
    names = [f"{number:02}" for number in range(len(SIZES))]
    sizes, weights = dict(zip(names, SIZES.tolist(), strict=True)), dict.fromkeys(names, 0.05)
    found = []
    for seed in range(number):
        left = dict(sizes)
        for step, group in enumerate(groups_of_stream(weights, sizes, seed)):
            if not left[group]:
                found.append(step)
                break
            left[group] -= 1
    return float(np.mean(found)), float(np.std(found)) / math.sqrt(number)


if __name__ == "__main__":
    asked_for = reckoning.races_asked_for("Audit groups of tasks.", FULL_SIZE)
    found = [*reckoning.told(audit(asked_for)), *reckoning.told(control(asked_for))]
    print(reckoning.markdown_table(found, "Reading"))
    print(power(min(asked_for, OF_POWER)))
    print("Tasks of streams that count: {:.0f}, {:.0f}".format(*tasks_that_count(400)))
