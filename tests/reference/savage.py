"""SAVAGE, one parameter at a time, and what it may be asked (Urvoy et al. 2013).

Equation numbers are those of the paper at ICML. A parameter is an arm, or a pair i < j of arms; a
box holds the bounds of all parameters. Ties go to the first parameter or arm.
"""

import dataclasses
import itertools
import math

import numpy as np


@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked: best, next, counting (of arms); copeland, condorcet, borda (of pairs)."""

    kind: str
    num_arms: int
    skipped: int = 0  # m of eq. 6
    limits: tuple[float, float] = (0.4, 0.6)  # of eq. 25
    max_defeats: int | None = None  # of eq. 13

    @property
    def is_about_pairs(self):
        return self.kind in ("copeland", "condorcet", "borda")

    @property
    def choices(self):
        """What is played to sample each parameter."""
        return list(itertools.combinations(range(self.num_arms), 2 if self.is_about_pairs else 1))


def square(question, lower, upper):
    """Bounds a_ij and b_ij [K][K] of a box about pairs; the diagonal is no parameter."""
    a = [[math.nan] * question.num_arms for _ in range(question.num_arms)]
    b = [[math.nan] * question.num_arms for _ in range(question.num_arms)]
    for (i, j), low, high in zip(question.choices, lower, upper, strict=True):
        a[i][j], b[i][j] = float(low), float(high)
        a[j][i], b[j][i] = 1 - float(high), 1 - float(low)
    return a, b


def certain_wins(a):
    """minU(i)."""
    arms = range(len(a))
    return [sum(a[i][j] > 0.5 for j in arms if j != i) for i in arms]


def possible_wins(b):
    """maxU(i)."""
    arms = range(len(b))
    return [sum(b[i][j] >= 0.5 for j in arms if j != i) for i in arms]


def borda_possible(a, b):
    """Which arms may have the largest sum of all x_ij, where some sum is more than K / 2?"""
    arms = range(len(a))
    least = [0.5 + sum(a[i][j] for j in arms if j != i) for i in arms]
    most = [0.5 + sum(b[i][j] for j in arms if j != i) for i in arms]
    leader = least.index(max(least))
    return [most[i] > len(a) / 2 and (i == leader or most[i] > least[leader]) for i in arms]


def _independent_arm(question, i, a, b):
    arms = range(len(a))
    if question.kind == "best":  # eq. 5
        return any(b[i] <= a[j] for j in arms) or all(b[k] <= a[i] for k in arms if k != i)
    if question.kind == "next":  # eq. 6
        better = sum(a[j] >= b[i] for j in arms)
        worse = sum(b[k] <= a[i] for k in arms)
        return better >= question.skipped + 1 or worse >= len(a) - question.skipped
    above, below = question.limits  # eq. 25
    return b[i] < above or a[i] > below or (above < a[i] and b[i] < below)


def _independent_pairs(question, a, b):
    arms = range(question.num_arms)
    most = possible_wins(b)
    if question.kind == "condorcet":  # eq. 12
        lost = [wins < len(arms) - 1 for wins in most]
        return [lost[i] or lost[j] for i, j in question.choices]
    if question.kind == "borda":
        possible = borda_possible(a, b)
        return [not possible[i] and not possible[j] for i, j in question.choices]
    least = certain_wins(a)
    found = []
    for i, j in question.choices:  # eq. 9
        beyond = any(wins > most[i] and wins > most[j] for wins in least)
        found.append(a[i][j] > 0.5 or b[i][j] < 0.5 or beyond)
    return found


def independent(question, lower, upper):
    """Which parameters cannot change the decision within the box, as far as the paper can tell?"""
    if not question.is_about_pairs:
        return [_independent_arm(question, i, lower, upper) for (i,) in question.choices]
    return _independent_pairs(question, *square(question, lower, upper))


def _is_at_its_place(i, skipped, a, b):
    """Is arm i certainly the (m + 1)-th best?"""
    others = [j for j in range(len(a)) if j != i]
    better = [j for j in others if a[j] >= b[i]]
    worse = [j for j in others if b[j] <= a[i]]
    enough = len(better) >= skipped and len(worse) >= len(others) - skipped
    return enough and set(better) | set(worse) == set(others)


def is_unique(question, lower, upper):
    """|f(H)| = 1 (eq. 3), up to ties; or few enough can beat an arm (eq. 13)."""
    if question.kind in ("best", "next"):
        arms = range(question.num_arms)
        return any(_is_at_its_place(i, question.skipped, lower, upper) for i in arms)
    if question.kind == "counting":
        return all(independent(question, lower, upper))
    a, b = square(question, lower, upper)
    if question.kind == "borda":
        return sum(borda_possible(a, b)) <= 1
    least, most = certain_wins(a), possible_wins(b)
    arms = range(question.num_arms)
    if question.max_defeats is not None:
        defeats = [sum(a[i][j] <= 0.5 for j in arms if j != i) for i in arms]
        if min(defeats) <= question.max_defeats:
            return True
    if question.kind == "condorcet":
        return sum(wins == len(arms) - 1 for wins in most) <= 1
    return any(all(least[i] > most[j] for j in arms if j != i) for i in arms)


def decisions(question, mean):
    """The arms (for counting: the numbers) that f(mean) may be, for ties are ties: a set."""
    arms = range(question.num_arms)
    if question.kind == "counting":
        above, below = question.limits
        return {sum(above < x < below for x in mean)}
    if question.kind in ("best", "next"):
        better = [sum(y > x for y in mean) for x in mean]
        as_good = [sum(y >= x for y in mean) for x in mean]
        return {i for i in arms if better[i] <= question.skipped < as_good[i]}
    x, _ = square(question, mean, mean)
    score = wins = certain_wins(x)
    if question.kind == "borda":
        score = [sum(x[i][j] for j in arms if j != i) for i in arms]
    if question.kind == "condorcet":
        score = [float(count == len(arms) - 1) for count in wins]
    return {i for i in arms if score[i] == max(score)}


def decide(question, mean):
    """f(mean): Copeland's ties go to the larger sum, all others to the first arm."""
    arms = range(question.num_arms)
    if question.kind == "next":
        return sorted(arms, key=lambda i: (-mean[i], i))[question.skipped]
    if question.kind not in ("copeland", "condorcet"):
        return min(decisions(question, mean))
    x, _ = square(question, mean, mean)
    wins = certain_wins(x)
    tied = [i for i in arms if wins[i] == max(wins)]
    # Sums that are equal but for rounding are equal.
    sums = [round(sum(x[i][j] for j in arms if j != i), 9) for i in arms]
    return min(tied, key=lambda i: (-sums[i], i))


