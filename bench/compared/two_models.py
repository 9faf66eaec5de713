"""Is the new model better than the old one? Tests beside each other, at every look.

    python bench/compared/two_models.py          two minutes; evalsig only if it is installed

Both models answer the same questions, right or wrong. On .3 of them one of the two alone is right.
Shown are the share of 1,000 experiments that claim "the new one is better" within 2,000 questions,
and the questions until then in the mean: 2,000 where nothing is claimed, less where the SPRT
accepts that there is no gap. The error asked for is .05.

The SPRT is Wald's (1945), on the questions that one alone answers, for a gap that is stated. The
capital is that of Waudby-Smith and Ramdas (2024), with their predictable plug-in for each bet: the
rule of `confseq.betting`, in six lines, as confseq 0.0.11 needs a compiler.
"""

import importlib.util
import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import racing

EXPERIMENTS, TASKS, ALPHA, EVERY, APART = 1000, 2000, 0.05, 20, 0.3
GAPS = (0.0, 0.05, 0.1)


def differences(gap):
    """+1 where the new model alone is right, -1 where the old one is, [experiments, tasks]."""
    edges = (APART - gap) / 2, (APART - gap) / 2 + 1 - APART
    drawn = np.random.default_rng(round(100 * gap)).random((EXPERIMENTS, TASKS))
    return np.digitize(drawn, edges) - 1


def first(reached):
    """The number of tasks at the first look that claims, or 0, [experiments]."""
    return np.where(reached.any(1), reached.argmax(1) + 1, 0)


def z_scores(d):
    """Of the paired differences, after each task."""
    return d.cumsum(1) / np.sqrt(np.maximum((d**2).cumsum(1), 1))


def z_once(d):
    """One-sided, after all tasks."""
    return np.where(z_scores(d)[:, -1] > 1.645, TASKS, 0)


def z_peeking(d):
    """The same after every 20 tasks."""
    return first((z_scores(d) > 1.645) & (np.arange(1, TASKS + 1) % EVERY == 0))


def sprt(d, stated):
    """A share of wins of 1/2 against that of the stated gap; -n if it accepts 1/2 after n tasks."""
    share = (1 + stated / APART) / 2
    steps = np.where(d > 0, math.log(2 * share), np.where(d < 0, math.log(2 - 2 * share), 0.0))
    bound = math.log((1 - ALPHA) / ALPHA)
    claims, accepts = first(steps.cumsum(1) >= bound), first(steps.cumsum(1) <= -bound)
    return np.where((claims > 0) & ((accepts == 0) | (accepts > claims)), claims, -accepts)


def capital(d):
    """Bets that the mean of (d + 1) / 2 is above 1/2."""
    x, n = (d + 1) / 2, np.arange(1, TASKS + 1)
    mean = (0.5 + x.cumsum(1)) / (n + 1)
    variance = (0.25 + ((x - mean) ** 2).cumsum(1)) / (n + 1)
    past = np.concatenate([np.full((len(x), 1), 0.25), variance[:, :-1]], 1)
    bets = np.minimum(np.sqrt(2 * math.log(1 / ALPHA) / (past * n * np.log(n + 1))), 1.0)
    return first(np.log1p(bets * (x - 0.5)).cumsum(1) >= math.log(1 / ALPHA))


def evalsig_gate(d):
    """Its sequential gate, one-sided, after each task from 30 on, as it comes."""
    import evalsig  # pyright: ignore[reportMissingImports]

    made = [evalsig.sequential_gate(row.astype(float), alpha=ALPHA) for row in d]
    return np.array([one.n_pairs if one.stopped else 0 for one in made])


def ours(d):
    """A race of two, by mean, looked at after each task."""
    race = racing.SharedRace(num_options=2, top=1, capacity=TASKS, low=0, high=1)

    @jax.jit
    @jax.vmap
    def run(right):
        return racing.run(
            race,
            jax.random.key(0),
            lambda key, option, task: task[option],
            jnp.arange(2),
            race.params(ALPHA),
            tasks=right,
        )

    result = run(jnp.asarray(np.stack([d < 0, d > 0], -1), jnp.float32))
    claims = (result.certificate == "dominance") & (np.asarray(result.best)[:, 0] == 1)
    return np.where(claims, np.asarray(result.samples)[:, 1], 0)


METHODS = {
    "z-test, once at 2,000": z_once,
    "z-test, every 20": z_peeking,
    "SPRT for a gap of .05": lambda d: sprt(d, 0.05),
    "SPRT for a gap of .1": lambda d: sprt(d, 0.1),
    "capital (confseq)": capital,
    "evalsig, sequential gate": evalsig_gate,
    "jaxrace": ours,
}


def main():
    """Print the table."""
    print(f"{'claims, questions':26}" + "".join(f"{f'gap {gap}':>15}" for gap in GAPS))
    for name, method in METHODS.items():
        if method is evalsig_gate and not importlib.util.find_spec("evalsig"):
            continue
        line = f"{name:26}"
        for gap in GAPS:
            claimed = method(differences(gap))
            spent = np.where(claimed == 0, TASKS, np.abs(claimed)).mean()
            line += f"{(claimed > 0).mean():>8.3f}{spent:>7,.0f}"
        print(line)


if __name__ == "__main__":
    main()
