"""Daedalus2 in three domains: Thomas et al. 2015 (ICML), figure 4.

Axes: J trials, B batches of a trial, V variants.
"""

import numpy as np

from jaxrace import plots
from jaxrace.commands.improve.domains import DOMAINS, Domain, Trials, Worth, floor_of, run_trials
from jaxrace.commands.workbench import (
    Columns,
    Workbench,
    mean_and_error,
    mean_columns,
    mean_in_words,
)
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
    floors: dict[str, Worth] = {}
    for domain in bench.few(DOMAINS.values(), 1):
        floors[domain.name] = floor_of(domain, bench.seed)
        for kind in bench.few(KINDS, 1):
            for bound in bench.few(BOUNDS, 1):
                key = domain.name, kind, bound
                found[key] = _run_variant(bench, domain, kind, bound, floors[domain.name])
    bench.write_table("curves.csv", _curves(found))
    bench.write_table("errors.csv", _errors(found))
    means = {name: floor.mean for name, floor in floors.items()}
    bench.write_figure("daedalus.png", _figure(found, means))
    bench.write_report(_paragraphs(found, means))


def daedalus_of(domain: Domain, kind: str, bound: str, num_batches: int, quick: bool) -> Daedalus:
    """The algorithm of a variant."""
    search = CandidateSearch(kind, evaluations=64, fold_evaluations=32) if quick else None
    method = PolicyImprovement(
        domain.softmax, domain.returns, bound_called(bound), search or CandidateSearch(kind)
    )
    return Daedalus(method, domain.batch_size, num_batches)


def _run_variant(bench: Workbench, domain: Domain, kind: str, bound: str, floor: Worth) -> Trials:
    num_batches, num_trials = SIZES[domain.name]
    batches, trials = bench.size(num_batches, 3), bench.size(num_trials, 4)
    daedalus = daedalus_of(domain, kind, bound, batches, bench.quick)
    name = f"{domain.name} {kind} {bound}"
    return run_trials(bench, name, domain, daedalus, DELTA, floor, floor, trials)


def _curves(found: Found) -> list[Columns]:
    return [
        {
            **{"domain": domain, "kind": kind, "bound": bound, "trajectories": trials.trajectories},
            **mean_columns("performance", trials.performance.T),
        }
        for (domain, kind, bound), trials in found.items()
    ]


def _error_rates(trials: Trials) -> np.ndarray:
    """Of each trial, [J]; its tests are not independent."""
    return trials.is_error.mean(1)


def _errors(found: Found) -> list[Columns]:
    rows = []
    for (domain, kind, bound), trials in found.items():
        names = {"domain": domain, "kind": kind, "bound": bound, "trials": len(trials.is_error)}
        counts = {"tests": trials.is_error.size, "declared_safe": trials.row.is_found.sum()}
        errors = {"errors": trials.is_error.sum()}
        rows.append(names | counts | errors | mean_columns("error_rate", _error_rates(trials)))
    return rows


def _figure(found: Found, floors: dict[str, float]) -> "plots.Figure":
    figure, [panels] = plots.panels((4.4 * len(floors), 4.4), 1, len(floors))
    styles: dict[str, str] = dict(zip(BOUNDS, ("-", ":", "--"), strict=True))
    for panel, (domain, floor) in zip(panels, floors.items(), strict=True):
        for (name, kind, bound), trials in found.items():
            if name != domain:
                continue
            mean, error = mean_and_error(trials.performance.T)
            color = f"C{KINDS.index(kind)}"
            x, y = np.append(0, trials.trajectories), np.append(floor, mean)
            name = f"{kind}, {bound}"
            plots.band(panel, x, y, np.append(0, error), color, name, ls=styles[bound])
        panel.set(title=domain, xlabel="trajectories", ylabel="performance of the policy in use")
        plots.tidy(panel, "x")
    plots.legend_below(figure, 6)
    return figure


def _paragraphs(found: Found, floors: dict[str, float]) -> list[str]:
    sections = []
    for domain, floor in floors.items():
        rows = []
        for (name, kind, bound), trials in found.items():
            if name != domain:
                continue
            shown = [
                (n, published)
                for (d, k, b, n), published in PUBLISHED.items()
                if (d, k, b) == (name, kind, bound)
            ]
            last = int(trials.trajectories[-1])
            for n, published in shown or [(last, None)]:
                place = np.searchsorted(trials.trajectories, min(n, last))
                rows.append(
                    [
                        kind,
                        bound,
                        f"{trials.trajectories[place]:,}",
                        mean_in_words(trials.performance[:, place], 3),
                        "" if published is None else f"{published:.3f}",
                        mean_in_words(_error_rates(trials), 4),
                        f"{trials.is_error.sum()} of {trials.row.is_found.sum()}",
                    ]
                )
        heads = (
            "candidates",
            "bound",
            "trajectories",
            "performance",
            "published",
            "error rate",
            "errors, of those declared safe",
        )
        count = len(next(t for (name, _, _), t in found.items() if name == domain).performance)
        sections += [
            f"## {domain[0].upper()}{domain[1:].replace('-', ' ')}",
            f"{count} trials, initial policy {floor:.3f}, published error rate "
            f"{PUBLISHED_ERRORS[domain]}.",
            markdown_table(heads, rows),
        ]
    return [
        "Daedalus2: the best policy found safe so far is run, its trajectories go to the training "
        "and the test set, and the next candidate is tested, each time with the error probability "
        f"{DELTA:g}. The error rate is that of candidates declared safe that are worse than the "
        "initial policy (where performance is simulated: by more than three standard errors), of "
        "all tests. Candidates come from a search (none) or, until the first one passes, from "
        "cross-validated mixtures with the initial policy (k-fold). ± is one standard error over "
        "trials; the published numbers are read off figure 4. Digital marketing is a stand-in for "
        "data that are not public: only the initial performance is the paper's.",
        "![Performance](daedalus.png)",
        *sections,
    ]
