"""How often are games certified that should not be? Theorem (games): docs/jax/top_k_selection.md.

Nobody is better than each of the others, so that every certificate of a best player is wrong. The
pairs are chosen by results: an adversary plays on where the evidence is largest, against the rival
that a certificate still lacks. A broken control shows that errors would be seen. Axes: n
tournaments, K players, L bets.

    python -m papers.audits.tournaments           20,000 tournaments per line, in Markdown
    python -m papers.audits.tournaments 2000      a smaller one
"""

import dataclasses
from collections.abc import Iterator

import numpy as np

from jaxrace.evidence.levels import FloatArray, levels, log_sum
from jaxrace.evidence.task_bets import shared_bets, winnings
from papers.audits import reckoning

DELTA = 0.05


@dataclasses.dataclass(frozen=True)
class Null:
    """Players of whom nobody is the best.

    Attributes:
        name: For reports.
        wins: The chance that i wins against j if there is no draw, [K, K].
        draws: The chance of a draw.
        games: That are played at most.
        level: The evidence of a verdict; that of three players' certificate unless given.
    """

    name: str
    wins: FloatArray
    draws: float = 0.0
    games: int = 400
    level: float | None = None


def _equal(count: int) -> FloatArray:
    return np.full((count, count), 0.5)


def _circle() -> FloatArray:
    return np.array([[0.5, 0.7, 0.3], [0.3, 0.5, 0.7], [0.7, 0.3, 0.5]])


def _two_best() -> FloatArray:
    wins = _equal(3)
    wins[:2, 2], wins[2, :2] = 0.8, 0.2
    return wins


NULLS = (
    Null("3 equal", _equal(3)),
    Null("3 equal", _equal(3), 0.5),
    Null("3 equal", _equal(3), 0.9),
    Null("6 equal", _equal(6), 0.5),
    Null("a circle of 3, .7 each", _circle(), 0.2),
    Null("two equal ones, better than a third", _two_best()),
    Null("two equal ones, better than a third", _two_best(), 0.5),
)
# What a test at .05 takes at one look, 1.645 standard errors, at every look.
CONTROL = Null("two equal ones, a test at .05 at every look", _two_best(), level=1.645**2 / 2)


def wrong(null: Null, number: int, rng: np.random.Generator) -> int:
    """How many of so many tournaments certify a best player."""
    count = len(null.wins)
    level = levels("wins", count, 1, DELTA).verdict
    bets = shared_bets(level)
    level = level if null.level is None else null.level
    lambdas, weights = np.array(bets.bets), np.log(bets.weights)
    logs = np.zeros((number, count, count, len(lambdas)))
    highest = np.full((number, count, count), -np.inf)
    highest[:, np.arange(count), np.arange(count)] = np.inf
    sums = np.zeros((number, count, count))
    ended, every = np.zeros(number, bool), np.arange(number)
    for _ in range(null.games):
        # Who has beaten the most, then whose evidence is largest; against whom a verdict lacks.
        over = highest >= level
        total = np.where(np.isfinite(highest), np.minimum(highest, level), 0).sum(2)
        first = (over.sum(2) * 1e3 + total + 1e-6 * rng.random((number, count))).argmax(1)
        lacking = ~over[every, first]
        second = np.where(lacking, rng.random((number, count)), -1).argmax(1)
        chance = null.wins[first, second] * (1 - null.draws)
        u = rng.random(number)
        d = np.where(u < chance, 1.0, np.where(u < chance + null.draws, 0.0, -1.0))
        for one, other, own in ((first, second, d), (second, first, -d)):
            at = every, one, other
            logs[at] += np.log1p(winnings(lambdas, own[:, None], 0.0))
            highest[at] = np.maximum(highest[at], log_sum(logs[at] + weights))
            sums[at] += own
        agrees = (highest >= level) & (sums >= 0)
        ended |= np.any(agrees.all(2), axis=1)
    return int(ended.sum())


def findings(number: int) -> Iterator[reckoning.Finding]:
    """One for each null, and for the control."""
    rng = np.random.default_rng(0)
    for null in (*NULLS, CONTROL):
        name = f"{null.name}, draws {null.draws:g}" if null.draws else null.name
        claim = "control" if null is CONTROL else "the best"
        found = wrong(null, number, rng)
        yield reckoning.Finding(name, claim, DELTA, DELTA, found, number)


def main() -> None:
    """Print the audit."""
    number = reckoning.races_asked_for(str(__doc__), 20_000)
    print(reckoning.markdown_table(reckoning.told(findings(number)), "Claim"))


if __name__ == "__main__":
    main()
