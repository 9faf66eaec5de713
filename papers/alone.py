"""A job of the papers as a program of its own, with what the command of jaxrace has for runs."""

import sys
from collections.abc import Sequence

from jaxrace.commands import options
from jaxrace.commands.cli import Verb, do, parser_of, with_status


def run_alone(prog: str, verb: Verb, epilog: str = "", argv: Sequence[str] | None = None) -> int:
    """Run a verb as the program ``prog``, and return the exit status; ``epilog`` ends its help."""
    parser = parser_of(verb, prog=prog, epilog=epilog or None)
    words = options.with_local_cluster(sys.argv[1:] if argv is None else list(argv))
    return with_status(lambda: do(verb, parser.parse_args(words), prog), verb)
