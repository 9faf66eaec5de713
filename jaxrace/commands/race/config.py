"""What `jaxrace race` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses
from typing import Literal


@dataclasses.dataclass(frozen=True)
class ScoresConfig:
    """Race options by a table of their scores, whose runs have been made.

    Attributes:
        scores: A CSV file. Either a column for each option, with its name above and a score in each
            row, or nothing where it has fewer runs; or columns option and score, a row for each
            run, with a column task if tasks are shared. Runs in the order in which they were made.
        top: How many of the best are wanted, kappa.
        delta: Probability of a wrong certificate.
        by: What is better: to win more often than to lose, or the higher mean.
        low: The lowest score that is possible, for a race by mean.
        high: The highest one.
        shared: Options ran on the same tasks, seeds or instances; a row for each of them, or a
            column task.
        of: Who is best on a list of so many tasks, whose order was drawn by lot?
        tolerance: Good enough: nobody else is better by so much, in win probability or mean score.
        smaller: Smaller scores are better.
        horizon: Independent runs per option that the test is tuned for: more of them show smaller
            gaps, later. Runs beyond these count as well.
        no_header: The first row is a run, and options are called option 1, option 2, ...
        dependent: Judge runs that are not independent, too; nothing is guaranteed then.
        next: A CSV file to write, of what to run next: option and runs, or option and task.
        json: Print everything as JSON.
    """

    scores: str
    top: int = 1
    delta: float = 0.05
    by: Literal["wins", "mean"] = "wins"
    low: float | None = None
    high: float | None = None
    shared: bool = False
    of: int | None = None
    tolerance: float = 0.0
    smaller: bool = False
    horizon: int = 300
    no_header: bool = False
    dependent: bool = False
    next: str | None = None
    json: bool = False
