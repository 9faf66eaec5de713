"""What `jaxrace race` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses

from jaxrace.validation import require_integer, require_probability

# The first block of the race, without which it says nothing; and the most runs of an option.
LEAST_RUNS, MOST_RUNS = 11, 10_000


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
        horizon: Runs per option that the test is tuned for: more of them show smaller gaps, later.
            Runs beyond these count as well.
        no_header: The first row is a run, and options are called option 1, option 2, ...
        dependent: Judge runs that are not independent, too; nothing is guaranteed then.
    """

    scores: str
    top: int = 1
    delta: float = 0.05
    lower: bool = False
    horizon: int = 300
    no_header: bool = False
    dependent: bool = False

    def __post_init__(self) -> None:
        require_integer("top", self.top, 1)
        require_probability("delta", self.delta)
        require_integer("horizon", self.horizon, LEAST_RUNS, MOST_RUNS)

    @property
    def inputs(self) -> dict[str, str]:
        """The files that the options name."""
        return {"scores": self.scores}
