"""Small inputs, and what is right: an answer, or the words in which it is refused or warned of.

A module of cases has ``CASES``, a list of (name, act, right): ``act()`` returns what is right, or,
if that is a ``ValueError`` or a warning, raises it with a message in which the pattern is found.
Of numbers that 32 bits do not hold nothing is said where JAX has 64.
"""

import importlib

import jax
import pytest

MODULES = (
    "right_cluster",
    "right_columns",
    "right_command",
    "right_direction",
    "right_envs",
    "right_improve",
    "right_params",
    "right_racing",
    "right_readers",
    "right_runs",
    "right_select",
    "right_tasks",
    "right_votes",
    "right_words",
    "right_strangers",
)
CASES = [
    pytest.param(act, right, id=f"{module}: {name}")
    for module in MODULES
    for name, act, right in importlib.import_module(module).CASES
]


@pytest.mark.parametrize(("act", "right"), CASES)
def test_right_answers(act, right):
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


def test_names_are_different():
    """A case that took the name of another one would not be missed."""
    names = [case.id for case in CASES]
    assert [name for name in set(names) if names.count(name) > 1] == []
