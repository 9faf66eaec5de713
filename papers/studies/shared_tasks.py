"""Races on shared tasks beside others: evaluations, certificates and errors on item responses.

Ten models of normal ability answer a list of N questions of normal difficulty, right or wrong; who
is best, or who are the best three, on the whole list? Rules that promise no error are played at
their usual level and at the largest one at which they err as seldom as races may. Prints a table in
Markdown and draws docs/figures/shared_tasks.png.

    python -m papers.studies.shared_tasks              100 lists of each length
    python -m papers.studies.shared_tasks 20           fewer
"""

import argparse
import concurrent.futures
import functools
import itertools
import math
import time
from multiprocessing import get_context
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from jaxrace import racing
from jaxrace.answers import style
from jaxrace.runs import plots, tables

OPTIONS, DELTA = 10, 0.05
LENGTHS, SPREADS, TOPS = (500, 2000, 8000), (1.5, 4.0), (1, 3)
LEVELS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 1e-4)  # of the rules that promise no error
COUNTS = (2000, 5000, 10_000, 20_000, 50_000)
LOOKS = {"shared,": 0, "Friedman": 1, "Wilcoxon": 5}  # numbers of colours and marks
FIGURE = Path(__file__).resolve().parents[2] / "docs" / "figures" / "shared_tasks.png"


def answers_of(rng, length, spread):
    """Right or wrong, float32 [N, K], and the chance of each answer."""
    ability, difficulty = rng.normal(0, 0.6, OPTIONS), rng.normal(0, spread, (length, 1))
    chance = 1 / (1 + np.exp(difficulty - ability))
    return (rng.random(chance.shape) < chance).astype(np.float32)


def lookup(key, option, task):
    """The answer of an option, a row of a table, to a question, a number."""
    del key
    return option[task]


def draw_answer(key, answers):
    """The answer of an option, a row of a table, to a question drawn for it alone."""
    return answers[jax.random.randint(key, (), 0, len(answers))]


def our_races(lists, race, sample):
    """Evaluations, whether certified, and the first kappa, of each list."""
    params = race.params(DELTA)

    @jax.jit
    @jax.vmap
    def play(key, table):
        found = racing.run(race, key, sample, table, params)
        return found.samples.sum(), found.decided, found.ranking[: race.top]

    keys = jax.random.split(jax.random.key(0), len(lists))
    found = play(keys, jnp.asarray(np.stack([x.T for x in lists])))
    return list(zip(*map(np.asarray, found), strict=True))


