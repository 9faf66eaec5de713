"""``python -m papers.selections``: simulates methods against each other."""

import functools
import sys

from jaxrace.commands.cli import Verb
from jaxrace.commands.options import paragraphs
from papers.alone import run_alone
from papers.selections.config import PROBLEMS, SELECTORS, SelectionsConfig

VERB = Verb(
    SelectionsConfig,
    job="papers.selections.job:select",
    report="papers.selections.job:print_rates",
    counted="records",
    folder="selections-NUMBER",
    # By comparisons of ten options.
    cost=(
        *(6.2, 4e-6),
        lambda job: len(job.methods) * job.repeats * job.budget * (job.options / 10) ** 2,
    ),
)

# Simulate; returns the exit status.
main = functools.partial(
    run_alone, "python -m papers.selections", VERB, paragraphs(problems=PROBLEMS, methods=SELECTORS)
)

if __name__ == "__main__":
    sys.exit(main())
