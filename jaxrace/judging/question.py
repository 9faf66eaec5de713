"""What is asked of a table, and the comparisons that answer it. Axes: K options."""

import dataclasses
import functools
import math
import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from jaxrace.core.inputs import require_direction, require_truth
from jaxrace.core.validation import (
    BadArgument,
    require_choice,
    require_function,
    require_integer,
    require_number,
    require_probability,
)
from jaxrace.evidence.blocks import BlockPairs, block_values, independent_bets
from jaxrace.evidence.boundaries import board_levels
from jaxrace.evidence.groups import in_groups
from jaxrace.evidence.levels import By, Gaps, Levels, levels, require_scale
from jaxrace.evidence.process import FloatArray, IntArray, Pairs
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.judging import scores
from jaxrace.judging.in_memory import wrong
from jaxrace.tables.heads import names_smaller
from jaxrace.tables.table import quoted

FIRST_BLOCK, BLOCK = 5, 5  # independent runs in the first block, and in every other one
TUNED_CANDIDATES = 3  # of a gate, that its bets are tuned for
HORIZON = 300  # independent runs of an option that the bets are tuned for
_OF_SHARED = {"of": None, "order_by_lot": None, "gaps": "lost", "weights": None}
_MOST_MARKS = 5  # as 0, .25, .5, .75 and 1; of more a win is an event of its own
_MOST_KEPT = 2**20  # signs of a preference

