"""Bounds by name: what they spend on a threshold, what they predict, and how often they err."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import improvement as reference

from jaxrace.improvement import BOUNDS, lower_bound
from jaxrace.improvement.bounds import Used

SIZE, DELTA = 240, 0.05


def rows_with(count, rng):
    """So many rows of three behaviour policies, and empty ones among them."""
    present = np.zeros(SIZE, bool)
    present[rng.choice(SIZE, count, replace=False)] = True
    behaviour = np.where(present, rng.choice(3, SIZE, p=[0.5, 0.3, 0.2]), -1)
    return Used(jnp.asarray(present), jnp.asarray(behaviour, jnp.int32)), present, behaviour


def heavy(rng, shape):
    return (np.exp(rng.normal(-0.7, 1.2, shape)) * (rng.uniform(size=shape) < 0.7)).astype("f4")


def run(bound, seed, values, rows, number=None):
    """What was drawn, and the bound or the prediction; compiled once for all rows of one size."""
    is_bound, number = number is None, np.int32(number or 0)
    drawn, found = _run(bound, is_bound, np.uint32(seed), values, rows, number)
    return drawn, float(found)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _run(bound, is_bound, seed, values, rows, number):
    wanted, delta = rows.total if is_bound else number, jnp.float32(DELTA)
    drawn = bound.draw(jax.random.key(seed), rows, wanted)
    if is_bound:
        return drawn, bound.bound(drawn, values, rows, delta)
    return drawn, bound.predict(drawn, values, rows, delta, wanted).lower


@pytest.mark.parametrize("count", [240, 100, 41, 25, 6])
def test_a_twentieth_is_spent_on_the_threshold(count):
    """Every policy's share, and none of it is used for the bound."""
    rows, present, behaviour = rows_with(count, np.random.default_rng(count))
    bound = BOUNDS["ci"]
    spent_on = max(count // 20, 2)
    for seed in range(5):
        drawn = bound.draw(jax.random.key(seed), rows, rows.total)
        spent = np.asarray(drawn.places[0])
        spent = spent[spent < SIZE]
        assert len(np.unique(spent)) == len(spent) == spent_on
        assert present[spent].all()
        rest = present.copy()
        rest[spent] = False
        np.testing.assert_array_equal(drawn.rest[0], rest)
        for policy in range(3):
            share = spent_on * (behaviour == policy).sum() / count
            assert abs((behaviour[spent] == policy).sum() - share) < 1.001
        # A prediction may use a few values twice.
        places = np.asarray(drawn.places[1])
        expected = np.flatnonzero(present) if count < 40 else np.sort(spent)
        np.testing.assert_array_equal(np.sort(places[places < SIZE]), expected)
        np.testing.assert_array_equal(drawn.rest[1], present if count < 40 else rest)


@pytest.mark.parametrize("count", [100, 30])
def test_bounds_with_a_threshold(count):
    """As the reference finds them from the same parts, with a best threshold of its own."""
    rng = np.random.default_rng(count)
    rows, present, _ = rows_with(count, rng)
    values = heavy(rng, SIZE)
    values[~present] = 1e6
    for number in (None, 900):
        drawn, found = run(BOUNDS["ci"], count, jnp.asarray(values), rows, number)
        part = 0 if number is None else 1
        spent = np.asarray(drawn.places[part])
        before = values[spent[spent < SIZE]]
        after = values[np.asarray(drawn.rest[part])]
        m = len(after) if number is None else number * len(after) / count
        best = reference.best_capped_bound(before, DELTA, m)
        top = max(1.0, before.max())
        caps = np.append(np.geomspace(1, top, 2000), top)
        good = [c for c in caps if reference.capped_bound(before, c, DELTA, m) > best - 1e-3 * top]
        bounds = [reference.capped_bound(after, c, DELTA, m) for c in good]
        assert min(bounds) - 1e-4 <= found <= max(bounds) + 1e-4
        if number is None:
            drawn, found = run(BOUNDS["betting"], count, jnp.asarray(values), rows)
            order = np.asarray(drawn.order)
            after = values[order][np.asarray(drawn.rest[0])[order]]
            bounds = [reference.betting_bound(after, c, DELTA) for c in good[:: len(good) // 5 + 1]]
            assert min(bounds) * 0.97 <= found <= max(bounds) * 1.03


def test_student_and_bernstein_by_name():
    rng = np.random.default_rng(0)
    rows, present, _ = rows_with(150, rng)
    values = heavy(rng, SIZE)
    for number in (None, 900):
        m = number or 150
        _, found = run(BOUNDS["t"], 0, jnp.asarray(values), rows, number)
        np.testing.assert_allclose(
            found, reference.student_bound(values[present], DELTA, m), rtol=1e-4
        )
        _, found = run(BOUNDS["bernstein"], 0, jnp.asarray(values), rows, number)
        np.testing.assert_allclose(
            found, reference.capped_bound(values[present], 5, DELTA, m), rtol=1e-4
        )


@pytest.mark.parametrize("name", ["bca", "percentile"])
def test_bootstrap_by_name(name):
    """m is the size of the resamples; means of zeros are left out of the comparison."""
    rng = np.random.default_rng(1)
    rows, present, _ = rows_with(150, rng)
    values = heavy(rng, SIZE) + rng.uniform(size=SIZE).astype("f4")
    for m in (None, 900):
        drawn, found = run(BOUNDS[name], 0, jnp.asarray(values), rows, m)
        counts = np.asarray(drawn, float)[present].T
        assert len(counts) == 2000
        np.testing.assert_array_equal(counts.sum(1), m or 150)
        shares = counts / (m or 150)
        expected = reference.bootstrap_bound(values[present], shares, DELTA, name == "bca")
        np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_a_sorted_log_is_not_certified():
    """Coin flips, the ones first: bets in that order would win until a capital of any size.

    One bound in twenty may be above the mean, which it is in no sorted log more than in others.
    """
    flips = np.repeat([1.0, 0.0], [473, 527])
    shuffled = np.random.default_rng(0).permutation(flips)
    bounds = np.array(
        [
            [lower_bound(BOUNDS["betting"], jax.random.key(seed), x, DELTA) for seed in range(20)]
            for x in (flips, flips[::-1], shuffled)
        ]
    )
    assert (bounds > 0.473).mean(1).max() <= 0.1
    assert bounds.max() < 0.5
    means, error = bounds.mean(1), bounds.std() / np.sqrt(20)
    assert np.ptp(means) < 5 * error
    assert means.min() > 0.38


SAFE = [name for name, bound in BOUNDS.items() if bound.is_safe]


@pytest.mark.slow
@pytest.mark.parametrize("count", [6, 240])
@pytest.mark.parametrize("name", SAFE)
def test_safe_bounds_err_seldom(name, count):
    """4000 samples of 8 U^15, mean 1/2: at most .05 and three standard errors of .0034.

    Splits are random, also with so few values that a twentieth is less than two.
    """
    bound, samples = BOUNDS[name], 4000
    rng = np.random.default_rng(count)
    values = jnp.asarray(8 * rng.uniform(size=(samples, count)) ** 15, jnp.float32)
    rows = Used(jnp.ones(count, bool), jnp.arange(count, dtype=jnp.int32) % 2)

    def one(key, x):
        drawn = bound.draw(key, rows, rows.total)
        return bound.bound(drawn, x, rows, jnp.float32(DELTA))

    keys = jax.random.split(jax.random.key(1), samples)
    bounds = np.asarray(jax.jit(jax.vmap(one))(keys, values))
    assert np.isfinite(bounds).all()
    assert (bounds > 0.5).mean() < DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / samples)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": [0.1, 0.2, 0.3]}, "values: expected at least 4"),
        ({"values": [0.1, np.nan, 0.3, 0.4]}, r"values\[1\]: .*, got nan"),
        ({"delta": 0}, "delta"),
        ({"number": 3}, "number"),
        ({"behaviour": [0, 1, 2]}, r"behaviour: expected integers \[4\], got int64\[3\]"),
        ({"behaviour": [0, 1, -1, 1]}, r"behaviour\[2\]: expected a number from 0 to"),
        ({"bound": "t"}, r"bound: expected a LowerBound, got 't'"),
    ],
)
def test_bad_arguments(changes, message):
    given = {"values": [0.1, 0.2, 0.3, 0.4], "delta": 0.05, "bound": BOUNDS["ci"], **changes}
    with pytest.raises(ValueError, match=f"^{message}"):
        lower_bound(key=jax.random.key(0), **given)


@pytest.mark.parametrize("name", ["ci", "t"])
def test_losses_that_are_rare(name):
    """One trajectory in 100 earns nothing: of 100 often all are 1, which says nothing of the rest.

    A semi-safe bound takes them for all there is.
    """
    samples, bound = 200, BOUNDS[name]
    values = (np.random.default_rng(6).random((samples, 100)) < 0.99).astype(np.float32)
    keys = jax.random.split(jax.random.key(0), samples)
    found = [lower_bound(bound, key, row, DELTA) for key, row in zip(keys, values, strict=True)]
    wrong = np.mean(np.array(found) > 0.99)
    if bound.is_safe:
        assert wrong == 0
    else:
        all_ones = values.all(1).mean()  # 0.99^100 = .37 but for chance
        assert wrong == all_ones
        assert all_ones > 5 * DELTA
