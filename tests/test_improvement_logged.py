"""Real logs: what the rows of one logger say of what another one earns, and what it did earn."""

from typing import Any

import jax
import numpy as np
import pytest

from jaxrace.envs import open_bandit
from jaxrace.improvement import BOUNDS, lower_bound


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
