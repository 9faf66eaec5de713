"""Daedalus2 in three domains: Thomas et al. 2015 (ICML), figure 4. Axes: J trials."""

import itertools

import numpy as np

from jaxrace import plots
from jaxrace.commands import workbench
from jaxrace.commands.improve.domains import DOMAINS, Domain, Trials, floor_of, run_trials
from jaxrace.commands.workbench import Columns, Workbench, mean_columns, mean_in_words
from jaxrace.improvement import CandidateSearch, Daedalus, PolicyImprovement, bound_called
from jaxrace.tables import markdown_table

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
Found = dict[tuple[str, str, str], Trials]  # by domain, kind, bound


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
    bench.write_table("curves.csv", _curves(found))
    bench.write_table("errors.csv", _errors(found))
    bench.write_figure("daedalus.png", _figure(found, floors))
    bench.write_report(_paragraphs(found, floors))


def daedalus_of(domain: Domain, kind: str, bound: str, num_batches: int, quick: bool) -> Daedalus:
    """The algorithm of a variant."""
    search = CandidateSearch(kind, evaluations=64, fold_evaluations=32) if quick else None
    method = PolicyImprovement(
        domain.softmax, domain.returns, bound_called(bound), search or CandidateSearch(kind)
    )
    return Daedalus(method, domain.batch_size, num_batches)


def _curves(found: Found) -> list[Columns]:
    return [
        {
            **{"domain": domain, "kind": kind, "bound": bound, "trajectories": trials.trajectories},
            **mean_columns("performance", trials.performance.T),
        }
        for (domain, kind, bound), trials in found.items()
    ]


def _errors(found: Found) -> list[Columns]:
    rows = []
    for (domain, kind, bound), trials in found.items():
        names = {"domain": domain, "kind": kind, "bound": bound, "trials": len(trials.is_error)}
        counts = {"tests": trials.is_error.size, "declared_safe": trials.row.is_found.sum()}
        errors = {"errors": trials.is_error.sum()}
        rows.append(names | counts | errors | mean_columns("error_rate", trials.is_error.mean(1)))
    return rows


def _figure(found: Found, floors: dict[str, float]) -> "plots.Figure":
    figure, [panels] = plots.panels((4.4 * len(floors), 4.4), 1, len(floors))
    styles: dict[str, str] = dict(zip(BOUNDS, ("-", ":", "--"), strict=True))
    for panel, (domain, floor) in zip(panels, floors.items(), strict=True):
        own = {name[1:]: trials for name, trials in found.items() if name[0] == domain}
        for (kind, bound), trials in own.items():
            mean, error = workbench.mean_and_error(trials.performance.T)
            x, y = np.append(0, trials.trajectories), np.append(floor, mean)
            style = {"color": f"C{KINDS.index(kind)}", "ls": styles[bound]}
            plots.band(panel, x, y, np.append(0, error), label=f"{kind}, {bound}", **style)
        panel.set(title=domain, xlabel="trajectories", ylabel="performance of the policy in use")
        plots.tidy(panel, "x")
    plots.legend_below(figure, 6)
    return figure


def _rows(name: tuple[str, str, str], trials: Trials) -> list[list[str]]:
    """Of a variant, a row for each published number, or for the last batch if there is none."""
    published = {key[-1]: number for key, number in PUBLISHED.items() if key[:-1] == name}
    last = int(trials.trajectories[-1])
    # A rate for each trial, whose tests are not independent.
    rates = mean_in_words(trials.is_error.mean(1), 4)
    errors = f"{trials.is_error.sum()} of {trials.row.is_found.sum()}"
    rows = []
    for n, number in (published or {last: None}).items():
        place = np.searchsorted(trials.trajectories, min(n, last))
        performance = mean_in_words(trials.performance[:, place], 3)
        known = "" if number is None else f"{number:.3f}"
        size = f"{trials.trajectories[place]:,}"
        rows.append([*name[1:], size, performance, known, rates, errors])
    return rows


def _paragraphs(found: Found, floors: dict[str, float]) -> list[str]:
    sections = []
    heads = ("candidates", "bound", "trajectories", "performance", "published", "error rate")
    for domain, floor in floors.items():
        own = {name: trials for name, trials in found.items() if name[0] == domain}
        rows = [row for name, trials in own.items() for row in _rows(name, trials)]
        count = len(next(iter(own.values())).performance)
        sections += [
            f"## {domain[0].upper()}{domain[1:].replace('-', ' ')}",
            f"{count} trials, initial policy {floor:.3f}, published error rate "
            f"{PUBLISHED_ERRORS[domain]}.",
            markdown_table((*heads, "errors, of those declared safe"), rows),
        ]
    return [
        f"Daedalus2 with the error probability {DELTA:g} for each test. The error rate is that of "
        "candidates declared safe that are worse than the initial policy (where performance is "
        "simulated: by more than three standard errors), of all tests. ± is one standard error "
        "over trials; the published numbers are read off figure 4.",
        "![Performance](daedalus.png)",
        *sections,
    ]
