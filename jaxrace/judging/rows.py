"""The rows of a result: an option, and a pair of them."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Pair:
    """How much better one option is than another across the boundary.

    The intervals of all pairs of options hold together, at every look, with probability 1 - delta.
    One may reach to "no difference" although the pair is decided: certificates need fewer
    statements to hold together than these do.
    """

    better: str
    worse: str
    estimate: float  # win probability (a tie is half a win), or difference of the mean scores
    low: float
    high: float
    evidence: float  # ln E so far over the level of a verdict; 1 or more with one
    decided: bool


@dataclasses.dataclass(frozen=True)
class Option:
    """One option of the table."""

    name: str
    runs: int  # that it has
    score: float | None  # its mean, or by wins its mean win probability; None if not known yet
    beats: int  # others that it is over, or looks better than
    verdict: str  # "in" or "out" of the best, or "?"
    next: int  # runs that would help next
    at_best: int  # further runs until nothing is in doubt, if they all go one way
    forecast: float  # the same if gaps are what they look like; may be infinite
