"""Real logs: what one logger's rows say of what another one earns, or a better policy would."""

from typing import Any

import jax
import numpy as np
import pytest

from jaxrace.bases import Affine
from jaxrace.envs import open_bandit
from jaxrace.improvement import (
    BOUNDS,
    CandidateSearch,
    LinearSoftmax,
    PolicyImprovement,
    ReturnRange,
    lower_bound,
    trajectories,
)
from jaxrace.strategies import Strategy


@pytest.mark.parametrize("campaign", open_bandit.CAMPAIGNS)
def test_clicks_of_the_other_logger(campaign: Any):
    """Within three standard errors of the difference; the bounds are below the truth."""
    log, other = open_bandit.load(campaign, "random"), open_bandit.load(campaign, "bts")
    shown = np.zeros((len(log.item_number), open_bandit.POSITIONS))
    np.add.at(shown, (other.item, other.position), 1)
    share = shown / shown.sum(0)
    weights = share[log.item, log.position] / log.propensity
    # The weights of all items add up to one, so that their mean is 1 but for chance.
    assert abs(weights.mean() - 1) < 4 * weights.std() / np.sqrt(len(weights))
    values = weights * log.click
    errors = values.std() / 100, other.click.std() / 100
    assert abs(values.mean() - other.click.mean()) < 3 * np.hypot(*errors)
    for name in ("ci", "betting", "t", "bca"):
        lower = lower_bound(BOUNDS[name], jax.random.key(0), values, delta=0.05)
        assert lower < other.click.mean()
        assert lower > values.mean() - 0.02


def test_nothing_better_can_be_certified():
    """From 10,000 rows with 46 clicks: the floor is the logger's own share of clicks."""
    rows = open_bandit.one_step(open_bandit.load("women", "random"))
    seen, done, chances, clicks = (array[:, None] for array in rows)
    data = trajectories(seen, done, chances, clicks)
    method = PolicyImprovement(
        LinearSoftmax(Affine(rows.contexts.shape[1]), int(rows.actions.max()) + 1),
        ReturnRange(0, 1),
        BOUNDS["betting"],
        # A full covariance of 1,288 numbers would take its time.
        CandidateSearch(evaluations=32, strategy=Strategy("Sep_CMA_ES", population_size=16)),
    )
    params = method.params(floor=float(rows.clicks.mean()))
    found = method.run(jax.random.key(0), data, params, knows_initial=True)
    assert not found.is_found
    assert str(found).startswith("no solution found")
    assert 0 <= found.lower_bound < rows.clicks.mean()
