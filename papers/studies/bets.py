"""Which bets need the fewest evaluations in races on shared tasks: a mixture, or a plug-in?

Ten kinds of tasks, the same tables for all bets. The mixture is the library's. The plug-in bets the
mean of a pair's own past gains over their mean square, cut to [0, .95]; "half" has half of the
weight on each. Races are played in NumPy, in float64. Prints a table in Markdown.

    python -m papers.studies.bets             200 tables of each kind
    python -m papers.studies.bets 20          fewer
"""

import argparse
import concurrent.futures
import dataclasses
import math

import numpy as np

from jaxrace.evidence import decision, table_decision
from jaxrace.evidence.levels import LARGEST_BET, levels, log_sum
from jaxrace.evidence.task_bets import LEAST_FACTOR, frame_of_list, shared_bets, winnings
from jaxrace.runs import tables

DELTA, FIRST, LEAST, GROWTH = 0.05, 10, 5, 0.05  # as in SharedRace.params
_STREAM = 8000  # tasks at most
RULES = ("mixture", "plug-in", "half")


def answers(rng, options, length, spread):
    """Right or wrong: abilities normal with sd .6, difficulties with ``spread``."""
    ability, difficulty = rng.normal(0, 0.6, (options, 1)), rng.normal(0, spread, length)
    return (rng.random((options, length)) < 1 / (1 + np.exp(difficulty - ability))).astype(float)


def hardly_right(rng, options, length):
    """Right on one question of a hundred to one of ten."""
    return (rng.random((options, length)) < rng.uniform(0.01, 0.1, (options, 1))).astype(float)


def shares(rng, options, length):
    """Shares of twenty, with a mean of the option and the task."""
    mean = 1 / (1 + np.exp(rng.normal(0, 1, length) - rng.normal(0, 0.3, (options, 1))))
    return rng.binomial(20, mean) / 20


def shocks(rng, options, length):
    """What all share is ten times what each has for itself."""
    own = rng.uniform(0, 0.1, (options, length)) * rng.uniform(0.5, 1, (options, 1))
    return 0.9 * rng.random(length) + own


def seldom_apart(rng, options, length):
    """Equal but on one task in twenty, where the better ones are far ahead."""
    skill = rng.random((options, 1))
    return np.where(rng.random(length) < 0.05, rng.random((options, length)) * skill, 0.5)


