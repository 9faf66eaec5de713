"""Quantiles of Student's t distribution, compared with SciPy's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxrace.kernels import student_quantile

TAILS = np.array([0.4, 0.25, 0.1, 0.05, 0.025, 0.01, 1e-3, 1e-4, 1e-5])
DEGREES = np.array([*range(1, 130), 200, 500, 1000, 1e4, 1e5, 1e6, 1e7])

of_all = jax.jit(jax.vmap(jax.vmap(student_quantile, (None, 0)), (0, None)))


def test_all_degrees_and_tails():
    """To a relative 5e-5; 60 degrees is where the method changes."""
    found = of_all(jnp.asarray(TAILS, jnp.float32), jnp.asarray(DEGREES, jnp.float32))
    assert found.dtype == jnp.float32
    tails = TAILS.astype(np.float32).astype(np.float64)
    np.testing.assert_allclose(found, stats.t.isf(tails[:, None], DEGREES), rtol=5e-5)


def test_half_of_the_distribution_is_above_zero():
    found = of_all(jnp.float32([0.5]), jnp.asarray(DEGREES, jnp.float32))
    np.testing.assert_allclose(found, 0, atol=2e-3)


def test_more_degrees_give_a_smaller_quantile():
    """No step where the method changes, at 60: the quantile falls by .0007 to .0003 each time."""
    degrees = jnp.arange(50, 70, dtype=jnp.float32)
    found = np.asarray(of_all(jnp.float32([0.05]), degrees)[0], np.float64)
    falls = -np.diff(found)
    exact = -np.diff(stats.t.isf(0.05, np.arange(50, 70)))
    np.testing.assert_allclose(falls, exact, atol=1.5e-4)
    assert found[-1] < found[0]


@pytest.mark.parametrize(("tail", "degrees", "printed"), [(0.05, 1, 6.314), (0.025, 19, 2.093)])
def test_printed_tables(tail, degrees, printed):
    found = jax.jit(student_quantile)(jnp.float32(tail), jnp.float32(degrees))
    assert abs(float(found) - printed) < 1e-3
