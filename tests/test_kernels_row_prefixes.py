"""Products with the filled rows of a matrix, against the whole product."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import kernels

ROWS, COLUMNS, SAMPLES = 21, 30, 5


def a_case(filled, seed=0):
    """A matrix, values, and which rows are filled; one among these is empty."""
    rng = np.random.default_rng(seed)
    used = (np.arange(ROWS) < filled) & (np.arange(ROWS) != 1)
    matrix = np.where(used[:, None], rng.poisson(2, (ROWS, COLUMNS)), 0).astype(np.float32)
    return matrix, rng.normal(size=(SAMPLES, ROWS)).astype(np.float32), used


@jax.jit
def product(values, matrix, used):
    rows = kernels.row_prefixes(matrix, used)
    return jax.vmap(kernels.prefix_product, (0, None))(values, rows)


@pytest.mark.parametrize("filled", [0, 1, 5, 6, 7, 11, 12, 16, 17, ROWS])
def test_the_product_with_all_rows(filled):
    matrix, values, used = a_case(filled)
    np.testing.assert_allclose(product(values, matrix, used), values @ matrix, rtol=1e-5, atol=1e-5)


def test_rows_beyond_what_is_filled_are_not_read():
    """A shorter product is taken, else what is no number would be in it."""
    matrix, values, used = a_case(4)
    unread = np.where(np.arange(ROWS) >= 6, np.nan, 1)[:, None]
    is_cpu = jax.default_backend() == "cpu"
    found = product(values, (matrix * unread).astype(np.float32), used)
    assert np.isfinite(found).all() == is_cpu


def test_batches_of_matrices():
    """Under vmap over sets, or over which rows are filled."""
    cases = [a_case(filled, seed) for seed, filled in enumerate((3, 9, ROWS))]
    matrices, values, used = (np.stack(part) for part in zip(*cases, strict=True))
    found = jax.vmap(product)(values, matrices, used)
    np.testing.assert_allclose(found, values @ matrices, rtol=1e-5, atol=1e-5)
    matrix = jnp.asarray(matrices[0])

    def with_filled(filled):
        return kernels.prefix_product(values[0, 0], kernels.RowPrefixes((matrix,), filled))

    found = jax.vmap(with_filled)(jnp.arange(3, dtype=jnp.int32))
    np.testing.assert_allclose(found, [values[0, 0] @ matrices[0]] * 3, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("shape", "parts"), [((3, 4), 1), ((4, 5), 4), ((5000, 1000), 1)])
def test_small_matrices_only_are_listed(shape, parts):
    """Fewer rows than parts cannot be, and large ones would take memory."""
    rows = jax.eval_shape(
        kernels.row_prefixes, jnp.zeros(shape, jnp.float32), jnp.ones(shape[0], bool)
    )
    expected = parts if jax.default_backend() == "cpu" else 1
    assert len(rows.prefixes) == expected
    assert rows.whole.shape == shape
