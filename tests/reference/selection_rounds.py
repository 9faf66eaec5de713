"""Top-k selection in fixed rounds, one duel at a time: TOP, active ranking, the race on pairs.

Each class says whom to duel (`ask`, with a number uniform in [0, 1) that is the only randomness of
the step), takes the score of the first option over the second (`tell`), names the k options that it
thinks best so far (`selected`) and says whether it has nothing more to ask (`done`). Options are
counted from 0, and pairs are listed in the order of `np.triu_indices(K, 1)`.

A duel counts Y = 1, 1/2, 0 for a win, a tie, a loss (outcome "wins"), or Y = (score / max_score +
1) / 2 (outcome "scores"). What is added up is 2 Y - 1, which for "wins" is the integer number of
wins less losses (of half wins less duels), so that no decision on them depends on rounding.
"""

import itertools
import math
from fractions import Fraction

import numpy as np


def mean_outcome(net, duels):
    """The mean of Y, exact for wins; 1/2 without a duel."""
    mean = Fraction(net, max(duels, 1)) if isinstance(net, int) else net / duels
    return (1 + mean) / 2


class TopReference:
    """TOP and SELECT: Mohajer, Suh, Elmahdy 2017; the shortlist is a binary max-heap.

    A match is `repetitions` duels of the same two options, and the larger sum of scores wins it.
    """

    def __init__(self, K, k, repetitions, order):
        self.k, self.repetitions = k, repetitions
        self.order = [int(option) for option in order]
        self.groups = [self.order[g::k] for g in range(k)]
        self.chosen, self.heap = [], []  # the chosen ones stand in order, best first
        self.matches = []  # all that were begun: for what, and how many were chosen before
        self.uniform = math.nan  # of the last `ask`
        self.duels = self._play()
        self.pair = next(self.duels, None)

    def ask(self, uniform):
        assert self.pair is not None
        self.uniform = uniform
        return self.pair

    def tell(self, i, j, score):
        assert (i, j) == self.pair
        try:
            self.pair = self.duels.send(float(score))
        except StopIteration:
            self.pair = None

    def selected(self):
        first = self.chosen + self.heap
        return sorted((first + [i for i in self.order if i not in first])[: self.k])

    def done(self):
        return self.pair is None

    def _play(self):
        for group in self.groups:
            yield from self._enter(group)
        while True:
            best = self.heap[0]
            self.chosen.append(best)
            last = self.heap.pop()
            if self.heap:
                self.heap[0] = last
            if len(self.chosen) == self.k:
                return
            yield from self._sift_down()
            yield from self._enter(next(group for group in self.groups if best in group))

    def _enter(self, group):
        """The best of the group that has not been chosen goes onto the heap."""
        left = [option for option in group if option not in self.chosen]
        if left:
            yield from self._push((yield from self._select(left)))

    def _select(self, standing):
        """SELECT: single elimination."""
        while len(standing) > 1:
            winners = []
            for p in range(0, len(standing) - 1, 2):
                winners.append((yield from self._match("select", *standing[p : p + 2])))
            standing = winners + standing[2 * len(winners) :]  # a bye
        return standing[0]

    def _push(self, option):
        heap = self.heap
        heap.append(option)
        place = len(heap) - 1
        while place > 0:
            above = (place - 1) // 2
            winner = yield from self._match("rise", option, heap[above])
            if winner != option:
                return
            heap[place], heap[above] = heap[above], option
            place = above

    def _sift_down(self):
        heap = self.heap
        place = 0
        while 2 * place + 1 < len(heap):
            larger = 2 * place + 1
            if larger + 1 < len(heap):
                winner = yield from self._match("sink", heap[larger], heap[larger + 1])
                larger += winner != heap[larger]
            winner = yield from self._match("sink", heap[larger], heap[place])
            if winner != heap[larger]:
                return
            heap[place], heap[larger] = heap[larger], heap[place]
            place = larger

    def _match(self, purpose, first, second):
        """Which of the two wins; a sum of zero is settled by the last uniform number."""
        self.matches.append((purpose, len(self.chosen)))
        total = 0.0
        for _ in range(self.repetitions):
            total += yield first, second
        if total == 0:
            return first if self.uniform < 0.5 else second
        return first if total > 0 else second


def active_ranking_radius(kind, t, K, delta):
    """alpha_t of Heckel et al. 2016: of Algorithm 1 ("heckel"), of the experiments ("karnin")."""
    if kind == "heckel":
        inside = 125 * K * math.log(1.12 * t) / delta
        return math.sqrt(math.log(inside) / t) if inside > 1 else math.inf
    if t < 2:
        return math.inf
    level = math.log(K / delta)
    beta = level + 0.75 * math.log(level) + 1.5 * math.log(1 + math.log(t / 2))
    return math.sqrt(beta / (2 * t))


