"""The rows of a result: an estimate of a policy, a rule that says what it does, an action."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What the policy is worth."""

    name: str
    estimate: float | None  # None: not known
    low: float | None  # lower bound; None: none holds


@dataclasses.dataclass(frozen=True)
class Rule:
    """What it does in some of the decisions."""

    where: str  # they are
    share: float  # of the log
    does: str  # actions and their probabilities


@dataclasses.dataclass(frozen=True)
class Action:
    """How often it is taken."""

    name: str
    logged: float  # share of the decisions of the log
    chosen: float  # the same by the new policy
