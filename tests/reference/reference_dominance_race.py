"""The dominance race, one pair, one block and one permutation at a time.

Written from `docs/theory/dominance_race.md`, whose names it keeps, in float64 and for reading.
Every outcome exists and is compared beforehand; the race reads off what it may know. Margins are
exact fractions, so that a tie between two options is a tie, and goes to the smaller index.
"""

import dataclasses
import functools
import math
from fractions import Fraction

import numpy as np


@dataclasses.dataclass
class Step:
    """One look at the race, and who is drawn after it: nobody, after the last one.

    `margin` says how near any choice between rounded numbers was to the other outcome: a
    log e-value at a level, a pair at the edge of those that are served, the sums of margins where
    the ranking cuts between two options with equal wins, the runner-up of a pair that stands in.
    Exact ties of the last two, which the order of the loops decides, are not counted; `tied` says
    that there was one.
    """

    leaders: list[int]  # T, the best first
    doubtful: list[tuple[int, int]]  # N, in order
    advanced: np.ndarray  # bool [K]
    margin: float
    tied: bool


@dataclasses.dataclass
class History:
    """The whole race."""

    answer: list[int]  # kappa options, the best first
    certificate: str | None  # "a", "b"
    leaders: list[int]  # T of the last look: the answer of a certified race
    blocks: np.ndarray  # int [K], m_i
    samples: np.ndarray  # int [K]
    log_e: np.ndarray  # [K, K], ln E_ij after the last common block; 0 on the diagonal
    highest: np.ndarray  # [K, K], e_ij, the largest ln E_ij so far; -inf on the diagonal
    margins: np.ndarray  # [K, K], S_ij, the mean of the blocks' U-statistics less 1/2
    wins: np.ndarray  # int [K], first key: verdicts, and where there is none S_ij > 0
    totals: np.ndarray  # [K], second key: the sum of S_ij over j
    strong_wins: np.ndarray  # int [K], z
    strong_losses: np.ndarray  # int [K], o
    steps: list[Step]


