"""What `jaxrace race` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses

from jaxrace.validation import require_integer, require_probability

# The first block of the race, without which it says nothing; and runs of an option whose
# comparisons, should they not decide, are counted in seconds.
LEAST_HORIZON, MOST_HORIZON = 11, 10_000


@dataclasses.dataclass(frozen=True)
class ScoresConfig:
    """Race options by a table of their scores, whose runs have been made.

    Attributes:
        scores: A CSV file. Either a column for each option, with its name above and a score in each
            row, or nothing where it has fewer runs; or columns option and score, a row for each
            run, and others, which are ignored. Runs in the order in which they were made.
        top: How many of the best are wanted, kappa.
        delta: Probability of a wrong certificate.
        lower: Lower scores are better.
        horizon: Most runs that an option may ever have, which decides what gaps the race looks for.

    Raises:
        ValueError: An attribute is out of its range.

    >>> ScoresConfig("scores.csv", top=0)
    Traceback (most recent call last):
    ValueError: top: expected an integer of at least 1, got 0
    """

    scores: str
    top: int = 1
    delta: float = 0.05
    lower: bool = False
    horizon: int = 300

    def __post_init__(self) -> None:
        require_integer("top", self.top, 1)
        require_probability("delta", self.delta)
        require_integer("horizon", self.horizon, LEAST_HORIZON, MOST_HORIZON)
