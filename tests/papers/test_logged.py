"""Real logs: what one logger's rows say of what another one earns, or a better policy would."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import improvement as reference

from jaxrace.agents.bases import Affine
from jaxrace.improvement import (
    BOUNDS,
    CandidateSearch,
    LinearSoftmax,
    PolicyImprovement,
    ReturnRange,
    lower_bound,
    trajectories,
    unmixed,
)
from jaxrace.improvement.bounds import Used
from jaxrace.improvement.policy_improvement import split
from jaxrace.improvement.weights import evidence, log_weights, weighted_estimate
from jaxrace.search.strategies import Strategy
from papers.improvements import open_bandit


def logged(campaign, logger):
    """The rows of a log, as trajectories of one step."""
    rows = open_bandit.one_step(open_bandit.load(campaign, logger))
    seen, done, chances, clicks = (array[:, None] for array in rows)
    return rows, trajectories(seen, done, chances, clicks)


def softmax_of(rows):
    return LinearSoftmax(Affine(rows.contexts.shape[1]), int(rows.actions.max()) + 1)


# A full covariance of 1,288 numbers and more would take its time.
SEPARABLE = Strategy("Sep_CMA_ES", population_size=16)


@pytest.mark.slow
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
    bounds = {
        name: lower_bound(BOUNDS[name], jax.random.key(0), values, delta=0.05)
        for name in ("ci", "betting", "t", "bca")
    }
    # From the most to the least cautious one; BCa knows that the values are skewed.
    assert list(bounds.values()) == sorted(bounds.values())
    assert bounds["bca"] < other.click.mean()
    assert bounds["betting"] > 0.3 * values.mean()
    student = reference.student_bound(values, 0.05, len(values))
    assert bounds["t"] == pytest.approx(student, rel=1e-4)


def test_what_is_certified_is_what_numpy_finds_in_the_rows():
    """Of a policy that has to be better than a poor one, with one click in 1,000."""
    rows, data = logged("women", "random")
    softmax = softmax_of(rows)
    search = CandidateSearch(evaluations=32, strategy=SEPARABLE)
    method = PolicyImprovement(softmax, ReturnRange(0, 1), BOUNDS["t"], search)
    key = jax.random.key(0)
    found = method.run(key, data, method.params(floor=0.001, sigma0=0.1))
    logits = np.asarray(softmax.basis(rows.contexts), float) @ np.asarray(found.policy.theta).T
    policy = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    weights = policy[np.arange(len(logits)), rows.actions] / rows.propensities
    number = len(weights) // 5
    order = split(jax.random.split(key)[0], Used(data.present, data.behaviour), number)
    in_train = np.isin(np.arange(len(weights)), order[:number])
    values = weights * rows.clicks
    lower = reference.student_bound(values[~in_train], 0.05, (~in_train).sum())
    assert found.is_found
    assert float(found.lower_bound) > 0.002
    assert float(found.lower_bound) == pytest.approx(lower, rel=1e-3)
    estimate = values[in_train].sum() / weights[in_train].sum()
    assert float(found.estimate) == pytest.approx(estimate, rel=1e-4)
    # It is not the uniform policy that was tested, whose weights are all 1.
    assert weights.std() > 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "lower", "estimate", "of_the_other"),
    [("betting", 0.0021, 0.0050, 0.0023), ("bca", 0.0, 0.426, 0.0)],
)
def test_candidates_of_a_whole_search(name, lower, estimate, of_the_other):
    """Numbers of docs/papers/improvement.md: an overfit to few clicks, which the test finds out."""
    rows, data = logged("all", "random")
    _, theirs = logged("all", "bts")
    search = CandidateSearch(strategy=SEPARABLE)
    method = PolicyImprovement(softmax_of(rows), ReturnRange(0, 1), BOUNDS[name], search)
    found = method.run(jax.random.key(0), data, method.params(float(rows.clicks.mean())))
    assert not found.is_found
    assert float(found.lower_bound) == pytest.approx(lower, abs=1e-4)
    assert float(found.estimate) == pytest.approx(estimate, rel=0.02)
    theta = found.policy.theta
    known = evidence(method.softmax, theirs, method.returns, theta)
    weighed = jnp.exp(log_weights(unmixed(theta), known))
    earned = float(weighted_estimate(weighed, known))
    assert earned == pytest.approx(of_the_other, abs=1e-4)
