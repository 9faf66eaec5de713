"""``python -m papers NAME``: makes a figure, with what the command of jaxrace has for every run."""

import sys
from collections.abc import Sequence

from jaxrace.commands.cli import Verb, run_alone
from papers.config import EXPERIMENTS, ReproduceConfig

VERB = Verb(
    ReproduceConfig,
    job="papers.job:reproduce",
    report="papers.job:print_report",
    counted="jobs",
    folder="reproduce-NAME-NUMBER",
    epilog=EXPERIMENTS,
    cost=(0.0, 1.0, lambda job: float(not job.quick)),  # large, at full size; nothing was measured
)


def main(argv: Sequence[str] | None = None) -> int:
    """Make a figure, and return the exit status."""
    return run_alone("reproduce", VERB, sys.argv[1:] if argv is None else argv, "python -m papers")


if __name__ == "__main__":
    sys.exit(main())
