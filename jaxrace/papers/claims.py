"""What a paper claims, and what came out: the table at the end of a report."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxrace.commands.workbench import mean_and_error
from jaxrace.tables import markdown_table

YES, NO, OPEN = "yes", "no", "open"
UNEXPLAINED = "unexplained"


class Claim(NamedTuple):
    """A line of the table."""

    claim: str
    paper: str  # where, or its number
    here: str
    holds: str  # or "no", or "open" if the errors are too large to tell
    why: str  # it does not, or UNEXPLAINED


def claims_table(claims: Sequence[Claim]) -> str:
    """In Markdown.

    >>> print(claims_table([Claim("races are cheap", "figure 2", "10 draws", YES, "")]))
    | claim | paper | here | holds? | why |
    | --- | --- | --- | --- | --- |
    | races are cheap | figure 2 | 10 draws | yes |  |
    """
    return markdown_table(("claim", "paper", "here", "holds?", "why"), claims)


def verdict(change: float, error: float) -> str:
    """Is a number above 0? Open, unless it is two standard errors away.

    >>> verdict(3.0, 1.0), verdict(-3.0, 1.0), verdict(1.0, 1.0)
    ('yes', 'no', 'open')
    """
    return YES if change > 2 * error else NO if change < -2 * error else OPEN


def yes_or_no(holds: bool) -> str:
    """Of what needs no standard error."""
    return YES if holds else NO


def difference(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Of the means of two samples that are independent, and its standard error.

    >>> difference(np.array([1.0, 3.0]), np.array([0.0, 2.0]))
    (1.0, 1.4142135623730951)
    """
    (mean, error), (other_mean, other_error) = mean_and_error(one), mean_and_error(other)
    return float(mean - other_mean), float(np.hypot(error, other_error))
