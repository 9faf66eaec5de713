"""Small inputs, and what is right: an answer, or the words in which it is refused or warned of.

A module of cases has ``CASES``, a list of (name, act, right): ``act()`` returns what is right, or,
if that is a ``ValueError`` or a warning, raises it with a message in which the pattern is found.
Names in ``SLOW`` are of cases that compile much.
"""

import importlib

import pytest

MODULES = (
    "right_command",
    "right_racing",
)


def cases_of(module):
    found = importlib.import_module(module)
    slow = getattr(found, "SLOW", ())
    assert {name for name, *_ in found.CASES}.issuperset(slow)
    for name, act, right in found.CASES:
        marks = [pytest.mark.slow] if name in slow else []
        yield pytest.param(act, right, id=f"{module}: {name}", marks=marks)


CASES = [case for module in MODULES for case in cases_of(module)]


@pytest.mark.parametrize(("act", "right"), CASES)
def test_right_answers(act, right):
    if isinstance(right, Warning):
        with pytest.warns(type(right), match=str(right)):
            act()
    elif isinstance(right, ValueError):
        with pytest.raises(ValueError, match=str(right)):
            act()
    else:
        assert act() == right


def test_names_are_different():
    """A case that took the name of another one would not be missed."""
    names = [case.id for case in CASES]
    assert len(names) == len(set(names))
