"""Two engines: games until an e-process, an SPRT or a GSPRT stops, and how often each is wrong.

Bounds [low, high] in Elo are those of an SPRT: "better" is its H1. Of ours, better is D > 0 and the
opposite D < high, no better by high; by [-20, 20] not worse by 20 and no better by 20. Under what
the SPRT takes for granted, that D is low or high, they say the same. Games are looked at one by
one, or in pairs with sides reversed, from openings that are even, or worth a share of .08 or .16.

The SPRT knows both laws of a result. The GSPRT is fishtest's: the likelihood ratio of the laws with
those means that are nearest to the results so far. Both stop at ln 19. ``equal`` is ours at the
delta where its larger error at the two bounds is that of the GSPRT there.

    python -m papers.studies.two_engines            2,000 runs a cell, two minutes of one core
    python -m papers.studies.two_engines --quick    50 runs a cell
"""

import sys
from collections.abc import Sequence

import numpy as np

from jaxrace.evidence.games import gap_bets, own_bets
from jaxrace.evidence.levels import BoolArray, FloatArray, IntArray, log_sum
from jaxrace.evidence.task_bets import shared_bets, winnings
from jaxrace.judging.gate_games import mean_of

RUNS, QUICK = 2_000, 50
DELTA = 0.05
DELTAS = np.geomspace(0.5, DELTA, 24)  # of which one has the error of the GSPRT
# Draws, pairs of games?, and the bounds; what is true is 0, half of high, high and -high.
CASES = tuple(
    (draws, in_pairs, bounds)
    for draws, in_pairs in ((0.6, False), (0.6, True), (0.3, False))
    for bounds in ((0, 20), (-20, 20))
)
CASES += ((0.6, True, (0, 5)),)
GAP, FAR = 20, (10, 20, 80)  # Elo that are told, and those that are true
OPENINGS = (0.0, 0.08, 0.16)  # the share of points that one side is worth, each as often
_BLOCK = 100  # results at once
_LOOKS = 4  # results between two of the GSPRT


def law(elo: float, draws: float, in_pairs: bool) -> tuple[FloatArray, FloatArray]:
    """The results d, from the worst on, and how likely each is: [3] or [5] twice."""

    def game(more: float) -> FloatArray:
        share = (1 + mean_of(elo)) / 2 + more
        return np.array([1 - share - draws / 2, draws, share - draws / 2])

    if not in_pairs:
        return np.array([-1.0, 0.0, 1.0]), game(0.0)
    pairs = [np.convolve(game(worth), game(-worth)) for worth in OPENINGS]
    return np.linspace(-1, 1, 5), np.mean(pairs, 0)


class Bets:
    """Ours: the evidence of some claims, (sign, null) each, run by run."""

    def __init__(self, claims: Sequence[tuple[int, float]], gap: float, runs: int) -> None:
        self.claims, self.gap = claims, gap
        self.mixture = shared_bets(-np.log(DELTA))
        if gap:
            self.mixture = gap_bets(gap, self.mixture)
        self.logs = np.zeros((len(claims), len(self.mixture.bets), runs))
        self.squares, self.number = np.zeros(runs), 0

    def step(self, d: FloatArray) -> FloatArray:
        """Evidence after each of some more results."""
        bets = np.array(self.mixture.bets)[:, None, None]
        squares = self.squares[:, None] + (d**2).cumsum(1)
        if self.gap:
            place = self.number + np.arange(d.shape[1])
            own = own_bets(self.gap, squares - d**2, place)
            bets = np.concatenate([own[None], np.broadcast_to(bets[1:], (len(bets) - 1, *d.shape))])
        found = []
        for claim, (sign, null) in enumerate(self.claims):
            logs = np.log1p(winnings(bets, sign * d, null)).cumsum(2) + self.logs[claim][:, :, None]
            self.logs[claim] = logs[:, :, -1]
            found.append(log_sum(logs + np.log(self.mixture.weights)[:, None, None], 0))
        self.squares, self.number = squares[:, -1], self.number + d.shape[1]
        return np.stack(found)

    def keep(self, rows: BoolArray) -> None:
        """Go on with some of the runs."""
        self.logs, self.squares = self.logs[:, :, rows], self.squares[rows]


class Ratio:
    """The SPRT, of two laws that are known; or the GSPRT, of two means."""

    def __init__(self, d: FloatArray, laws: FloatArray, is_known: bool, runs: int) -> None:
        self.kinds, self.laws, self.is_known = d, laws, is_known
        self.counts = np.zeros((runs, len(d)))

    def step(self, d: FloatArray) -> FloatArray:
        """The ratio for high, and that for low, after each result."""
        kind = np.rint((d + 1) / 2 * (len(self.kinds) - 1)).astype(int)
        each = (kind[..., None] == np.arange(len(self.kinds))).cumsum(1) + self.counts[:, None]
        self.counts = each[:, -1]
        if self.is_known:
            ratio = each @ np.log(self.laws[1] / self.laws[0])
        else:
            looks = each[:, _LOOKS - 1 :: _LOOKS]
            one, other = (_nearest(looks, self.kinds - law @ self.kinds) for law in self.laws)
            ratio = np.full(d.shape, 0.0)
            ratio[:, _LOOKS - 1 :: _LOOKS] = other - one
        return np.stack([ratio, -ratio])

    def keep(self, rows: BoolArray) -> None:
        """Go on with some of the runs."""
        self.counts = self.counts[rows]


