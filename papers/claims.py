"""What a paper claims, and what came out: the table at the end of a report."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxrace.runs.tables import markdown_table
from papers.workbench import mean_and_error

YES, NO, OPEN = "yes", "no", "open"


class Claim(NamedTuple):
    """A line of the table."""

    claim: str
    paper: str  # where, or its number
    here: str
    holds: str  # or "no", or "open" if the errors are too large to tell


def claims_table(claims: Sequence[Claim]) -> str:
    """In Markdown."""
    return markdown_table(("claim", "paper", "here", "holds?"), claims)


def verdict(change: float, error: float) -> str:
    """Is a number above 0? Open, unless it is two standard errors away."""
    return YES if change > 2 * error else NO if change < -2 * error else OPEN


def yes_or_no(holds: bool) -> str:
    """Of what needs no standard error."""
    return YES if holds else NO


def difference(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Of the means of two samples that are independent, and its standard error."""
    (mean, error), (other_mean, other_error) = mean_and_error(one), mean_and_error(other)
    return float(mean - other_mean), float(np.hypot(error, other_error))
