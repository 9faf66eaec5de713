"""``python -m papers.duels``: runs bandits on a preference matrix."""

import functools
import sys

from jaxrace.commands.cli import Verb
from jaxrace.commands.options import paragraphs
from papers.alone import run_alone
from papers.duels.config import ALGORITHMS, MATRICES, DuelsConfig

VERB = Verb(
    DuelsConfig,
    job="papers.duels.job:duel",
    report="papers.duels.job:print_regrets",
    counted="rows",
    folder="duels-NUMBER",
    # By duels of ten arms.
    cost=(
        *(5.9, 2e-6),
        lambda job: len(job.algorithms) * job.repeats * job.horizon * (job.arms or 10) / 10,
    ),
)

# Run them; returns the exit status.
main = functools.partial(
    run_alone, "python -m papers.duels", VERB, paragraphs(matrices=MATRICES, algorithms=ALGORITHMS)
)

if __name__ == "__main__":
    sys.exit(main())
