"""What the checks of arguments say: the argument, what was expected, what came."""

import math
import re
import types

import jax
import numpy as np
import pytest

from jaxrace.commands.train.config import TrainConfig
from jaxrace.core import inputs, validation

RACE = types.SimpleNamespace(owner=("Race", (("num_options", 2),)))
MATRIX = [[0.5, 0.75], [0.3, 0.5]]

CASES = [
    ("integer", ("top", 0, 1), "top: expected an integer of at least 1, got 0"),
    ("integer", ("top", 5, 1, 4), "top: expected at most 4, got 5"),
    ("positive", ("sigma0", -1.0), "sigma0: expected a positive number, got -1.0"),
    (
        "positive",
        ("sigma0", 1e-50),
        "sigma0: expected a positive number from 1.2e-38 to 3.4e+38, as float32 holds, got 1e-50",
    ),
    (
        "probability",
        ("delta", 1.0),
        "delta: expected a number between 0 and 1, exclusive, got 1.0",
    ),
    (
        "float32_probability",
        ("delta", 1e-50),
        "delta: expected a number between 0 and 1 that float32 tells from both, got 1e-50",
    ),
    ("number", ("epsilon", 0.5, 0, 0.5), "epsilon: expected a number in [0, 0.5), got 0.5"),
    ("number", ("epsilon", 1e39, 0), "epsilon: expected a number of at most 3.4e+38, got 1e+39"),
    (
        "preferences",
        ("matrix", MATRIX),
        "matrix: expected p_ij + p_ji = 1, got 0.75 + 0.3 for 0 and 1",
    ),
    ("choice", ("rule", "c", ("a", "b")), "rule: expected one of a, b, got 'c'"),
    *(
        ("integer", ("top", x, 1), f"top: expected an integer of at least 1, got {x!r}")
        for x in (1.5, 1.0, True, "1", None)
    ),
    *(
        ("positive", ("sigma0", x), f"sigma0: expected a positive number, got {x!r}")
        for x in (0.0, math.nan, math.inf, "3", True, None, 1j)
    ),
    *(
        (
            "probability",
            ("delta", x),
            f"delta: expected a number between 0 and 1, exclusive, got {x!r}",
        )
        for x in (0, math.nan, "0.1", [0.1], None)
    ),
    *(
        ("number", ("epsilon", x, 0, 0.5), f"epsilon: expected a number in [0, 0.5), got {x!r}")
        for x in (-0.1, math.nan, None, "0", True)
    ),
    ("choice", ("bound", ["kl"], ("kl",)), "bound: expected one of kl, got ['kl']"),
    (
        "default",
        ("episodes", TrainConfig(episodes=50), "with a file"),
        "episodes: expected none with a file, got 50",
    ),
    ("kind", ("bound", "t", float), "bound: expected a float, got 't'"),
    ("function", ("sample", 3), "sample: expected a function, got 3"),
    (
        "hashable",
        ("env", [1]),
        "env: expected a hashable object (a function, a frozen dataclass), "
        "got list (unhashable type: 'list')",
    ),
    (
        "owner",
        ("params", RACE, ("Race", (("num_options", 10),))),
        "params: expected params of Race(num_options=10), got params of Race(num_options=2)",
    ),
    ("shape", ("theta", np.zeros(3), (2, 1)), "theta: expected shape [2, 1], got [3]"),
]


@pytest.mark.parametrize(("check", "arguments", "message"), CASES)
def test_messages(check, arguments, message):
    name = f"require_{check}"
    require = getattr(validation, name, None) or getattr(inputs, name)
    with pytest.raises(ValueError, match=re.escape(message) + "$"):
        require(*arguments)


def test_text_is_no_number():
    with pytest.raises(ValueError, match=r"means: expected numbers \[K\], got \['0.5'\]"):
        inputs.as_reals("means", ["0.5"], "[K]")


def test_old_style_keys_are_refused():
    with pytest.raises(
        ValueError, match=r"key: expected a key from jax.random.key, got uint32\[2\]"
    ):
        validation.require_keys("key", jax.random.PRNGKey(0), ndim=0)
