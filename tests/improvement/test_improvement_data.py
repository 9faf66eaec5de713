"""Trajectories, ranges of returns, splits by behaviour policy, and features."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.agents.bases import Cells, Fourier
from jaxrace.improvement import ReturnRange, trajectories
from jaxrace.improvement.bounds import Used, random_order, random_start
from jaxrace.improvement.policy_improvement import split
from jaxrace.judging.policies.trajectories import every_so_many

SHAPE = 4, 3  # trajectories, steps


def arguments(**changes):
    """Good arguments, but for some that are changed: a value, or {place: number}."""
    given = {
        "observations": np.zeros((*SHAPE, 2)),
        "actions": np.ones(SHAPE, int),
        "probabilities": np.full(SHAPE, 0.5),
        "rewards": np.ones(SHAPE),
        "lengths": np.array([3, 1, 2, 3]),
        "behaviour": np.array([0, 0, 1, 5]),
    }
    for name, change in changes.items():
        if isinstance(change, dict):
            given[name] = given[name].copy()
            for place, number in change.items():
                given[name][place] = number
        else:
            given[name] = change
    return given


def test_what_is_beyond_the_end_does_not_count():
    """Rubbish there is let through, and is gone afterwards."""
    good = trajectories(**arguments())
    assert good.actions.dtype == good.behaviour.dtype == jnp.int32
    assert good.probabilities.dtype == good.rewards.dtype == good.observations.dtype == jnp.float32
    np.testing.assert_array_equal(good.taken.sum(1), [3, 1, 2, 3])
    beyond = (1, 2), (2, 2)
    changes = {
        "observations": dict.fromkeys(beyond, np.nan),
        "actions": dict.fromkeys(beyond, -3),
        "probabilities": dict.fromkeys(beyond, 17.0),
        "rewards": dict.fromkeys(beyond, np.inf),
    }
    rubbish = trajectories(**arguments(**changes))
    jax.tree.map(np.testing.assert_array_equal, rubbish, good)
    # As the ends say, and not the arrays, whatever the discount is.
    np.testing.assert_allclose(ReturnRange(0, 3).returns(rubbish), [1, 1 / 3, 2 / 3, 1], rtol=1e-6)
    half = ReturnRange(0, 2, 0.5).returns(rubbish)
    np.testing.assert_allclose(half, [0.875, 0.5, 0.75, 0.875], rtol=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actions": np.ones(SHAPE)}, r"actions: expected integers \[n, T\], got float64\[4, 3\]"),
        ({"actions": np.ones((0, 3), int)}, r"actions: expected integers \[n, T\]"),
        ({"probabilities": {(2, 1): 0, (3, 2): 0}}, r"probabilities\[2, 1\]: .*, got 0"),
        ({"probabilities": {(2, 0): np.nan}}, r"probabilities\[2, 0\]: .*, got nan"),
        ({"probabilities": np.ones((4, 2))}, r"probabilities: expected .*\[4, 3\], got \[4, 2\]"),
        ({"rewards": {(1, 0): np.inf, (2, 0): np.nan}}, r"rewards\[1, 0\]: .*, got inf"),
        ({"rewards": np.ones(SHAPE, complex)}, r"rewards: expected real numbers, got complex128"),
        ({"observations": {(2, 1, 1): np.nan}}, r"observations\[2, 1, 1\]: .*, got nan"),
        (
            {"observations": np.zeros((4, 2, 2))},
            r"observations: .*\[4, 3, \.\.\.\], got \[4, 2, 2\]",
        ),
        ({"lengths": {1: 0}}, r"lengths\[1\]: expected 1 to 3 steps, got 0"),
        ({"lengths": np.ones(3, int)}, r"lengths: expected integers \[4\], got int64\[3\]"),
        (
            {"behaviour": np.zeros((4, 1), int)},
            r"behaviour: expected integers \[4\], got .*\[4, 1\]",
        ),
        ({"returns": ReturnRange(0, 2)}, r"rewards\[0\]: .* from 0 to 2, got 3"),
        ({"returns": ReturnRange(1.5, 3)}, r"rewards\[1\]: .* from 1.5 to 3, got 1"),
        # Numbers that do not fit.
        ({"probabilities": {(2, 1): 1e-60}}, r"probabilities\[2, 1\]"),
        ({"actions": {(2, 1): 2**32 + 1}}, r"actions\[2, 1\]"),
    ],
)
def test_bad_trajectories(changes, message):
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=f"^{message}"):
        trajectories(**arguments(**changes))


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((1, 1), "high: expected a number above low = 1, got 1"),
        ((np.nan, 1), "low"),
        ((0, 1, 0), "discount"),
        ((0, 1, 1.01), "discount"),
    ],
)
def test_bad_ranges_of_returns(numbers, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        ReturnRange(*numbers)


@functools.partial(jax.jit, static_argnums=1)
def draw_split(key, number):
    order = split(key, rows_there(), number)
    return jnp.zeros(len(order), bool).at[order[:number]].set(True)


def rows_there():
    return Used(jnp.asarray(PRESENT), jnp.asarray(BEHAVIOUR, jnp.int32))


# Three policies of 7, 40 and 53 trajectories in no order, and 20 rows without any.
BEHAVIOUR = np.random.default_rng(0).permutation([0] * 7 + [2] * 40 + [9] * 53 + [-1] * 20)
PRESENT = BEHAVIOUR >= 0


@pytest.mark.parametrize("number", [1, 33, 100])
def test_every_policy_has_its_share(number):
    for seed in range(20):
        part = np.asarray(draw_split(jax.random.key(seed), number))
        assert part.sum() == number
        assert not part[~PRESENT].any()
        for policy in (0, 2, 9):
            mine = np.equal(BEHAVIOUR, policy)
            assert abs(part[mine].sum() - number * mine.sum() / 100) < 1.001


def test_every_row_has_the_same_chance():
    """2000 splits of 20 in 100: how often each row is taken, and each pair of rows of one policy.

    The standard error of a row's rate is .0089, that of a pair's .0042.
    """
    keys = jax.random.split(jax.random.key(1), 2000)
    parts = jax.vmap(lambda key: draw_split(key, 20))(keys)
    parts = np.asarray(parts)[:, PRESENT]
    rates = parts.mean(0)
    assert abs(rates - 0.2).max() < 4 * np.sqrt(0.2 * 0.8 / 2000)
    assert rates.std() > 0.5 * np.sqrt(0.2 * 0.8 / 2000)  # it is random
    assert len(np.unique(parts, axis=0)) == 2000
    # Which of two rows of a policy of 40 are both taken does not depend on their places.
    mine = parts[:, BEHAVIOUR[PRESENT] == 2].astype(float)
    pairs = (mine.T @ mine / 2000)[~np.eye(40, dtype=bool)]
    expected = 8 * 7 / (40 * 39)
    assert abs(pairs.mean() - expected) < 1e-3
    assert abs(pairs - expected).max() < 5 * np.sqrt(expected / 2000)


def test_an_order_lists_every_row_once():
    order = np.asarray(random_order(jax.random.key(0), rows_there()))
    np.testing.assert_array_equal(np.sort(order), np.arange(120))
    listed = BEHAVIOUR[order]
    np.testing.assert_array_equal(listed[:100], np.sort(listed[:100]))
    assert (listed[100:] == -1).all()
    assert (np.diff(order[:7]) < 0).any() or (np.diff(order[7:47]) < 0).any()


def test_rows_at_equal_distances():
    """No row twice, none beyond the count, and the places that are not used are n."""
    order = jnp.arange(120, dtype=jnp.int32)
    drawn = jax.jit(every_so_many, static_argnums=4)
    for seed, (count, number) in itertools.product(range(5), [(100, 7), (100, 100), (3, 2)]):
        start = random_start(jax.random.key(seed), jnp.int32(count))
        rows = drawn(start, order, jnp.int32(count), jnp.int32(number), 100)
        mine = np.asarray(rows)[:number]
        assert len(np.unique(mine)) == number
        assert mine.max() < count
        assert np.ptp(np.diff(mine)) <= 1
        np.testing.assert_array_equal(rows[number:], 120)


def test_fourier():
    """cos(pi c . x) for c in {0, ..., 3}^2."""
    basis = Fourier(order=3, num_inputs=2)
    points = np.random.default_rng(0).uniform(size=(5, 4, 2)).astype(np.float32)
    found = basis(jnp.asarray(points))
    assert found.shape == (5, 4, basis.num_features) == (5, 4, 16)
    listed = list(itertools.product(range(4), repeat=2))
    np.testing.assert_array_equal(basis.frequencies.T, listed)
    for c, column in zip(listed, np.moveaxis(np.asarray(found), -1, 0), strict=True):
        expected = np.cos(np.pi * (c[0] * points[..., 0] + c[1] * points[..., 1]))
        np.testing.assert_allclose(column, expected, atol=3e-6)
    np.testing.assert_array_equal(basis(jnp.zeros(2)), 1)


def test_cells():
    """One feature is 1, that of the cell: first input first; 1 belongs to the last cell."""
    basis = Cells(cells=3, num_inputs=2)
    points = np.array([[0, 0], [0.4, 0.1], [0.1, 0.4], [0.99, 0.5], [1, 1], [1 / 3 + 1e-6, 0.7]])
    found = np.asarray(basis(jnp.asarray(points, jnp.float32)))
    np.testing.assert_array_equal(found.sum(1), 1)
    np.testing.assert_array_equal(found.argmax(1), [0, 3, 1, 7, 8, 5])
    # All cells are told apart.
    centres = (np.array(list(itertools.product(range(3), repeat=2))) + 0.5) / 3
    np.testing.assert_array_equal(basis(jnp.asarray(centres, jnp.float32)), np.eye(9))


@pytest.mark.parametrize("numbers", [(0, 1), (1, 0), (1.5, 1), (9, 6)])
def test_bad_bases(numbers):
    with pytest.raises(ValueError, match=r"^(order|num_inputs): expected"):
        Fourier(*numbers)
    with pytest.raises(ValueError, match=r"^(cells|num_inputs): expected"):
        Cells(*(number + (number == 9) for number in numbers))
