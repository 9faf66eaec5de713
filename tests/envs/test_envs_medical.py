"""The cancer treatment task against the papers' numbers and an independent NumPy simulator."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.envs import Transition, medical
from jaxrace.envs.medical import Medical, MedicalState, TreatmentOutcome

MONTHS = 6

GROWTH: dict[Any, Any] = {"seed000": (0.1, 0.15), "furnkranz2012": (0.15, 0.1)}
HAZARD: dict[Any, Any] = {"A": (-4.0, 1.0, 1.0), "B": (-8.0, 1.5, 1.5)}


def patient(tumour, toxicity, **fields):
    """A patient in month 0 who does not die."""
    start = MedicalState(
        tumour=jnp.float32(tumour),
        toxicity=jnp.float32(toxicity),
        initial_tumour=jnp.float32(tumour),
        initial_toxicity=jnp.float32(toxicity),
        alive=jnp.bool_(True),
        endurance=jnp.float32(jnp.inf),
        hazard=jnp.float32(0),
        month=jnp.int32(0),
    )
    return start._replace(**fields)


def reference_zhao_reward(tumour, next_tumour, toxicity_change):
    """Zhao et al. 2009, one number at a time."""
    reward = 0.0
    if toxicity_change <= -0.5:
        reward += 5
    elif toxicity_change >= 0.5:
        reward -= 5
    if next_tumour == 0:
        reward += 15
    elif next_tumour - tumour <= -0.5:
        reward += 5
    elif next_tumour - tumour >= 0.5:
        reward -= 5
    return reward


def reference_rollout(tumour0, toxicity0, endurance, doses, coefficients, hazard):
    """NumPy, float64: [N] patients, doses [N, T]. Histories with leaves [N, T]."""
    a1, a2 = GROWTH[coefficients]
    c0, c1, c2 = HAZARD[hazard]
    tumour, toxicity = tumour0.copy(), toxicity0.copy()
    alive, survival = np.ones(len(tumour), bool), np.ones(len(tumour))
    rewards, tumours, toxicities, alives = [], [], [], []
    reward_of = np.vectorize(reference_zhao_reward, otypes=[float])
    for month in range(doses.shape[1]):
        dose = doses[:, month]
        grown = tumour + a1 * np.maximum(toxicity, toxicity0) - 1.2 * (dose - 0.5)
        next_tumour = np.where(tumour > 0, np.clip(grown, 0, None), 0.0)
        next_toxicity = toxicity + a2 * np.maximum(tumour, tumour0) + 1.2 * (dose - 0.5)
        death = 1 - np.exp(-np.exp(c0 + c1 * next_tumour + c2 * next_toxicity))
        # A patient outlives the months of which as many survive as outlive this endurance.
        survival = survival * (1 - death)
        dies = alive & (survival <= np.exp(-endurance))
        reward = np.where(dies, -60.0, reward_of(tumour, next_tumour, next_toxicity - toxicity))
        rewards.append(np.where(alive, reward, 0.0))
        alive = alive & ~dies
        tumour, toxicity = next_tumour, next_toxicity
        tumours.append(tumour)
        toxicities.append(toxicity)
        alives.append(alive)
    return tuple(np.stack(x, axis=1) for x in (tumours, toxicities, alives, rewards))


@jax.jit(static_argnums=0)
def rollout(env, states, doses, params):
    """The same of the environment, with the outcome [N] as well."""

    def one(state, doses):
        fold = TreatmentOutcome()

        def advance(carry, dose):
            state, outcome = carry
            next_state, reward, terminal = env.step(jax.random.key(0), state, dose, params)
            transition = Transition(state, dose, reward, terminal, next_state)
            outcome = fold.update(outcome, transition, params)
            return (next_state, outcome), transition

        carry = (state, fold.init(state, params))
        (_, outcome), history = jax.lax.scan(advance, carry, doses)
        return fold.finish(outcome, params), history

    return jax.vmap(one)(states, doses)


def reset_many(env, seed, number, params):
    keys = jax.random.split(jax.random.key(seed), number)
    return jax.jit(jax.vmap(env.reset, in_axes=(0, None)))(keys, params)


@pytest.mark.parametrize(
    ("coefficients", "expected"), [("seed000", (0.95, 1.325)), ("furnkranz2012", (0.975, 1.25))]
)
def test_first_step_from_the_papers_state(coefficients, expected):
    env, params = Medical(), Medical.make_params(coefficients)
    state, _, _ = env.step(jax.random.key(0), patient(1.5, 0.5), jnp.float32(1.0), params)
    np.testing.assert_allclose(env.observe(state, params), expected, rtol=1e-6)
    assert int(state.month) == 1


@pytest.mark.parametrize("coefficients", list(GROWTH))
@pytest.mark.parametrize("hazard", list(HAZARD))
def test_histories_agree_with_numpy(coefficients, hazard):
    env, params = Medical(), Medical.make_params(coefficients, hazard)
    states = reset_many(env, 1, 2000, params)
    # Doses that are no round numbers: no change is on a boundary of the reward.
    doses = np.random.default_rng(2).uniform(0, 1, (2000, MONTHS)).astype(np.float32)
    outcome, history = rollout(env, states, doses, params)
    noise = (states.tumour, states.toxicity, states.endurance, doses)
    noise = (np.asarray(x, np.float64) for x in noise)
    tumour, toxicity, alive, reward = reference_rollout(*noise, coefficients, hazard)
    np.testing.assert_allclose(history.next_state.tumour, tumour, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(history.next_state.toxicity, toxicity, rtol=1e-5, atol=1e-5)
    # Rounding may decide a comparison, but hardly ever.
    assert np.mean(np.asarray(history.next_state.alive) != alive) < 1e-3
    assert np.mean(np.asarray(history.reward) != reward) < 2e-3
    np.testing.assert_array_equal(history.terminal, ~np.asarray(history.next_state.alive))
    worst = np.maximum(toxicity.max(axis=1), states.toxicity)
    np.testing.assert_allclose(outcome.worst_toxicity, worst, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(outcome.tumour_size, tumour[:, -1], rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(outcome.alive, history.next_state.alive[:, -1])


# From an independent simulation: (C_S, C_X, death rate, mean return); seed000, hazard A, Zhao.
@pytest.mark.parametrize(
    ("doses", "expected"),
    [((0.4,), (2.45, 1.72, 0.815, -48.9)), (medical.DOSES, (1.57, 2.67, 0.820, -45.7))],
)
def test_fixed_policies(doses, expected):
    number = 100_000
    env, params = Medical(), Medical.make_params()
    states = reset_many(env, 3, number, params)
    doses = np.random.default_rng(4).choice(np.asarray(doses, np.float32), (number, MONTHS))
    outcome, history = rollout(env, states, doses, params)
    measured = np.array(
        [
            np.mean(outcome.tumour_size),
            np.mean(outcome.worst_toxicity),
            1 - np.mean(outcome.alive),
            np.mean(np.sum(history.reward, axis=1)),
        ]
    )
    # Four standard errors here are (.014, .011, .005, .3); the expected are rounded.
    np.testing.assert_array_less(np.abs(measured - expected), [0.02, 0.02, 0.006, 0.35])


def test_patients_are_drawn_uniformly_and_their_endurance_exponentially():
    env, params = Medical(), Medical.make_params()
    states = reset_many(env, 5, 20_000, params)
    survivors = np.exp(-np.asarray(states.endurance))
    for draws, limit in ((states.tumour, 2), (states.toxicity, 2), (survivors, 1)):
        column = np.asarray(draws)
        assert column.min() >= 0
        assert column.max() <= limit
        np.testing.assert_allclose(np.histogram(column, 4, (0, limit))[0], 5000, atol=300)
    noise = np.column_stack([states.tumour, states.toxicity, survivors])
    np.testing.assert_allclose(np.corrcoef(noise.T), np.eye(3), atol=0.04)
    np.testing.assert_array_equal(states.hazard, 0)
    np.testing.assert_array_equal(states.tumour, states.initial_tumour)
    np.testing.assert_array_equal(states.toxicity, states.initial_toxicity)


@pytest.mark.parametrize("hazard", list(HAZARD))
def test_death_probability(hazard):
    c0, c1, c2 = HAZARD[hazard]
    tumour, toxicity = np.meshgrid(np.linspace(0, 8, 9), np.linspace(-3, 8, 12))
    expected = -np.expm1(-np.exp(c0 + c1 * tumour + c2 * toxicity))
    params = Medical.make_params(hazard=hazard)
    rate = np.asarray(medical.hazard_rate(jnp.float32(tumour), jnp.float32(toxicity), params))
    np.testing.assert_allclose(-np.expm1(-rate), expected, rtol=2e-5)  # also where it is 1e-6


def test_fresh_chance_takes_nothing_from_the_months_before():
    env, params = Medical(), Medical.make_params()
    state, _, _ = env.step(jax.random.key(0), patient(2.0, 2.0), jnp.float32(0.5), params)
    assert state.hazard > 0.9
    renewed = jax.vmap(env.renew, (0, None, None))(
        jax.random.split(jax.random.key(1), 20_000), state, params
    )
    np.testing.assert_array_equal(renewed.hazard, 0)
    survivors = np.exp(-np.asarray(renewed.endurance))
    np.testing.assert_allclose(np.histogram(survivors, 4, (0, 1))[0], 5000, atol=300)


REWARDS = [
    # tumour, next tumour, toxicity change, died: zhao, printed
    (1.0, 1.0, 0.0, False, 0, 10),
    (1.0, 0.5, 0.0, False, 5, 10),
    (1.0, 1.5, 0.0, False, -5, 5),
    (1.0, 1.25, -0.25, False, 0, 10),
    (1.0, 1.75, 0.75, False, -10, -10),
    (1.0, 0.25, -0.5, False, 10, 10),
    (1.0, 1.0, 0.5, False, -5, 5),
    (1.0, 1.0, 0.75, False, -5, 0),
    (1.0, 0.0, 0.0, False, 15, 10),  # cured in this month
    (0.25, 0.0, 0.5, False, 10, 5),
    (0.0, 0.0, 0.0, False, 15, 25),  # cured before
    (0.0, 0.0, -0.5, False, 20, 25),
    (0.0, 0.0, -0.5, True, -60, -60),
    (1.0, 1.75, 0.75, True, -60, -60),
]


@pytest.mark.parametrize(("tumour", "after", "change", "died", "zhao", "printed"), REWARDS)
def test_rewards(tumour, after, change, died, zhao, printed):
    kinds: Any = ("zhao", "printed")
    for kind, expected in zip(kinds, (zhao, printed), strict=True):
        reward = medical.treatment_reward(
            kind,
            tumour=jnp.float32(tumour),
            next_tumour=jnp.float32(after),
            toxicity_change=jnp.float32(change),
            died=jnp.bool_(died),
        )
        assert reward == expected, kind
        assert reward.dtype == jnp.float32


def test_the_environment_pays_the_reward_it_was_made_for():
    params = Medical.make_params()
    for env, expected in ((Medical("zhao"), 0.0), (Medical("printed"), 10.0)):
        _, reward, _ = env.step(jax.random.key(0), patient(1.0, 0.0), jnp.float32(0.5), params)
        assert reward == expected


@pytest.mark.parametrize("kind", ["zhao", "printed"])
def test_returns_lie_in_a_range_of_the_given_width(kind):
    best, worst = (20, -10) if kind == "zhao" else (25, -10)
    rewards = [row[4 if kind == "zhao" else 5] for row in REWARDS if not row[3]]
    assert (max(rewards), min(rewards)) == (best, worst)  # the table holds both extremes
    assert medical.RETURN_RANGE[kind] == MONTHS * best - ((MONTHS - 1) * worst - 60)


def test_published_parameters():
    for coefficients, growth in GROWTH.items():
        for hazard, weights in HAZARD.items():
            params = Medical.make_params(coefficients, hazard)
            numbers = [float(x) for x in dataclasses.astuple(params)]
            expected = [*growth, 1.2, 1.2, 0.5, 0.5, *weights, 2.0]
            np.testing.assert_allclose(numbers, expected, rtol=1e-6)
            for leaf in jax.tree.leaves(params):
                assert leaf.dtype == jnp.float32
                assert not leaf.weak_type
    assert Medical().default_params == Medical.make_params("seed000", "A")
