"""Which outcome of a treatment is preferred."""

import jax.numpy as jnp
import pytest

from jaxrace.envs import medical
from jaxrace.envs.medical import Outcome


def outcome(alive, toxicity, tumour):
    return Outcome(jnp.bool_(alive), jnp.float32(toxicity), jnp.float32(tumour))


PREFERENCES = [
    ((True, 9, 9), (False, 0, 0), 1),  # alive beats dead, whatever the rest
    ((False, 0, 0), (False, 9, 9), 0),  # two deaths are incomparable
    ((True, 1, 1), (True, 1, 1), 0),  # equal
    ((True, 1, 1), (True, 2, 2), 1),
    ((True, 1, 1), (True, 1, 2), 1),
    ((True, 1, 1), (True, 2, 1), 1),
    ((True, 1, 2), (True, 2, 1), 0),  # incomparable
    ((True, -1, 0), (True, 0, 0), 1),
]


@pytest.mark.parametrize(("a", "b", "expected"), PREFERENCES)
def test_prefer(a, b, expected):
    forth = medical.prefer(outcome(*a), outcome(*b))
    back = medical.prefer(outcome(*b), outcome(*a))
    assert forth.dtype == jnp.int8
    assert (int(forth), int(back)) == (expected, -expected)
