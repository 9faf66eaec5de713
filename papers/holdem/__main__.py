"""``python -m papers.holdem``: evolves players, with what the command of jaxrace has for runs."""

import sys
from collections.abc import Sequence

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


def main(argv: Sequence[str] | None = None) -> int:
    """Evolve players, and return the exit status."""
    argv = sys.argv[1:] if argv is None else argv
    return run_alone("holdem", VERB, argv, "python -m papers.holdem")


if __name__ == "__main__":
    sys.exit(main())
