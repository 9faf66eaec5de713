"""The compilation counter of conftest.py counts, and leaves nothing behind."""

from pathlib import Path

import jax
import numpy as np
import slow_cases


def test_counts_each_new_program_once(count_compilations):
    double = jax.jit(lambda x: 2 * x)
    three, four = np.ones(3, np.float32), np.ones(4, np.float32)

    with count_compilations() as first:
        double(three)
    with count_compilations() as again:
        double(three + 1)
    with count_compilations() as reshaped:
        double(three)
        double(four)

    assert (first.count, again.count, reshaped.count) == (1, 0, 1)


def test_the_slow_cases_are_of_tests_that_exist():
    """One that has another name now would be slow no more."""
    for case in slow_cases.SLOW_CASES:
        file, name = case.split("[")[0].split("::")
        (path,) = Path(__file__).parents[1].rglob(file)
        assert f"def {name}(" in path.read_text("utf-8"), case
