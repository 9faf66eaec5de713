"""Let candidates pass that are better than a baseline, or not worse by a margin.

Says of each candidate whether it is better than the baseline, not worse by --margin, no better by
--margin, or worse. Or it says about how many more runs it takes to know. Candidates are all options
but the baseline. Verdicts hold at every look, however often runs are added.

Games and votes are judged in Elo, with --tolerance instead of --margin. Two games of two engines
with sides reversed count as one. --gap is a guess of the gain, with which fewer games will do.
Games need no --looks: verdicts on them hold at every look anyway.

Without --want better a candidate that is not worse by the margin, or the tolerance, passes, too.

The better option scores higher more often than lower. With --by mean it has the higher mean. Runs
must be independent. With --shared all options ran on the same tasks, in one order. See
`jaxrace race --help`. Imports no JAX.

Exit status:
  0  all candidates pass: they are better, or not worse by the margin
  1  one is rejected: it is worse, or no better by the margin
  2  bad input
  3  not yet: more runs may help
  4  data refused: they contradict what is assumed, and more of them do not help

A command that fails also ends with 1, or 2, and prints a line that begins with "jaxrace: error".

For example:
  jaxrace gate scores.csv --baseline main
  jaxrace gate results.csv --baseline main --margin 0.01 --shared --by mean --low 0 --high 1
  jaxrace gate results.csv --baseline main --shared --looks gate.looks --report gate.md
  jaxrace gate games.pgn --baseline old --want better --tolerance 3 --gap 3
"""

import contextlib
from pathlib import Path
from typing import Any

from jaxrace.commands.front import arguments, write_rows
from jaxrace.commands.race import config_of_scores, judge_scores, write_next
from jaxrace.core.validation import BadArgument
from jaxrace.judging import GateOfGames, GateOfTable, gate, race
from jaxrace.judging.rating.front import read_comparisons
from jaxrace.tables import read_scores
from jaxrace.tables.comparisons import ComparisonsError

FIGURE = "gate.png"
_GAMES = "Or games or votes: PGN, or a table that `jaxrace select` takes."
_GROUPS = {
    "of games and votes alone": ("tolerance", "gap", "score", "first_column", "second_column"),
    "of scores alone": (
        *("margin", "by", "low", "high", "shared", "of", "smaller", "larger", "horizon", "gaps"),
        *("looks", "order_by_lot", "weights", "seed", "final", "dependent", "option_column"),
        *("task_column", "group_column", "options", "failed", "where"),
        *("no_header", "next"),
    ),
}
Config = config_of_scores(__doc__, gate, race, without=("top",), also=_GAMES, groups=_GROUPS)


def ask(config: Any) -> tuple[GateOfTable | GateOfGames, str]:
    """Judge a table of scores, or games."""
    names = {"score": "auto", "first_column": None, "second_column": None}
    told = {name: getattr(config, name) for name in names}
    if told == names:
        with contextlib.suppress(ComparisonsError):
            return judge_scores(gate, config)
    also = "decimal", "delimiter", "score_column", "cluster_column"
    told |= {name: getattr(config, name) for name in also}
    votes = read_comparisons(config.scores, argument="scores", **told)
    if config.next is not None or config.no_header:
        name = "no_header" if config.no_header else "next"
        raise BadArgument(name, "scores of options", "games or votes")
    columns = {
        name: one for name, one in arguments(read_scores, config).items() if name not in told
    }
    given = columns | arguments(race, config) | arguments(gate, config)
    return gate(votes, **{name: one for name, one in given.items() if name not in told}), ""


def write(folder: Path, found: GateOfTable | GateOfGames) -> None:
    """Write the candidates as a table."""
    write_rows(folder / "candidates.csv", found.candidates)


FILES = {"next": write_next}
