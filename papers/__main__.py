"""``python -m papers NAME``: makes a figure, with what the command of jaxrace has for every run."""

import functools
import sys

from jaxrace.commands.cli import Verb
from papers.alone import run_alone
from papers.config import EXPERIMENTS, ReproduceConfig

VERB = Verb(
    ReproduceConfig,
    job="papers.job:reproduce",
    report="papers.job:print_report",
    counted="jobs",
    folder="reproduce-NAME-NUMBER",
    cost=(0.0, 1.0, lambda job: float(not job.quick)),  # large, at full size; nothing was measured
)

# Make a figure; returns the exit status.
main = functools.partial(run_alone, "python -m papers", VERB, EXPERIMENTS)

if __name__ == "__main__":
    sys.exit(main())
