"""Small inputs, and what is right: an answer, or the words in which it is refused or warned of.

A file of tests has ``CASES``, a list of (name, act, right): ``act()`` returns what is right, or,
if that is a ``ValueError`` or a warning, raises it with a message in which the pattern is found.
Of numbers that 32 bits do not hold nothing is said where JAX has 64.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import jax
import pytest


def params(cases: Sequence[tuple[str, Callable[[], Any], Any]]) -> list[Any]:
    """The cases for ``parametrize``. A case with the name of another one would not be missed."""
    twice = [name for name, count in Counter(name for name, _, _ in cases).items() if count > 1]
    assert not twice, twice
    return [pytest.param(act, right, id=name) for name, act, right in cases]


def check(act: Callable[[], Any], right: Any) -> None:
    """Is the answer right?"""
    if isinstance(right, ValueError) and "32" in str(right) and jax.config.read("jax_enable_x64"):
        pytest.skip("64 bits may hold it")
    if isinstance(right, Warning):
        with pytest.warns(type(right), match=str(right)):
            act()
    elif isinstance(right, ValueError):
        with pytest.raises(ValueError, match=str(right)):
            act()
    else:
        assert act() == right
