"""How often does a gate promote, or reject, and should not?

Theorem (gate): docs/theory/gate.md.

The true difference D of a candidate and the baseline is 0, the margin below it, or above it: what
is said of a candidate that is just not so is as likely as can be. Broken controls show that errors
would be seen. Axes: n tables, C candidates of each, T tasks or runs.

    python -m papers.audits.gate           the full audit, 100,000 tables per line, in Markdown
    python -m papers.audits.gate 20000     a smaller one
"""

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from jaxrace.evidence.blocks import BlockPairs, block_values, independent_bets
from jaxrace.evidence.levels import By, FloatArray
from jaxrace.evidence.process import Pairs
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.judging.claims import certain_of, forecast, shares
from jaxrace.judging.question import BLOCK, FIRST_BLOCK, HORIZON, Question
from jaxrace.runs.tables import markdown_table
from papers.audits import reckoning

DELTAS = 0.05, 0.1  # of a false promotion, and of a false rejection
_ERRORS = "false promotion", "false rejection"
_WAYS = "to the stop", "at any look"
_AT_ONCE = 1_000  # tables
_FIRST_LOOK, _LEAST_MORE = 20, 10  # tasks of the first look, and more before each other one

Scores = tuple[FloatArray, FloatArray]  # of the candidate, and of the baseline, [n, T] in [0, 1]


@dataclasses.dataclass(frozen=True)
class NullTask:
    """Candidates of which something is just not so.

    Attributes:
        name: For reports.
        scores: (rng, tables) -> scores in which the candidate is the worse one, by ``gap`` margins.
        gap: 0, 1, or, of a control, a part.
        runs: Of each option that are looked at.
        of: The length of the list, if it is one.
        independent: Are runs independent, not tasks shared?
        margin: Of differences in [-1, 1].
        candidates: That come, one after the other.
        is_shared_out: Is the error shared among them? Not in a control.
    """

    name: str
    scores: Callable[[np.random.Generator, int], Scores]
    gap: float = 0
    runs: int = 200
    of: int | None = None
    independent: bool = False
    by: By = "mean"
    margin: float = 0.2
    candidates: int = 1
    is_shared_out: bool = True
    as_they_are: bool = False  # is the order of a list not drawn?

    @property
    def kind(self) -> str:
        """In words."""
        kind = "independent" if self.independent else "stream" if self.of is None else "list"
        return f"{self.by}, {kind} of {self.of or self.runs}"


def _coins(chances: tuple[float, float], runs: int, rng: np.random.Generator, n: int) -> Scores:
    first, second = (rng.random((2, n, runs)) < np.array(chances)[:, None, None]).astype(float)
    return first, second


def _few_values(runs: int, rng: np.random.Generator, n: int) -> Scores:
    """0, .5 and 1; a candidate is a copy on nine of ten tasks."""
    first, second = rng.integers(0, 3, (2, n, runs)) * np.array(0.5)
    is_copy = rng.random((n, runs)) < 0.9
    first[is_copy] = second[is_copy]
    return first, second


def _shock(shift: float, runs: int, rng: np.random.Generator, n: int) -> Scores:
    """Tasks that are hard for all, and a little for each alone."""
    task = rng.uniform(0.3, 0.7, (n, runs))
    first, second = task + rng.uniform(-0.1, 0.1, (2, n, runs))
    return first - shift, second


def _unlike(runs: int, rng: np.random.Generator, n: int) -> Scores:
    """Almost always a little less than the baseline, which is constant, and seldom 1."""
    rare = rng.random((n, runs)) < 0.05
    return np.where(rare, 1.0, 0.45 / 0.95), np.full((n, runs), 0.5)


def _list(wins: float, number: int, rng: np.random.Generator, n: int) -> Scores:
    """On so many tasks of the list the candidate alone is right, and on all others the other."""
    is_won = np.arange(number) < round(wins * number)
    is_won = np.tile(is_won, (n, 1))
    return is_won.astype(float), (~is_won).astype(float)


