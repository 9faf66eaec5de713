"""PBPI: sign tests, rollouts from sampled states, and problems of known optimum."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import policy_iteration as reference

from jaxrace.agents.outcomes import Return
from jaxrace.agents.policies import UniformChoice
from jaxrace.agents.preferences import Larger
from jaxrace.agents.rollout import PolicyInTask, Rollout, evaluate
from jaxrace.envs import medical
from papers.preference_racing.learners import label_ranking
from papers.preference_racing.learners.label_ranking import LabelRanking
from papers.preference_racing.learners.policy_iteration import PolicyIteration, sign_test_table
from papers.preference_racing.learners.restarts import Behaviour, Restarts

RANKING = LabelRanking(2, medical.DOSES)
MEDICAL = PolicyIteration(medical.Medical(), RANKING, Return(), Larger())


@dataclasses.dataclass(frozen=True)
class Walk:
    """Positions 0 .. last; an action of +1 or -1 walks, 0 stays. The right end earns 1 a step.

    The left end earns ``left``. With two positions it is the two-state problem: move to the right
    one, then stay there.
    """

    last: int
    horizon: int = 8
    noise: float = 0.0
    left: float = 0.0
    nan_below: int = -1
    continues_after_terminal: bool = False

    @property
    def default_params(self):
        return jnp.zeros((), jnp.float32)

    def reset(self, key, params):
        return jax.random.randint(key, (), 0, self.last + 1, jnp.int32)

    def step(self, key, state, action, params):
        state = jnp.clip(state + action.astype(jnp.int32), 0, self.last)
        reward = jnp.where(state == 0, self.left, 0.0).astype(jnp.float32)
        reward += (state == self.last).astype(jnp.float32)
        reward += self.noise * jax.random.normal(key, (), jnp.float32)
        reward = jnp.where(state < self.nan_below, jnp.nan, reward)
        return state, reward, jnp.zeros((), bool)

    def observe(self, state, params):
        return state.astype(jnp.float32)[None]


@dataclasses.dataclass(frozen=True)
class Clock:
    """The state is the number of steps; the reward is the action; it ends after ``life`` steps."""

    life: int
    horizon: int = 5
    continues_after_terminal: bool = False

    @property
    def default_params(self):
        return jnp.zeros((), jnp.float32)

    def reset(self, key, params):
        return jnp.zeros((), jnp.int32)

    def step(self, key, state, action, params):
        return state + 1, action, state + 1 >= self.life

    def observe(self, state, params):
        return state.astype(jnp.float32)[None]


def walker(**settings):
    return PolicyIteration(Walk(**settings), LabelRanking(1, (-1.0, 0.0, 1.0)), Return(), Larger())


TWO_STATES = walker(last=1)


@jax.jit(static_argnums=0)
def step_all(learner, states, params):
    return jax.vmap(learner.step, (0, None))(states, params)


def run(learner, params, keys):
    """The last states, and rows with leaves [G, B, ...], of a batch of policy iterations."""
    states = jax.vmap(learner.init, (0, None))(keys, params)
    rows = []
    while not jax.vmap(learner.done, (0, None))(states, params).all():
        states, row = step_all(learner, states, params)
        rows.append(row)
    return states, jax.tree.map(lambda *x: np.stack(x), *rows)


@functools.cache
def two_states_run():
    params = TWO_STATES.params(budget=3000)
    return run(TWO_STATES, params, jax.random.split(jax.random.key(0), 8))


@jax.jit(static_argnums=(0, 3, 4))
def play(parts, sample_key, key, num_states, num_rollouts, behaviour, env_params):
    """Starts [N, ...] and outcomes [N, A, R, ...]."""
    restarts = Restarts(*parts, behaviour=behaviour, env_params=env_params)
    starts = restarts.sample(sample_key, num_states)
    return starts, restarts.roll_out(key, num_rollouts, starts)


KEYS = (jax.random.key(0), jax.random.key(1))


@pytest.mark.parametrize("level", [0.01, 0.1, 0.3])
def test_sign_tests_agree_for_all_counts(level):
    table = sign_test_table(12, level)
    for untied in range(13):
        for wins in range(untied + 1):
            losses = untied - wins
            sign = int(wins >= table[untied]) - int(losses >= table[untied])
            assert sign == reference.sign_test(wins, losses, level)


def test_a_level_that_is_met_exactly_is_significant():
    assert sign_test_table(4, 1 / 16)[4] == 4
    assert sign_test_table(4, np.nextafter(1 / 16, 0))[4] == 5


def prefer_smaller(a, b):
    """By the rounded tumour size, so that there are ties."""
    return jnp.sign(jnp.round(b.tumour_size) - jnp.round(a.tumour_size)).astype(jnp.int8)


def test_an_iteration_agrees_with_the_reference_given_its_rollouts():
    learner = PolicyIteration(
        medical.Medical(), RANKING, medical.TreatmentOutcome(), prefer_smaller
    )
    params, key = learner.params(), jax.random.key(3)
    state, step = learner.init(key, params), jax.jit(learner.step)
    # The second iteration rolls out what the first one has learned.
    for generation in range(2):
        keys = jax.random.split(jax.random.fold_in(key, generation), 2)
        behaviour = Behaviour(state.best, jnp.bool_(generation == 0))
        parts = (learner.env, RANKING, learner.fold)
        starts, outcomes = play(parts, *keys, 20, 10, behaviour, params.env)
        observations = np.stack([starts.state.tumour, starts.state.toxicity], axis=1)

        scores = -np.round(outcomes.tumour_size)
        preferred = reference.preferences(scores, lambda a, b: int(np.sign(a - b)), 0.1)
        expected = reference.fitted_probabilities(observations, preferred, label_ranking.RIDGE)

        state, row = step(state, params)
        # The first one learns to cure everybody: then little is left to be preferred.
        assert row.num_preferences == np.count_nonzero(preferred) > (20, 0)[generation]
        found = jax.vmap(RANKING.probabilities, (None, 0))(state.best, jnp.asarray(observations))
        np.testing.assert_allclose(found, expected, atol=2e-3)


def test_rollouts_take_the_action_follow_the_policy_and_end_at_the_horizon():
    parts = (Clock(life=100), LabelRanking(1, (1.0, 10.0)), Return())
    behaviour = Behaviour(jnp.zeros((1, 2)), jnp.bool_(False))  # always the first action
    starts, outcomes = play(parts, *KEYS, 2000, 1, behaviour, jnp.float32(0))

    np.testing.assert_array_equal(starts.number, starts.state)
    left = 5 - np.asarray(starts.number)
    np.testing.assert_array_equal(outcomes[:, 0, 0], left)
    np.testing.assert_array_equal(outcomes[:, 1, 0], left + 9)


def test_states_before_the_end_are_equally_likely():
    parts = (Clock(life=3), LabelRanking(1, (1.0, 10.0)), Return())
    behaviour = Behaviour(jnp.zeros((1, 2)), jnp.bool_(True))
    starts, _ = play(parts, *KEYS, 3000, 1, behaviour, jnp.float32(0))
    counts = np.bincount(starts.number, minlength=5) / 3000
    np.testing.assert_allclose(counts, [1 / 3] * 3 + [0, 0], atol=0.04)


def test_the_first_policy_is_random_and_rollouts_have_chance_of_their_own():
    parts = (Clock(life=100), LabelRanking(1, (0.0, 1.0)), Return())
    behaviour = Behaviour(jnp.zeros((1, 2)), jnp.bool_(True))
    starts, outcomes = play(parts, *KEYS, 1, 4000, behaviour, jnp.float32(0))
    # The action, and after it a binomial number.
    after = 4 - starts.number[0]
    np.testing.assert_allclose(outcomes.mean(axis=2)[0], [after / 2, after / 2 + 1], atol=0.08)
    np.testing.assert_allclose(outcomes.var(axis=2)[0], after / 4, atol=0.1)


@pytest.mark.slow
def test_it_finds_the_optimal_policy():
    """To the right as long as that can still earn something, and at the end not to the left."""
    learner = walker(last=4, noise=0.3)
    params = learner.params(env_params=jnp.float32(0), min_change=0.0)
    states, _ = run(learner, params, jax.random.split(jax.random.key(0), 8))
    rollout = Rollout(learner.env, learner.policy, Return())
    keys = jax.random.split(jax.random.key(1), 8)
    returns = jax.vmap(lambda k, t: evaluate(rollout, k, PolicyInTask(t, params.env), 500))
    best = (8 - np.maximum(4 - np.arange(5), 1) + 1).mean()
    assert abs(np.median(returns(keys, states.best).mean(axis=1)) - best) < 0.25


@pytest.mark.slow
def test_rollouts_are_accounted_for():
    states, rows = two_states_run()
    each = 20 * 3 * 10
    np.testing.assert_array_equal(rows.episodes, each * rows.generation)
    np.testing.assert_array_equal(rows.simulated, np.where(rows.ran, each + 20, 0))
    assert (states.episodes <= 3000).all()
    assert (rows.num_preferences[0] > 0).all()


def test_it_stays_with_a_policy_that_does_not_change():
    _, rows = two_states_run()
    assert rows.converged[-1].all()
    assert not rows.converged[0].any()  # chance is no policy that could have stayed
    for b in range(8):
        last = rows.generation[-1, b]
        assert (rows.best[last - 1 :, b] == rows.best[-1, b]).all()


@pytest.mark.parametrize(
    ("numbers", "generations"),
    [({"budget": 601}, 2), ({"max_iterations": 3}, 3), ({"budget": 1800, "max_iterations": 9}, 3)],
)
def test_it_ends_with_the_budget_or_the_last_iteration(numbers, generations):
    params = TWO_STATES.params(min_change=0.0, **numbers)
    states, rows = run(TWO_STATES, params, jax.random.split(jax.random.key(0), 8))
    assert (states.generation == generations).all()
    assert len(rows.ran) == generations


def test_what_is_done_stays_as_it_is():
    params = TWO_STATES.params(budget=1)
    step = jax.jit(TWO_STATES.step)
    state, _ = step(TWO_STATES.init(jax.random.key(0), params), params)
    after, row = step(state, params)
    np.testing.assert_array_equal(jax.random.key_data(state.key), jax.random.key_data(after.key))
    for name in ("generation", "episodes", "converged", "best"):
        np.testing.assert_array_equal(getattr(state, name), getattr(after, name), name)
    assert not row.ran
    assert row.valid
    assert row.simulated == row.num_preferences == 0


def test_an_outcome_that_is_no_number_is_told():
    learner = walker(last=4, nan_below=2)
    params = learner.params()
    _, row = jax.jit(learner.step)(learner.init(jax.random.key(0), params), params)
    assert not row.valid


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"policy": UniformChoice(4)}, "policy: expected a LabelRanking"),
        ({"env": None}, "env.horizon: expected"),
        ({"compare": 3}, "compare: expected a function"),
        ({"num_states": 0}, "num_states: expected"),
        ({"num_rollouts": 1.5}, "num_rollouts: expected"),
        ({"level": 0.0}, "level: expected"),
        ({"level": 0.5}, "level: expected"),
    ],
)
def test_bad_attributes(settings, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(MEDICAL, **settings)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"budget": 0}, "budget: expected"),
        ({"max_iterations": 0}, "max_iterations: expected"),
        ({"min_change": -0.1}, "min_change: expected"),
    ],
)
def test_bad_numbers(numbers, message):
    with pytest.raises(ValueError, match=message):
        MEDICAL.params(**numbers)


def test_a_bad_key_and_a_bad_preference():
    params = TWO_STATES.params()
    key: Any = 0
    with pytest.raises(ValueError, match="key: expected"):
        TWO_STATES.init(key, params)
    learner = dataclasses.replace(TWO_STATES, compare=jnp.subtract)
    with pytest.raises(ValueError, match="compare: expected one signed integer"):
        jax.eval_shape(learner.step, TWO_STATES.init(jax.random.key(0), params), params)
