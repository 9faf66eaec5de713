"""The numbers of the medical claims with other choices, for tests/docs/shown_numbers.py."""

import csv
import re
from collections.abc import Callable

from shown_commands import Shown, row, several

MADE = "python -m papers medical-choices --out run > log; cat run/claims.csv"

# Columns of the table, as claims.csv has them.
CHOICES = (
    "as in the other reports",
    "no intercept",
    "coefficients of 2012",
    "reward as printed",
    "SARSA with 10 bins",
    "SARSA anneals ten times slower",
)

# Claims, by how they begin.
EARLY = "Hazard A: below 4,000 episodes"
KEPT = "Hazard B: the preference-based methods outperform"
EARNED = "Hazard B: the preference-based methods earn"
ON_A_PAR = "Hazard A: the reward of SARSA"
FRONT_A, FRONT_B = (
    f"Hazard {hazard}: pb-edps is on the Pareto front of (C_S, C_X)" for hazard in "AB"
)
FAST = "Hazard B: the preference-based methods converge"
OF_PBPI = "(C_S, C_X) of PBPI"

_DIFFERENCE = r" ([-+][\d.]+ ± [\d.]+)"


def _found(choice: str, claim: str, pattern: str) -> Callable[[str], str]:
    """A number of what came out."""

    def pick(text: str) -> str:
        rows = [one for one in csv.DictReader(text.splitlines()) if one["choice"] == choice]
        (here,) = (
            one["here"]
            for one in rows
            if one["claim"].startswith(claim) and "death rate" not in one["claim"]
        )
        match = re.search(pattern, here)
        if not match:
            raise ValueError(f"expected {pattern} in {here}")
        return match[1]

    return pick


def _row(label: str, *found: tuple[str, str], columns: tuple[str, ...] = CHOICES) -> Shown:
    """Of every column these numbers: a claim, and the pattern of a number."""
    picks = [_found(choice, *one) for choice in columns for one in found]
    page = "docs/papers/reproductions.md"
    return Shown(page, row(page, label), MADE, several(*picks))


SHOWN = [
    _row(
        "A, survival below 4,000 episodes: PB-EDPS, PBPI",
        (EARLY, r"pb-edps ([\d.]+)"),
        (EARLY, r"pbpi ([\d.]+)"),
    ),
    _row("the same: EDPS, SARSA", (EARLY, r"(?<!-)edps ([\d.]+)"), (EARLY, r"sarsa ([\d.]+)")),
    _row("B, survival: PB-EDPS, PBPI", (KEPT, r"pb-edps ([\d.]+)"), (KEPT, r"pbpi ([\d.]+)")),
    _row("the best other", (KEPT, r" (0\.\d{3})")),
    _row(
        "B, reward of PB-EDPS less that of the best fixed policy", (EARNED, "pb-edps" + _DIFFERENCE)
    ),
    _row("the same of PBPI", (EARNED, "pbpi" + _DIFFERENCE)),
    _row("A, reward of EDPS less that of SARSA", (ON_A_PAR, "(?<!-)edps" + _DIFFERENCE)),
    _row("A, reward of PB-EDPS less that of SARSA", (ON_A_PAR, "pb-edps" + _DIFFERENCE)),
    _row(
        "A and B, PB-EDPS from being dominated, in standard errors",
        (FRONT_A, r"mean is ([\d.]+)"),
        (FRONT_B, r"mean is ([\d.]+)"),
    ),
    _row(
        "C_S, C_X of PBPI (2.68, 1.56 in 2012)",
        (OF_PBPI, r"^\(([\d.]+ ± [\d.]+)"),
        (OF_PBPI, r", ([\d.]+ ± [\d.]+)"),
        columns=(CHOICES[0], *CHOICES[2:4]),
    ),
    _row(
        "B, survival of SARSA within .01 of its end from then on (PB-EDPS 6,835, PBPI 8,000 as "
        "above)",
        (FAST, r"sarsa ([\d,]+) episodes"),
    ),
]
