"""What a policy is worth: means, intervals and how often they miss."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxrace
from jaxrace.agents.outcomes import Return
from jaxrace.agents.policies import Constant, Sigmoid, UniformChoice
from jaxrace.agents.rollout import PolicyInTask, Rollout, evaluate
from jaxrace.core.validation import BadArgument
from jaxrace.envs import gridworld, medical
from jaxrace.search.evaluation import _interval, _lower_bound

TREATED = Sigmoid(2), medical.Medical(), np.zeros(3, np.float32)


def test_the_mean_is_that_of_the_episodes_and_the_interval_that_of_student():
    found = jaxrace.evaluate(*TREATED, episodes=50, seed=3)
    option = PolicyInTask(jnp.zeros(3, jnp.float32), TREATED[1].default_params)
    rollout = Rollout(TREATED[1], TREATED[0], Return())
    returns = np.asarray(evaluate(rollout, jax.random.key(3), option, 50), np.float64)
    assert found.values["return"] == pytest.approx(returns, rel=1e-5)
    expected = stats.t.interval(0.95, 49, returns.mean(), stats.sem(returns))
    assert (found.mean, *found.interval) == pytest.approx((returns.mean(), *expected), rel=1e-5)
    assert found.measured[0].is_bounded is False


def test_truths_have_the_range_of_shares():
    found = jaxrace.evaluate(*TREATED, episodes=200, fold=medical.TreatmentOutcome())
    alive, toxicity, tumour = found.measured
    assert (alive.is_bounded, toxicity.is_bounded, tumour.is_bounded) == (True, False, False)
    assert 0 < alive.low < alive.mean < alive.high < 1
    assert json.dumps(found.to_dict())
    assert "alive" in str(found)
    assert "by range" in found._repr_html_()
    assert [panel.get_xlabel() for panel in found.plot().axes] == [x.name for x in found.measured]


def test_a_sure_return_has_a_narrow_interval_inside_of_its_range():
    right = jnp.full(4, 3, jnp.int32)  # it runs against the wall
    low, high = gridworld.RETURN_RANGE
    found = jaxrace.evaluate(
        UniformChoice(4), gridworld.Gridworld(), right, 1000, low=low, high=high
    )
    assert found.mean == found.interval[0] == -10
    assert found.interval[1] < -9.95
    assert found.notes == ()
    found = jaxrace.evaluate(UniformChoice(4), gridworld.Gridworld(), right, 1000)
    assert found.interval == (-10, -10)
    assert "return was the same in all episodes: others may be 0.003 of them" in found.notes[0]


@pytest.mark.parametrize("draw", [stats.bernoulli(0.03), stats.beta(0.05, 0.5), stats.uniform()])
def test_intervals_by_a_range_miss_as_seldom_as_they_say(draw):
    """Of 2,000 samples of 60; Student's misses more often where losses are rare."""
    rng, delta = np.random.default_rng(0), 0.1
    samples = draw.rvs(size=(2000, 60), random_state=rng).astype(np.float64)

    def misses(ends):
        found = np.array([_interval(x, delta, ends) for x in samples])
        return ((found[:, 0] > draw.mean()) | (found[:, 1] < draw.mean())).mean()

    most = stats.binom.ppf(0.999, len(samples), delta) / len(samples)
    assert misses((0.0, 1.0)) <= most
    assert (misses(None) > most) == (draw.std() != stats.uniform().std())


def test_the_bound_is_the_largest_mean_that_the_bets_refute():
    values = np.random.default_rng(1).beta(2, 5, 40)
    goal, capital = np.log(20), {}
    for m in np.linspace(0.001, 0.999, 999):
        mean, squares, wealth, most = 0.5, 0.25, 0.0, -np.inf
        for t, x in enumerate(values, 1):
            bet = min(np.sqrt(2 * goal / (40 * squares / t)), 0.5 / m)
            wealth += np.log(1 + bet * (x - m))
            most = max(most, wealth)
            mean = (0.5 + values[:t].sum()) / (t + 1)
            squares += (x - mean) ** 2
        capital[m] = most
    refuted = [m for m, most in capital.items() if most >= goal]
    assert _lower_bound(values, 0.05) == pytest.approx(max(refuted), abs=0.001)
    assert 0.1 < max(refuted) < values.mean()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"episodes": 1}, "episodes: expected an integer of at least 2, got 1"),
        ({"delta": 0.0}, "delta: expected"),
        ({"seed": -1}, "seed: expected"),
        ({"low": 0.0}, "high: expected"),
        ({"low": 1.0, "high": 1.0}, "low: expected less than high"),
        ({"low": -1.0, "high": 1.0}, "low, high: expected the range of return"),
        (
            {"low": 0.0, "high": 9.0, "fold": medical.TreatmentOutcome()},
            "low, high: expected none where an outcome has several numbers",
        ),
    ],
)
def test_other_settings_are_refused(settings, message):
    with pytest.raises(BadArgument, match=message):
        jaxrace.evaluate(*TREATED, **{"episodes": 20, **settings})


def test_a_return_that_is_not_finite_is_refused():
    with pytest.raises(BadArgument, match="env: expected finite numbers as outcome, got NaN"):
        jaxrace.evaluate(Constant(), medical.Medical(), np.float32(3e38), 20, fold=Sum())
    with pytest.raises(BadArgument, match="theta: expected finite numbers, got NaN"):
        jaxrace.evaluate(Constant(), medical.Medical(), np.float32(np.nan), 20)
    with pytest.raises(BadArgument, match=r"theta: expected one policy, of shapes \(3,\) as"):
        jaxrace.evaluate(Sigmoid(2), medical.Medical(), np.zeros((4, 3), np.float32), 20)


class Sum(Return):
    def update(self, carry, transition, params):
        return carry + transition.action
