"""``python -m papers.improvements``: improves policies in simulators."""

import functools
import sys

from jaxrace.commands.cli import Verb
from jaxrace.commands.options import paragraphs
from papers.alone import run_alone
from papers.improvements.config import DOMAINS, IMPROVEMENTS, ImprovementsConfig

VERB = Verb(
    ImprovementsConfig,
    job="papers.improvements.job:improve",
    report="papers.improvements.job:print_improvement",
    counted="tests",
    folder="improvements-NUMBER",
    # Of the gridworld, by trajectories (k-fold, bca).
    cost=(18.0, 2e-3, lambda job: job.repeats * job.trajectories),
)

# Improve them; returns the exit status.
main = functools.partial(
    run_alone,
    "python -m papers.improvements",
    VERB,
    paragraphs(tasks=DOMAINS, methods=IMPROVEMENTS),
)

if __name__ == "__main__":
    sys.exit(main())
