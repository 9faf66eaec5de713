"""Five algorithms, four tasks, twelve seeds: what rliable says of a table, and what ours says.

    python bench/compared/seeds.py            seconds; needs `pip install rliable "pandas<3"`

rliable (Agarwal et al. 2021; 1.2.0): the interquartile mean (IQM) of scores that are normalised by
the range of each task, its 95 % interval by a stratified bootstrap of 2,000 draws, and the
probability of improvement of the best one. Ours: who may be the best by the test of one
look (`--final`), and the verdict of the race, of the same table in an order by lot.
"""

import csv
import importlib.util
import tempfile
from pathlib import Path

import numpy as np

import jaxrace

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "make.py"


def table():
    """The file of the page, and its scores [runs, tasks] by algorithm, each task from 0 to 1."""
    spec = importlib.util.spec_from_file_location("make", HOW_TO)
    assert spec is not None
    assert spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    folder = Path(tempfile.mkdtemp())
    make.make("algorithms.csv", folder)
    with (folder / "algorithms.csv").open() as file:
        rows = [*csv.DictReader(file)]
    names, tasks = (list(dict.fromkeys(row[x] for row in rows)) for x in ("algo", "env"))
    scores = np.empty((len(names), 12, len(tasks)))
    for row in rows:
        place = names.index(row["algo"]), int(row["seed"]), tasks.index(row["env"])
        scores[place] = float(row["return"])
    low, high = scores.min((0, 1)), scores.max((0, 1))
    return folder / "algorithms.csv", dict(zip(names, (scores - low) / (high - low), strict=True))


def main():
    """Print the table."""
    from rliable import library, metrics  # pyright: ignore[reportMissingImports]

    path, scores = table()
    np.random.seed(0)  # rliable draws from the one that all share
    drawn = {"method": "percentile", "task_bootstrap": False, "reps": 2000}
    found, ends = library.get_interval_estimates(
        scores, lambda x: np.array([metrics.aggregate_iqm(x)]), **drawn
    )
    raced = jaxrace.race(path, shared=True, order_by_lot=1, final=True)
    wins = {one.name: one.score for one in raced.options}
    verdicts = {one.name: one.verdict for one in raced.options}
    print("        rliable: IQM, 95 %    jaxrace: wins      --final  verdict")
    for name in raced.names:
        low, high = ends[name][:, 0]
        once = "may be best" if name in (raced.final or []) else "out"
        print(
            f"{name:6}{found[name][0]:>6.3f}  {low:.3f} to {high:.3f}{wins[name]:>16.3f}"
            f"{once:>13}{verdicts[name]:>9}"
        )
    pairs = {f"ours,{name}": (scores["ours"], scores[name]) for name in raced.names[1:]}
    better, ends = library.get_interval_estimates(
        pairs, lambda x, y: np.array([metrics.probability_of_improvement(x, y)]), **drawn
    )
    print("\nours is better than  rliable: probability, 95 %   jaxrace: wins, 98.1 %")
    for pair in raced.pairs:
        (low,), (high,) = ends[f"ours,{pair.worse}"]
        print(
            f"{pair.worse:19}{better[f'ours,{pair.worse}'][0]:>8.3f}  {low:.3f} to {high:.3f}"
            f"{pair.estimate:>14.3f}  {pair.low:.3f} to {pair.high:.3f}"
        )


if __name__ == "__main__":
    main()