def one_ahead(rng, options, length):
    """The first is right in .65 of the questions, all others in .5."""
    chances = np.where(np.arange(options)[:, None] == 0, 0.65, 0.5)
    return (rng.random((options, length)) < chances).astype(float)


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of tables."""

    name: str
    draw: object
    options: int = 10
    top: int = 3
    length: int = 2000
    is_list: bool = True
    by: str = "mean"
    numbers: tuple = ()


KINDS = (
    Kind("answers, difficulty sd 1.5", answers, numbers=(1.5,)),
    Kind("the same, sd 4", answers, numbers=(4.0,)),
    Kind("the same, best one", answers, top=1, numbers=(1.5,)),
    Kind("the same, six options", answers, 6, 2, 300, numbers=(1.5,)),
    Kind("answers, sd 1.5", answers, length=_STREAM, is_list=False, numbers=(1.5,)),
    Kind("hardly ever right", hardly_right, length=_STREAM, is_list=False),
    Kind("shares of twenty", shares, length=_STREAM, is_list=False),
    Kind("a common shock, by wins", shocks, length=_STREAM, is_list=False, by="wins"),
    Kind("seldom apart", seldom_apart, length=_STREAM, is_list=False),
    Kind("one ahead of all", one_ahead, top=1, length=_STREAM, is_list=False),
)


def evidence(kind, table, level):
    """By rule the largest ln E of each ordered pair so far, [K, K, N]; and their sums."""
    count, length = table.shape
    first, second = (index.ravel() for index in np.indices((count, count)))
    d = table[first] - table[second]
    d = np.sign(d) if kind.by == "wins" else d
    total, number = d.cumsum(1), np.arange(1, length + 1)
    expected, growth = np.zeros_like(d), 1.0
    if kind.is_list:
        expected, growth = frame_of_list(0.0, total - d, number, length)
    gains = d - expected
    mixture = shared_bets(level, length if kind.is_list else None)
    logs = np.log1p(winnings(np.array(mixture.bets)[:, None, None], d, expected, growth)).cumsum(2)
    mixed = log_sum(logs + np.log(mixture.weights)[:, None, None], 0)
    before, squares = gains.cumsum(1) - gains, (gains**2).cumsum(1) - gains**2
    bet = np.clip(before / np.maximum(squares, 1e-9), 0, LARGEST_BET)
    bet = np.minimum(bet, (1 - LEAST_FACTOR) / (1 + expected + 1e-12))
    plugged = np.log1p(bet * gains).cumsum(1)
    half = np.logaddexp(mixed, plugged) - math.log(2)
    found = dict(zip(RULES, (mixed, plugged, half), strict=True))
    certain = np.zeros_like(d)
    if kind.is_list:
        certain[total - (length - number) > 1e-9] = np.inf
        certain[:, -1] = np.where(total[:, -1] > 1e-9, np.inf, -np.inf)
    shape = count, count, length
    largest = {
        rule: np.maximum.accumulate(one + certain, 1).reshape(shape) for rule, one in found.items()
    }
    for one in largest.values():
        if kind.is_list:  # at the end the sum decides, and nothing else
            one[:, :, -1] = np.where(certain[:, -1] > 0, np.inf, -np.inf).reshape(count, count)
    return largest, total.reshape(shape)


def play(kind, largest, total, level):
    """A race's evaluations, and whether it is certified."""
    count, _, length = largest.shape
    here = np.indices((count, count))
    progress = np.full(count, FIRST)
    while True:
        common = np.minimum.outer(progress, progress) - 1
        highest = largest[(*here, common)]
        over = highest >= level.verdict
        mean = total[(*here, common)] / (common + 1)
        if kind.is_list:
            over |= np.triu((common == length - 1) & (abs(mean) < 1e-9), 1)
        seen = decision.Seen(highest, over, highest >= level.strong, mean)
        found = table_decision.decide(seen, kind.top, level.verdict, decision.SHARED_SLACK)
        asked = decision.behind(found.served, progress)
        if found.certificate or not (asked & (progress < length)).any():
            return progress.sum(), found.certificate is not None
        further = np.maximum(LEAST, (progress * GROWTH).astype(int))
        progress = np.where(asked, np.minimum(progress + further, length), progress)


def one_table(kind_number, number):
    """Evaluations and certificates of all rules on one table, [rules, 2]."""
    kind = KINDS[kind_number]
    rng = np.random.default_rng([kind_number, number])
    table = kind.draw(rng, kind.options, kind.length, *kind.numbers)
    level = levels(kind.by, kind.options, kind.top, DELTA)
    largest, total = evidence(kind, table, level.verdict)
    return [play(kind, largest[rule], total, level) for rule in RULES]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description="Compare bets on shared tasks.")
    parser.add_argument("tables", nargs="?", type=int, default=200, help="of each kind")
    count = parser.parse_args().tables
    rows = []
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for number, kind in enumerate(KINDS):
            found = np.array(list(pool.map(one_table, [number] * count, range(count))), float)
            spent, certified = found[..., 0], found[..., 1]
            question = "list" if kind.is_list else "stream"
            row = [kind.name, f"{question} of {kind.length:,}", f"{spent[:, 0].mean():,.0f}"]
            for rule in (1, 2):
                change = spent[:, rule] / spent[:, 0].mean() - spent[:, 0] / spent[:, 0].mean()
                error = change.std(ddof=1) / math.sqrt(count)
                row.append(f"{100 * change.mean():+.1f} ± {100 * error:.1f} %")
            rows.append([*row, " / ".join(f"{share:.2f}" for share in certified.mean(0))])
            print(rows[-1], flush=True)
    heads = ["Tables", "tasks", "evaluations, mixture", "plug-in", "half", "certified"]
    print(tables.markdown_table(heads, rows))


if __name__ == "__main__":
    main()
