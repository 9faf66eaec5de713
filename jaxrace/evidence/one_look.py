"""One look at a complete table: tests of all of it, which no further look keeps.

The statistic of "i over j" is the sum of its differences over the root of the sum of their squares.
Its law, if nobody is better, is that of the same sums with random signs, or normal factors, of
whole tasks: the same ones for all pairs, so that what pairs have in common counts once. A claim
needs both. Of independent runs each pair is compared with permutations of its own runs; how pairs
go together comes from normal draws for each option. Theorems: docs/theory/one-look.md.
Axes: K options, T tasks, n_i runs of option i, B draws, H claims, P pairs.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxrace.evidence.levels import BoolArray, By, FloatArray, IntArray
from jaxrace.evidence.quantiles import normal_quantile
from jaxrace.evidence.tasks import SharedPairs

SEED = 0  # of all draws
LEAST_RUNS = 5  # of each option
LEAST_DRAWS, _TAIL = 5_000, 100  # so many draws, and so many beyond the level
_CLOSE = 1e-4  # draws this close to what was seen have reached it
_AT_ONCE = 2**22  # numbers of a step
_PERMUTED = 100  # runs of both options, above which a normal law will do
_FIRST_TRIES, _MOST_TRIES = 999, 100_000  # permutations
_NOTHING = 1e-14  # a variance that is rounding alone
_MANY = 200.0  # a sum of squares from which on flips will do


def number_of_draws(delta: float) -> int:
    """B, so many that a share of delta is known well.

    >>> number_of_draws(0.05), number_of_draws(0.01)
    (4999, 9999)
    """
    return max(LEAST_DRAWS, math.ceil(_TAIL / delta)) - 1


# Draws of all statistics together, [b, K, K] with b at most the number that is asked for.
Law = Callable[[np.random.Generator, int], FloatArray]


@dataclasses.dataclass(frozen=True)
class OneLook:
    """What a table says at one look.

    Attributes:
        z: float [K, K], the statistic of "i over j"; -inf where the two never differ.
        estimate: float [K, K], the mean differences.
        laws: Of all statistics together, if nobody is better.
        delta: The probability of a wrong claim.
        number: Of the draws from each law, B.
        seed: Of the draws.
    """

    z: FloatArray
    estimate: FloatArray
    laws: tuple[Law, ...]
    delta: float
    number: int
    seed: int = SEED

    def may_be_best(self) -> BoolArray:
        """Who may be the best, [K]: the best one is among them but for delta.

        i stays unless the largest statistic of a rival over i is beyond the quantile of its own
        law.

        >>> sure = np.array([[-np.inf, 4.0], [-4.0, -np.inf]])
        >>> law = lambda rng, number: rng.normal(size=(number, 1, 1)) * [[0, 1], [-1, 0]]
        >>> print(OneLook(sure, sure, (law,), 0.05, 999).may_be_best())
        [ True False]
        """
        seen = self.z.max(0)

        def reached(draws: FloatArray) -> IntArray:
            draws[:, np.isneginf(self.z)] = -np.inf
            return (draws.max(1) >= seen - _CLOSE).sum(0)

        return self._shares(reached) > self.delta

    def over(self) -> BoolArray:
        """Who is certainly over whom, [K, K], all of it together but for delta: by step-down."""
        first, second = np.triu_indices(len(self.z), 1)
        turned = self.z[first, second] < self.z[second, first]
        pairs = np.where(turned, second, first), np.where(turned, first, second)
        found = np.zeros(self.z.shape, bool)
        found[pairs] = self.claims(*pairs, two_sided=True)
        return found

    def claims(self, first: IntArray, second: IntArray, *, two_sided: bool = False) -> BoolArray:
        """Which claims "``first`` over ``second``", [H], hold together but for delta: by step-down.

        The largest statistic is compared with the largest of all draws, the next one with the
        largest draw of the others, and so on, until one is not beyond the quantile. With
        ``two_sided`` the reverse claims are among them, which were not the larger ones.
        """
        seen = self.z[first, second]
        order = np.argsort(-seen, kind="stable")
        first, second, seen = first[order], second[order], seen[order]

        def reached(draws: FloatArray) -> IntArray:
            drawn = draws[:, first[::-1], second[::-1]]
            if two_sided:
                drawn = np.maximum(drawn, draws[:, second[::-1], first[::-1]])
            largest = np.maximum.accumulate(drawn, 1)[:, ::-1]
            return (largest >= seen - _CLOSE).sum(0)

        p = np.maximum.accumulate(self._shares(reached))
        found = np.zeros(len(order), bool)
        found[order] = (p <= self.delta) & (seen > 0)
        return found

    def _shares(self, reached: Callable[[FloatArray], IntArray]) -> FloatArray:
        """(1 + the number of draws that reach what was seen) / (1 + B), by the worse law."""
        found = []
        for law in self.laws:
            rng, left, count = np.random.default_rng(self.seed), self.number, 0
            while left:
                draws = law(rng, left)
                left -= len(draws)
                count = count + reached(draws)
            found.append((1 + count) / (1 + self.number))
        return np.max(found, 0)


def look_at_tasks(pairs: SharedPairs, delta: float, null: float = 0.0) -> OneLook:
    """Of the tasks that all options have run; "i over j" is E d > ``null``.

    Tasks of groups count as their group does: d is that of the task times its share of the mean.
    """
    has_all = pairs.ran_by_all
    values, shares = pairs.values[:, has_all], pairs.shares(has_all)
    table = dataclasses.replace(pairs, values=values)
    number, num_tasks, repeats = values.shape
    scores = table.task_means
    is_plain = pairs.compare is None and repeats == 1 and _is_right_or_wrong(scores)
    is_even = null == 0 and (is_plain or (pairs.by == "wins" and repeats == 1))
    is_even &= bool((shares == 1).all())
    of_scores = pairs.by == "mean" or is_plain
    total, square, cube = np.zeros((3, number, number))
    options = np.arange(number)
    apart = np.zeros((0 if of_scores else number * (number - 1) // 2, num_tasks), np.float32)
    at = np.triu_indices(number, 1)
    for option in options:
        d = table.differences(np.full(number, option), options)
        if not of_scores:
            apart[at[0] == option] = d[option + 1 :]
        d = (d - null) * shares
        total[option], square[option], cube[option] = d.sum(1), (d * d).sum(1), (d * d * d).sum(1)
    never = (square == 0) | np.eye(number, dtype=bool)
    scale = np.sqrt(np.where(never, np.inf, square)).astype(np.float32)
    if is_even:
        z = total / np.sqrt(np.where(never, 1.0, square))
    else:
        z = handicapped(total, square, cube, 1 + null)
    size = max(_AT_ONCE // max(num_tasks, number**2), 1)
    columns = ((scores if of_scores else apart) * shares).T.astype(np.float32)
    of_null: Any = (null * shares).astype(np.float32)

    def drawn(factors: np.ndarray) -> FloatArray:
        sums = factors @ columns
        if of_scores:
            found = sums[:, :, None] - sums[:, None, :]
        else:
            found = np.zeros((len(sums), number, number), np.float32)
            found[:, at[0], at[1]], found[:, at[1], at[0]] = sums, -sums
        return (found - (factors @ of_null)[:, None, None]) / scale

    def flips(rng: np.random.Generator, most: int) -> FloatArray:
        signs = rng.integers(0, 2, (min(size, most), num_tasks), np.int8)
        return drawn(2 * signs.astype(np.float32) - 1)

    def normals(rng: np.random.Generator, most: int) -> FloatArray:
        return drawn(rng.standard_normal((min(size, most), num_tasks), np.float32))

    is_large = square.min(where=~never, initial=np.inf) >= _MANY
    laws = (flips,) if is_large else (flips, normals)
    estimate = total / max(shares.sum(), 1) + null
    return OneLook(np.where(never, -np.inf, z), estimate, laws, delta, number_of_draws(delta))


def _is_right_or_wrong(scores: FloatArray) -> bool:
    """Are all of them the lowest or the highest one: 0 or 1, or their negatives?"""
    return bool(np.isin(np.abs(scores), (0.0, 1.0)).all())


def handicapped(
    total: FloatArray, square: FloatArray, cube: FloatArray, worst: FloatArray | float
) -> FloatArray:
    """z of sums of terms, of their squares and cubes, with one more term, -``worst``, of each.

    z solves S = z sqrt(V) + (z^2 - 1) k / 3, k = max(-C / V, 0), for the sums S, V and C with that
    term. Few terms say little of seldom ones: the term stands for one that is as bad as can be, and
    k for how skewed they are (docs/theory/one-look.md). Right or wrong answers need neither.

    >>> print(handicapped(np.array(9.0), np.array(15.0), np.array(9.0), 1.0))
    2.0
    """
    total, square, cube = total - worst, square + worst**2, cube - worst**3
    with np.errstate(divide="ignore", invalid="ignore"):
        third = np.maximum(-cube / square, 0) / 3
        inside = square + 4 * third * (total + third)
        z = 2 * (total + third) / (np.sqrt(square) + np.sqrt(np.maximum(inside, 0)))
    return np.where((inside >= 0) & (square > 0), z, -np.inf)


def look_at_runs(columns: Sequence[FloatArray], by: By, delta: float, null: float = 0.0) -> OneLook:
    """Of independent runs, [n_i] of each option; by mean from 0 to 1, or from -1 to 0.

    "i over j" is E d > ``null``.
    """
    number = len(columns)
    counts = np.array([len(column) for column in columns])
    is_plain = by == "wins" or (null == 0 and _is_right_or_wrong(np.concatenate(columns)))
    placed = [
        np.stack([_placed(own, other, by) for other in columns], 1).astype(float) for own in columns
    ]  # [n_i, K]
    mean = np.stack([x.mean(0) for x in placed])
    spread = [(x - x.mean(0)) / math.sqrt(len(x) * (len(x) - 1)) for x in placed]
    # What option i adds to the sums of its pairs, and its covariance: [K, K] of each option.
    shared = np.stack([x.T @ x for x in spread])
    square = np.stack([of_one.diagonal() for of_one in shared])
    square = square + square.T
    further = mean - null
    never = (square == 0) & (further == 0) | np.eye(number, dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = further / np.sqrt(square)
    if not is_plain:
        t = _with_worst_runs(columns, further, square)
    degrees = np.minimum(counts[:, None], counts[None, :]) - 1
    with np.errstate(invalid="ignore"):  # Student's t as a normal number
        z = t * (1 - 1 / (4 * degrees)) / np.sqrt(1 + t**2 / (2 * degrees))
    z[np.isinf(t)] = np.sign(t[np.isinf(t)]) * np.sqrt(2.0 * degrees[np.isinf(t)])
    tries = max(LEAST_DRAWS, min(math.ceil(5 * number * (number - 1) / delta), _MOST_TRIES)) - 1
    least = max(2 * delta, 0.1)  # the share from which on a first try is enough
    is_short = (counts[:, None] + counts <= _PERMUTED) & (null == 0 or by == "mean")
    for i, j in np.argwhere(is_short & ~never & (t > 0)):
        of_pair = columns[i] - null if null else columns[i], columns[j], by, float(t[i, j])
        share = _permuted(*of_pair, _FIRST_TRIES, SEED)
        if share < least:
            share = _permuted(*of_pair, tries, SEED + 1)
        z[i, j] = min(z[i, j], -normal_quantile(min(share, 0.999)))
    values, vectors = np.linalg.eigh(shared)
    roots = (vectors * np.sqrt(np.maximum(values, 0))[:, None, :]).transpose(0, 2, 1)
    # Without any spread a pair has a law of its own.
    alone = np.where(square == 0, 1.0, 0.0)
    scale = np.sqrt(np.where(square == 0, 1.0, square))
    size = max(_AT_ONCE // number**2, 1)

    def normals(rng: np.random.Generator, most: int) -> FloatArray:
        shape = min(size, most), number, number
        own = np.einsum("bik,ikj->bij", rng.standard_normal(shape), roots)
        other = np.triu(rng.standard_normal(shape), 1) * alone
        return (own - own.swapaxes(1, 2)) / scale + other - other.swapaxes(1, 2)

    return OneLook(np.where(never, -np.inf, z), mean, (normals,), delta, number_of_draws(delta))


def _placed(own: FloatArray, other: FloatArray, by: By) -> FloatArray:
    """Of each run its mean difference from the runs of another option, [n]."""
    if by == "mean":
        return own - other.mean()
    ordered = np.sort(other)
    places = np.searchsorted(ordered, own) + np.searchsorted(ordered, own, "right")
    return places / len(other) - 1


def _with_worst_runs(
    columns: Sequence[FloatArray], mean: FloatArray, square: FloatArray
) -> FloatArray:
    """Means of scores with one more run of each option, the worst of i and the best of j."""
    counts = np.array([len(x) for x in columns])
    level = np.array([x.mean() for x in columns])
    low = -1.0 if min(x.min() for x in columns) < 0 else 0.0
    cubes = np.array([((x - x.mean()) ** 3).sum() for x in columns]) / counts**3
    down, up = (level - low) / counts, (low + 1 - level) / counts
    total = mean - down[:, None] - up[None, :]
    square = square + down[:, None] ** 2 + up[None, :] ** 2
    cube = cubes[:, None] - cubes[None, :] - down[:, None] ** 3 - up[None, :] ** 3
    return handicapped(total, square, cube, 0.0)


def _permuted(x: FloatArray, y: FloatArray, by: By, t: float, tries: int, seed: int) -> float:
    """(1 + the number of permutations of the runs of both with ``t`` or more) / (1 + all)."""
    pool = np.concatenate([x, y])
    d = pool[:, None] - pool
    d = np.sign(d) if by == "wins" else d
    one, other = len(x), len(y)
    reached = 0
    for mine in _groupings(one, other, tries, seed):
        of_one = mine * ((1 - mine) @ d.T) / other
        of_other = (1 - mine) * (mine @ d.T) / one
        mean = of_one.sum(1) / one
        square = ((of_one**2).sum(1) / one - mean**2) / (one - 1)
        square += ((of_other**2).sum(1) / other - mean**2) / (other - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = mean / np.sqrt(np.where(square < _NOTHING, 0, square))
        reached += int((drawn >= t - _CLOSE).sum())  # 0 / 0 has not
    return (1 + reached) / (1 + tries)


@functools.lru_cache(maxsize=4)
def _groupings(one: int, other: int, tries: int, seed: int) -> list[np.ndarray]:
    """Which of the runs of both are the first option's: 1 or 0, arrays [b, n_i + n_j]."""
    rng, size = np.random.default_rng(seed), _AT_ONCE // (8 * (one + other))
    runs = np.arange(one + other) < one
    parts = [min(size, tries - start) for start in range(0, tries, size)]
    return [rng.permuted(np.tile(runs, (part, 1)), axis=1).astype(float) for part in parts]