def kl_lucb(rng, answers, top):
    """KL-LUCB (Kaufmann and Kalyanakrishnan 2013) on independent questions, N of each at most.

    It asks its two options a twentieth of what they had, instead of one question.
    """
    length = len(answers)
    order = rng.permuted(np.tile(np.arange(length), (OPTIONS, 1)), axis=1)
    drawn = np.take_along_axis(answers.T, order, 1)  # each has an order of its own
    rights = np.cumsum(drawn, 1)
    count, t = np.full(OPTIONS, 10), 1
    while True:
        mean = rights[np.arange(OPTIONS), count - 1] / count
        rate = math.log(405.5 * OPTIONS * t**1.1 / DELTA)
        rate += math.log(rate)
        low, high = kl_bounds(mean, rate / count)
        order_now = np.argsort(-mean, kind="stable")
        inside, outside = order_now[:top], order_now[top:]
        worst, rival = inside[low[inside].argmin()], outside[high[outside].argmax()]
        if low[worst] >= high[rival]:
            return count.sum(), True, inside
        if max(count[worst], count[rival]) >= length:
            return count.sum(), False, inside
        for option in (worst, rival):
            count[option] = min(count[option] + max(count[option] // 20, 5), length)
        t += 1


def kl_bounds(mean, width):
    """The ends of {q : kl(mean, q) <= width}, by bisection."""

    def kl(p, q):
        q = np.clip(q, 1e-12, 1 - 1e-12)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(p > 0, p * np.log(p / q), 0)
            return gain + np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0)

    ends = []
    for end in (0.0, 1.0):
        near, far = mean.copy(), np.full_like(mean, end)
        for _ in range(30):
            middle = (near + far) / 2
            inside = kl(mean, middle) <= width
            near, far = np.where(inside, middle, near), np.where(inside, far, middle)
        ends.append(near)
    return ends


def friedman(rng, answers, level=0.05):
    """As irace does: after questions from the fifth on, Friedman's test drops the worse ones."""
    alive, spent = np.arange(OPTIONS), 0
    answers = rng.permutation(answers)
    ranks = stats.rankdata(-answers, axis=1)
    for seen in range(1, len(answers) + 1):
        spent += len(alive)
        if seen < 5 or (seen > 100 and seen % 20):
            continue
        count = len(alive)
        sums = ranks[:seen].sum(0)
        spread = (ranks[:seen] ** 2).sum() - seen * count * (count + 1) ** 2 / 4
        between = (sums**2).sum() / seen - seen * count * (count + 1) ** 2 / 4
        if (
            spread <= 0
            or stats.chi2.sf((count - 1) * between / (spread / seen) / 1, count - 1) > level
        ):
            continue
        freedom = (seen - 1) * (count - 1)
        error = max(2 * seen * (spread - between) / freedom, 0)
        kept = sums - sums.min() <= stats.t.ppf(1 - level / 2, freedom) * math.sqrt(error)
        if kept.all():
            continue
        alive = alive[kept]
        if len(alive) == 1:
            return spent, True, alive
        ranks = stats.rankdata(-answers[:, alive], axis=1)
    best = alive[answers[:, alive].mean(0).argmax()]
    return spent, True, np.array([best])


def wilcoxon(rng, answers, level=0.1):
    """The rule of Optuna's WilcoxonPruner: trials one by one, each against the best so far.

    A trial ends where a signed-rank test finds it worse, with p below the level, after a question.
    """
    answers = rng.permutation(answers)
    best, spent = 0, len(answers)
    for trial in range(1, OPTIONS):
        d = answers[:, trial] - answers[:, best]
        won, lost, number = np.cumsum(d > 0), np.cumsum(d < 0), np.arange(1, len(d) + 1)
        # All differences have one size: the ranks of zeros are split, the others share theirs.
        zeros = number - won - lost
        rank = zeros + (won + lost + 1) / 2
        variance = number * (number + 1) * (2 * number + 1) / 24
        variance -= zeros * (zeros + 1) * (2 * zeros + 1) / 24
        variance -= ((won + lost) ** 3 - (won + lost)) / 48
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (lost - won) * rank / 2 / np.sqrt(np.maximum(variance, 1e-9))
        is_worse = (stats.norm.sf(z) < level) & (number >= 10)
        spent += int(is_worse.argmax()) + 1 if is_worse.any() else len(d)
        if not is_worse.any() and won[-1] > lost[-1]:
            best = trial
    return spent, True, np.array([best])


PEERS = {"Friedman (irace)": friedman, "Wilcoxon (Optuna)": wilcoxon}


def peer_answers(name, peer, lists):
    """What a rule answers at its usual level, and at the largest that errs seldom enough."""

    def play(**level):
        return [peer(np.random.default_rng(n), x, **level) for n, x in enumerate(lists)]

    found = {name: play()}
    if np.mean(errors(lists, found[name])) <= DELTA:
        return found
    for level in LEVELS:
        results = play(level=level)
        if np.mean(errors(lists, results)) <= DELTA:
            return found | {f"{name} at {level:g}": results}
    return found


def errors(lists, results):
    """Whether an answer is wrong, of each list."""
    return [
        bool(answered) and x.mean(0)[best].min() < np.delete(x.mean(0), best).max()
        for x, (_, answered, best) in zip(lists, results, strict=True)
    ]


def compare(number, top, spread, length):
    """By method, rows of evaluations, whether there is an answer, and whether it is wrong."""
    rngs = [np.random.default_rng([seed, length, int(10 * spread)]) for seed in range(number)]
    lists = [answers_of(rng, length, spread) for rng in rngs]
    sizes = OPTIONS, top, length
    shared, independent = (
        functools.partial(kind, *sizes, low=0, high=1)
        for kind in (racing.SharedRace, racing.DominanceRace)
    )
    found = {
        "shared, list": our_races(lists, shared(finite=True), lookup),
        "shared, stream": our_races(lists, shared(finite=False), lookup),
        "independent": our_races(lists, independent(by="mean"), draw_answer),
        "KL-LUCB": [kl_lucb(rng, x, top) for rng, x in zip(rngs, lists, strict=True)],
    }
    if top == 1:
        for name, peer in PEERS.items():
            found |= peer_answers(name, peer, lists)
    rows = {}
    for name, results in found.items():
        spent, answered, _ = zip(*results, strict=True)
        rows[name] = [np.array(spent), np.array(answered), errors(lists, results)]
    return rows


def draw(points):
    """Evaluations against N, of what nearly always has an answer, mostly right; of everything."""
    figure, [axes] = plots.new_figure((9, 3.6), 1, 2, sharey=True)
    for axis, top in zip(axes, TOPS, strict=True):
        names = {name for _, spread, kappa, name, _ in points if (spread, kappa) == (1.5, top)}
        for name in sorted({name.split(" at ")[0] for name in names}):
            # A rule at the level of each list at which it errs seldom.
            xy = {n: y for n, s, k, m, y in points if (s, k) == (1.5, top) and m.startswith(name)}
            number = LOOKS[name.split(" ")[0]]
            looks = {"color": style.colour(number), "marker": style.mark(number)}
            axis.plot(list(xy), list(xy.values()), label=name, **looks)
        everything = [OPTIONS * n for n in LENGTHS]
        axis.plot(LENGTHS, everything, color=style.EDGE, ls="--", label="everything")
        axis.set(xscale="log", yscale="log", xlabel="questions on the list, N", title=f"best {top}")
        axis.set_xticks(LENGTHS, [f"{n:,}" for n in LENGTHS])
        axis.set_yticks(COUNTS, [f"{n:,}" for n in COUNTS])
        axis.minorticks_off()
    axes[0].set_ylabel("evaluations")
    axes[0].legend(frameon=False)
    plots.save(figure, FIGURE)


def main():
    """Print the table, draw the figure."""
    parser = argparse.ArgumentParser(description="Compare races on shared tasks.")
    parser.add_argument("lists", nargs="?", type=int, default=100, help="of each length")
    number = parser.parse_args().lists
    rows, points = [], []
    started = time.monotonic()
    cells = list(itertools.product(TOPS, SPREADS, LENGTHS))
    # JAX must not be forked.
    with concurrent.futures.ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        found = pool.map(compare, [number] * len(cells), *zip(*cells, strict=True))
        for (top, spread, length), methods in zip(cells, found, strict=True):
            for name, (spent, answered, wrong) in methods.items():
                error = spent.std() / math.sqrt(number)
                numbers = f"{spent.mean():,.0f} ± {error:,.0f}", f"{np.mean(answered):.2f}"
                rows.append([top, spread, f"{length:,}", name, *numbers, f"{np.mean(wrong):.2f}"])
                if np.mean(answered) > 0.95 and np.mean(wrong) <= DELTA:
                    points.append((length, spread, top, name, spent.mean()))
            print(f"{time.monotonic() - started:.0f} s", top, spread, length, flush=True)
    heads = ["Best", "sd", "N", "Method", "evaluations", "answered", "wrong"]
    print(tables.markdown_table(heads, rows))
    draw(points)


if __name__ == "__main__":
    main()