def _tuned(runs: int, rng: np.random.Generator, n: int) -> Scores:
    """The best of 40 equal ones on the first half of the very tasks it is compared on."""
    best, baseline = _coins((0.5, 0.5), runs, rng, n)
    for _ in range(39):
        other = (rng.random((n, runs)) < 0.5).astype(float)
        is_better = other[:, : runs // 2].sum(1) > best[:, : runs // 2].sum(1)
        best = np.where(is_better[:, None], other, best)
    return best, baseline


def _task(name: str, how: Callable[..., Scores], *given: object, **settings: object) -> NullTask:
    runs = int(settings.get("of") or settings.get("runs") or NullTask.runs)  # pyright: ignore
    return NullTask(name, functools.partial(how, *given, runs), **settings)  # pyright: ignore


_EQUAL, _APART, _RARE = (0.5, 0.5), (0.4, 0.6), (0.02, 0.02)
_ALONE = {"independent": True, "runs": 60}
TASKS = (
    _task("equal coins", _coins, _EQUAL),
    _task("seldom right", _coins, _RARE),
    _task("few values, mostly ties", _few_values),
    _task("hard tasks for all", _shock, 0.0),
    _task("rare and great against constant", _unlike),
    _task("equal coins", _coins, _EQUAL, by="wins"),
    _task("coins apart by the margin", _coins, _APART, gap=1),
    _task("coins apart by the margin", _coins, _APART, gap=1, by="wins"),
    _task("hard tasks, apart by it", _shock, 0.1, gap=1, margin=0.1),
    *(_task("half of the list each", _list, 0.5, of=number) for number in (20, 200)),
    _task("apart by the margin", _list, 0.4, of=20, gap=1),
    _task("apart by the margin", _list, 0.4, of=200, gap=1),
    _task("apart by the margin", _list, 0.4, of=200, gap=1, by="wins"),
    _task("equal coins", _coins, _EQUAL, **_ALONE),
    _task("rare and great against constant", _unlike, **_ALONE),
    _task("equal coins", _coins, _EQUAL, by="wins", **_ALONE),
    _task("coins apart by the margin", _coins, _APART, gap=1, **_ALONE),
    _task("coins apart by the margin", _coins, _APART, gap=1, by="wins", **_ALONE),
    _task("eight come one by one", _coins, _EQUAL, candidates=8),
    _task("eight come, apart by the margin", _coins, _APART, gap=1, candidates=8),
)
CONTROLS = (
    _task("control: eight, undivided", _coins, _EQUAL, candidates=8, is_shared_out=False),
    _task("control: a list that is not drawn", _list, 0.5, of=200, as_they_are=True),
    _task("control: judged by twice the margin", _coins, _APART, gap=0.5, margin=0.4),
    _task("control: tuned on the tasks of before", _tuned),
)


def audit(
    tables: int = reckoning.FULL_SIZE, tasks: tuple[NullTask, ...] = TASKS
) -> Iterator[reckoning.Finding]:
    """Count tables with a claim that is not so, to the stop and at any look."""
    for number, task in enumerate(tasks):
        wrong = np.zeros((2, 2), int)  # [error, way]
        for start in range(0, tables, _AT_ONCE):
            rng = np.random.default_rng((number, start))
            wrong += _wrong(task, rng, min(_AT_ONCE, tables - start))
        for error, delta in enumerate(DELTAS):
            for way, counted in zip(_WAYS, wrong[error], strict=True):
                claim = f"{_ERRORS[error]}, {way}, {task.kind}"
                yield reckoning.Finding(task.name, claim, delta, delta, int(counted), tables)


def control(tables: int = reckoning.FULL_SIZE) -> Iterator[reckoning.Finding]:
    """The same of gates that are broken or told what is not so, and of tests at every push."""
    tables = min(tables, reckoning.MOST_OF_CONTROL)
    yield from audit(tables, CONTROLS)
    rng = np.random.default_rng(0)
    first, second = _coins(_EQUAL, 200, rng, tables)
    totals, squares = (first - second).cumsum(1), ((first - second) ** 2).cumsum(1)
    pushes = slice(_FIRST_LOOK - 1, None, _FIRST_LOOK)
    z = totals[:, pushes] / np.sqrt(np.maximum(squares[:, pushes], 1))
    counted = int((z >= 1.645).any(1).sum())  # a level of .05 at each
    claim, delta = f"{_ERRORS[0]}, {_WAYS[0]}, mean, stream of 200", DELTAS[0]
    name = "control: a z-test at each push"
    yield reckoning.Finding(name, claim, delta, delta, counted, tables)


def _wrong(task: NullTask, rng: np.random.Generator, n: int) -> np.ndarray:
    """How many tables have a claim that is not so, int [error, way]."""
    share = shares(task.candidates, None if task.candidates > 1 else 1)
    if not task.is_shared_out:
        share = np.ones(task.candidates)
    wrong = np.zeros((2, 2, n), bool)
    for part in share:
        levels = -np.log(np.outer(DELTAS, np.full(n, part)))
        scores = _drawn(task, rng, n)
        # If both are equal, better and worse are not so; else a claim for the worse one.
        if task.gap == 0:
            claims = _claims(task, *scores, levels)
            wrong[0] |= claims[:, 0]
            wrong[1] |= claims[:, 2]
        else:
            wrong[0] |= _claims(task, *scores, levels)[:, :2].any(1)
            wrong[1] |= _claims(task, *scores[::-1], levels)[:, 2:].any(1)
    return wrong.sum(-1)


def _drawn(task: NullTask, rng: np.random.Generator, n: int) -> Scores:
    first, second = task.scores(rng, n)
    if task.of is not None and not task.as_they_are:
        order = rng.permuted(np.tile(np.arange(task.of), (n, 1)), axis=1)
        first, second = (np.take_along_axis(one, order, 1) for one in (first, second))
    return first, second


def _claims(
    task: NullTask, first: FloatArray, second: FloatArray, levels: FloatArray
) -> np.ndarray:
    """What is claimed of ``first`` against ``second``: to the stop, and at any look; [2, 4, n]."""
    n, runs = first.shape
    runs -= task.of is not None  # all tasks of a list settle it
    at = np.arange(n), n + np.arange(n)
    pairs = _pairs(task, first, second, np.full(n, runs))
    at_any = certain_of(pairs, *at, task.margin, levels).claims
    to_stop = np.zeros_like(at_any)
    seen, going = np.full(n, _FIRST_LOOK), np.arange(n)
    while len(going):
        pairs = _pairs(task, first[going], second[going], seen[going])
        at = np.arange(len(going)), len(going) + np.arange(len(going))
        found = certain_of(pairs, *at, task.margin, levels[:, going])
        to_stop[:, going] = found.claims
        ahead = [
            forecast(process, level, pairs.bets.weights, task.of)
            for process, level in zip(found.processes, found.levels, strict=True)
        ]
        # The next look is where the nearest claim is expected, or halfway to it.
        more = np.clip(np.min(ahead, 0) / 2, _LEAST_MORE, np.maximum(seen[going], _LEAST_MORE))
        goes_on = ~found.claims.any(0) & (seen[going] < runs)
        seen[going] = np.minimum(seen[going] + more.astype(int), runs)
        going = going[goes_on]
    return np.stack([to_stop, at_any])


def _pairs(task: NullTask, first: FloatArray, second: FloatArray, seen: np.ndarray) -> Pairs:
    """The pairs of tables of which so many tasks or runs have been seen, [n]."""
    values = np.concatenate([first, second])
    counts = np.concatenate([seen, seen])
    ends: dict[str, Any] = {"low": 0, "high": 1} if task.by == "mean" else {}
    level = Question(kind="gate", delta=DELTAS[0], by=task.by, **ends).levels(2).verdict
    if not task.independent:
        end = int(seen.max())
        values = np.where(np.arange(end) < counts[:, None], values[:, :end], np.nan)
        return SharedPairs(values[..., None], task.by, shared_bets(level, task.of), task.of)

    def differences(*blocks: object) -> FloatArray:
        found = np.subtract(*block_values(values, *blocks))  # pyright: ignore[reportArgumentType]
        return found if task.by == "mean" else np.sign(found)

    bets = independent_bets(level, HORIZON)
    return BlockPairs(differences, counts, bets, FIRST_BLOCK, BLOCK)


def _report(findings: Sequence[reckoning.Finding]) -> str:
    """A row for each task, in Markdown: rates, and whether one is certainly above its delta."""
    rows: dict[tuple[str, str], list[str]] = {}
    for one in findings:
        row = rows.setdefault((one.task, one.claim.split(", ", 2)[2]), [])
        row.append(f"{one.errors / one.races:.4f}{' REFUTED' * one.refuted}")
    heads = [f"{error}, {way}" for error in _ERRORS for way in _WAYS]
    cells = [[*key, *row, *[""] * (len(heads) - len(row))] for key, row in rows.items()]
    return markdown_table(["Task", "Compared", *heads], cells)


if __name__ == "__main__":
    asked_for = reckoning.races_asked_for("Audit the gate.")
    print(_report([*reckoning.told(audit(asked_for)), *reckoning.told(control(asked_for))]))
