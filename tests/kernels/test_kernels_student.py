"""Quantiles of Student's t distribution, compared with SciPy's."""

import jax
import jax.numpy as jnp
import numpy as np
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