Compare = Callable[[Any, Any], int]
Kind = Literal["top", "rank", "gate"]
Weights = str | os.PathLike[str] | Mapping[str, float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of a table, checked: the arguments that all front doors have.

    The best kappa, the whole list (``rank``), or each against a baseline (``gate``).
    """

    kind: Kind = "top"

    top: int = 1
    delta: float = 0.05
    by: By = "wins"
    low: float | None = None
    high: float | None = None
    shared: bool = False
    of: int | None = None
    tolerance: float = 0.0
    smaller: bool = False
    larger: bool = False
    compare: Compare | None = None
    horizon: int = HORIZON
    gaps: Gaps = "lost"
    order_by_lot: int | None = None
    weights: Weights | None = None
    seed: int = 0
    of_groups: dict[str, int] | None = None  # of the tasks of the list, how many in each group
    of_items: dict[str, str] | None = None  # or the group of each by name
    final: bool = False

    def __post_init__(self) -> None:
        require_integer("top", self.top, 1)
        require_probability("delta", self.delta)
        require_choice("by", self.by, ("wins", "mean"))
        require_integer("horizon", self.horizon, FIRST_BLOCK, most=2**53)
        require_choice("gaps", self.gaps, ("lost", "skip"))
        require_scale(self.by, self.low, self.high)
        most = self.width if self.by == "mean" else 0.5
        require_number("tolerance", self.tolerance, least=0, below=most)
        require_truth("shared", self.shared)
        require_direction(self.smaller, self.larger)
        for name, unset in _OF_SHARED.items():
            if getattr(self, name) != unset and not self.shared:
                says = ": shared=True (--shared) says that all options ran on the same tasks; "
                hint = says + scores.NUMBERED_ALIKE
                raise BadArgument(name, "shared tasks", "independent runs", hint)
        require_integer("seed", self.seed, 0)
        if self.weights is None:
            if self.seed or self.of_groups or self.of_items:
                name = "seed" if self.seed else "of"
                raise BadArgument(name, "weights of groups of tasks (--weights)", "none")
        elif self.gaps != "lost" and self.of is not None:
            hint = ": all of its tasks are asked about"
            raise BadArgument("gaps", "'lost' of a list of groups", "'skip'", hint)
        if self.order_by_lot is not None:
            require_integer("order_by_lot", self.order_by_lot, 0)
            if self.of is not None:
                hint = (
                    ": a lot must choose which tasks of a list are run; once all are run, their "
                    "order does not matter"
                )
                raise BadArgument("order_by_lot", "no of=N beside it", "both", hint)
        require_truth("final", self.final)
        if self.final and self.tolerance and self.kind != "gate":
            raise BadArgument("final", "no tolerance beside it", f"{self.tolerance:g}")
        if self.final and self.compare is not None and not self.shared:
            raise BadArgument("final", "scores that are numbers", "compare")
        if self.compare is not None:
            require_function("compare", self.compare)
            if self.by == "mean" or self.smaller or self.larger:
                raise BadArgument("compare", "a race by wins, neither smaller nor larger", "one")

    @property
    def is_complete(self) -> bool:
        """Are groups looked at once, with all of the tasks that there will be?"""
        return self.final and self.weights is not None

    @property
    def width(self) -> float:
        """Of the range of scores, by mean."""
        assert self.low is not None
        assert self.high is not None
        return self.high - self.low

    @property
    def null(self) -> float:
        """mu: "i over j" is rejected if the mean of the differences, in [-1, 1], is above it."""
        if not self.tolerance:
            return 0.0
        return -(self.tolerance / self.width if self.by == "mean" else 2 * self.tolerance)

    def better(self, table: scores.ScoreTable) -> str:
        """Which scores are better, in a word; ValueError if only their names say so."""
        if self.compare is not None:
            return "preferred"
        if self.smaller or self.larger:
            return "smaller" if self.smaller else "larger"
        if not table.smaller and table.measures and names_smaller(*table.measures):
            hint = (
                "--smaller (smaller=True) says that they are, --larger (larger=True) that larger "
                "ones are"
            )
            got = f"scores called {quoted(table.measures)}"
            raise wrong("to be told whether smaller scores are better", got, hint)
        return "smaller" if table.smaller else "larger"

    def marks_of(self, table: scores.ScoreTable) -> FloatArray:
        """The different marks, wrong to right, if win probabilities of such are asked about, or [].

        Of two they differ by half of what accuracies do. Of a few from 0 to 1, or 100, they say how
        often an option is better, not by how much.
        """
        if self.by == "mean" or self.compare is not None:
            return np.zeros(0)
        kinds = np.unique(np.concatenate([*map(np.ravel, table.values)]).astype(float))
        kinds = kinds[~np.isnan(kinds)]
        are_partial = len(kinds) <= _MOST_MARKS and [*kinds[:1], *kinds[-1:]] in ([0, 1], [0, 100])
        return kinds if len(kinds) == 2 or are_partial else np.zeros(0)  # as 0 and 1; or 0, .5, 1

    def levels(self, num_options: int) -> Levels:
        """The log e-values that statements need."""
        if self.kind == "rank":
            return board_levels(self.by, num_options, self.delta)
        if self.kind == "gate":  # bets do not depend on how many candidates come
            return Levels(*(math.log(TUNED_CANDIDATES / self.delta),) * 3)
        is_tolerant = self.tolerance > 0
        return levels(self.by, num_options, self.top, self.delta, has_tolerance=is_tolerant)

    @property
    def kind_of_runs(self) -> str:
        """In words."""
        if self.of is not None:
            return f"all {self.of:,} shared"
        return "shared" if self.shared else "independent"

    def scores_of(
        self, table: scores.ScoreTable, mean: FloatArray, low: FloatArray, high: FloatArray
    ) -> FloatArray:
        """Means of compared scores, and the ends of their intervals, as people say them: [3, K]."""
        if self.by == "wins":
            return (1 + np.stack([mean, low, high])) / 2
        assert self.low is not None
        if self.better(table) == "smaller":  # they are compared with their signs changed
            mean, low, high = -mean, -high, -low
        return self.low + self.width * np.stack([mean, low, high])

    def effect(self, mean: FloatArray) -> FloatArray:
        """A mean of differences in words' units: a win probability, or a difference of scores."""
        # By mean: which one is smaller counts, but a difference has the sign that people expect.
        return (1 + mean) / 2 if self.by == "wins" else mean * self.width


def question_of_shared(**told: Any) -> Question:
    """A question about shared tasks if any of its settings is theirs alone, or else as told."""
    is_theirs = any(told.get(name, unset) != unset for name, unset in _OF_SHARED.items())
    if is_theirs and told.get("shared", False) is False:
        told["shared"] = True
    return Question(**told)


def compared(question: Question, table: scores.ScoreTable) -> tuple[list[np.ndarray], Pairs]:
    """The scores as they are compared, larger is better, and the pairs of options."""
    compare = None
    if question.compare is not None:
        columns, compare = _as_codes(table.values, question.compare)
    elif question.by == "mean":
        assert question.low is not None
        assert question.high is not None
        columns = scores.scaled(table, question.low, question.high)
    else:
        columns = scores.ranks(table.values)
    if question.better(table) == "smaller":
        columns = [-column for column in columns]
    level = question.levels(len(table.names)).verdict
    if table.tasks is not None:
        num_tasks = len(table.task_names)
        if question.of is not None:
            require_integer("of", question.of, max(num_tasks, 1), most=2**53)
        values = scores.by_task(columns, table.tasks, num_tasks)
        bets = shared_bets(level, question.of)
        pairs = SharedPairs(values, question.by, bets, question.of, compare, question.gaps)
        if table.lottery is not None:
            pairs = in_groups(pairs, table.groups, table.lottery, level)
        return columns, pairs
    values = scores.padded(columns)
    how = compare or (np.subtract if question.by == "mean" else lambda x, y: np.sign(x - y))

    def differences(first: IntArray, second: IntArray, start: IntArray, size: int) -> np.ndarray:
        return how(*block_values(values, first, second, start, size))

    bets = independent_bets(level, question.horizon)
    return columns, BlockPairs(differences, table.progress, bets, FIRST_BLOCK, BLOCK)


def _as_codes(
    columns: Sequence[np.ndarray], compare: Compare
) -> tuple[list[np.ndarray], Callable[[FloatArray, FloatArray], FloatArray]]:
    """Outcomes as numbers, the same for the same content, and a preference of two arrays of those.

    NaN is a missing one.
    """
    outcomes = [outcome for column in columns for outcome in column]
    first: dict[Any, int] = {}
    numbers = [first.setdefault(_content(x), place) for place, x in enumerate(outcomes)]
    codes = np.split(np.array(numbers, float), np.cumsum([*map(len, columns)])[:-1])

    @functools.lru_cache(_MOST_KEPT)  # intervals ask for the same pairs again and again
    def sign(x: float, y: float) -> float:
        if math.isnan(x) or math.isnan(y):
            return math.nan
        pair = outcomes[int(x)], outcomes[int(y)]
        found, reverse = compare(*pair), compare(*reversed(pair))
        if found not in (-1, 0, 1) or reverse != -found:
            got = f"{found!r} and {reverse!r} for {pair[0]!r} and {pair[1]!r}"
            raise BadArgument("compare", "+1, -1 or 0, and the opposite of the reverse", got)
        return float(found)

    each = np.frompyfunc(sign, 2, 1)
    return codes, lambda x, y: np.asarray(each(x, y), float)


def _content(outcome: Any) -> Any:
    """Equal for outcomes with the same content; the object's own where it cannot be written."""
    try:
        return pickle.dumps(outcome)
    except Exception:  # of code that is not ours
        return id(outcome)
