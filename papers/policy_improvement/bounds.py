"""Errors of lower bounds: Thomas et al. 2015, figure 1. Axes: S samples of n values, M bounds."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import sweep
from jaxrace.answers import style
from jaxrace.improvement import BOUNDS, EmpiricalBernstein
from jaxrace.improvement.bounds import Used
from jaxrace.runs import plots
from papers.workbench import Columns, Workbench, as_columns, mean_and_error, report_table

DELTA = 0.05
SHAPE, SCALE = 2, 50.0  # the gamma distribution of the figure: its mean is 100
SIZES = (20, 50, 100, 200, 500, 1_000, 2_000)

# Read off figure 1, by bound and n.
PUBLISHED = {
    **{("t", 20): 0.023, ("t", 200): 0.037, ("t", 2_000): 0.045},
    **{("bca", n): 0.05 for n in (20, 200, 2_000)},
    **{("ci", n): 0.0 for n in (20, 200, 2_000)},
}

# The fixed threshold is five means.
ALL_BOUNDS = {**BOUNDS, "bernstein": EmpiricalBernstein(cap=5 * SHAPE * SCALE)}

_BATCH = 250  # samples that share a set of resamples


def judge_batch(size: int, delta: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Of a batch of samples: bounds above the mean, int32 [M], and sums of bounds, float32 [M]."""
    value_key, *keys = jax.random.split(key, 1 + len(BOUNDS))
    own = dict(zip(ALL_BOUNDS, keys, strict=True))
    # A gamma variate with a whole shape is a sum of exponential ones, which are cheap.
    parts = jax.random.exponential(value_key, (SHAPE, _BATCH, size), jnp.float32)
    values = SCALE * parts.sum(0)
    rows = Used(jnp.ones(size, bool), jnp.zeros(size, jnp.int32))
    drawn = {name: one.draw(own[name], rows, rows.total) for name, one in ALL_BOUNDS.items()}
    # From the same resamples, which take longest: each one's errors are reported by themselves.
    drawn["percentile"] = drawn["bca"]

    def all_bounds(sample: jax.Array) -> jax.Array:
        found = (b.bound(drawn[name], sample, rows, delta) for name, b in ALL_BOUNDS.items())
        return jnp.stack(list(found))

    listed = jax.vmap(all_bounds, out_axes=1)(values)
    return (listed > SHAPE * SCALE).sum(1, dtype=jnp.int32), listed.sum(1)


def run(bench: Workbench) -> None:
    """Leaves bounds.csv, errors.png and report.md."""
    batches = bench.size(100_000 // _BATCH, 2)
    sizes = bench.few(SIZES, 2)
    key = jax.random.key(np.uint32(bench.seed))
    rows = []
    trials = batches * _BATCH
    for size in sizes:
        keys = jax.random.split(jax.random.fold_in(key, size), batches)
        work = sweep.Once(functools.partial(judge_batch, size), jnp.float32(DELTA))
        errors, totals = bench.sweep(f"n = {size}", work, sweep.stacked(keys), 1).rows.row
        rates = np.asarray(errors, np.int64).sum(0) / trials
        means = np.asarray(totals, np.float64).sum(0) / trials
        for number, name in enumerate(ALL_BOUNDS):
            # Samples of a batch share resamples: the batches are independent.
            _, error = mean_and_error(np.asarray(errors[:, number], np.float64) / _BATCH)
            own = {"bound": name, "n": size, "trials": trials, "error_rate": rates[number]}
            rows.append({**own, "error_rate_stderr": error, "mean_bound": means[number]})
    bench.write_table("bounds.csv", rows)
    bench.write_figure("errors.png", _figure(as_columns(rows)))
    shown = [row | {"published": PUBLISHED.get((row["bound"], row["n"]))} for row in rows]
    bench.write_report(
        f"Lower bounds of the mean, 100, of a gamma distribution with shape {SHAPE:g} and scale "
        f"{SCALE:g}, which should be wrong with probability {DELTA:g} at most; {trials:,} samples "
        "for each n, ± one standard error. The published numbers are read off figure 1.",
        "![Errors](errors.png)",
        report_table(shown, "bound n error_rate published mean_bound"),
    )


def _figure(table: Columns) -> "plots.Figure":
    figure, [[errors, means]] = plots.new_figure((10, 4.4), 1, 2)
    for number, (name, bound) in enumerate(ALL_BOUNDS.items()):
        own = {head: column[table["bound"] == name] for head, column in table.items()}
        line = "-" if bound.is_safe else "--"
        looks = {"color": style.colour(number), "ls": line, "ms": 4, "marker": style.mark(number)}
        label = f"{name} ({'safe' if bound.is_safe else 'semi-safe'})"
        errors.plot(own["n"], own["error_rate"], label=label, **looks)
        means.plot(own["n"], own["mean_bound"], **looks)
    errors.axhline(DELTA, color=style.GREY, lw=0.8)
    means.axhline(SHAPE * SCALE, color=style.GREY, lw=0.8)
    published = [(n, rate) for (_, n), rate in PUBLISHED.items() if n in table["n"]]
    errors.scatter(*zip(*published, strict=True), marker="x", color=style.EDGE, label="published")
    errors.set(ylabel="share of bounds above the mean", title="Errors (grey line: delta)")
    means.set(ylabel="mean lower bound", title="Tightness (grey line: the mean)", ylim=(-20, 105))
    for panel in (errors, means):
        plots.tidy(panel, xlabel="n, values of a sample", xscale="log")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure
