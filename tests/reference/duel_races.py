"""RMED1, MergeRUCB and Self-Sparring, one duel at a time; see `duels`."""

import math

from reference.duels import Counts, divergence, first_largest, pick


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


class MergeRucb(Counts):
    """Zoghi, Whiteson, de Rijke 2015, Algorithm 1, with batches as lists of arms.

    An arm goes when a duel of its batch shows that it must; a pair without a duel comes first.
    """

    def __init__(self, num_arms, alpha, delta, batch_size):
        super().__init__(num_arms)
        self.alpha, self.batch_size = alpha, batch_size
        factor = (4 * alpha - 1) * num_arms**2 / ((2 * alpha - 1) * delta)
        self.start = factor ** (1 / (2 * alpha - 1))  # C(delta)
        count = math.ceil(num_arms / batch_size)
        self.batches = [[] for _ in range(count)]
        for i in range(num_arms):
            self.batches[i * count // num_arms].append(i)
        self.stage = 1
        self.decided_at = 0

    def bound(self, i, j, time):
        n = int(self.duels(i, j))
        if n == 0:
            return math.inf
        radius = math.sqrt(self.alpha * math.log(time + self.start) / n)
        return float(self.rate(i, j)) + radius

    def choose(self, noise):
        batch = sorted(self.batches[self.time % len(self.batches)])
        first = pick(batch, noise)
        rivals = [j for j in batch if j != first]
        if not rivals:
            return first, first
        return first, rivals[first_largest([self.bound(j, first, self.time) for j in rivals])]

    def tell(self, pair, outcome):
        time = self.time
        super().tell(pair, outcome)
        for batch in self.batches:
            if pair[0] != pair[1] and set(pair) <= set(batch):
                for i, j in (pair, pair[::-1]):
                    if self.bound(i, j, time) < 0.5:
                        batch.remove(i)
                break
        left = sum(map(len, self.batches))
        if left == 1 and not self.decided_at:
            self.decided_at = time
        is_due = left <= self.num_arms / 2**self.stage or max(map(len, self.batches)) == 1
        if len(self.batches) > 1 and is_due:
            self.merge()
            self.stage += 1

    def merge(self):
        """Small ones with large ones, to at most 3 p / 2 arms."""
        waiting = sorted(self.batches, key=len)
        self.batches = []
        while waiting:
            batch = waiting.pop()
            if waiting and len(waiting[0]) + len(batch) <= 1.5 * self.batch_size:
                batch = batch + waiting.pop(0)
            self.batches.append(batch)

    def best(self):
        left = sorted(i for batch in self.batches for i in batch)
        beaten = [self.beaten(i) for i in left]
        sums = [sum(self.rate(i, j) for j in range(self.num_arms)) for i in left]
        return left[first_largest(list(zip(beaten, sums, strict=True)))]
