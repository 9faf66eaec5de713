"""Makes samples_saved.png, samples_saved.csv and bounds.csv: what a race costs, how accurately.

Run it with `python docs/figures/samples_saved.py` (some minutes on two cores). Normal options of
Busa-Fekete et al. 2014, section 6.1: top 5 of 10, at most 300 samples per option, delta 0.05.
"""

import csv
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path.append(str(Path(__file__).parents[2]))  # where papers lie

from jaxrace import racing
from jaxrace.answers import style
from jaxrace.kernels import RACE_BOUNDS, total_order
from jaxrace.runs import plots
from papers.preference_racing import options

OPTIONS, TOP, ROUNDS, DELTA, RACES = 10, 5, 300, 0.05, 2000
TASK = options.Normal()
RACES_COMPARED = {
    "published race": {"bound": "published", "rule": "printed"},
    "sharp rule": {"bound": "published", "rule": "sharp"},
    "sharp rule, stitched KL bound (default)": {"bound": "stitched-kl", "rule": "sharp"},
}
STYLES = dict(
    zip(
        RACES_COMPARED,
        ((style.ORANGE, 6), (style.BLUE, 3.5), (style.BLACK, 1.5)),
        strict=True,
    )
)


def measure(race: racing.PreferenceRace, k: float) -> dict[str, float]:
    """Mean samples per race and accuracy (correct ones among the chosen) over RACES tasks."""
    params = race.params(DELTA)

    def one(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        task_key, race_key = jax.random.split(key)
        drawn = TASK.draw(task_key, k, OPTIONS)
        result = racing.run(race, race_key, TASK.sample, drawn, params)
        best = jnp.argsort(-TASK.means(drawn))[:TOP]
        return result.samples.sum(), jnp.isin(result.ranking[:TOP], best).mean()

    # Batches of 100 races stay in the processor's cache.
    keys = jax.random.split(jax.random.key(0), RACES)
    measured = jax.jit(lambda x: jax.lax.map(one, x, batch_size=100))(keys)
    samples, accuracy = map(np.asarray, measured)
    root = np.sqrt(RACES)
    return {
        "samples": samples.mean(),
        "samples_stderr": samples.std(ddof=1) / root,
        "accuracy": accuracy.mean(),
        "accuracy_stderr": accuracy.std(ddof=1) / root,
    }


def main() -> None:
    """Measure all races and write both files beside this script."""
    rows = []
    for name, choices in RACES_COMPARED.items():
        race = racing.PreferenceRace(OPTIONS, TOP, ROUNDS, total_order, **choices)
        for k in range(1, 11):
            rows.append({"race": name, "k": k, **measure(race, float(k))})
            print(name, k, {key: round(float(rows[-1][key]), 4) for key in ("samples", "accuracy")})
    here = Path(__file__).parent
    write(rows, here / "samples_saved.csv")
    draw(rows, here / "samples_saved.png")
    write(measure_bounds(), here / "bounds.csv")


def measure_bounds() -> list[dict]:
    """All bounds with the sharp rule, and the dynamic correction, at k = 10."""
    choices = [{"bound": bound, "dynamic_delta": False} for bound in RACE_BOUNDS]
    choices.append({"bound": "published", "dynamic_delta": True})
    rows = []
    for choice in choices:
        race = racing.PreferenceRace(OPTIONS, TOP, ROUNDS, total_order, **choice)
        rows.append({**choice, "k": 10, **measure(race, 10.0)})
        print(rows[-1])
    return rows


def write(rows: list[dict], path: Path) -> None:
    """A CSV file with the keys of the first row as its header."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def draw(rows: list[dict], path: Path) -> None:
    """Two panels: samples and accuracy against k."""
    figure, [[cost, right]] = plots.new_figure((9, 3.6), 1, 2)
    cost.axhline(
        OPTIONS * ROUNDS, color=style.EDGE, linestyle=":", label="no race: every sample drawn"
    )
    # The accuracies coincide: wider lines below keep all of them visible.
    for name, (colour, wide) in STYLES.items():
        mine = [row for row in rows if row["race"] == name]
        k = [row["k"] for row in mine]
        for axes, column, width in ((cost, "samples", 1.8), (right, "accuracy", wide)):
            values = np.array([row[column] for row in mine])
            errors = 2 * np.array([row[f"{column}_stderr"] for row in mine])
            axes.errorbar(k, values, errors, color=colour, linewidth=width, label=name)
    cost.set(ylabel="samples per race", ylim=(0, 3200))
    right.set(ylabel="share of the chosen that is right", ylim=(0.85, 1.0))
    right.text(5.5, 0.9, "all three races coincide", ha="center", color=style.EDGE)
    for axes in (cost, right):
        axes.set(xlabel="k (distance between the options)", xticks=range(1, 11))
    cost.legend(fontsize=8, loc="lower left", frameon=False)
    figure.suptitle(
        f"Top {TOP} of {OPTIONS} normal options, delta {DELTA}; "
        f"{RACES} races per point, bars: two standard errors",
        fontsize=10,
    )
    plots.save(figure, path)


if __name__ == "__main__":
    main()
