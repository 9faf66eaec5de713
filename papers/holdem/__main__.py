"""``python -m papers.holdem``: evolves players, with what the command of jaxrace has for runs."""

import functools
import sys

from jaxrace.commands.cli import Verb, run_alone
from jaxrace.commands.options import listed
from papers.holdem.config import SELECTIONS, HoldemConfig

VERB = Verb(
    HoldemConfig,
    job="papers.holdem.job:train_holdem",
    report="papers.holdem.job:print_evolution",
    counted="steps",
    folder="train-holdem-NUMBER",
    epilog=listed(selections=SELECTIONS),
)

# Evolve players; returns the exit status.
main = functools.partial(run_alone, "holdem", VERB, "python -m papers.holdem")

if __name__ == "__main__":
    sys.exit(main())
