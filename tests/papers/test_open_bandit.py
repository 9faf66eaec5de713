"""The logged recommendations as published, and the click model against its conditions."""

from typing import Any

import numpy as np
import pytest

from papers.improvements.open_bandit import CAMPAIGNS, LOGGERS, load, load_click_model, one_step
from papers.improvements.open_bandit.fit import design, fit

# Clicks among the 10,000 rows, and numbers of items, counted in the CSV files of the dataset.
PUBLISHED = {
    ("all", "random"): (38, 80),
    ("all", "bts"): (42, 80),
    ("men", "random"): (46, 34),
    ("men", "bts"): (69, 34),
    ("women", "random"): (46, 46),
    ("women", "bts"): (46, 46),
}


def logs_of(campaign: Any, logger: Any):
    return load(campaign, logger)


@pytest.mark.parametrize("source", PUBLISHED)
def test_logs(source):
    logs = logs_of(*source)
    clicks, items = PUBLISHED[source]
    assert (logs.click.sum(), logs.click.size) == (clicks, 10_000)
    assert set(np.unique(logs.click)) == {0, 1}
    assert sorted(set(logs.item)) == list(range(items))
    assert logs.item_number.shape == (items,)
    assert logs.item_categories.shape == (items, 3)
    assert logs.user_features.shape == (10_000, 4)
    assert np.all(logs.user_features < logs.user_codes)
    assert set(logs.position) == {0, 1, 2}
    dtypes = [field.dtype for field in logs if isinstance(field, np.ndarray)]
    assert dtypes == [np.dtype(name) for name in ("int32", "int32", *["float32"] * 2, "int32")] + [
        np.dtype("float32"),
        np.dtype("int32"),
    ]


def test_the_first_rows_are_those_of_the_file():
    logs = load("all", "random")
    assert logs.item[:5].tolist() == [14, 14, 27, 48, 36]
    assert logs.position[:5].tolist() == [2, 2, 2, 1, 1]
    # The same user, but for the third feature.
    assert np.all(logs.user_features[:3, :2] == logs.user_features[0, :2])
    assert len(set(logs.user_features[:3, 2])) == 3


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_propensities(campaign):
    uniform, sampler = (logs_of(campaign, logger) for logger in LOGGERS)
    items = uniform.item_number.size
    np.testing.assert_allclose(uniform.propensity, 1 / items, rtol=1e-6)
    assert 0 < sampler.propensity.min() < sampler.propensity.max() <= 1
    # Each item adds P(its propensity is not tiny) <= 1 to this mean; the standard errors are below
    # 0.04 without the tiny ones, the least of which would alone add 2 ("women", 1e-6).
    p = sampler.propensity
    assert 0.7 < np.mean(np.where(p >= 1e-4, 1 / p, 0)) / items < 1.1
    np.testing.assert_array_equal(uniform.item_number, sampler.item_number)
    np.testing.assert_array_equal(uniform.item_categories, sampler.item_categories)


def test_one_step_task():
    logs = load("men", "bts")
    parts = [one_step(logs, position) for position in range(3)]
    whole = one_step(logs)
    assert [len(part.actions) for part in parts] == [3339, 3262, 3399]
    assert whole.contexts.shape == (10_000, 27)
    assert whole.contexts.dtype == np.float32
    starts = np.cumsum([0, *logs.user_codes[:-1]])
    np.testing.assert_array_equal(whole.contexts.nonzero()[1], (logs.user_features + starts).flat)
    for position, part in enumerate(parts):
        rows = logs.position == position
        for field, chosen in zip(whole, part, strict=True):
            np.testing.assert_array_equal(field[rows], chosen)
    assert whole.clicks.mean() == np.float32(0.0069)


def test_fit_meets_its_conditions():
    """At the largest posterior density the gradient is that of the prior: the weights."""
    logs, model = load("all", "random"), load_click_model()
    users = np.stack([logs.user_features[:, i] == c for i, c in model.features], axis=1)
    clusters = model.clusters[logs.item]
    signs = clusters - 0.5
    scores = (
        model.intercept
        + users @ model.user_weights
        + signs * (model.cluster_weight + users @ model.preference_weights)
    )
    residuals = logs.click - 1 / (1 + np.exp(-scores.astype(np.float64)))
    assert abs(residuals.sum()) < 1e-3
    np.testing.assert_allclose(residuals @ users, model.user_weights, atol=1e-3)
    np.testing.assert_allclose(residuals @ signs, model.cluster_weight, atol=1e-3)
    np.testing.assert_allclose((residuals * signs) @ users, model.preference_weights, atol=1e-3)
    assert users.mean(axis=0).min() >= 0.1
    assert np.all(logs.item_number[model.clusters == 1] > np.median(logs.item_number))
    assert model.clusters.sum() == 39


def test_the_stored_model_is_what_fit_returns():
    stored, fitted = load_click_model(), fit(load("all", "random"))
    assert fitted.features == stored.features
    for name in ("intercept", "user_weights", "cluster_weight", "preference_weights"):
        np.testing.assert_allclose(getattr(fitted, name), getattr(stored, name), atol=2e-4)
    for name in ("customers", "counts", "clusters"):
        np.testing.assert_array_equal(getattr(fitted, name), getattr(stored, name))
    assert stored.counts.sum() == 10_000
    rows = design(np.array([[1, 0], [0, 1]]), np.array([0, 1]))
    assert rows.tolist() == [[1, 1, 0, -0.5, -0.5, 0], [1, 0, 1, 0.5, 0, 0.5]]
