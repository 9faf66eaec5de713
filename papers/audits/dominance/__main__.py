"""The audit as a command: ``python -m papers.audits.dominance [races]``."""

import itertools

from papers.audits.dominance import means, null_pairs, races
from papers.audits.reckoning import MOST_OF_CONTROL, markdown_table, races_asked_for, told


def main(size: int) -> None:
    """Print the tables, and on the standard error how the work goes on."""
    print(f"{size:,} races per line; controls {min(size, MOST_OF_CONTROL):,}.\n")
    audits = races.audit_races, races.audit_counts, races.control_races
    findings = itertools.chain.from_iterable(audit(size) for audit in audits)
    print(markdown_table(told(findings), "Certificate"), end="\n\n")
    findings = itertools.chain(null_pairs.audit_pairs(size), null_pairs.control_pairs(size))
    print(markdown_table(told(findings), "Looked at", "alpha"), end="\n\n")
    findings = itertools.chain(means.audit_means(size), means.control_means(size))
    print(markdown_table(told(findings), "Race"))


if __name__ == "__main__":
    main(races_asked_for("Audit the certificates of the dominance race."))
