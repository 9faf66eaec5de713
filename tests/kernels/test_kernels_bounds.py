"""Confidence bounds against their direct evaluation in float64."""

import math

import numpy as np
import pytest
from reference import reference_bounds

from jaxrace import kernels
from jaxrace.kernels import NEVER, RACE_BOUNDS, bernoulli_divergence, bound_named, intervals, levels

SETTINGS = [(2, 1, 0.1), (2, 60, 0.2), (3, 25, 0.05), (10, 90, 0.05), (40, 110, 0.3)]
NAMES = sorted(RACE_BOUNDS)


def reference_thresholds(*arguments):
    return [NEVER if c is None else c for c in reference_bounds.thresholds(*arguments)]


def test_the_reference_knows_every_bound():
    assert set(RACE_BOUNDS) == set(reference_bounds.KINDS)


@pytest.mark.parametrize(
    ("name", "num_options", "max_rounds", "delta", "expected"),
    [
        ("published", 10, 300, 0.05, 13.998),
        ("tight", 10, 300, 0.05, 13.199),
        ("kl", 10, 300, 0.05, 13.199),
        ("published", 7, 100, 0.2, 10.80),
        ("tight", 7, 100, 0.2, 9.95),
        ("stitched", 10, 300, 0.05, 10.75),
        ("stitched-kl", 10, 300, 0.05, 10.86),
    ],
)
def test_levels_as_computed_by_hand(name, num_options, max_rounds, delta, expected):
    level, _ = levels(RACE_BOUNDS[name], num_options, max_rounds, delta)
    digits = len(str(expected).split(".")[1])
    np.testing.assert_array_equal(np.round(level, digits), expected)


@pytest.mark.parametrize(
    ("name", "first", "epochs"), [("stitched", 22, 26), ("stitched-kl", 16, 29)]
)
def test_epochs_as_computed_by_hand(name, first, epochs):
    _, size = levels(RACE_BOUNDS[name], 10, 300, 0.05)
    starts = np.unique(size[size > 0])
    assert starts[0] == first
    assert len(starts) == epochs


@pytest.mark.parametrize("name", NAMES)
def test_levels_against_the_reference(name):
    for num_options in (2, 3, 7, 12, 512):
        for max_rounds in (1, 3, 19, 100, 300):
            for delta in (0.001, 0.05, 0.2, 0.5, 0.9):
                setting = (num_options, max_rounds, delta)
                level, size = levels(RACE_BOUNDS[name], *setting)
                expected = reference_bounds.levels(name, *setting)
                assert size.tolist() == [s for _, s in expected]
                for got, (want, reached) in zip(level, expected, strict=True):
                    assert reached == 0 or math.isclose(got, want, rel_tol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_error_is_shared_out_and_no_more(name):
    """The statements of all pairs and rounds (or epochs) fail with probability <= delta."""
    num_options, max_rounds, delta = 6, 80, 0.1
    bound = RACE_BOUNDS[name]
    level, size = levels(bound, num_options, max_rounds, delta)
    _, first = np.unique(size[size > 0], return_index=True)
    per_statement = np.exp(-level[size > 0][first])  # one side, one pair
    pairs = num_options * (num_options - 1) / 2
    total = bound.sides * pairs * per_statement.sum()
    assert total <= delta * (1 + 1e-12)
    if bound.union in ("rounds", "stitched"):
        assert math.isclose(total, delta)


@pytest.mark.parametrize("epsilon", [0.0, 0.02, 0.1, 0.3])
@pytest.mark.parametrize("name", NAMES)
def test_thresholds_against_trying_every_count(name, epsilon):
    for num_options, max_rounds, delta in SETTINGS:
        got = kernels.thresholds(RACE_BOUNDS[name], num_options, max_rounds, delta, epsilon)
        assert got.dtype == np.int32
        expected = reference_thresholds(name, num_options, max_rounds, delta, epsilon)
        assert got.tolist() == expected


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("name", ["published", "kl-verdict", "stitched-kl", "open-stitched"])
def test_rows_of_the_table_are_the_thresholds(name, epsilon):
    table = kernels.threshold_table(RACE_BOUNDS[name], 3, 40, 0.1, epsilon)
    assert table.dtype == np.int32
    assert not table.flags.writeable
    for max_rounds in range(1, 41):
        row = kernels.thresholds(RACE_BOUNDS[name], 3, max_rounds, 0.1, epsilon)
        np.testing.assert_array_equal(table[max_rounds - 1, :max_rounds], row)
        np.testing.assert_array_equal(table[max_rounds - 1, max_rounds:], NEVER)


def estimates_and_rounds(max_rounds):
    rounds = np.array([0, 1, 2, 7, max_rounds // 2, max_rounds])
    estimate = np.array([0.0, 1e-4, 0.2, 0.5, 0.77, 0.9999, 1.0])
    return (x.ravel() for x in np.meshgrid(estimate, rounds))


@pytest.mark.parametrize("name", NAMES)
def test_intervals_against_root_finding(name):
    for num_options, max_rounds, delta in SETTINGS:
        estimate, rounds = estimates_and_rounds(max_rounds)
        rounds = np.minimum(rounds, max_rounds)
        lower, upper = intervals(
            RACE_BOUNDS[name], num_options, max_rounds, delta, estimate, rounds
        )
        expected = [
            reference_bounds.interval(name, num_options, max_rounds, delta, s, int(n))
            for s, n in zip(estimate, rounds, strict=True)
        ]
        np.testing.assert_allclose(np.stack([lower, upper], -1), expected, rtol=0, atol=1e-9)


def test_divergence():
    p, q = np.meshgrid(np.linspace(0, 1, 21), np.linspace(0.05, 0.95, 19))
    np.testing.assert_allclose(
        bernoulli_divergence(p, q), reference_bounds.divergence(p, q), atol=1e-15
    )
    assert bernoulli_divergence(0.0, 0.0) == bernoulli_divergence(1.0, 1.0) == 0
    assert np.isposinf(bernoulli_divergence(0.5, 0.0))
    assert np.isposinf(bernoulli_divergence(0.5, 1.0))


def test_an_unknown_bound_is_refused():
    with pytest.raises(ValueError, match=r"bound: expected one of published, tight, .*'wide'"):
        bound_named("wide")
