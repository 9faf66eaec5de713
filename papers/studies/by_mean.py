"""Races for the highest means on the same samples: the dominance race, Hoeffding, Bernstein.

Which three of ten options, with means uniform in [.2, .8] and scores from 0 to 1, are the best?
At most 1,000 samples of each, delta .05. Prints a table in Markdown.

    python -m papers.studies.by_mean             500 races of each kind
    python -m papers.studies.by_mean 100         fewer
"""

import argparse
import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import racing
from jaxrace.runs import tables

OPTIONS, TOP, ROUNDS, DELTA = 10, 3, 1000, 0.05


def even_coin(key, mean):
    """Right or wrong."""
    return jax.random.bernoulli(key, mean).astype(jnp.float32)


def share_of_twenty(key, mean):
    """The share of twenty coins: little noise, as of a mean over questions."""
    return jax.random.bernoulli(key, mean, (20,)).astype(jnp.float32).mean()


def skewed(key, mean):
    """Mostly near the mean, seldom far off: Bernoulli in one of ten samples."""
    which, coin = jax.random.split(key)
    far = jax.random.bernoulli(coin, mean).astype(jnp.float32)
    return jnp.where(jax.random.bernoulli(which, 0.1), far, mean)


SAMPLES = {
    "right or wrong": even_coin,
    "share of 20 questions": share_of_twenty,
    "seldom far from the mean": skewed,
}
DOMINANCE = racing.DominanceRace(OPTIONS, TOP, ROUNDS, by="mean", low=0, high=1)
VALUE = {"max_rounds": ROUNDS, "value_range": 1.0}
RACES = {
    "dominance, by mean": (DOMINANCE, {}),
    "the same, tolerance .02": (DOMINANCE, {"tolerance": 0.02}),
    "Hoeffding": (racing.HoeffdingRace(OPTIONS, TOP, intersect=True), VALUE),
    "Bernstein": (racing.BernsteinRace(OPTIONS, TOP, intersect=True), VALUE),
}


def measure(race, sample, params, number):
    """Draws, certificates, wrong ones, and the share of right ones among the chosen: [races]."""

    def one(key):
        key, own = jax.random.split(key)
        means = jax.random.uniform(own, (OPTIONS,), jnp.float32, 0.2, 0.8)
        result = racing.run(race, key, sample, means, params, race.chunk)
        first, others = result.ranking[:TOP], result.ranking[TOP:]
        gap = means[others].max() - means[first].min()
        right = jnp.isin(first, jnp.argsort(-means)[:TOP]).mean()
        return result.samples.sum(), result.decided, gap, right

    keys = jax.random.split(jax.random.key(0), number)
    return map(np.asarray, jax.jit(jax.vmap(one))(keys))


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description="Compare races by mean on the same samples.")
    parser.add_argument("races", nargs="?", type=int, default=500, help="of each kind")
    number = parser.parse_args().races
    rows = []
    for kind, sample in SAMPLES.items():
        for name, (race, numbers) in RACES.items():
            params = race.params(DELTA, **numbers)
            draws, decided, gap, right = measure(race, sample, params, number)
            wrong = decided & (gap > numbers.get("tolerance", 0))
            error = draws.std() / math.sqrt(number)
            shown = f"{draws.mean():,.0f} ± {error:,.0f}", f"{decided.mean():.2f}"
            rows.append([kind, name, *shown, int(wrong.sum()), f"{right.mean():.3f}"])
            print(*rows[-1], flush=True)
    heads = ["Scores", "Race", "draws", "certified", "wrong", "right among the chosen"]
    print(tables.markdown_table(heads, rows))


if __name__ == "__main__":
    main()
