"""Policy improvement from one batch: Thomas et al. 2015 (ICML), figure 3. Axes: J trials."""

import functools
import itertools

import jax
import numpy as np

from jaxrace import improvement, sweep
from jaxrace.agents.rollout import PolicyInTask
from jaxrace.answers import style
from jaxrace.runs import plots
from papers.improvements.domains import DOMAINS, Domain, collect, floor_of, is_worse, performances
from papers.workbench import Columns, Workbench, as_columns, mean_columns, report_table

DELTA = 0.05
BOUNDS = ("ci", "t", "bca", "betting")
SIZES = (50, 200, 900, 5_000)
TRIALS = 100  # of each size (caption of figure 3)

# Read off the bars of figure 3.
PUBLISHED = {
    "ci": dict(zip(SIZES, (0.26, 0.26, 0.35, 1.0), strict=True)),
    "t": dict(zip(SIZES, (0.28, 0.55, 0.98, 1.0), strict=True)),
    "bca": dict(zip(SIZES, (0.31, 0.66, 0.98, 1.0), strict=True)),
    "betting": {},
}

_BARS = (style.BLUE, style.ORANGE, style.FAINT, style.PURPLE)  # black marks are seen on them


def improve_once(
    method: improvement.PolicyImprovement,
    domain: Domain,
    size: int,
    params: improvement.ImprovementParams,
    key: jax.Array,
) -> improvement.Improvement:
    """Collect n trajectories of the initial policy, search, test."""
    collect_key, own_key = jax.random.split(key)
    initial = params.initial
    policy = improvement.MixedWith(improvement.unmixed(initial), initial)
    option = PolicyInTask(policy, domain.env.default_params)
    data = collect(domain.env, improvement.MixedPolicy(domain.softmax), collect_key, option, size)
    return method.run(own_key, data, params, knows_initial=True)


def run(bench: Workbench) -> None:
    """Leaves batches.csv, performance.png and report.md."""
    domain = DOMAINS["mountain-car"]
    floor = floor_of(domain, bench.seed)
    search = improvement.CandidateSearch(evaluations=bench.size(2_000, 64))
    key = jax.random.key(np.uint32(bench.seed))
    trials = bench.size(TRIALS, 4)
    rows = []
    for size, bound in itertools.product(bench.few(SIZES, 1), bench.few(BOUNDS, 1)):
        method = improvement.PolicyImprovement(
            domain.softmax, domain.returns, improvement.BOUNDS[bound], search
        )
        params = method.params(floor.mean, DELTA, domain.initial())
        keys = jax.random.split(jax.random.fold_in(key, size), trials)
        name = f"{bound} n = {size}"
        work = sweep.Once(functools.partial(improve_once, method, domain, size), params)
        row = bench.sweep(name, work, sweep.stacked(keys), width=1).rows.row
        is_found = np.asarray(row.is_found)
        passed = jax.tree.map(lambda x, keep=is_found: x[keep], row.policy)
        found = performances(bench, f"{name}, performance", domain, passed)
        worth, is_error = np.full(trials, floor.mean), np.zeros(trials)
        worth[is_found], is_error[is_found] = found.mean, is_worse(found, floor)
        own = {"bound": bound, "n": size, "trials": trials, "found": is_found.sum()}
        means = mean_columns("error_rate", is_error) | mean_columns("performance", worth)
        rows.append(own | means)
    bench.write_table("batches.csv", rows)
    bench.write_figure("performance.png", _figure(as_columns(rows), floor.mean))
    shown = [row | {"published": PUBLISHED[row["bound"]].get(row["n"])} for row in rows]
    bench.write_report(
        f"From one batch of trajectories of the initial policy, whose performance is "
        f"{floor.mean:.3f}; a fifth for training, delta {DELTA:g}. Where no solution is found the "
        "initial policy counts. An error is a solution that is worse than the initial policy "
        "(published: below 0.006 of them). ± is one standard error over trials; the published "
        "numbers are read off figure 3.",
        "![Performance](performance.png)",
        report_table(shown, "n bound performance published found trials error_rate"),
    )


def _figure(table: Columns, floor: float) -> "plots.Figure":
    figure, [[panel]] = plots.new_figure((7, 4.4))
    sizes = np.unique(table["n"])
    width = 0.8 / len(BOUNDS)
    for number, bound in enumerate(dict.fromkeys(table["bound"])):
        own = table["bound"] == bound
        x = np.arange(len(sizes)) + (number - (len(BOUNDS) - 1) / 2) * width
        heights, errors = table["performance"][own], table["performance_stderr"][own]
        panel.bar(x, heights, width, yerr=errors, color=_BARS[number], label=bound)
        published = [PUBLISHED[bound].get(int(n), np.nan) for n in sizes]
        panel.plot(x, published, "k_", ms=14, label="published" if number == 0 else None)
    panel.axhline(floor, color=style.GREY, lw=0.8)
    panel.set_xticks(np.arange(len(sizes)), [f"{n:,}" for n in sizes])
    panel.set(xlabel="trajectories", ylabel="performance", ylim=(0, 1.05))
    plots.tidy(panel, title="Mountain car: the policy that is returned (line: the initial one)")
    panel.legend(frameon=False, ncols=2, loc="upper left")
    return figure
