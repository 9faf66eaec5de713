"""What SAVAGE promises: how rarely it errs, that its intervals hold, how long it explores."""

import functools
import math

import pytest
import savage_outcomes
from error_rates import upper_limit
from reference.savage import Question
from savage_outcomes import DELTA

# What many runs err and how long they take: everything here plays thousands.
pytestmark = pytest.mark.slow

PROMISES = [
    Question("best", 4),
    Question("next", 4, skipped=1),
    Question("copeland", 4),
    Question("condorcet", 4),
    Question("borda", 4),
]


@pytest.fixture(scope="module")
def outcome_of(plain):
    """``savage_outcomes.outcome_of``, each once."""
    return functools.cache(functools.partial(plain, savage_outcomes.outcome_of))


@pytest.mark.parametrize("question", PROMISES, ids=lambda question: question.kind)
def test_errors_are_rarer_than_delta(question, outcome_of):
    errors, _, settled_at = outcome_of(question)
    assert (settled_at > 0).all()
    assert upper_limit(errors) <= DELTA


@pytest.mark.parametrize("question", PROMISES[::2], ids=lambda question: question.kind)
def test_all_intervals_hold_together(question, outcome_of):
    """With probability 1 - delta; not so if each held for itself, or they did at one time only."""
    errors, missed, _ = outcome_of(question, close=True)
    assert upper_limit(errors) <= DELTA
    assert upper_limit(missed) <= DELTA
    for eta in (2, len(question.choices)):
        _, missed, _ = outcome_of(question, math.log(eta / DELTA), close=True)
        assert 1 - upper_limit(~missed) > DELTA
