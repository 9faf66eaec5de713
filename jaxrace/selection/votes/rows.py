"""The rows of a result: an option, two at the boundary, and two to compare next.

Scores are means over all other options: of votes the share of wins (a tie is half a win), else the
margin. Intervals are approximate, of 95 %, each by itself.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Ranked:
    """One option."""

    name: str
    comparisons: int  # that it was in
    score: float
    low: float | None  # None: not known
    high: float | None
    selected: bool


@dataclasses.dataclass(frozen=True)
class Gap:
    """How far the last of the best is ahead."""

    last: str  # of the best
    first: str  # of the others
    score: float
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True)
class Proposal:
    """Two options to compare next."""

    better: str  # that is so far
    worse: str
    compared: int  # so far
    times: int  # to compare them
