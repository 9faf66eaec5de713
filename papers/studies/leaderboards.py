"""One look at a leaderboard, beside what others do with it: 20 systems on 500 questions.

Right or wrong by ability and difficulty; abilities fall by .12, so that the best is ahead by 1.1
points, or all but tie. One look, the evidence for all looks, percentile bootstraps of ranks,
plainly written, and exact McNemar tests of all pairs with Holm's correction. Prints a table in
Markdown: who may be the best, and the ranks that each system may have; how often the best is among
the first, and all ranks are right at once.

    python -m papers.studies.leaderboards          60 boards of each kind, minutes
    python -m papers.studies.leaderboards 200 2000 that many, and of quick methods another number
"""

import sys

import numpy as np
from scipy import stats

from jaxrace.evidence.boundaries import board_levels
from jaxrace.evidence.levels import levels
from jaxrace.evidence.one_look import look_at_tasks
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.runs import tables

SYSTEMS, QUESTIONS, DELTA, RESAMPLES = 20, 500, 0.05, 1000
STEPS = {"best by 1.1 points": 0.12, "nearly equal": 0.002}


def board(number, step):
    """Scores [K, T], and the abilities [K]."""
    rng = np.random.default_rng(number)
    ability = 1.6 - step * (np.arange(SYSTEMS) + rng.normal(0, 0.17, SYSTEMS))
    hard = rng.normal(0, 2.5, QUESTIONS)
    chance = 1 / (1 + np.exp(hard - ability[:, None]))
    return (rng.random(chance.shape) < chance).astype(float), ability


def of_claims(over):
    """The ranks from who is over whom, [K, K]."""
    return 1 + over.sum(0), SYSTEMS - over.sum(1)


def one_look(scores):
    """Who may be best, and the ranks."""
    look = look_at_tasks(SharedPairs(scores[..., None], "mean", shared_bets(5.0)), DELTA)
    return look.may_be_best(), *of_claims(look.over())


def at_all_looks(scores):
    """The same of evidence that holds at all looks: by the levels of `race` and of `rank`."""
    top = levels("mean", SYSTEMS, 1, DELTA)
    board_level = board_levels("mean", SYSTEMS, DELTA)
    pairs = SharedPairs(scores[..., None], "mean", shared_bets(top.verdict))
    first, second = np.nonzero(~np.eye(SYSTEMS, dtype=bool))
    evidence = np.full((SYSTEMS, SYSTEMS), -np.inf)
    evidence[first, second] = pairs.process(first, second).highest
    may = ~(evidence >= top.possible).any(0)
    return may, *of_claims(evidence >= board_level.strong)


def bootstrap(scores):
    """Percentiles of the ranks in tables of questions drawn again."""
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(QUESTIONS, np.full(QUESTIONS, 1 / QUESTIONS), RESAMPLES)
    means = drawn @ scores.T
    ranks = stats.rankdata(-means, method="average", axis=1)
    low, high = np.quantile(ranks, (DELTA / 2, 1 - DELTA / 2), axis=0)
    return np.floor(low) <= 1, np.floor(low), np.ceil(high)


def holm(scores):
    """McNemar's exact test of each pair, two-sided, with Holm's correction."""
    first, second = np.triu_indices(SYSTEMS, 1)
    won = ((scores[first] - scores[second]) > 0).sum(1)
    lost = ((scores[first] - scores[second]) < 0).sum(1)
    p = np.minimum(2 * stats.binom.cdf(np.minimum(won, lost), won + lost, 0.5), 1)
    order = np.argsort(p)
    holds = p[order] <= DELTA / np.arange(len(p), 0, -1)
    sure = order[: len(p) if holds.all() else holds.argmin()]
    over = np.zeros((SYSTEMS, SYSTEMS), bool)
    for pair in sure:
        better, worse = first[pair], second[pair]
        over[(better, worse) if won[pair] > lost[pair] else (worse, better)] = True
    return ~over.any(0), *of_claims(over)


METHODS = {
    "one look": one_look,
    "all looks": at_all_looks,
    "percentile bootstrap": bootstrap,
    "McNemar, Holm": holm,
}


def measure(method, step, number):
    """Sizes, and how often they are right, with the standard errors of the sizes."""
    found = []
    for one in range(number):
        scores, ability = board(one, step)
        may, low, high = METHODS[method](scores)
        rank = 1 + (ability > ability[:, None]).sum(1)
        right = ((low <= rank) & (rank <= high)).all()
        found.append((may.sum(), may[ability.argmax()], (high - low + 1).mean(), right))
    mean, error = np.mean(found, 0), np.std(np.array(found, float), 0) / number**0.5
    return [
        *(f"{mean[0]:.2f} ± {error[0]:.2f}", f"{mean[1]:.3f}"),
        *(f"{mean[2]:.2f} ± {error[2]:.2f}", f"{mean[3]:.3f} ± {error[3]:.3f}"),
    ]


def main():
    """Print the table."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    quick = int(sys.argv[2]) if len(sys.argv) > 2 else number
    rows = []
    for kind, step in STEPS.items():
        for method in METHODS:
            boards = number if method == "all looks" else quick
            rows.append([kind, method, str(boards), *measure(method, step, boards)])
            print(*rows[-1], flush=True)
    heads = ["Board", "Method", "boards", "may be best", "best is among", "ranks", "all right"]
    print(tables.markdown_table(heads, rows))


if __name__ == "__main__":
    main()
