"""RMED1, MergeRUCB and Self-Sparring, one duel at a time; see `duels`."""

import math

from reference.duels import Counts, divergence, first_largest


class Rmed1(Counts):
    """Komiyama, Honda, Kashima, Nakagawa 2015: Algorithm 1, with Algorithm 2 for the rival.

    The arms of a loop come in the order of their numbers; ties go to the first arm.
    """

    def __init__(self, num_arms, slack):
        super().__init__(num_arms)
        self.slack = slack
        self.current = list(range(num_arms))  # L_C, without those that have been drawn
        self.remaining = set(range(num_arms))  # L_R
        self.next = set()  # L_N

    def others(self, i):
        return [j for j in range(self.num_arms) if j != i]

    def opponents(self, i):
        return [j for j in self.others(i) if self.rate(i, j) * 2 <= 1]

    def information(self, i):
        """I_i(t)."""
        return sum(
            int(self.duels(i, j)) * divergence(float(self.rate(i, j)), 0.5)
            for j in self.opponents(i)
        )

    def best(self):
        """i*(t); equal sums may differ in their last digits."""
        found = [round(self.information(i), 9) for i in range(self.num_arms)]
        return found.index(min(found))

    def unmet(self):
        """The pairs of the initial phase that are left."""
        pairs = [(i, j) for i in range(self.num_arms) for j in self.others(i) if i < j]
        return [pair for pair in pairs if self.duels(*pair) == 0]

    def choose(self):
        if self.unmet():
            return self.unmet()[0]
        arm = self.current[0]
        opponents = self.opponents(arm)
        likeliest = self.best()
        if likeliest in opponents or not opponents:
            return arm, likeliest
        return arm, min(self.others(arm), key=lambda j: (self.rate(arm, j), j))

    def tell(self, pair, outcome):
        is_initial = bool(self.unmet())
        time = self.time  # of this duel
        super().tell(pair, outcome)
        if is_initial:
            return
        self.current.remove(pair[0])
        self.remaining.discard(pair[0])
        found = [self.information(i) for i in range(self.num_arms)]
        for j in range(self.num_arms):
            is_likely = found[j] - min(found) <= math.log(time) + self.slack  # J_j(t), eq. (4)
            if j not in self.remaining and is_likely:
                self.next.add(j)
        if not self.current:
            self.current, self.remaining, self.next = sorted(self.next), self.next, set()


class SelfSparring:
    """Sui, Zhuang, Burdick, Yue 2017, IndSelfSparring for two arms.

    `sample(a, b)` draws Beta(a, b) for arrays [2, K] of parameters.
    """

    decided_at = 0  # it never is

    def __init__(self, num_arms, rate):
        self.rate = rate
        self.results = [[] for _ in range(num_arms)]  # of each arm: has it won?

    def parameters(self):
        """Of the posterior of each arm: lists of K."""
        won = [self.rate * sum(results) + 1 for results in self.results]
        lost = [self.rate * (len(results) - sum(results)) + 1 for results in self.results]
        return won, lost

    def choose(self, sample):
        won, lost = self.parameters()
        return tuple(first_largest(theta) for theta in sample([won, won], [lost, lost]))

    def tell(self, pair, outcome):
        self.results[pair[0]].append(bool(outcome))
        self.results[pair[1]].append(not outcome)

    def best(self):
        return first_largest([len(results) for results in self.results])
