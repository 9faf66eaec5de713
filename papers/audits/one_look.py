"""How often is one look at a table wrong? Theorems: docs/theory/one-look.md.

Counted are tables in which the best option is out, the first of several, and tables with any wrong
claim about a pair: that one of two is better which are equally good, or the worse one. Broken
controls show that errors would be seen. Axes: K options, T tasks, n_i runs.

    python -m papers.audits.one_look               20,000 tables per line, in Markdown
    python -m papers.audits.one_look 2000 shared   a smaller one, of lines with this word
"""

import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from jaxrace.evidence.one_look import OneLook, look_at_runs, look_at_tasks
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs
from papers.audits import reckoning

DELTA, DRAWS = 0.05, 199
FULL_SIZE = 20_000

Scores = Any  # of each option [T] or [n_i], from 0 to 1


@dataclasses.dataclass(frozen=True)
class Case:
    """Tables of one kind."""

    name: str
    scores: Callable[[np.random.Generator], Scores]
    truth: Sequence[float]  # of each option; equal where they are equally good
    by: Any = "mean"
    shared: bool = True
    broken: Callable[[Scores, OneLook], OneLook] | None = None


def _coins(chances: Sequence[float], num_tasks: int) -> Callable[[np.random.Generator], Scores]:
    shape = len(chances), num_tasks
    return lambda rng: (rng.random(shape) < np.array(chances)[:, None]).astype(float)


def _items(num_options: int, num_tasks: int, step: float = 0.0) -> Any:
    """Right or wrong, on questions from easy to hard; each option a little worse than the last."""
    ability = 0.5 - step * np.arange(num_options)[:, None]

    def made(rng: np.random.Generator) -> Scores:
        hard = rng.normal(0, 2.5, num_tasks)
        return (rng.random((num_options, num_tasks)) < 1 / (1 + np.exp(hard - ability))) * 1.0

    return made


def _unlike(counts: Sequence[int]) -> Any:
    """Of mean 1/2: 1 in one of twenty and else a little less, a constant, a coin, a range."""

    def made(rng: np.random.Generator) -> Scores:
        low = (0.5 - 0.05) / 0.95
        return [
            np.where(rng.random(counts[0]) < 0.05, 1.0, low),
            np.full(counts[1], 0.5),
            (rng.random(counts[2]) < 0.5).astype(float),
            rng.random(counts[3]),
        ]

    return made


def _steps(num_tasks: int) -> Any:
    """Of mean 1/2 with three values: 0, 1/2 and 1, in shares that differ."""

    def made(rng: np.random.Generator) -> Scores:
        ends = np.array([0.02, 0.1, 0.3, 0.6, 0.9, 1.0])[:, None] / 2
        drawn = rng.random((6, num_tasks))
        return 0.5 + 0.5 * ((drawn < ends).astype(float) - (drawn > 1 - ends))

    return made


def _normals(counts: Sequence[int], spreads: Sequence[float]) -> Any:
    def made(rng: np.random.Generator) -> Scores:
        pairs = zip(counts, spreads, strict=True)
        return [np.clip(0.5 + spread * rng.normal(size=n), 0, 1) for n, spread in pairs]

    return made


_SIZES, _SPREADS = (10, 40, 20, 10), (0.15, 0.03, 0.03, 0.1)


def _each_alone(scores: Scores, look: OneLook) -> OneLook:
    """Each pair at the level of one: draws that are those of a single pair."""
    del scores

    def alone(rng: np.random.Generator, number: int) -> np.ndarray:
        of_pair = np.triu(np.ones(look.z.shape), 1)
        return rng.normal(size=(number, 1, 1)) * (of_pair - of_pair.T)

    return dataclasses.replace(look, laws=(alone,))


def _without_handicap(scores: Scores, look: OneLook) -> OneLook:
    x = np.stack(scores)
    d = x[:, None] - x[None]
    z = d.sum(2) / np.sqrt(np.maximum((d**2).sum(2), 1e-12))
    return dataclasses.replace(look, z=np.where(np.isinf(look.z), -np.inf, z))


def _not_studentised(scores: Scores, look: OneLook) -> OneLook:
    """Permutations of the runs of all options, and differences of means as they are."""
    pool, counts = np.concatenate(scores), np.array([len(x) for x in scores])
    ends = np.cumsum(counts)[:-1]

    def means(runs: np.ndarray) -> np.ndarray:
        return np.stack([part.mean(-1) for part in np.split(runs, ends, -1)], -1)

    def mixed(rng: np.random.Generator, number: int) -> np.ndarray:
        found = means(rng.permuted(np.tile(pool, (number, 1)), axis=1))
        return found[:, :, None] - found[:, None, :]

    level = means(pool)
    z = level[:, None] - level[None]
    np.fill_diagonal(z, -np.inf)
    return dataclasses.replace(look, z=z, laws=(mixed,))


