"""Who is the best of four, by votes that are looked at as they come? Bradley-Terry beside ours.

    python bench/compared/votes.py          two minutes; needs `pip install evalica`

Pairs are drawn evenly, up to 1,200 votes, looked at after every 200. evalica (0.4.2) fits a
Bradley-Terry model and has no intervals. What is usual is a bootstrap: the best one is claimed if
it leads in 95 % of 60 samples of the votes. ours, by the model: the
probability that `jaxrace.select` estimates is .95. ours, by the games: it is certified without a
model. Shown are the share of 60 experiments with a claim of a best one at some look, and the votes
until then, 1,200 where nothing is claimed. Where two are equally good, each claim is an error.
"""

import numpy as np

import jaxrace

EXPERIMENTS, VOTES, EVERY, SAMPLES, PLAYERS = 60, 1200, 200, 60, 4
TASKS = {  # the chance that one wins against another
    "two equal ones lead": np.log([2.0, 2.0, 1.0, 1.0]),
    "one leads by 70 Elo": np.log([3.0, 2.0, 1.0, 1.0]),
}


def votes(rng, quality):
    """Winners and losers, [votes, 2]."""
    pairs = rng.permuted(np.tile(np.arange(PLAYERS), (VOTES, 1)), axis=1)[:, :2]
    chance = 1 / (1 + np.exp(quality[pairs[:, 1]] - quality[pairs[:, 0]]))
    lost = rng.random(VOTES) >= chance
    return np.where(lost[:, None], pairs[:, ::-1], pairs)


def of_evalica(found, rng):
    """Its best one, if that leads in 95 % of the samples."""
    import evalica  # pyright: ignore[reportMissingImports]

    def best(drawn):
        wins = [evalica.Winner.X] * len(drawn)
        fit = evalica.bradley_terry(drawn[:, 0].tolist(), drawn[:, 1].tolist(), wins)
        return int(str(fit.scores.idxmax()))

    leads = [best(found[rng.integers(len(found), size=len(found))]) for _ in range(SAMPLES)]
    return np.bincount(leads).max() >= 0.95 * SAMPLES


def main():
    """Print the table."""
    print(f"{'claims, votes until then':24}" + "".join(f"{name:>24}" for name in TASKS))
    methods = ["evalica, bootstrap", "ours, by the model", "ours, by the games"]
    lines = {name: f"{name:24}" for name in methods}
    for quality in TASKS.values():
        claimed = {name: np.zeros(EXPERIMENTS) for name in methods}
        for number in range(EXPERIMENTS):
            rng = np.random.default_rng(number)
            drawn = votes(rng, quality)
            for look in range(EVERY, VOTES + 1, EVERY):
                said = jaxrace.select([(str(a), str(b)) for a, b in drawn[:look]])
                claims = (
                    claimed[methods[0]][number] or of_evalica(drawn[:look], rng),
                    said.sure,
                    bool(said.certificate),
                )
                for name, claim in zip(methods, claims, strict=True):
                    if claim and not claimed[name][number]:
                        claimed[name][number] = look
        for name, at in claimed.items():
            lines[name] += f"{(at > 0).mean():>14.2f}{np.where(at > 0, at, VOTES).mean():>10,.0f}"
    print(*lines.values(), sep="\n")


if __name__ == "__main__":
    main()
