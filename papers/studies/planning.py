"""How good the forecasts of ``jaxrace.plan`` are, and what a race needs that runs who is in doubt.

Of pilots whose race is not decided yet, the share whose actual number of runs lies below, within
and above the stated quartiles (ties are split by lot), up to 1,000 runs of each option. Means are
drawn anew for every pilot, normal with some standard deviation, in units of that of the scores; or
the best is ahead by a gap, and the race begins anew. Shared scores are correlated by .5.

    python -m papers.studies.planning            200 pilots a line: some 20 minutes
    python -m papers.studies.planning 30         30 pilots a line
"""

import sys
import warnings

import numpy as np

import jaxrace
from jaxrace.evidence.blocks import independent_bets
from jaxrace.evidence.process import NEVER
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.judging.question import Question
from jaxrace.judging.simulated import EvidenceRules, Goal, answered_after, stated_runs

MOST, RACES, ADAPTIVE = 1_000, 100, 120
KINDS = {"independent": {}, "shared": {"shared": True}, "list": {"shared": True, "of": MOST}}
# Options, the pilot's runs of each, and the standard deviation of the means.
RANDOM = ((2, 20, 0.5), (5, 10, 0.5), (5, 20, 1.0), (5, 40, 0.25))
FIXED = ((2, 20, 0.5), (5, 20, 0.5))


def rules_of(num_options, of=None, shared=False):
    """Those of a race of the best."""
    level = Question().levels(num_options).verdict
    bets = shared_bets(level, of) if shared else independent_bets(level, 300)
    return EvidenceRules("wins", bets, level, 0.0, shared, of)


def runs_of(rng, means, kind):
    """Runs of one race: [K, 1, MOST, 1]."""
    correlation = 0.0 if kind == "independent" else 0.5
    return stated_runs(rng, means, 1.0, correlation, 1, MOST, is_normal=True)


def by_name(runs):
    """Runs [K, n] as ``jaxrace`` takes them."""
    return {f"option {place}": own for place, own in enumerate(runs, 1)}


def place_of(rng, kind, means, number, *, fresh=False):
    """The share of the forecast below the actual number, its quartiles, and that number.

    None if the pilot decides.
    """
    rules, goal = rules_of(len(means), **KINDS[kind]), Goal(1, None, None)
    runs = runs_of(rng, means, kind)
    pilot = by_name(runs[:, 0, :number, 0])
    actual = answered_after(runs_of(rng, means, kind) if fresh else runs, rules, goal)[0]
    if not fresh and actual <= number:
        return None
    settings = {
        "most": MOST,
        "simulations": RACES,
        "fresh": fresh,
        "seed": int(rng.integers(2**31)),
    }
    forecast = np.array(jaxrace.plan(pilot, **KINDS[kind], **settings).each)
    took = np.inf if actual == NEVER else actual
    share = (forecast < took).mean() + rng.random() * (forecast == took).mean()
    return share, forecast[[24, 49, 74]], took


def line(kind, count, number, spread, pilots, *, fixed=False):
    """Below, within and above the quartiles."""
    rng, found = np.random.default_rng(0), []
    while len(found) < pilots:
        means = rng.normal(0, spread, count) if not fixed else spread * (np.arange(count) == 0)
        place = place_of(rng, kind, means, number, fresh=fixed)
        found += [] if place is None else [place]
    at = np.array([share for share, *_ in found])
    below, above = (at < 0.25).mean(), (at > 0.75).mean()
    shares = f"{below:.3f} {1 - below - above:.3f} {above:.3f}"
    print(kind, "fixed" if fixed else "random", count, number, spread, "|", shares, flush=True)
    return found


def adaptive(kind, seed, steps=0.5, count=5):
    """Runs of all options until the best is certified: those in doubt alone, and all alike."""
    rng = np.random.default_rng(seed)
    means = -steps * np.arange(count)
    runs = runs_of(rng, means, kind)
    alike = answered_after(runs, rules_of(count, **KINDS[kind]), Goal(1, None, None))[0]
    named, done = by_name(runs[:, 0, :, 0]), np.full(count, 10)
    while True:
        told = {name: own[:n] for (name, own), n in zip(named.items(), done, strict=True)}
        if KINDS[kind]:  # of one length
            rest = [(0, MOST - len(own)) for own in told.values()]
            pairs = zip(told.items(), rest, strict=True)
            told = {name: np.pad(own, pad, constant_values=np.nan) for (name, own), pad in pairs}
        result = jaxrace.race(told, **KINDS[kind])
        further = [result.next_runs.get(name, 0) for name in told]
        if result.certified or not any(further):
            return int(done.sum()), int(count * min(alike, MOST))
        done = np.minimum(done + [x if isinstance(x, int) else len(x) for x in further], MOST)


def main():
    """Print a line for each case."""
    warnings.simplefilter("ignore")
    pilots = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for kind in KINDS:
        for case in RANDOM:
            line(kind, *case, pilots)
        for case in FIXED:
            found = line(kind, *case, pilots, fixed=True)
            middle = np.median([quartiles for _, quartiles, _ in found], 0)
            took = np.quantile([took for *_, took in found], (0.25, 0.5, 0.75), method="higher")
            print("  quartiles of the forecast, in the middle", middle, "of the races", took)
    for kind in KINDS:
        totals = np.array([adaptive(kind, seed) for seed in range(ADAPTIVE)])
        who, alike = totals.mean(0)
        print(kind, f"runs in doubt alone {who:.0f}, all alike {alike:.0f}", flush=True)


if __name__ == "__main__":
    main()
