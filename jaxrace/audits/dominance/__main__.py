"""The audit as a command: ``python -m jaxrace.audits.dominance [races]``."""

import sys
import time
from collections.abc import Iterable

from jaxrace.audits import preference as audit
from jaxrace.audits.dominance import (
    audit_counts,
    audit_pairs,
    audit_races,
    control_pairs,
    control_races,
)
from jaxrace.audits.dominance.races import MOST_OF_CONTROL


def main(races: int) -> None:
    """Print both tables, and on the standard error how the work goes on."""
    print(f"{races:,} races per line; controls {min(races, MOST_OF_CONTROL):,}.")
    print()
    parts = (audit_races(races), audit_counts(races), control_races(races))
    print(_table(parts, "Certificate", "delta"))
    print()
    print(_table((audit_pairs(races), control_pairs(races)), "Looked at", "alpha"))


def _table(parts: Iterable[Iterable[audit.Finding]], claim: str, level: str) -> str:
    findings = []
    started = time.monotonic()
    for part in parts:
        for finding in part:
            findings.append(finding)
            passed = time.monotonic() - started
            print(f"{passed:7.1f} s  {finding.task}, {finding.claim}", file=sys.stderr)
    return audit.markdown_table(findings, claim, level)


if __name__ == "__main__":
    main(audit.races_asked_for("Audit the certificates of the dominance race."))
