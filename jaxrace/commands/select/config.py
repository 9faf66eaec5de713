"""What `jaxrace select` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses
from typing import Literal, get_args

from jaxrace.commands.options import Decimal, Delimiter
from jaxrace.core.validation import require_choice, require_integer, require_probability

# How a file is read.
OF_COLUMNS = ("first_column", "second_column", "score_column", "decimal", "delimiter")
_MOST = 10**9
_MOST_PROPOSED = 10_000
Score = Literal["auto", "win", "margin"]


@dataclasses.dataclass(frozen=True)
class SelectConfig:
    """Find the best k from votes, games or other comparisons of two.

    Prints the ranking, how sure it is, and what to compare next. A score is by how much the first
    was better, so 1, -1 and 0 for won, lost and tied, or the share of a win, 1, 0 and 0.5: --score
    margin or --score win says which, where the file does not. Imports no JAX. Exit status: 0, or 3
    while the selection is right with an estimated probability below 1 - delta.

    For example:
      jaxrace select games.csv --top 3 --next 10
      jaxrace select votes.csv --score win --out runs/votes

    Attributes:
        votes: A file of comparisons made so far (CSV or other text with delimiters, JSON, Excel,
            Parquet, PGN) with two columns of options, such as first and second or model_a and
            model_b, and one that says who has won, such as score, winner or result.
        top: How many of the best to select, k.
        next: How many comparisons to propose.
        score: margin, by how much the first was better, below 0 if it was worse (so 1, -1 and 0 for
            won, lost and tied); win, the first's share of a win: 1, 0 and .5 for won, lost and
            tied. auto reads nothing but 0, .5 and 1 as win, and what has negative scores as margin;
            of other files it says what is unclear.
        first_column: The column of the first option, where its name does not say so.
        second_column: That of the second one.
        score_column: The column that says who has won.
        decimal: The decimal sign; auto takes a comma for one where it can be no other.
        delimiter: What is between the columns; auto takes what all lines allow.
        delta: The exit status is 3 while the selection is right with an estimated probability below
            1 - delta.
        seed: Seed of all random numbers.
    """

    votes: str
    top: int = 1
    next: int = 5
    score: Score = "auto"
    first_column: str | None = None
    second_column: str | None = None
    score_column: str | None = None
    decimal: Decimal = "auto"
    delimiter: Delimiter = "auto"
    delta: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        require_integer("top", self.top, 1, _MOST)
        require_integer("next", self.next, 1, _MOST_PROPOSED)
        require_choice("score", self.score, get_args(Score))
        require_integer("seed", self.seed, 0, _MOST)
        require_probability("delta", self.delta)

    @property
    def inputs(self) -> dict[str, str]:
        """The file that is read."""
        return {"votes": self.votes}