def _nearest(counts: FloatArray, x: FloatArray) -> FloatArray:
    """ln likelihood of the likeliest law under which x has a mean of 0, over that of any law.

    It is N_i / N / (1 + t x_i), with the t at which x has that mean.
    """
    counts = np.maximum(counts, 1e-3)
    low, high = (np.full(counts.shape[:-1], -1 / end) * (1 - 1e-9) for end in (x.max(), x.min()))
    t = np.zeros(low.shape)
    for _ in range(24):  # Newton, within a bracket; right to 1e-6
        terms = x / (1 + t[..., None] * x)
        found = (counts * terms).sum(-1)
        low, high = np.where(found > 0, t, low), np.where(found > 0, high, t)
        t = t + found / (counts * terms**2).sum(-1)
        t = np.where((t > low) & (t < high), t, (low + high) / 2)
    return -(counts * np.log1p(t[..., None] * x)).sum(-1)


def stops(
    test: Bets | Ratio, levels: FloatArray, case: tuple[float, float, bool], runs: int
) -> tuple[IntArray, IntArray]:
    """Results until a claim has evidence of each level, and which claim has: [G, runs] twice."""
    elo, draws, in_pairs = case  # the same results for each test
    rng = np.random.default_rng([round(100 * (100 + elo)), round(100 * draws), in_pairs])
    kinds, chances = law(*case)
    number, claim = np.zeros((2, len(levels), runs), int)
    at, start = np.arange(runs), 0
    while len(at):
        drawn = rng.random((len(at), _BLOCK))
        d = kinds[np.searchsorted(chances.cumsum()[:-1], drawn)]
        highest = np.maximum.accumulate(test.step(d), 2)
        for place, level in enumerate(levels):
            first = (highest < level).sum(2)  # [claims, R]
            is_new = (number[place, at] == 0) & (first.min(0) < _BLOCK)
            number[place, at[is_new]] = start + 1 + first.min(0)[is_new]
            claim[place, at[is_new]] = first.argmin(0)[is_new]
        start += _BLOCK
        going = number[-1, at] == 0
        at = at[going]
        test.keep(going)
    return number, claim


def is_wrong(claim: IntArray, bounds: tuple[int, int], elo: float, ours: bool) -> BoolArray:
    """Is what was said not so? Claim 0 is better, 1 the opposite."""
    low, high = bounds
    if ours:  # better: D > 0, or -high; the opposite: D < high
        truth = (elo > min(low, 0), elo < high)
    else:  # what is read: better, and not better
        truth = (elo > 0, elo <= 0 if low == 0 else elo < 0)
    return ~np.array(truth)[claim]


def compare(draws: float, in_pairs: bool, bounds: tuple[int, int], runs: int) -> list[list[str]]:
    """A row for each true Elo: games and wrong answers of each test."""
    low, high = map(mean_of, bounds)
    true = (0, bounds[1] / 2, bounds[1], -bounds[1])
    claims = (1, min(low, 0.0)), (-1, -high)
    laws = [law(bound, draws, in_pairs) for bound in bounds]
    each = np.stack([chances for _, chances in laws])
    levels, bound = -np.log(DELTAS), np.array([np.log(1 / DELTA - 1)])
    found: dict[str, dict[float, tuple[IntArray, BoolArray]]] = {}
    for name in ("SPRT", "GSPRT", "told", "untold"):
        found[name] = {}
        for elo in true:
            is_ours = name in ("told", "untold")
            gap = high - min(low, 0.0) if name == "told" else 0.0
            test = Bets(claims, gap, runs)
            if not is_ours:
                test = Ratio(laws[0][0], each, name == "SPRT", runs)
            number, claim = stops(test, levels if is_ours else bound, (elo, draws, in_pairs), runs)
            found[name][elo] = number * (1 + in_pairs), is_wrong(claim, bounds, elo, is_ours)
    # The delta at which ours is as often wrong as the GSPRT, where that is most so.
    at = [elo for elo in true if elo in bounds]
    allowed = max(found["GSPRT"][elo][1].mean() for elo in at)
    errors = np.max([found["told"][elo][1].mean(1) for elo in at], 0)  # [G]
    place = int(np.abs(errors - allowed).argmin())
    rows = []
    for elo in true:
        cells = [(found[name][elo], -1) for name in found] + [(found["told"][elo], place)]
        row = [
            f"{games[p].mean():,.0f} ± {_error(games[p]):.0f}, {wrong[p].mean():.3f}"
            for (games, wrong), p in cells
        ]
        about = f"{draws}", "pairs" if in_pairs else "games", f"{bounds}", f"{elo:g}"
        rows.append([*about, *row, f"{DELTAS[place]:.2f}"])
    return rows


def _error(games: IntArray) -> float:
    return float(games.std(ddof=1) / len(games) ** 0.5)


def main() -> None:
    """Print the table."""
    runs = QUICK if "--quick" in sys.argv[1:] else RUNS
    print("draws | looked at | bounds | Elo | SPRT | GSPRT | gap told | not told | equal | delta")
    for case in CASES:
        for row in compare(*case, runs):
            print(*row, sep=" | ", flush=True)
    print(f"better or worse without a tolerance, a gap of {GAP} told or not, true Elo:")
    for elo in FAR:
        found = []
        for gap in (mean_of(GAP), 0.0):
            test = Bets([(1, 0.0), (-1, 0.0)], gap, runs)
            found.append(stops(test, -np.log([DELTA]), (elo, 0.6, False), runs)[0][0])
        told, untold = (f"{games.mean():,.0f} ± {_error(games):.0f}" for games in found)
        print(elo, told, untold, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