def changes(question, mean, other):
    """Does f change if one value alone comes from ``other``? A list [N]; ties: the first arm."""

    def best(point):
        if question.kind not in ("copeland", "condorcet"):
            return decide(question, point)
        wins = certain_wins(square(question, point, point)[0])
        return wins.index(max(wins))

    before = best(mean)
    found = []
    for place in range(len(mean)):
        moved = [float(x) for x in mean]
        moved[place] = float(other[place])
        found.append(best(moved) != before)
    return found


def condorcet_winner(question, mean):
    """The arm that beats every other one, or None: then the matrix is not in F of eq. 12."""
    wins = certain_wins(square(question, mean, mean)[0])
    return wins.index(len(wins) - 1) if len(wins) - 1 in wins else None


def never_matters(question, lower, upper, uniforms):
    """Algorithm 2 on given uniform numbers [points, 2, N]: a new point for every change."""
    matters = np.zeros(len(lower), bool)
    for point, other in lower + (upper - lower) * uniforms:
        matters |= changes(question, point, other)
    return ~matters


def near_decisions(question, mean):
    """f(mean), and where sums of x_ij decide what rounding may make of it: a set."""
    best = decide(question, mean)
    if not question.is_about_pairs:
        return {best}
    x, _ = square(question, mean, mean)
    arms = range(question.num_arms)
    sums = [sum(x[i][j] for j in arms if j != i) for i in arms]
    wins = certain_wins(x)
    tied = arms if question.kind == "borda" else [i for i in arms if wins[i] == wins[best]]
    return {i for i in tied if abs(sums[i] - sums[best]) < 1e-5} | {best}


