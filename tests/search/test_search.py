"""Policy search: budgets, the adaptation of n_max, batches, sweeps, and a known optimum."""

import dataclasses
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_tasks import Parameters, SmallTask

from jaxrace import kernels, racing
from jaxrace.agents import outcomes
from jaxrace.agents.policies import Sigmoid
from jaxrace.agents.rollout import PolicyInTask
from jaxrace.envs import medical
from jaxrace.search import PolicySearch, run, stack_params
from jaxrace.search.policy_search import RankedPolicies
from jaxrace.search.strategies import Strategy
from papers.preference_racing.learners.split_race import SplitRaceSearch

MEDICAL = PolicySearch(
    medical.Medical(),
    Sigmoid(2),
    medical.TreatmentOutcome(),
    racing.PreferenceRace(7, 3, 100, medical.prefer),
)


@dataclasses.dataclass(frozen=True)
class NoisyTarget(SmallTask):
    """One step; the reward falls with the distance of the action from (3, -2), plus noise."""

    @property
    def default_params(self):
        return jnp.array([3.0, -2.0, 0.5], jnp.float32)  # the target, and the noise

    def reset(self, key, params):
        return jax.random.normal(key, (), jnp.float32)

    def step(self, key, state, action, params):
        distance = jnp.sqrt(((action - params[:2]) ** 2).sum())
        return state, -distance + params[2] * state, jnp.bool_(True)


def probe(race):
    return PolicySearch(NoisyTarget(), Parameters(), outcomes.Return(), race)


QUIET = np.array([3.0, -2.0, 0.0], np.float32)


PB_RACE = racing.PreferenceRace(7, 3, 100, kernels.total_order)


def test_searches_find_a_known_best_policy():
    policy_search = probe(PB_RACE)
    params = policy_search.params(sigma0=2.0, budget=6000)

    # As many as probe_log, whose program this is.
    log = run(policy_search, jax.random.split(jax.random.key(0), 4), params)

    distance = np.linalg.norm(log.learned - np.array([3.0, -2.0]), axis=-1)
    assert np.median(distance) < 0.4  # it started at 3.6; the noise of one episode is 0.5


@functools.cache
def probe_log():
    """Races without noise: some are decided, some are not."""
    policy_search = probe(PB_RACE)
    params = policy_search.params(sigma0=2.0, budget=3000, env_params=QUIET)
    return run(policy_search, jax.random.split(jax.random.key(0), 4), params)


def test_a_search_ends_after_the_race_that_uses_its_budget_up():
    log, budget = probe_log(), 3000
    episodes = np.asarray(log.rows.episodes)  # [G, B]
    for b in range(episodes.shape[1]):
        last = log.generations[b]
        assert episodes[last - 1, b] >= budget
        assert last == 1 or episodes[last - 2, b] < budget
        assert (episodes[last - 1 :, b] == episodes[last - 1, b]).all()
    np.testing.assert_array_equal(log.learned, log.rows.best[-1])


def test_n_max_adapts_as_a_float():
    """Rounded up for the race only: cut off, 3 * 1.25 would be 3 for ever."""
    log = probe_log()
    for b in range(len(log.generations)):
        rounds = 3.0
        for g in range(log.generations[b]):
            assert log.rows.max_rounds[g, b] == math.ceil(np.float32(rounds))
            finished = log.rows.race_decided[g, b]
            rounds = np.clip(np.float32(rounds / 1.25 if finished else rounds * 1.25), 3, 100)


def test_races_of_the_probe_end_both_ways():
    """What the other tests of the probe rest on."""
    log = probe_log()
    assert log.rows.race_decided[log.rows.ran].any()
    assert not log.rows.race_decided[log.rows.ran].all()
    assert (np.diff(log.rows.max_rounds[:, 0]) < 0).any()


def test_a_done_search_stays_as_it_is():
    params = MEDICAL.params(sigma0=10.0, budget=30)
    state = MEDICAL.init(jax.random.key(0), params)
    step = jax.jit(MEDICAL.step)
    while not MEDICAL.done(state, params):
        state, _ = step(state, params)

    after, row = step(state, params)

    for old, new in zip(jax.tree.leaves(state), jax.tree.leaves(after), strict=True):
        np.testing.assert_array_equal(_data(old), _data(new))
    assert row.simulated == 0
    assert row.generation == state.generation


def test_a_generation_counts_what_its_race_counts_and_draws_from_keys_of_its_own():
    """Without strategy and race: what they are given, and what becomes of their numbers."""
    seen = []

    @dataclasses.dataclass(frozen=True)
    class Noted(Strategy):
        def init(self, key, mean, params):
            return jnp.float32(0)

        def ask(self, key, state, params, example):
            seen.append(key)
            return jnp.arange(14, dtype=jnp.float32).reshape(7, 2), state

        def tell(self, state, population, ranking, params, key, example):
            seen.append(key)
            return state + 1

    @dataclasses.dataclass(frozen=True)
    class Raced(PolicySearch):
        def rank(self, key, options, table, max_rounds):
            seen.append(key)
            order, no = jnp.array([4, 0, 1, 2, 3, 5, 6], jnp.int32), jnp.bool_(False)
            none = jnp.zeros(7, jnp.int32)
            return RankedPolicies(order, no, no, none == 1, jnp.int32(5), jnp.int32(9), none)

    noted = Raced(NoisyTarget(), Parameters(), outcomes.Return(), PB_RACE, Noted())
    params = noted.params(budget=10)
    state = noted.init(jax.random.key(0), params)
    for generation in (1, 2):
        assert not noted.done(state, params)
        state, row = noted.step(state, params)
        assert (int(row.episodes), int(row.simulated)) == (5 * generation, 9)
        assert (int(row.generation), int(state.strategy)) == (generation, generation)
        assert row.best.tolist() == [8, 9]
    assert noted.done(state, params)  # the budget is used up to the last episode
    words = {tuple(np.asarray(jax.random.key_data(key)).tolist()) for key in seen}
    assert len(words) == len(seen) == 6


