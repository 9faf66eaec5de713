"""The numbers of docs/papers/reproductions.md, for tests/docs/shown_numbers.py."""

from collections.abc import Callable

from shown_commands import Shown, cells, line, row, several

PAYS = "python -m papers racing-pays --out run > log; cat run/variants.csv"

VARIANTS = {
    "published schedule": "published schedule",
    "3 rollouts": "3 rollouts",
    "10 rollouts": "10 rollouts",
    "30 rollouts": "30 rollouts",
    "100 rollouts": "100 rollouts",
    "n_max up to 30": "n_max up to 30",
    "stitched KL race, epsilon up to .1": "stitched-KL, epsilon 0.1",
    "the same, delta from .5 to .05 as the budget is used up": (
        "stitched-KL, epsilon 0.1, delta 0.5 to 0.05"
    ),
    "dominance race": "dominance race",
    "final race between the last ten generations' best": "final race",
    "10 rollouts, and a final race": "10 rollouts, final race",
    "30 rollouts, and a final race": "30 rollouts, final race",
    "population 14": "population 14",
    "population 28": "population 28",
    "population 28, 30 rollouts": "population 28, 30 rollouts",
    "population 28, 10 rollouts": "population 28, 10 rollouts",
    "population 14, 30 rollouts": "population 14, 30 rollouts",
    "population 14, 30 rollouts, final race": "population 14, 30 rollouts, final race",
    "published schedule, shared patients": "published schedule, shared patients",
    "population 14, 30 shared patients": "population 14, 30 shared patients",
    "**population 28, 10 shared patients, final race, Sep_CMA_ES, sigma0 50**": (
        "population 28, 10 shared patients, final race"
    ),
    "**population 14, 30 shared patients, final race**": (
        "population 14, 30 shared patients, final race"
    ),
}

LEARNED = [
    Shown(
        "docs/papers/reproductions.md",
        row("docs/papers/reproductions.md", label),
        PAYS,
        several(
            cells("survival_rate mean_reward", hazard="A", variant=variant),
            cells("survival_rate mean_reward", hazard="B", variant=variant),
        ),
    )
    for label, variant in VARIANTS.items()
]


OUTCOMES = "python -m papers medical-outcomes --out run > log; cat run/report.md"
CONVERGENCE = "python -m papers medical-convergence --out run > log; cat run/report.md"


def _claim(text: str, command: str, *picks: Callable[[str], str]) -> Shown:
    return Shown("docs/papers/reproductions.md", text, command, several(*picks))


def _of(method: str, hazard: str, first: int, count: int = 1) -> Callable[[str], str]:
    """Of a report's table: survival, death rate, C_S, C_X and reward, or reward and survival."""
    return line(f"| {method} |", first=first, count=count, after=f"## Hazard {hazard}")


def of_outcomes(method: str, hazard: str) -> Callable[[str], str]:
    """Survival, C_S, C_X and reward of a report."""
    return several(_of(method, hazard, 0), _of(method, hazard, 2, 3))


