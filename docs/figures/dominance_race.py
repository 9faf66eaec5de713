"""Makes dominance_race.png and dominance_race.csv.

Run it with `python docs/figures/dominance_race.py` (some minutes on two cores). The synthetic tasks
of Busa-Fekete et al. 2014, section 6.1: top 5 of 10 options, at most 300 samples per option,
delta 0.05.
"""

import csv
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes

sys.path.append(str(Path(__file__).parents[2]))  # where papers lie

from jaxrace import racing
from jaxrace.answers import style
from jaxrace.kernels import total_order
from jaxrace.runs import plots
from papers.preference_racing import options

OPTIONS, TOP, ROUNDS, DELTA, RACES = 10, 5, 300, 0.05, 4000
TASKS = {"normal": options.Normal(), "Bernoulli": options.BernoulliDrift()}
Race = racing.PreferenceRace | racing.DominanceRace


def preference_race(bound: str, rule: str) -> racing.PreferenceRace:
    """One of the races with confidence bounds."""
    return racing.PreferenceRace(OPTIONS, TOP, ROUNDS, total_order, bound, rule)


RACES_COMPARED: dict[str, tuple[Race, str]] = {
    "published race": (preference_race("published", "printed"), style.ORANGE),
    "sharp rule": (preference_race("published", "sharp"), style.BLUE),
    "sharp rule, stitched KL bound": (preference_race("stitched-kl", "sharp"), style.BLACK),
    "dominance race": (racing.DominanceRace(OPTIONS, TOP, ROUNDS, total_order), style.PURPLE),
}


def measure(race: Race, task: Any, k: float) -> dict[str, float]:
    """Means over RACES random instances, with their standard errors."""
    params = race.params(DELTA)

    def one(key: jax.Array) -> tuple[jax.Array, ...]:
        task_key, race_key = jax.random.split(key)
        drawn = task.draw(task_key, k, OPTIONS)
        result = racing.run(race, race_key, task.sample, drawn, params)
        best = jnp.argsort(-task.means(drawn))[:TOP]
        right = jnp.isin(result.ranking[:TOP], best).mean()
        return result.samples.sum(), right, result.decided, result.decided & (right < 1)

    keys = jax.random.split(jax.random.key(0), RACES)
    measured = jax.jit(lambda x: jax.lax.map(one, x, batch_size=1000))(keys)
    row = {}
    for name, values in zip(("samples", "accuracy", "decided", "wrong"), measured, strict=True):
        numbers = np.asarray(values, np.float64)
        row[name] = numbers.mean()
        row[f"{name}_stderr"] = numbers.std(ddof=1) / np.sqrt(RACES)
    return row


def main() -> None:
    """Measure all races and write the files beside this script."""
    rows = []
    for task_name, task in TASKS.items():
        for name, (race, _) in RACES_COMPARED.items():
            for k in range(1, 11):
                row = {"task": task_name, "race": name, "k": k, **measure(race, task, float(k))}
                rows.append(row)
                print(task_name, name, k, f"{row['samples']:.1f}", f"{row['accuracy']:.4f}")
    here = Path(__file__).parent
    with (here / "dominance_race.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    draw_costs(rows, here / "dominance_race.png")


def draw_costs(rows: list[dict[str, Any]], path: Path) -> None:
    """Samples and accuracy against k, a column per task."""
    figure, axes = plots.new_figure((9, 5.4), 2, 2, sharex=True, height_ratios=(2, 1))
    for column, task in enumerate(TASKS):
        cost, right = axes[:, column]
        cost.axhline(OPTIONS * ROUNDS, color=style.EDGE, linestyle=":", label="every sample drawn")
        for number, (name, (_, colour)) in enumerate(RACES_COMPARED.items()):
            looks = {"color": colour, "marker": style.mark(number), "ms": 4, "label": name}
            mine = [row for row in rows if row["task"] == task and row["race"] == name]
            draw_curve(cost, mine, "samples", looks)
            draw_curve(right, mine, "accuracy", looks)
        cost.set(title=f"{task} options", ylim=(0, 3200))
        right.set(
            xlabel="k (distance between the options)", xticks=range(1, 11), ylim=(0.88, 1.003)
        )
    axes[0, 0].set_ylabel("samples per race")
    axes[1, 0].set_ylabel("share of the chosen\nthat is right")
    axes[0, 1].legend(fontsize=8, frameon=False, loc="upper right", bbox_to_anchor=(1, 0.9))
    figure.suptitle(
        f"Top {TOP} of {OPTIONS}, delta {DELTA}, at most {ROUNDS} samples per option; "
        f"{RACES} races per point, bars: two standard errors",
        fontsize=10,
    )
    plots.save(figure, path)


def draw_curve(axes: Axes, rows: list[dict[str, Any]], column: str, looks: dict[str, Any]) -> None:
    """One race's means, with two standard errors."""
    means = np.array([row[column] for row in rows])
    errors = 2 * np.array([row[f"{column}_stderr"] for row in rows])
    axes.errorbar([row["k"] for row in rows], means, errors, **looks)


if __name__ == "__main__":
    main()
