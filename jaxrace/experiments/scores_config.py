"""What `jaxrace race` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses

from jaxrace.validation import require_integer, require_probability

# What the horizon may be unless it is given: few, so that it stays what it is as a table grows.
HORIZONS = (300, 3_000, 30_000)


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
        horizon: Most runs of an option that you would ever make, which decides what gaps the race
            looks for; null stands for 300, 3000 or 30000, the least that holds the table.

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
    horizon: int | None = None

    def __post_init__(self) -> None:
        require_integer("top", self.top, 1)
        require_probability("delta", self.delta)
        if self.horizon is not None:
            require_integer("horizon", self.horizon, 1, HORIZONS[-1])
