"""``python -m papers.holdem``: evolves players, with what the command of jaxrace has for runs."""

import functools
import sys

from jaxrace.commands.cli import Verb
from jaxrace.commands.options import paragraphs
from papers.alone import run_alone
from papers.holdem.config import SELECTIONS, HoldemConfig

VERB = Verb(
    HoldemConfig,
    job="papers.holdem.job:train_holdem",
    report="papers.holdem.job:print_evolution",
    counted="steps",
    folder="train-holdem-NUMBER",
)

# Evolve players; returns the exit status.
main = functools.partial(
    run_alone, "python -m papers.holdem", VERB, paragraphs(selections=SELECTIONS)
)

if __name__ == "__main__":
    sys.exit(main())