@pytest.mark.parametrize("kind", [PolicySearch, SplitRaceSearch])
@pytest.mark.parametrize("shared", [False, True])
def test_shared_episodes_show_what_noise_hides(kind, shared):
    # Noise of 100 over distances that are .1 apart: only the same noise for all tells them apart.
    env, race = NoisyTarget(), racing.PreferenceRace(7, 3, 30, kernels.total_order)
    found = kind(env, Parameters(), outcomes.Return(), race, common_random_numbers=shared)
    loud = jnp.array([3.0, -2.0, 100.0])
    order = jnp.array([4, 2, 6, 0, 1, 5, 3])
    places = jnp.stack([3.0 + 0.1 * order, jnp.full(7, -2.0)], axis=1)
    options = PolicyInTask(places, jnp.broadcast_to(loud, (7, 3)))
    ranked = jax.jit(found.rank)(jax.random.key(0), options, race.table(0.2), jnp.int32(30))
    assert (ranked.ranking.tolist() == jnp.argsort(order).tolist()) == shared


def test_numbers_are_swept_within_one_program(count_compilations):
    keys = jax.random.split(jax.random.key(0), 3)
    settings = [
        MEDICAL.params(sigma0=0.1, delta=0.01, budget=200, min_rounds=3, max_rounds=10),
        MEDICAL.params(sigma0=10.0, delta=0.2, budget=400, min_rounds=5, max_rounds=100),
        MEDICAL.params(sigma0=50.0, delta=0.5, budget=300, min_rounds=2, max_rounds=20),
    ]
    log = run(MEDICAL, keys, stack_params(settings))

    np.testing.assert_array_equal(log.rows.max_rounds[0], [3, 5, 2])
    spread = np.abs(log.rows.best[0]).max(-1)
    assert spread[0] < 1 < spread[1]
    assert (log.rows.episodes[-1] >= np.array([200, 400, 300])).all()
    # The rows of a search that ended before the others are empty.
    ran = np.asarray(log.rows.ran)
    np.testing.assert_array_equal(ran.sum(0), log.generations)
    assert not ran.all()
    for name in ("simulated", "max_rounds", "options_decided", "race_decided"):
        assert not np.asarray(getattr(log.rows, name))[~ran].any()

    other = stack_params(settings[::-1])
    with count_compilations() as compilations:
        run(MEDICAL, keys, other)
    assert compilations.count == 0


def test_keys_on_several_devices_are_refused():
    mesh = jax.make_mesh((2,), ("searches",), devices=jax.devices()[:2])
    over = jax.NamedSharding(mesh, jax.sharding.PartitionSpec("searches"))
    keys = jax.device_put(jax.random.split(jax.random.key(0)), over)
    with pytest.raises(ValueError, match=r"^keys: expected all on one device, got them on 2; "):
        run(MEDICAL, keys, MEDICAL.params(sigma0=10.0, budget=100))


def test_progress_is_reported_per_generation():
    seen = []
    policy_search = probe(PB_RACE)  # that of probe_log
    log = run(
        policy_search,
        jax.random.split(jax.random.key(0), 4),
        policy_search.params(sigma0=2.0, budget=100, env_params=QUIET),
        on_generation=seen.append,
    )
    assert len(seen) == 1 + log.rows.generation.shape[0]
    assert (seen[0] == 0).all()
    np.testing.assert_array_equal(np.stack(seen[1:]), log.rows.episodes)


def test_the_policy_and_the_round_of_a_nan_are_named():
    """In a batch of which only the last search has any, and not at once. Nothing is raced."""

    @dataclasses.dataclass(frozen=True)
    class Broken(PolicySearch):
        def rank(self, key, options, table, max_rounds):
            is_bad = (options.env_params[0, 0] == 4) & (max_rounds > 5)
            invalid = jnp.where(is_bad, jnp.array([0, 0, 7, 0, 2, 0, 0]), 0)
            order, no = jnp.arange(7, dtype=jnp.int32), jnp.bool_(False)
            count = 7 * max_rounds
            return RankedPolicies(order, no, no, jnp.zeros(7, bool), count, count, invalid)

    broken = Broken(NoisyTarget(), Parameters(), outcomes.Return(), PB_RACE)
    keys = jax.random.split(jax.random.key(0), 4)
    targets = jnp.array([[3, -2, 0.5]] * 3 + [[4, -2, 0.5]], jnp.float32)
    params = stack_params([broken.params(budget=2000, env_params=target) for target in targets])
    # Races that are never decided: n_max is 3, 3.75, 4.69 and 5.86, rounded up.
    message = r"^outcomes: .* for option 4 in round 2 of search 3, generation 4$"
    with pytest.raises(ValueError, match=message):
        run(broken, keys, params)


def _data(x):
    return jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x