class _Rounds:
    """Whoever waits in a round duels; after it options are chosen, discarded or still undecided."""

    def __init__(self, K, k, outcome, max_score):
        self.K, self.k = K, k
        self.outcome, self.max_score = outcome, max_score
        self.chosen = set(range(K)) if k == K else set()
        self.discarded = set()
        self.rounds = 0  # that are over
        self.margin = math.inf  # of the last round: how far a comparison was from an equality
        self.waiting = []

    def undecided(self):
        return [i for i in range(self.K) if i not in self.chosen | self.discarded]

    def count(self, score):
        """2 Y - 1, an integer for wins."""
        if self.outcome == "wins":
            return int(score > 0) - int(score < 0)
        return float(score) / self.max_score

    def exceeds(self, left, right):
        """Is left > right? The margin tells whether rounding might change that."""
        self.margin = min(self.margin, abs(float(left - right)))
        return left > right

    def scores(self):
        raise NotImplementedError

    def selected(self):
        scores = self.scores()
        best = sorted(self.undecided(), key=lambda i: scores[i], reverse=True)  # is stable
        return sorted([*self.chosen, *best[: self.k - len(self.chosen)]])

    def done(self):
        return not self.waiting


class ActiveRankingReference(_Rounds):
    """Active ranking with one boundary: Heckel, Shah, Ramchandran, Wainwright 2016, Algorithm 1."""

    def __init__(self, K, k, delta, radius, outcome, max_score=1.0):
        super().__init__(K, k, outcome, max_score)
        self.delta, self.radius = delta, radius
        self.net, self.samples = [0] * K, [0] * K  # sums of 2 Y - 1 of own duels, and their number
        self.waiting = self.undecided()

    def ask(self, uniform):
        i = self.waiting[0]
        return i, (i + 1 + min(int(uniform * (self.K - 1)), self.K - 2)) % self.K

    def tell(self, i, j, score):
        assert i == self.waiting[0] != j
        self.waiting = self.waiting[1:]
        self.net[i] += self.count(score)
        self.samples[i] += 1
        if not self.waiting:
            self.rounds += 1
            self._settle(self.undecided(), self.k - len(self.chosen))
            self.waiting = self.undecided()

    def scores(self):
        """tau_i."""
        return [mean_outcome(self.net[i], self.samples[i]) for i in range(self.K)]

    def _settle(self, active, places):
        tau = self.scores()
        ranked = sorted((tau[i] for i in active), reverse=True)
        apart = 4 * active_ranking_radius(self.radius, self.rounds, self.K, self.delta)
        self.margin = math.inf
        self.chosen |= {i for i in active if self.exceeds(tau[i] - ranked[places], apart)}
        self.discarded |= {i for i in active if self.exceeds(ranked[places - 1] - tau[i], apart)}
        # Whoever is left when all places are taken, or only as many as there are places.
        left = self.undecided()
        places = self.k - len(self.chosen)
        if places in (0, len(left)):
            (self.chosen if places else self.discarded).update(left)


