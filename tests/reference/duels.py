"""Dueling bandits: one duel at a time, every quantity anew from the wins so far.

Each class says whom to duel (`choose`), counts a duel (`tell`) and names an arm (`best`). Random
numbers are arguments. Arms are counted from 0, time from 1.
"""

import itertools
import math
from fractions import Fraction

import numpy as np


def pick(arms, uniform):
    """One of the arms in a list, by a number uniform in [0, 1)."""
    return arms[min(int(uniform * len(arms)), len(arms) - 1)]


def first_largest(values):
    """The first place whose value is the largest one."""
    return list(values).index(max(values))


class Counts:
    """Who has beaten whom how often; duels of an arm against itself are left out."""

    decided_at = 0  # it never is

    def __init__(self, num_arms):
        self.num_arms = num_arms
        self.wins = np.zeros((num_arms, num_arms), int)
        self.time = 1  # of the next duel

    def tell(self, pair, outcome):
        winner, loser = pair if outcome else pair[::-1]
        if winner != loser:
            self.wins[winner, loser] += 1
        self.time += 1

    def duels(self, i, j):
        return self.wins[i, j] + self.wins[j, i]

    def rate(self, i, j):
        """The share of the duels with j that i has won; exact, 1/2 without any."""
        n = int(self.duels(i, j))
        return Fraction(int(self.wins[i, j]), n) if n else Fraction(1, 2)

    def radius(self, i, j, alpha):
        return math.sqrt(alpha * math.log(self.time) / self.duels(i, j))

    def upper(self, i, j, alpha):
        """u_ij: Zoghi et al. 2014, Algorithm 1, line 4."""
        if i == j:
            return 0.5
        if self.duels(i, j) == 0:
            return 1.0
        return self.wins[i, j] / self.duels(i, j) + self.radius(i, j, alpha)

    def lower(self, i, j, alpha):
        """l_ij: Wu and Liu 2016, Algorithm 1, line 5."""
        if i == j:
            return 0.5
        if self.duels(i, j) == 0:
            return 0.0
        return self.wins[i, j] / self.duels(i, j) - self.radius(i, j, alpha)

    def beaten(self, i):
        """How many others i has won against more often than not."""
        return sum(self.wins[i, j] > self.wins[j, i] for j in range(self.num_arms))

    def leader(self):
        """The first arm that has beaten most others, and of those has the best mean rate."""
        most = max(map(self.beaten, range(self.num_arms)))
        leaders = [i for i in range(self.num_arms) if self.beaten(i) == most]
        if len(leaders) == 1:
            return leaders[0]
        sums = [sum(self.rate(i, j) for j in range(self.num_arms)) for i in leaders]
        return leaders[first_largest(sums)]


class Uniform(Counts):
    """Two different arms."""

    def choose(self, noise):
        first = pick(list(range(self.num_arms)), noise[0])
        return first, pick([j for j in range(self.num_arms) if j != first], noise[1])

    def best(self):
        return self.leader()


class Rucb(Counts):
    """Relative upper confidence bound: Zoghi, Whiteson, Munos, de Rijke 2014, Algorithm 1."""

    def __init__(self, num_arms, alpha):
        super().__init__(num_arms)
        self.alpha = alpha
        self.champion = None  # the arm of the set B

    def candidates(self):
        """C, line 6."""
        arms = range(self.num_arms)
        return [i for i in arms if all(self.upper(i, j, self.alpha) >= 0.5 for j in arms)]

    def update_champion(self):
        """Lines 7 to 10; to be called before every duel."""
        candidates = self.candidates()
        if self.champion not in candidates:
            self.champion = None
        if len(candidates) == 1:
            self.champion = candidates[0]
        return candidates

    def choose(self, noise):
        coin, uniform = noise
        arms = list(range(self.num_arms))
        candidates = self.update_champion()
        if not candidates:
            first = pick(arms, uniform)
        elif len(candidates) == 1:
            first = candidates[0]
        elif self.champion is not None and coin < 0.5:
            first = self.champion
        else:
            first = pick([i for i in candidates if i != self.champion], uniform)
        bounds = [self.upper(j, first, self.alpha) for j in arms]
        rivals = [j for j in arms if bounds[j] == max(bounds) and j != first]
        return first, rivals[0] if rivals else first

    def best(self):
        self.update_champion()
        return self.leader() if self.champion is None else self.champion


class DoubleThompson(Counts):
    """DTS: Wu and Liu 2016, Algorithm 1; DTS+: section 4.3.

    `sample(a, b)` draws Beta(a, b) for arrays of parameters.
    """

    def __init__(self, num_arms, alpha):
        super().__init__(num_arms)
        self.alpha = alpha

    def candidates(self):
        """Arms that may beat most others, lines 7 and 8."""
        arms = range(self.num_arms)
        scores = [sum(self.upper(i, j, self.alpha) >= 0.5 for j in arms if j != i) for i in arms]
        return [i for i in arms if scores[i] == max(scores)]

    def choose(self, is_above, tie, sample):
        """Line 9 to 18, told whether theta_ij > 1/2 for i < j: bool [K, K]."""
        above = np.zeros((self.num_arms, self.num_arms), bool)
        for i in range(self.num_arms):
            for j in range(i + 1, self.num_arms):
                above[i, j] = is_above[i, j]
                above[j, i] = not is_above[i, j]
        return self.choose_rival(pick(self.most_wins(above), tie), sample)

    def choose_plus(self, tie, sample_all, sample):
        theta = np.full((self.num_arms, self.num_arms), 0.5)
        pairs = list(itertools.combinations(range(self.num_arms), 2))
        won = np.array([self.wins[i, j] for i, j in pairs])
        lost = np.array([self.wins[j, i] for i, j in pairs])
        drawn = np.asarray(sample_all(won + 1, lost + 1), np.float64)
        for (i, j), value in zip(pairs, drawn, strict=True):
            theta[i, j], theta[j, i] = value, 1 - value
        winners = self.most_wins(theta > 0.5)
        losses = [least_regret_sum(theta, i) for i in winners]
        return self.choose_rival(
            pick([i for i, s in zip(winners, losses, strict=True) if s == min(losses)], tie), sample
        )

    def most_wins(self, above):
        candidates = self.candidates()
        most = max(above[i].sum() for i in candidates)
        return [i for i in candidates if above[i].sum() == most]

    def choose_rival(self, first, sample):
        theta = np.array(
            sample(self.wins[:, first] + 1, self.wins[first, :] + 1), np.float64
        )  # theta_{i, first}
        theta[first] = 0.5
        arms = range(self.num_arms)
        possible = [i for i in arms if self.lower(i, first, self.alpha) <= 0.5]
        return first, possible[first_largest([theta[i] for i in possible])]

    def best(self):
        return self.leader()


def least_regret_sum(theta, i):
    """Sum over j of r_ij / kl(theta_ij, 1/2), r_ij: regret of the pair by the scores of theta."""
    num_arms = len(theta)
    scores = [sum(theta[k] > 0.5) / (num_arms - 1) for k in range(num_arms)]
    total = 0.0
    for j in range(num_arms):
        if j != i:
            regret = max(scores) - (scores[i] + scores[j]) / 2
            total += regret / divergence(theta[i, j], 0.5) if regret > 0 else 0.0
    return total


def divergence(p, q):
    """kl(p, q) of two Bernoulli distributions, 0 < q < 1."""
    terms = ((p, q), (1 - p, 1 - q))
    return sum(a * math.log(a / b) for a, b in terms if a > 0)
