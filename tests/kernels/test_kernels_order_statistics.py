"""Two neighbouring order statistics, against sorting."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.kernels import neighbours

SIZE = 200

both_of = jax.jit(jax.vmap(neighbours, (None, 0, None)))

SAMPLES = {
    "normal": lambda rng: rng.normal(size=SIZE),
    "heavy": lambda rng: np.exp(8 * rng.normal(size=SIZE)),
    "few numbers": lambda rng: rng.integers(3, size=SIZE) / 3,
    "lumps": lambda rng: rng.poisson(2, SIZE) + 1e-6 * rng.normal(size=SIZE),
    "one far off": lambda rng: np.append(rng.normal(size=SIZE - 1), 1e30),
    "all equal": lambda rng: np.full(SIZE, -0.3),
}


GUESSES = {"mean": np.mean, "least": np.min, "largest": np.max, "nonsense": lambda _: np.nan}


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("name", SAMPLES)
def test_every_place(name, guess):
    values = SAMPLES[name](np.random.default_rng(0)).astype(np.float32)
    places = jnp.arange(1, SIZE, dtype=jnp.int32)
    lower, upper = both_of(values, places, np.float32(GUESSES[guess](values)))
    expected = np.sort(values)
    np.testing.assert_array_equal(lower, expected[:-1])
    np.testing.assert_array_equal(upper, expected[1:])


def test_what_is_no_number():
    """A mean that overflowed: the search ends, and says so."""
    lower, _ = neighbours(jnp.full(SIZE, jnp.nan), jnp.int32(10), jnp.float32(0))
    assert np.isnan(float(lower))
