"""Grids over observations, and the tables of policies on them."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from papers.preference_racing.learners.tabular import GreedyTable, Grid, greedy

LINE = Grid(low=(-0.5,), high=(2.5,), bins=3)
POLICY = GreedyTable(LINE, (0.0, 1.0, 2.0))


@pytest.mark.parametrize(
    ("observation", "cell"),
    [
        ((0.0, -1.0), 0),
        ((0.99, -1.0), 0),
        ((1.0, -1.0), 4),
        ((1.0, 0.5), 7),
        ((3.99, 0.99), 15),
        ((4.0, 1.0), 15),
        ((1e30, -1e30), 12),
        ((-np.inf, np.inf), 3),
        ((np.nan, 0.0), 2),
    ],
)
def test_cells(observation, cell):
    grid = Grid(low=(0, -1), high=(4, 1), bins=4)
    found = grid.cell(jnp.array(observation, jnp.float32))
    assert (int(found), found.dtype, found.weak_type) == (cell, jnp.int32, False)


def test_a_greedy_table_takes_the_first_of_equal_actions():
    table = jnp.array([[1, 2, 2], [0, 0, 0], [-1, -2, 0]], jnp.float32)
    act = jax.vmap(lambda place: POLICY(table, place[None], jax.random.key(0)))
    np.testing.assert_array_equal(act(jnp.arange(3.0)), [1, 0, 2])
    assert POLICY.example().shape == (3, 3)
    assert greedy(table[0]).dtype == jnp.int32
    assert hash(POLICY) == hash(GreedyTable(LINE, (0.0, 1.0, 2.0)))


GRID: Any = Grid
TABLE: Any = GreedyTable


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: GRID((0.0,), (1.0,), 0), "bins: expected an integer of at least 1, got 0"),
        (lambda: GRID((0.0,), (1.0, 2.0), 3), "high: expected 1 numbers, as in low, got"),
        (lambda: GRID((1.0,), (1.0,), 3), "high: expected numbers above those of low"),
        (lambda: GRID((), (), 3), "low: expected a tuple of finite numbers, got"),
        (lambda: GRID((0.0,), (np.inf,), 3), "high: expected a tuple of finite numbers, got"),
        (lambda: GRID(0.0, 1.0, 3), "low: expected a tuple of finite numbers, got 0.0"),
        (lambda: GRID((0.0,) * 10, (1.0,) * 10, 20), "bins: expected at most"),
        (lambda: Grid((0.0,), (1.0,), 3).cell(0.5), "observation: expected shape .1., got"),
        (lambda: TABLE(None, (1.0,)), "grid: expected a Grid, got None"),
        (lambda: TABLE(LINE, ()), "actions: expected a tuple of finite numbers, got"),
        (lambda: TABLE(GRID((0.0,), (1.0,), 2**30), (0.0, 1.0)), "actions: expected at most"),
        (
            lambda: POLICY(jnp.zeros((2, 3)), jnp.zeros(1), jax.random.key(0)),
            "theta: expected shape .3, 3., got .2, 3.",
        ),
    ],
)
def test_bad_arguments_are_named(act, message):
    with pytest.raises(ValueError, match=message):
        act()