class PairwiseRaceReference(_Rounds):
    """The race that samples pairs: Busa-Fekete et al. 2013, Algorithm 1 and Procedures 2 to 4.

    Pairs i < j are sampled once for both orders. Corrected are the thresholds of the procedures (at
    least instead of more than), Borda's bounds (over all other options, not only the undecided
    ones), and in the random walk the direction and the bound on the error of its matrix.
    """

    def __init__(self, K, k, delta, max_rounds, ranking, width, outcome, max_score=1.0):
        super().__init__(K, k, outcome, max_score)
        self.max_rounds, self.ranking, self.width = max_rounds, ranking, width
        self.pair_level = math.log(K * (K - 1) * max_rounds / delta)
        self.option_level = math.log(2 * K * max_rounds / delta)
        self.net = [[0] * K for _ in range(K)]  # sums of 2 Y_ij - 1
        self.samples = [[0] * K for _ in range(K)]  # n_ij
        self.others = [[j for j in range(K) if j != i] for i in range(K)]
        pairs = zip(*(part.tolist() for part in np.triu_indices(K, 1)), strict=True)
        self.active = list(pairs) if k < K else []
        self.waiting = list(self.active)

    def ask(self, uniform):
        return self.waiting[0]  # nothing is random

    def tell(self, i, j, score):
        assert (i, j) == self.waiting[0]
        self.waiting = self.waiting[1:]
        value = self.count(score)
        self.net[i][j] += value
        self.net[j][i] -= value
        self.samples[i][j] += 1
        self.samples[j][i] += 1
        if not self.waiting:
            self.rounds += 1
            self.margin = math.inf
            getattr(self, f"_decide_{self.ranking}")()
            left = self.undecided()
            candidates = self._widest() if self.ranking == "random_walk" else self.active
            self.active = [(i, j) for i, j in candidates if i in left or j in left]
            # No pair is compared more often than that.
            self.waiting = [(i, j) for i, j in self.active if self.samples[i][j] < self.max_rounds]

    def mean(self, i, j):
        return mean_outcome(self.net[i][j], self.samples[i][j])

    def radius(self, i, j):
        return math.sqrt(self.pair_level / (2 * self.samples[i][j]))

    def scores(self):
        """The surrogates' scores, the larger the better."""
        if self.ranking == "random_walk":
            return [round(visits * 2**20) for visits in self._walk()[0].tolist()]
        if self.ranking == "borda":
            return self._borda()
        nets = [[self.net[i][j] for j in self.others[i]] for i in range(self.K)]
        half_wins = [sum(2 * (net > 0) + (net == 0) for net in row) for row in nets]
        return list(zip(half_wins, self._borda(), strict=True))

    def _borda(self):
        """y_i."""
        return [sum(self.mean(i, j) for j in self.others[i]) / (self.K - 1) for i in range(self.K)]

    def _decide_copeland(self):
        """Procedure 2, with z_i for certain wins and o_i for certain losses."""
        beats = [[False] * self.K for _ in range(self.K)]
        for i in range(self.K):
            for j in self.others[i]:
                beats[i][j] = self.exceeds(self.mean(i, j) - Fraction(1, 2), self.radius(i, j))
        wins = [sum(row) for row in beats]
        losses = [sum(column) for column in zip(*beats, strict=True)]
        self._settle(range(self.K), self.k, lambda i, j: wins[i] + losses[j] >= self.K)
        self.active = [(i, j) for i, j in self.active if not (beats[i][j] or beats[j][i])]

    def _decide_borda(self):
        """Procedure 3."""
        centers = [float(score) for score in self._borda()]
        lower = [center - self._borda_width(i) for i, center in enumerate(centers)]
        upper = [center + self._borda_width(i) for i, center in enumerate(centers)]
        places = self.k - len(self.chosen)
        self._settle(self.undecided(), places, lambda i, j: self.exceeds(lower[i], upper[j]))

    def _borda_width(self, i):
        """Of the means' intervals, or of Hoeffding's inequality for the average of the means."""
        if self.width == "pairs":
            return sum(self.radius(i, j) for j in self.others[i]) / (self.K - 1)
        spread = sum(1 / self.samples[i][j] for j in self.others[i])
        return math.sqrt(self.option_level * spread / (2 * (self.K - 1) ** 2))

    def _settle(self, options, places, is_better):
        """Choose who is better than all but places - 1 others, discard who is worse than places."""
        worse = {i: sum(is_better(i, j) for j in options if j != i) for i in options}
        better = {i: sum(is_better(j, i) for j in options if j != i) for i in options}
        self.chosen |= {i for i in options if worse[i] >= len(options) - places}
        self.discarded |= {i for i in options if better[i] >= places}

    def _walk(self):
        """The visits v, the matrix A#, and the sums r_i of all y_li, of the means so far."""
        means = np.array([[float(self.mean(i, j)) for j in range(self.K)] for i in range(self.K)])
        totals = means.sum(axis=0)
        matrix = 0.98 * means.T / totals[:, None] + 0.02 / self.K
        ones = np.ones((self.K, self.K))
        visits = np.linalg.solve((np.eye(self.K) - matrix + ones).T, np.ones(self.K))
        limit = np.tile(visits, (self.K, 1))
        return visits, np.linalg.inv(np.eye(self.K) - matrix + limit) - limit, totals

    def _widest(self):
        """Procedure 4: pairs of the largest c_ij / r_i, up to rounding, that may be compared."""
        totals = self._walk()[2]
        widths = {
            (i, j): self.radius(i, j) / min(totals[i], totals[j])
            for i, j in itertools.combinations(range(self.K), 2)
            if self.samples[i][j] < self.max_rounds
        }
        largest = max(widths.values(), default=0.0)
        return [pair for pair, width in widths.items() if width >= (1 - 1e-5) * largest]

    def _decide_random_walk(self):
        """Procedure 4, with at most 2 sum_j c_ij / r_i of error in row i before the mixing."""
        visits, inverse, totals = self._walk()
        errors = [2 * sum(self.radius(i, j) for j in self.others[i]) for i in range(self.K)]
        bound = 0.98 * (errors / totals).max()
        ranked = sorted(range(self.K), key=lambda i: -visits[i])
        gap = visits[ranked[self.k - 1]] - visits[ranked[self.k]]
        if self.exceeds(gap, 2 * bound * abs(inverse).max()):
            self.chosen, self.discarded = set(ranked[: self.k]), set(ranked[self.k :])