def radius(samples, num_parameters, delta, horizon):
    """c(t) with eta = 2 N T, or pi^2 N t^2 / 3 without a horizon."""
    if horizon is None:
        eta = math.pi**2 * num_parameters * samples**2 / 3
    else:
        eta = 2 * num_parameters * horizon
    return math.sqrt(math.log(eta / delta) / (2 * samples))


@dataclasses.dataclass
class Step:
    """What is known after one sample."""

    choice: tuple[int, ...]
    active: list[bool]  # W
    lower: list[float]
    upper: list[float]
    recommended: set[int]


def explore(question, chances, uniforms, delta, horizon, max_width=0.0, simulated=None):
    """Algorithm 1 on given uniform numbers: the steps until it stops, and whether it has.

    With ``simulated`` [T, points, 2, N] Algorithm 2 says what is independent, after every sample
    by uniform numbers of its own.
    """
    choices = question.choices
    count = len(choices)
    samples, successes = [0] * count, [0] * count
    lower, upper, active = [0.0] * count, [1.0] * count, [True] * count
    mean = [0.5] * count
    steps = []
    for time, uniform in enumerate(uniforms):
        fewest = min(t for t, is_active in zip(samples, active, strict=True) if is_active)
        here = next(i for i in range(count) if active[i] and samples[i] == fewest)
        samples[here] += 1
        successes[here] += int(uniform < chances[choices[here]])
        mean[here] = successes[here] / samples[here]
        width = radius(samples[here], count, delta, horizon)
        lower[here] = max(lower[here], mean[here] - width)
        upper[here] = min(upper[here], mean[here] + width)
        if simulated is None:
            drop = independent(question, lower, upper)
        else:
            drop = never_matters(question, np.array(lower), np.array(upper), simulated[time])
        active = [is_in and not is_out for is_in, is_out in zip(active, drop, strict=True)]
        steps.append(
            Step(choices[here], active, lower[:], upper[:], near_decisions(question, mean))
        )
        # eq. 7, of what can still matter
        widths = [b - a for a, b, is_in in zip(lower, upper, active, strict=True) if is_in]
        narrow = all(width <= max_width for width in widths)
        if not any(active) or is_unique(question, lower, upper) or narrow:
            return steps, True
    return steps, False


def make_matrix(rng, num_arms, gap, kind):
    """A preference matrix: random, with a Condorcet winner, or without one (a cycle at the top)."""
    matrix = np.full((num_arms, num_arms), 0.5)
    for i, j in itertools.combinations(range(num_arms), 2):
        first_wins = rng.random() < 0.5
        if kind == "condorcet" and i == 0:
            first_wins = True
        if kind == "cycle" and (i < 3 or j < 3):
            first_wins = (i, j) != (0, 2)
        size = gap + (0.5 - gap) * rng.random()
        matrix[i, j] = 0.5 + size if first_wins else 0.5 - size
        matrix[j, i] = 1 - matrix[i, j]
    order = rng.permutation(num_arms)
    return matrix[np.ix_(order, order)].astype(np.float32)


def draw_chances(rng, question, number):
    """Probabilities float32 [number, ...] of problems that are soon solved."""
    count = question.num_arms
    if not question.is_about_pairs:
        evenly = np.linspace(0.05, 0.95, count)
        return rng.permuted(np.tile(evenly, (number, 1)), axis=1).astype(np.float32)
    kinds = ["condorcet", "any", "cycle"] if count > 2 else ["any"]
    return np.stack([make_matrix(rng, count, 0.36, kinds[n % len(kinds)]) for n in range(number)])


def draw_box(rng, number, num_parameters, style):
    """Boxes float32 [number, N]: bounds on a grid (with points, and 1/2), or anywhere."""
    shape = (number, num_parameters)
    # Narrow ones prevail, or little would ever be certain.
    if style == "grid":
        start = rng.integers(0, 9, shape)
        lower, upper = start / 8, np.minimum(start + rng.choice([0, 1, 2, 8], shape), 8) / 8
    else:
        centre, half = rng.random(shape), rng.random(shape) ** 3 / 2
        lower, upper = np.maximum(centre - half, 0), np.minimum(centre + half, 1)
    return lower.astype(np.float32), upper.astype(np.float32)