def block_sizes(n, first=11, later=5):
    """Sizes (11, 5, 5, ...) of the blocks that n samples hold; none where the first is too big."""
    if n < first:
        return ()
    return (first,) + (later,) * ((n - first) // later)


def all_signs(outcomes, compare):
    """`compare` of all single outcomes of all options: int8 [K, K, n, n].

    `outcomes` is an array [K, n, ...], or a dict of such, nested as one likes; `compare(x, y)`
    gets one outcome of each of two options, in the same form, and returns -1, 0 or +1.
    """
    leaf = outcomes
    while isinstance(leaf, dict):
        leaf = next(iter(leaf.values()))
    num_options, n = np.shape(leaf)[:2]
    signs = np.zeros((num_options, num_options, n, n), np.int8)
    for i in range(num_options):
        for j in range(i + 1, num_options):
            for a in range(n):
                for b in range(n):
                    signs[i, j, a, b] = compare(_pick(outcomes, i, a), _pick(outcomes, j, b))
            signs[j, i] = -signs[i, j].T
    return signs


def _pick(outcomes, option, sample):
    if isinstance(outcomes, dict):
        return {name: _pick(leaf, option, sample) for name, leaf in outcomes.items()}
    return outcomes[option][sample]


@functools.cache
def permutations(size):
    """a -> u a + v modulo a prime: int [size (size - 1), size]."""
    if size < 2 or any(size % divisor == 0 for divisor in range(2, size)):
        raise ValueError(f"a block size must be a prime, got {size}")
    return np.array(
        [[(u * a + v) % size for a in range(size)] for u in range(1, size) for v in range(size)]
    )


def log_factor(signs, bet):
    """ln F of one block's signs [b, b]: one bet on each pair that a permutation matches."""
    size = len(signs)
    matched = signs[np.arange(size), permutations(size)]  # [permutations, b]
    return math.log(np.mean(np.prod(1 + bet * matched / 2, axis=1)))


@dataclasses.dataclass
class _Evidence:
    """What the common blocks of i and j say for "i over j"."""

    logs: np.ndarray  # one ln of the product of the factors per bet
    blocks: int = 0
    log_e: float = 0.0
    highest: float = -math.inf
    total: Fraction = Fraction(0)  # of the blocks' U-statistics less 1/2

    def add(self, signs, lambdas, weights):
        self.logs = self.logs + [log_factor(signs, bet) for bet in lambdas]
        self.blocks += 1
        self.log_e = float(np.logaddexp.reduce(np.log(weights) + self.logs))
        self.highest = max(self.highest, self.log_e)
        self.total += Fraction(int(signs.sum(dtype=int)), 2 * signs.size)

    @property
    def margin(self):
        return self.total / self.blocks if self.blocks else Fraction(0)


def dominance_race(
    signs,
    top,
    delta,
    *,
    sizes,
    lambdas=(0.5, 1.1, 1.9),
    weights=(0.4, 0.3, 0.3),
    epsilon=0.05,
    slack=1.0,
    blocks_per_step=1,
):
    """Play a race on given comparisons int8 [K, K, n, n]; see `all_signs` and `History`.

    All options begin with one block; one that is served then draws `blocks_per_step` blocks, or
    what is left of them.
    """
    if not sizes or sum(sizes) > signs.shape[-1]:
        raise ValueError(f"blocks of {sizes} samples do not fit into {signs.shape[-1]}")
    num_options = len(signs)
    options = range(num_options)
    pairs = [(i, j) for i in options for j in options if i != j]
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=int)])
    level = math.log(num_options / ((1 - epsilon) * delta))
    strong_level = math.log(num_options * (num_options - 1) / (epsilon * delta))
    blocks = np.ones(num_options, int)
    evidence = {pair: _Evidence(np.zeros(len(lambdas))) for pair in pairs}
    steps = []

    while True:
        for i, j in pairs:
            if i > j:
                continue
            for block in range(evidence[i, j].blocks, min(blocks[i], blocks[j])):
                rows = slice(starts[block], starts[block + 1])
                evidence[i, j].add(signs[i, j, rows, rows], lambdas, weights)
                # The same comparisons seen by j. The permutations' inverses are among them.
                evidence[j, i].add(-signs[i, j, rows, rows].T, lambdas, weights)

        highest = {pair: evidence[pair].highest for pair in pairs}

        def stand(line, highest=highest):
            """Pairs that have reached it, unless their margin or the reverse contradicts that."""
            return {
                (i, j): highest[i, j] >= line > highest[j, i] and evidence[i, j].margin >= 0
                for i, j in pairs
            }

        over, strong = stand(level), stand(strong_level)
        near = [abs(highest[pair] - line) for pair in pairs for line in (level, strong_level)]

        ahead = {
            (i, j): over[i, j] or (not over[j, i] and evidence[i, j].margin > 0) for i, j in pairs
        }
        wins = [sum(ahead[i, j] for j in options if j != i) for i in options]
        totals = [sum(evidence[i, j].margin for j in options if j != i) for i in options]
        ranking = sorted(options, key=lambda i: (-wins[i], -totals[i], i))
        inside, outside = ranking[:top], ranking[top:]
        tied = False
        if outside and wins[inside[-1]] == wins[outside[0]]:
            gap = float(totals[inside[-1]] - totals[outside[0]])
            tied |= gap == 0
            near.append(gap or math.inf)

        z = [sum(strong[i, j] for j in options if j != i) for i in options]
        o = [sum(strong[j, i] for j in options if j != i) for i in options]
        cross = [(i, j) for i in inside for j in outside]
        certificate, wanted = None, []
        if all(over[pair] for pair in cross):
            certificate = "a"
        elif all(z[i] + o[j] >= num_options - 1 for i, j in cross):
            certificate = "b"
        else:
            wanted = [(i, j) for i, j in cross if not over[i, j] and not over[j, i]]
            if not wanted:
                wanted, gap, several = _stand_ins(cross, options, highest, strong, z, o)
                near.append(gap)
                tied |= several

        advanced = np.zeros(num_options, bool)
        exhausted = any(min(blocks[i], blocks[j]) == len(sizes) for i, j in wanted)
        deficit = {pair: level - highest[pair] for pair in wanted}
        if wanted and not exhausted:
            edge = max(deficit.values()) - slack
            near += [abs(d - edge) for d in deficit.values() if d != edge]
            for (i, j), d in deficit.items():
                if d >= edge:
                    advanced[i] |= blocks[i] <= blocks[j]
                    advanced[j] |= blocks[j] <= blocks[i]
        steps.append(Step(inside, wanted, advanced, float(min(near)), tied))
        if not advanced.any():
            break
        blocks = np.where(advanced, np.minimum(blocks + blocks_per_step, len(sizes)), blocks)

    samples = starts[blocks]
    return History(
        answer=inside if certificate else full_ranking(signs, samples)[:top],
        certificate=certificate,
        leaders=inside,
        blocks=blocks,
        samples=samples,
        log_e=_matrix(num_options, 0.0, {pair: evidence[pair].log_e for pair in pairs}),
        highest=_matrix(num_options, -math.inf, highest),
        margins=_matrix(num_options, 0.0, {pair: evidence[pair].margin for pair in pairs}),
        wins=np.array(wins),
        totals=np.array(totals, float),
        strong_wins=np.array(z),
        strong_losses=np.array(o),
        steps=steps,
    )


def _stand_ins(cross, options, highest, strong, z, o):
    """The pairs drawn when all of T against the rest is decided, not all of it for T.

    For every (i, j) that certificate (b) still lacks: of the pairs (i, p) and (p, j) without a
    strong verdict either way, the one with the largest e-value. Equals go by p, (i, p) first.
    """
    wanted, gap, tied = [], math.inf, False
    for i, j in cross:
        if z[i] + o[j] >= len(options) - 1:
            continue
        candidates = []
        for p in options:
            for x, y in ((i, p), (p, j)):
                if x != y and not strong[x, y] and not strong[y, x]:
                    candidates.append((x, y))
        if not candidates:
            continue
        best = max(candidates, key=lambda pair: highest[pair])
        for pair in candidates:
            if highest[pair] != highest[best]:
                gap = min(gap, highest[best] - highest[pair])
            elif pair != best:
                tied = True
        if best not in wanted:
            wanted.append(best)
    return wanted, gap, tied


def full_ranking(signs, samples):
    """The order of an uncertified answer: by the U-statistics of all samples, no longer by blocks.

    Two options that have n_i and n_j samples are compared by the first min(n_i, n_j) of both, the
    balanced statistic that the races with bounds use; what one of them has beyond that is left out.
    """
    options = range(len(signs))
    wins, totals = [], []
    for i in options:
        margins = []
        for j in options:
            n = int(min(samples[i], samples[j]))
            if i != j:
                net = int(signs[i, j, :n, :n].sum(dtype=int))
                margins.append(Fraction(net, 2 * n * n) if n else Fraction(0))
        wins.append(sum(margin > 0 for margin in margins))
        totals.append(sum(margins))
    return sorted(options, key=lambda i: (-wins[i], -totals[i], i))


def _matrix(num_options, diagonal, values):
    matrix = np.full((num_options, num_options), diagonal)
    for pair, value in values.items():
        matrix[pair] = float(value)
    return matrix
