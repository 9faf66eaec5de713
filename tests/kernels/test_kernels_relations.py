"""Order relations against direct comparison."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import reference_relations

from jaxrace.kernels import lexicographic, pareto, total_order

SIGNS = jnp.array([-1, 0, 1], jnp.int8)


def all_signs(number):
    """Every combination of that many signs, as columns."""
    return jnp.array(list(itertools.product([-1, 0, 1], repeat=number)), jnp.int8).T


def test_total_order():
    values = np.array([-np.inf, -2.5, -0.0, 0.0, 1e-45, 3.0, np.inf], np.float32)
    values[4] = np.finfo(np.float32).tiny
    array = jnp.asarray(values)
    signs = total_order(array[:, None], array[None, :])
    assert signs.dtype == jnp.int8
    expected = 2 * reference_relations.larger(values, values) - 1
    np.testing.assert_array_equal(signs, expected)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int32, np.float16])
def test_total_order_of_other_numbers(dtype):
    values = jnp.array([0, 1], dtype)
    np.testing.assert_array_equal(total_order(values[:, None], values[None, :]), [[0, -1], [1, 0]])


def test_total_order_calls_nan_a_tie():
    assert total_order(jnp.array(jnp.nan), jnp.array(1.0)) == 0
    assert total_order(jnp.array(1.0), jnp.array(jnp.nan)) == 0


def dominance_of(signs):
    dominates = (signs >= 0).all() and (signs > 0).any()
    dominated = (signs <= 0).all() and (signs < 0).any()
    return int(dominates) - int(dominated)


def first_of(signs):
    return next((sign for sign in signs if sign), 0)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize(("relation", "plain"), [(pareto, dominance_of), (lexicographic, first_of)])
def test_relations_over_all_signs(relation, plain, number):
    signs = all_signs(number)
    found = np.asarray(relation(*signs))
    assert found.dtype == np.int8
    assert found.tolist() == [plain(column) for column in np.asarray(signs).T]


@pytest.mark.parametrize("relation", [pareto, lexicographic])
def test_compositions_are_antisymmetric_and_broadcast(relation):
    a, b = all_signs(2)
    np.testing.assert_array_equal(relation(a, b), -relation(-a, -b))
    wide = relation(SIGNS[:, None], SIGNS[None, :])
    assert wide.shape == (3, 3)
    np.testing.assert_array_equal(jax.jit(relation)(SIGNS[:, None], SIGNS[None, :]), wide)
    with pytest.raises(ValueError, match=f"{relation.__name__}: expected at least one criterion"):
        relation()
