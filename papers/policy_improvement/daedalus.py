"""Daedalus2 in three domains: Thomas et al. 2015 (ICML), figure 4. Axes: J trials."""

import itertools
from collections.abc import Iterator

import numpy as np

from jaxrace.answers import style
from jaxrace.runs import plots
from papers.improvements.domains import DOMAINS, Trials, daedalus_of, floor_of, run_trials
from papers.workbench import (
    Columns,
    Workbench,
    band,
    mean_and_error,
    mean_columns,
    report_table,
)

DELTA = 0.05
BOUNDS = ("ci", "t", "bca")
KINDS = ("none", "k-fold")

# Batches of a trial, and trials, at full size.
SIZES = {"gridworld": (14, 100), "mountain-car": (18, 100), "marketing": (12, 10)}

# Read off figure 4: performance with so many trajectories.
PUBLISHED = {
    ("gridworld", "k-fold", "bca", 1400): 0.995,
    ("gridworld", "none", "bca", 1400): 0.975,
    ("gridworld", "k-fold", "t", 1400): 0.955,
    ("gridworld", "none", "t", 1400): 0.925,
    ("gridworld", "k-fold", "ci", 1400): 0.54,
    ("gridworld", "none", "ci", 1400): 0.43,
    ("mountain-car", "k-fold", "bca", 450): 0.99,
    ("mountain-car", "none", "bca", 450): 0.99,
    ("mountain-car", "none", "ci", 900): 0.53,
    ("mountain-car", "k-fold", "ci", 900): 0.62,
}

# Of policies declared safe though they are not (section 6); of the car it is an upper limit.
PUBLISHED_ERRORS = {"gridworld": "0", "mountain-car": "below .006", "marketing": "0"}
_NAMES = ("domain", "kind", "bound")
Found = dict[tuple[str, str, str], Trials]  # by these


def run(bench: Workbench) -> None:
    """Leaves curves.csv, errors.csv, daedalus.png and report.md."""
    found: Found = {}
    floors: dict[str, float] = {}
    variants = list(itertools.product(bench.few(KINDS, 1), bench.few(BOUNDS, 1)))
    for domain in bench.few(DOMAINS.values(), 1):
        floor = floor_of(domain, bench.seed)
        floors[domain.name] = floor.mean
        num_batches, num_trials = SIZES[domain.name]
        batches, trials = bench.size(num_batches, 3), bench.size(num_trials, 4)
        for kind, bound in variants:
            name = domain.name, kind, bound
            one = daedalus_of(domain, kind, bound, batches, bench.quick)
            common = DELTA, floor, floor, trials
            found[name] = run_trials(bench, " ".join(name), domain, one, *common)
    bench.write_table(
        "curves.csv",
        [
            {
                **dict(zip(_NAMES, name, strict=True)),
                "trajectories": trials.trajectories,
                **mean_columns("performance", trials.performance.T),
            }
            for name, trials in found.items()
        ],
    )
    bench.write_table("errors.csv", [_errors(*one) for one in found.items()])
    bench.write_figure("daedalus.png", _figure(found, floors))
    shown = [{**row, **_errors(*one)} for one in found.items() for row in _performances(*one)]
    starts = (f"{name} {floor:.3f} ({PUBLISHED_ERRORS[name]})" for name, floor in floors.items())
    columns = "domain kind bound trajectories performance published error_rate errors declared_safe"
    bench.write_report(
        f"Daedalus2 with the error probability {DELTA:g} for each test. The error rate is that of "
        "candidates declared safe that are worse than the initial policy (where performance is "
        "simulated: by more than three standard errors), of all tests. ± is one standard error "
        "over trials; the published numbers are read off figure 4. Performance of the initial "
        f"policy, and the published error rate: {', '.join(starts)}.",
        "![Performance](daedalus.png)",
        report_table(shown, columns),
    )


def _errors(name: tuple[str, str, str], trials: Trials) -> Columns:
    """How often a variant was wrong; a rate for each trial, whose tests are not independent."""
    return {
        **dict(zip(_NAMES, name, strict=True)),
        "trials": len(trials.is_error),
        "tests": trials.is_error.size,
        "declared_safe": trials.row.is_found.sum(),
        "errors": trials.is_error.sum(),
        **mean_columns("error_rate", trials.is_error.mean(1)),
    }


def _performances(name: tuple[str, str, str], trials: Trials) -> Iterator[Columns]:
    """Of a variant: where there are published numbers, or else in the end."""
    published = {key[-1]: number for key, number in PUBLISHED.items() if key[:-1] == name}
    last = int(trials.trajectories[-1])
    for n, number in (published or {last: None}).items():
        place = np.searchsorted(trials.trajectories, min(n, last))
        means = mean_columns("performance", trials.performance[:, place])
        yield {"trajectories": trials.trajectories[place], "published": number, **means}


def _figure(found: Found, floors: dict[str, float]) -> "plots.Figure":
    figure, [panels] = plots.new_figure((4.4 * len(floors), 4.4), 1, len(floors))
    dashes: dict[str, str] = dict(zip(BOUNDS, ("-", ":", "--"), strict=True))
    for panel, (domain, floor) in zip(panels, floors.items(), strict=True):
        own = {name[1:]: trials for name, trials in found.items() if name[0] == domain}
        for (kind, bound), trials in own.items():
            mean, error = mean_and_error(trials.performance.T)
            x, y = np.append(0, trials.trajectories), np.append(floor, mean)
            looks = {"color": style.colour(KINDS.index(kind)), "ls": dashes[bound]}
            band(panel, x, y, np.append(0, error), label=f"{kind}, {bound}", **looks)
        panel.set(title=domain, xlabel="trajectories", ylabel="performance of the policy in use")
        plots.tidy(panel, "x")
    plots.legend_below(figure, 6)
    return figure