CLAIMS = [
    _claim(
        "smaller in both means, by .1 in the closer one.",
        OUTCOMES,
        line("| Hazard A: pb-edps is on the Pareto front of (C_S, C_X) | figure 3 |", count=1),
    ),
    _claim(
        "dominating it by 1.4 |",
        OUTCOMES,
        line("| Hazard B: pb-edps is on the Pareto front of (C_S, C_X) | figure 5 |", count=1),
    ),
    _claim(
        "SARSA misses dominating it by 4.2.",
        OUTCOMES,
        line(
            "| Hazard A: pb-edps is on the Pareto front of (C_S, C_X, death rate) "
            "| figure 3, with figure 4b |",
            count=1,
        ),
    ),
    _claim(
        "random policy misses dominating it by .3 |",
        OUTCOMES,
        line("| Hazard B: pbpi is close to the Pareto front of (C_S, C_X) | figure 5 |", count=1),
    ),
    _claim(
        "PB-EDPS 8,721, EDPS 6,755, PBPI 3,200, SARSA 300 episodes",
        CONVERGENCE,
        line("| Hazard A: SARSA converges fastest | figure 4, text |", first=1),
    ),
    _claim(
        "PB-EDPS 6,835, EDPS 8,827, PBPI 8,000, SARSA 100 episodes",
        CONVERGENCE,
        line(
            "| Hazard B: the preference-based methods converge faster | figure 6, text |", first=1
        ),
    ),
    _claim(
        "EDPS -31.2 ± 1.0, SARSA -38.1 ± 0.3, PB-EDPS -39.4 ± 1.5 |",
        OUTCOMES,
        *(_of(method, "A", 4) for method in ("edps", "sarsa", "pb-edps")),
    ),
    _claim("A: PBPI earns least | -50.5 ± 0.7 |", OUTCOMES, _of("pbpi", "A", 4)),
    _claim(
        "PB-EDPS .178 ± .004, PBPI .141 ± .003, EDPS .163 ± .008, SARSA .190 ± .001 on",
        CONVERGENCE,
        *(_of(method, "A", 1) for method in ("pb-edps", "pbpi", "edps", "sarsa")),
    ),
    _claim(
        "PB-EDPS -18.6 ± 2.1 and PBPI -29.2 ± 1.1, against -12.9 to -52.3 of",
        OUTCOMES,
        *(_of(method, "B", 4) for method in ("pb-edps", "pbpi", "constant 0.7", "constant 0.1")),
    ),
    _claim(
        "PB-EDPS .568 ± .006, PBPI .527 ± .009;",
        OUTCOMES,
        *(_of(method, "B", 0) for method in ("pb-edps", "pbpi")),
    ),
    _claim(
        ".587 ± .003, SARSA .586 ± .003, EDPS .527 ± .014 |",
        OUTCOMES,
        *(_of(method, "B", 0) for method in ("constant 0.7", "sarsa", "edps")),
    ),
    _claim("here 1.72 ± .09 and 2.86 ± .11, with", OUTCOMES, _of("pbpi", "A", 2, 2)),
    _claim(
        "keeps .196 ± .002 (A) and .594 ± .003 (B) of",
        OUTCOMES,
        *(_of("constant 0.5", hazard, 0) for hazard in "AB"),
    ),
    _claim(
        "keeps .198 ± .002 and .601 ± .003 alive; it has C_S 1.58 and C_X 2.43,",
        OUTCOMES,
        *(_of("constant 0.55", hazard, 0) for hazard in "AB"),
        _of("constant 0.55", "A", 2, 2),
    ),
]

GRID = "python -m papers medical-grid --out run > log; cat run/report.md"


def _gain(method: str, hazard: str, metric: str = "reward per patient") -> Callable[[str], str]:
    """Of the best setting: its step size, and how much more than the paper's."""
    label = f"| {method} | {hazard} | {metric} |"
    return several(line(label, count=1), line(label, first=4, count=1))


_early = line("| pb-edps | B |", first=1, after="before a race has used")

GRIDS = [
    _claim("step size 100 earns EDPS most with hazard A, 4.7 ± 1.2 more", GRID, _gain("edps", "A")),
    _claim("and 50 with hazard B, 2.2 ± 1.4 more:", GRID, _gain("edps", "B")),
    _claim(
        "4.5 ± 1.6 more with 50 (A)",
        GRID,
        line("| pb-edps | A | reward per patient |", first=4, count=1),
        line("| pb-edps | A | reward per patient |", count=1),
    ),
    _claim(
        "3.2 ± 2.5 more with 100 (B)",
        GRID,
        line("| pb-edps | B | reward per patient |", first=4, count=1),
        line("| pb-edps | B | reward per patient |", count=1),
    ),
    _claim(
        "(EDPS .570, PB-EDPS .590)",
        GRID,
        *(line(f"| {name} | B | survival |", first=2, count=1) for name in ("edps", "pb-edps")),
    ),
    _claim(
        "races of the grid 119 were",
        GRID,
        lambda text: _early(text).partition(" of ")[0],
    ),
]

SYNTHETIC = "python -m papers pbr-synthetic --out run > log; cat run/report.md"


def _beside(label: str, *places: int) -> Callable[[str], str]:
    """Of the report's table: draws and accuracy, published ones first."""
    return several(*(line(f"| {label} |", first=place, count=1) for place in places))


RACES = [
    _claim("2,357 ± 11 at .989 ± .001 |", SYNTHETIC, _beside("normal | PBR-CO | 10", 1, 3)),
    _claim(
        "1,394 ± 15 at .986 ± .002 |",
        SYNTHETIC,
        _beside("bernoulli, drift k/5 | HR | 10", 1, 3),
    ),
    _claim(
        "| 1,510 at 1.000 and 1,464 at 1.000 |",
        SYNTHETIC,
        *(_beside(f"bernoulli, drift k/5 | PBR-CO | {k}", 1, 3) for k in (1, 10)),
    ),
    _claim(
        "published race 2,357, sharp rule 1,360, sharp rule with the stitched KL bound 1,164, "
        "dominance race 491; Hoeffding 2,830.",
        SYNTHETIC,
        *(
            line("| normal | 10 |", first=place, count=1, after="## What better races cost")
            for place in (1, 2, 3, 4, 0)
        ),
    ),
]

SHOWN = [*CLAIMS, *GRIDS, *RACES, *LEARNED]
