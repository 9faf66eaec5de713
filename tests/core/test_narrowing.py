"""Which numbers of 64 bits a device keeps."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.core import float32, narrowing


def test_dtypes_on_a_device():
    assert narrowing.dtype_of(np.zeros(3, np.int16)) == np.int16
    assert narrowing.dtype_of(np.zeros(3)) == np.float32
    assert narrowing.dtype_of(jnp.zeros(3, jnp.float32)) == np.float32


@pytest.mark.parametrize(
    ("values", "dtype", "kept"),
    [
        (np.ones(3, np.int8), np.float32, True),
        (np.ones(3, np.int32), np.float32, False),
        (np.array([1e-40], np.float32), np.float32, False),
        (np.zeros(0, np.float32), np.float32, True),
    ],
)
def test_what_is_kept(values, dtype, kept):
    assert narrowing.are_kept(values, dtype) is kept


def test_rows_that_become_equal_are_named():
    given = np.array([1.0, 1.0 + 1e-9])
    message = "options: expected rows that float32 tells apart, got 0 and 1, which it does not"
    with pytest.raises(ValueError, match=message):
        narrowing.require_rows_apart("options", given, jnp.asarray(given, jnp.float32))
    narrowing.require_rows_apart("options", given, given)


def test_numbers_out_of_range_are_named():
    for check in (narrowing.as_arrays, float32.require_held):
        with pytest.raises(ValueError, match=r"^a: expected numbers that an int32 holds, got 1099"):
            check("a", {"steps": np.array(2**40)})
    with pytest.raises(ValueError, match=r"^a: .* a float32 tells apart, got 1\.0 and 1\.00000"):
        narrowing.require_told_apart("a", np.array([1.0, 1.0 + 1e-9]), np.float32)