CASES: tuple[Case, ...] = (
    *(Case(f"shared: 10 coins, T = {t}", _coins([0.5] * 10, t), [0] * 10) for t in (20, 200, 2000)),
    *(Case(f"shared: 20 rare coins, T = {t}", _coins([0.05] * 20, t), [0] * 20) for t in (50, 200)),
    Case("shared: 20 nearly always right, T = 50", _coins([0.95] * 20, 50), [0] * 20),
    Case("shared: 2 coins, T = 20", _coins([0.5] * 2, 20), [0] * 2),
    Case("shared: 10 on easy and hard tasks, T = 100", _items(10, 100), [0] * 10),
    Case("shared: 10 by small steps, T = 200", _items(10, 200, 0.03), range(0, -10, -1)),
    Case("shared: 10 by steps, T = 200", _items(10, 200, 0.2), range(0, -10, -1)),
    Case(
        "shared: 5 equal, 5 worse, T = 100", _coins([0.6] * 5 + [0.3] * 5, 100), [1] * 5 + [0] * 5
    ),
    *(
        Case(f"shared: equal means of unlike laws, T = {t}", _unlike([t] * 4), [0] * 4)
        for t in (20, 60, 200, 2000)
    ),
    *(Case(f"shared: 6 of three values, T = {t}", _steps(t), [0] * 6) for t in (20, 200)),
    Case("shared: 6 of three values by wins, T = 50", _steps(50), [0] * 6, by="wins"),
    Case("runs: 4 equal laws, 5 each", _normals([5] * 4, [0.1] * 4), [0] * 4, "wins", False),
    Case(
        "runs: 4 equal laws, 5 to 20", _normals((5, 10, 20, 20), [0.1] * 4), [0] * 4, "wins", False
    ),
    Case("runs: unlike spreads, 10 to 40", _normals(_SIZES, _SPREADS), [0] * 4, "wins", False),
    Case("runs: the same by mean", _normals(_SIZES, _SPREADS), [0] * 4, "mean", False),
    Case("runs: coins by mean, 20 each", _coins([0.3] * 4, 20), [0] * 4, "mean", False),
    Case("runs: unlike laws by mean, 20 to 60", _unlike((20, 60, 40, 30)), [0] * 4, "mean", False),
    Case("runs: unlike laws by mean, 200", _unlike([200] * 4), [0] * 4, "mean", False),
)

CONTROLS: tuple[Case, ...] = (
    Case("control, shared: no maximum", _coins([0.5] * 10, 200), [0] * 10, broken=_each_alone),
    Case(
        "control, shared: no handicap, T = 20", _unlike([20] * 4), [0] * 4, broken=_without_handicap
    ),
    Case(
        "control, runs: not studentised",
        _normals(_SIZES, _SPREADS),
        [0] * 4,
        "mean",
        False,
        _not_studentised,
    ),
)


def look_at(case: Case, scores: Scores, seed: int) -> OneLook:
    """The look at a table, with few draws, of its own, for both claims."""
    if case.shared:
        pairs = SharedPairs(np.stack(scores)[..., None], case.by, shared_bets(5.0))
        look = look_at_tasks(pairs, DELTA)
    else:
        look = look_at_runs(scores, case.by, DELTA)
    look = look if case.broken is None else case.broken(scores, look)
    drawn = [
        law(np.random.default_rng([place, seed]), DRAWS) for place, law in enumerate(look.laws)
    ]
    laws = tuple((lambda rng, most, own=own: own[:most].copy()) for own in drawn)
    return dataclasses.replace(look, laws=laws, number=DRAWS)


def audit(
    number: int = FULL_SIZE, cases: Sequence[Case] = (*CASES, *CONTROLS)
) -> Iterator[reckoning.Finding]:
    """Count tables in which the best is out, and those with a wrong claim."""
    for case in cases:
        rng = np.random.default_rng(0)
        truth, out, wrong = np.array(case.truth, float), 0, 0
        for table in range(number):
            look = look_at(case, case.scores(rng), table)
            out += not look.may_be_best()[truth.argmax()]
            wrong += bool((look.over() & (truth[:, None] <= truth)).any())
        for claim, errors in (("may be best", out), ("pairs", wrong)):
            yield reckoning.Finding(case.name, claim, DELTA, DELTA, int(errors), number)


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else FULL_SIZE
    words = sys.argv[2:]
    chosen = [x for x in (*CASES, *CONTROLS) if not words or any(word in x.name for word in words)]
    found = [*reckoning.told(audit(size, chosen))]
    print(reckoning.markdown_table(found, "One look"))
