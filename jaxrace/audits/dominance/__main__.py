"""The audit as a command: ``python -m jaxrace.audits.dominance [races]``."""

import itertools

from jaxrace.audits import dominance, reckoning
from jaxrace.audits.dominance.races import MOST_OF_CONTROL


def main(races: int) -> None:
    """Print both tables, and on the standard error how the work goes on."""
    print(f"{races:,} races per line; controls {min(races, MOST_OF_CONTROL):,}.\n")
    audits = dominance.audit_races, dominance.audit_counts, dominance.control_races
    findings = itertools.chain.from_iterable(audit(races) for audit in audits)
    print(reckoning.markdown_table(reckoning.told(findings), "Certificate"), end="\n\n")
    findings = itertools.chain(dominance.audit_pairs(races), dominance.control_pairs(races))
    print(reckoning.markdown_table(reckoning.told(findings), "Looked at", "alpha"))


if __name__ == "__main__":
    main(reckoning.races_asked_for("Audit the certificates of the dominance race."))
