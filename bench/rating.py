"""The model of `jaxrace select FILE` beside evalica's Bradley-Terry: rankings, seconds, coverage.

    pip install evalica && python bench/rating.py [--files]

Both are given the same votes as arrays; with --files both read a CSV file, evalica by pandas, and
processor seconds are told, all threads together. Axes: K options, n votes.
"""

import argparse
import tempfile
import time
from pathlib import Path

import evalica  # pyright: ignore[reportMissingImports]
import numpy as np
import pandas as pd
from scipy.stats import kendalltau

import jaxrace
from jaxrace.judging.rating.model import chance, rate
from jaxrace.tables import Votes, read_votes

SETS = {  # options, votes, ties, how unlike options are in how often they are asked for, tables
    "10, 2,000": (10, 2_000, 0.0, 0.0, 400),
    "30, 20,000": (30, 20_000, 0.0, 0.0, 150),
    "30, 20,000, ties": (30, 20_000, 1.0, 0.0, 150),
    "100, 50,000, ties, unequal counts": (100, 50_000, 0.7, 0.7, 40),
    "200, 1,000,000": (200, 1_000_000, 0.0, 0.0, 10),
}

WORDS = "model_a", "model_b", "tie"
FILES = ((200, 1_000_000), (2_000, 20_000))  # options, votes


def drawn(rng, size, count, ties, unlike):
    """Qualities N(0, 1), and votes with ties as Davidson has them."""
    often = np.arange(1.0, size + 1) ** -unlike
    first, second = (rng.choice(size, count, p=often / often.sum()) for _ in range(2))
    kept = first != second
    first, second, qualities = first[kept], second[kept], rng.normal(size=size)
    half = (qualities[first] - qualities[second]) / 2
    won, lost = np.exp(half), np.exp(-half)
    place = rng.random(len(half)) * (won + ties + lost)
    scores = np.where(place < won, 1.0, np.where(place < won + ties, 0.5, 0.0))
    return qualities, first, second, scores


def shares(qualities, ties):
    """Of the wins against the average other."""
    half = (qualities[:, None] - qualities) / 2
    each = (np.exp(half) + ties / 2) / (np.exp(half) + ties + np.exp(-half))
    return (each.sum(1) - 0.5) / (len(qualities) - 1)


def of_evalica(first, second, scores):
    """Qualities, to the end."""
    kinds = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    winners = [kinds[score] for score in scores.tolist()]
    xs, ys = first.tolist(), second.tolist()
    start = time.perf_counter()
    found = evalica.bradley_terry(xs, ys, winners, limit=10_000)
    seconds = time.perf_counter() - start
    return found.scores.sort_index().to_numpy(), seconds


def in_files(folder):
    """Print the processor seconds of whole files, medians of three rounds in turn."""
    outcomes = evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw
    kinds = dict(zip(WORDS, outcomes, strict=True))
    for size, count in FILES:
        _, first, second, scores = drawn(np.random.default_rng(0), size, count, 1.0, 0.0)
        words = np.array(WORDS)[np.select([scores == 1, scores == 0], [0, 1], 2)]
        votes = pd.DataFrame({"model_a": first, "model_b": second, "winner": words})
        votes[["model_a", "model_b"]] = "model-" + votes[["model_a", "model_b"]].astype(str)
        votes.to_csv(folder / "votes.csv", index=False)
        rows = []
        for _ in range(3):
            start = time.process_time()
            read_votes(folder / "votes.csv")
            read = time.process_time()
            jaxrace.select(folder / "votes.csv")
            own = time.process_time()
            found = pd.read_csv(folder / "votes.csv")
            winners = found["winner"].map(kinds.__getitem__)
            evalica.bradley_terry(found["model_a"], found["model_b"], winners, limit=10_000)
            rows.append((read - start, own - read, time.process_time() - own))
        read, own, other = np.median(rows, 0)
        print(
            f"{size:,} options, {count:,} votes in a file: {own:.2f} s, {read:.2f} to read it; "
            f"evalica {other:.2f}, ratio {own / other:.2f}",
            flush=True,
        )


def main() -> None:
    """Print a row for each set: means over its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", action="store_true")
    if parser.parse_args().files:
        with tempfile.TemporaryDirectory() as folder:
            in_files(Path(folder))
        return
    for name, (size, count, ties, unlike, tables) in SETS.items():
        rng, rows = np.random.default_rng(0), []
        for _ in range(tables):
            qualities, first, second, scores = drawn(rng, size, count, ties, unlike)
            names = tuple(map(str, range(size)))
            votes = Votes(names, first, second, scores, "win", np.arange(len(first)))
            start = time.perf_counter()
            rating = rate(votes)
            own = time.perf_counter() - start
            other, seconds = of_evalica(first, second, scores)
            around, slopes = rating.scores()
            moved = around + (rating.draws(4_000, rng) - rating.qualities) @ slopes.T
            low, high = chance(np.quantile(moved, (0.025, 0.975), 0))
            truth = shares(qualities, ties)
            taus = [
                np.asarray(kendalltau(one, another))[0]
                for one, another in (
                    (rating.expected(), other),
                    (rating.expected(), qualities),
                    (other, qualities),
                )
            ]
            covered = ((low <= truth) & (truth <= high)).mean()
            rows.append((*taus, covered, own, seconds))
        same, ours, theirs, covered, own, seconds = np.mean(rows, 0)
        print(
            f"{name}: tau with evalica {same:.4f}, with the truth {ours:.4f} and {theirs:.4f}, "
            f"covered {covered:.3f}, seconds {own:.3f} and {seconds:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
