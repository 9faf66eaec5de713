"""Sup-KLUCB, Interleaved Filter and Beat the Mean, one duel at a time; see `duels`."""

import math
from fractions import Fraction

import numpy as np

from reference.duels import divergence, first_largest, pick


def kl_upper(p, level):
    """Max {q : kl(p, q) <= level}: Garivier and Cappe 2011, eq. (1), by bisection."""
    if p <= 0:
        return -math.expm1(-level)
    low, high = p, 1.0
    for _ in range(60 if p < 1 else 0):
        middle = (low + high) / 2
        if middle < 1 and divergence(p, middle) <= level:
            low = middle
        else:
            high = middle
    return high


class SupKlucb:
    """Agrawal and Chaporkar 2019, Algorithm 1, with the wins of line 11 added up.

    Of several pairs with the largest bound the first one is taken. The score of an arm is made of
    its rates against the others: by name, or by a function of their list.
    """

    decided_at = 0  # it never is

    def __init__(self, num_arms, c1, c2, score="copeland"):
        self.num_arms, self.c1, self.c2, self.score = num_arms, c1, c2, score
        self.pairs = [(i, j) for i in range(num_arms) for j in range(i, num_arms)]
        self.plays = dict.fromkeys(self.pairs, 0)
        self.wins = dict.fromkeys(self.pairs, 0)
        self.time = 1

    def tell(self, pair, outcome):
        pair, won = (pair, outcome) if pair[0] <= pair[1] else (pair[::-1], not outcome)
        self.plays[pair] += 1
        self.wins[pair] += int(won)
        self.time += 1

    def rate(self, i, j):
        """P_ij, exact; 1/2 without a duel."""
        if i > j:
            return 1 - self.rate(j, i)
        n = self.plays[i, j]
        return Fraction(self.wins[i, j], n) if n else Fraction(1, 2)

    def scores(self):
        """Sup_i, exact."""
        arms = range(self.num_arms)
        half = Fraction(1, 2)
        rates = [[self.rate(i, j) for j in arms if j != i] for i in arms]
        if self.score == "copeland":
            return [Fraction(sum(r > half for r in row), self.num_arms - 1) for row in rates]
        if self.score == "borda":
            return [sum(row, Fraction(0)) / (self.num_arms - 1) for row in rates]
        assert callable(self.score)
        return [self.score(row) for row in rates]

    def bounds(self):
        """Of every pair, lines 6 to 9."""
        spent = self.time - len(self.pairs)
        budget = self.c1 * math.log(spent) + self.c2 * math.log(math.log(spent) + 1)
        scores = self.scores()
        known = {}
        for i, j in self.pairs:
            key = scores[i] * scores[j], self.plays[i, j]
            if key not in known:
                known[key] = kl_upper(float(key[0]), budget / key[1])
            yield known[key]

    def choose(self):
        if self.time <= len(self.pairs):
            return self.pairs[self.time - 1]
        return self.pairs[first_largest(list(self.bounds()))]

    def best(self):
        return first_largest(self.scores())


class InterleavedFilter:
    """IF2: Yue, Broder, Kleinberg, Joachims 2012, Algorithm 2, with arm 0 as first candidate.

    Of several arms that beat the candidate for certain, the one that won most often follows it.
    """

    def __init__(self, num_arms, horizon):
        self.log_level = math.log(horizon * num_arms**2)  # ln(1 / delta)
        self.candidate = 0
        self.rivals = set(range(1, num_arms))
        self.told = 0
        self.decided_at = 0
        self.restart()

    def restart(self):
        self.results = {rival: [] for rival in self.rivals}  # of the candidate against each

    def choose(self):
        if not self.rivals:
            return self.candidate, self.candidate
        rounds = min(len(self.results[rival]) for rival in self.rivals)
        waiting = [rival for rival in self.rivals if len(self.results[rival]) == rounds]
        return self.candidate, min(waiting)

    def tell(self, pair, outcome):
        self.told += 1
        if not self.rivals:
            return
        self.results[pair[1]].append(bool(outcome))
        if len({len(self.results[rival]) for rival in self.rivals}) == 1:
            self.end_round()

    def end_round(self):
        rates = {rival: np.mean(self.results[rival]) for rival in self.rivals}
        rounds = len(self.results[min(self.rivals)])
        radius = math.sqrt(4 * self.log_level / rounds)
        self.rivals = {i for i in self.rivals if not rates[i] - radius > 0.5}
        better = [i for i in self.rivals if rates[i] + radius < 0.5]
        if better:
            self.candidate = min(better, key=lambda i: (rates[i], i))
            self.rivals = {i for i in self.rivals if not rates[i] > 0.5} - {self.candidate}
            self.restart()
        if not self.rivals:
            self.decided_at = self.told

    def best(self):
        return self.candidate


class BeatTheMean:
    """Yue and Joachims 2011, Algorithm 1: lists of duels, of which those of a loser are struck."""

    def __init__(self, num_arms, horizon, gamma):
        self.level = math.log(2 * horizon * num_arms)
        self.gamma = gamma
        self.duels = {arm: [] for arm in range(num_arms)}  # of W: (second arm, has the arm won)
        self.told = 0
        self.decided_at = 0

    def choose(self, noise):
        fewest = min(map(len, self.duels.values()))
        least = [arm for arm, duels in self.duels.items() if len(duels) == fewest]
        return pick(least, noise[0]), pick(list(self.duels), noise[1])

    def rates(self):
        return {
            arm: sum(won for _, won in duels) / max(len(duels), 1)
            for arm, duels in self.duels.items()
        }

    def tell(self, pair, outcome):
        self.told += 1
        if self.decided_at:
            return
        self.duels[pair[0]].append((pair[1], bool(outcome)))
        fewest = min(map(len, self.duels.values()))
        if fewest == 0:
            return
        rates = self.rates()
        radius = 3 * self.gamma**2 * math.sqrt(self.level / fewest)
        if min(rates.values()) + radius <= max(rates.values()) - radius:
            worst = min(rates, key=lambda arm: (rates[arm], arm))
            del self.duels[worst]
            for arm, duels in self.duels.items():
                self.duels[arm] = [duel for duel in duels if duel[0] != worst]
        if len(self.duels) == 1:
            self.decided_at = self.told

    def best(self):
        rates = self.rates()
        return min(rates, key=lambda arm: (-rates[arm], arm))
