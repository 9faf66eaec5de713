"""Which agent is best, from a few runs of each? AdaStop beside a race of independent runs.

    python bench/compared/few_runs.py            two minutes; needs `pip install adastop`

Agents have normal scores, up to 25 runs each, looked at after every 5. AdaStop (Mathieu et al.
2023; 0.1.3) compares all pairs, and draws no further run of an agent that is decided against all
others.
Shown are the share of experiments with a wrong claim (of equal agents: any claim), that with the
best agent above all others, and the runs of all agents in the mean. The error asked for is .05.
"""

import warnings

import numpy as np

import jaxrace

EXPERIMENTS, GROUP, LOOKS, DELTA = 100, 5, 5, 0.05
TASKS = {
    "two equal": (0.0, 0.0),
    "two, 1 deviation apart": (1.0, 0.0),
    "two, 2 apart": (2.0, 0.0),
    "four, 1.5 apart each": (4.5, 3.0, 1.5, 0.0),
}


def of_adastop(rng, means):
    """Who is over whom, [K, K], and the number of runs."""
    import adastop  # pyright: ignore[reportMissingImports]

    count = len(means)
    names = [f"agent {number}" for number in range(count)]
    test = adastop.MultipleAgentsComparator(
        n=GROUP, K=LOOKS, B=2000, alpha=DELTA, seed=int(rng.integers(1 << 30))
    )
    scores = {name: np.empty(0) for name in names}
    asked = set(names)
    for _ in range(LOOKS):
        for name, mean in zip(names, means, strict=True):
            if name in asked:
                scores[name] = np.append(scores[name], rng.normal(mean, 1, GROUP))
        test.partial_compare(scores, verbose=False)
        open_pairs = [pair for pair, said in test.decisions.items() if said == "continue"]
        asked = {names[int(number)] for pair in open_pairs for number in pair.strip("[]").split()}
        if not asked:
            break
    over = np.zeros((count, count), bool)
    for pair, said in test.decisions.items():
        first, second = map(int, pair.strip("[]").split())
        over[first, second], over[second, first] = said == "larger", said == "smaller"
    return over, sum(map(len, scores.values()))


def of_race(rng, means):
    """The same of a race for the best one."""
    names = [f"agent {number}" for number in range(len(means))]
    scores = {name: np.empty(0) for name in names}
    asked, best = set(names), []
    for _ in range(LOOKS):
        for name, mean in zip(names, means, strict=True):
            if name in asked:
                scores[name] = np.append(scores[name], rng.normal(mean, 1, GROUP))
        result = jaxrace.race(scores, delta=DELTA)
        asked = {*result.next_runs}
        best = result.best if result.certified else []
        if best:
            break
    over = np.zeros((len(names), len(names)), bool)
    if best:
        over[names.index(best[0])] = [name != best[0] for name in names]
    return over, sum(map(len, scores.values()))


def main():
    """Print the table."""
    warnings.simplefilter("ignore")  # one look in a hundred is warned of
    print(f"{'':24}{'wrong':>18}{'best above all':>18}{'runs':>18}")
    print(f"{'':24}" + "   adastop jaxrace" * 3)
    for name, means in TASKS.items():
        found = []
        for method in (of_adastop, of_race):
            made = [method(np.random.default_rng(seed), means) for seed in range(EXPERIMENTS)]
            true = np.array(means)[:, None] > np.array(means)
            wrong = np.mean([(over & ~true).any() for over, _ in made])
            best = np.mean([over[0, 1:].all() & true[0, 1:].all() for over, _ in made])
            found.append((wrong, best, np.mean([runs for _, runs in made])))
        (wrong, best, runs), ours = found
        print(
            f"{name:24}{wrong:>10.2f}{ours[0]:>8.2f}{best:>10.2f}{ours[1]:>8.2f}"
            f"{runs:>10.1f}{ours[2]:>8.1f}"
        )


if __name__ == "__main__":
    main()
