"""Daedalus: what is kept where, who is run, and what a job of a sweep makes of it."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import sweep
from jaxrace.agents.bases import Affine, Cells
from jaxrace.agents.rollout import PolicyInTask
from jaxrace.envs import gridworld
from jaxrace.improvement import (
    CandidateSearch,
    Daedalus,
    LinearSoftmax,
    Mixed,
    MixedPolicy,
    MixedWith,
    PolicyImprovement,
    ReturnRange,
    StudentT,
    trajectories,
)
from jaxrace.search.strategies import Strategy
from papers.improvements import grid
from papers.improvements.domains import DaedalusWork, collect

SEARCH = CandidateSearch(evaluations=200, strategy=Strategy("CMA_ES", population_size=10))
METHOD = PolicyImprovement(LinearSoftmax(Affine(1), 2), ReturnRange(0, 1), StudentT(), SEARCH)
BATCH, BATCHES = 50, 4

simulate = jax.jit(collect, static_argnums=(0, 1, 4))


def batch_of(chance, seed):
    """One step: action 1 pays .9, action 0 pays .1, and is taken with probability ``chance``."""
    rng = np.random.default_rng(seed)
    done = (rng.random((BATCH, 1)) < chance).astype(int)
    probabilities = np.where(done == 1, chance, 1 - chance)
    return trajectories(rng.random((BATCH, 1, 1)), done, probabilities, 0.1 + 0.8 * done)


def chance_of(daedalus, policy):
    """Of action 1 where nothing is observed but 0."""
    return float(daedalus.policy.probabilities(policy, jnp.zeros(1))[1])


def play(daedalus, params, seed=0):
    """All batches: the states and rows after each."""
    state, found = None, []
    for number in range(BATCHES):
        chance = np.clip(chance_of(daedalus, daedalus.ask(state, params)), 1e-3, 1 - 1e-3)
        key = jax.random.fold_in(jax.random.key(seed), number)
        state, row = daedalus.tell(state, batch_of(chance, number), params, key)
        found.append((state, row))
    return found


# Of the other one there is every batch in test_improvement_algorithm_8.
@pytest.fixture(scope="module")
def played():
    daedalus = Daedalus(METHOD, BATCH, BATCHES, keeps_test=True)
    params = METHOD.params(floor=0.5)
    return daedalus, params, play(daedalus, params)


def test_rows_are_kept(played):
    """With the number of the policy that was run; a random fifth of a batch trains."""
    _, params, moments = played
    daedalus = played[0]
    chance = np.clip(chance_of(daedalus, daedalus.ask(None, params)), 1e-3, 1 - 1e-3)
    first = batch_of(chance, 0)
    state = moments[0][0]
    # No two observations are the same.
    rows = [np.hstack([part.observations[..., 0], part.rewards]) for part in (state.train, first)]
    own, given = (set(map(tuple, listed.tolist())) for listed in (rows[0][:10], rows[1]))
    assert len(own) == 10
    assert own <= given
    assert rows[0][:10].tolist() != rows[1][:10].tolist()
    before = 0
    for state, row in moments:
        own = np.asarray(state.train.behaviour)[state.num_train - 10 : state.num_train]
        assert (own == before).all()
        before = row.current_number


def test_it_learns(played):
    daedalus, params, moments = played
    policy = daedalus.ask(moments[-1][0], params)
    assert chance_of(daedalus, daedalus.ask(None, params)) == pytest.approx(0.5)
    assert chance_of(daedalus, policy) > 0.85


GRID = LinearSoftmax(Cells(4, 2), num_actions=4)
RETURNS = ReturnRange(*gridworld.RETURN_RANGE)


def grid_work(kind):
    # One generation: more of them would blow up the rounding, which differs between programs.
    search = CandidateSearch(kind, 16, 16)
    method = PolicyImprovement(GRID, RETURNS, StudentT(), search)
    env = gridworld.Gridworld()
    initial = np.log(np.asarray(grid.initial_probabilities())).T
    params = method.params(0.238, initial=initial)
    return DaedalusWork(Daedalus(method, 50, 3), env, env.default_params, params)


@pytest.mark.slow
def test_a_sweep_is_the_loop_of_ask_and_tell():
    work = grid_work("k-fold")
    key = jax.random.key(7)
    log = sweep.run(work, sweep.stacked(key[None]), width=1)
    state = None
    for number in range(3):
        policy = work.daedalus.ask(state, work.params)
        own = jax.random.fold_in(key, number)
        option = PolicyInTask(policy, work.env_params)
        data = simulate(work.env, work.daedalus.policy, jax.random.fold_in(own, 0), option, 50)
        state, row = work.daedalus.tell(state, data, work.params, jax.random.fold_in(own, 1))
        for name in ("is_found", "is_added", "current_number", "trajectories"):
            assert getattr(log.rows.row, name)[number] == getattr(row, name), (number, name)
        # Bounds are numbers between 0 and 1, of two programs; this one is 2.3e-5.
        bound = log.rows.row.lower_bound[number]
        np.testing.assert_allclose(bound, row.lower_bound, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(
            log.rows.row.candidate.theta[number], row.candidate.theta, atol=1e-3
        )


def test_trajectories_of_a_simulator():
    """Probabilities are those of the actions taken, and steps end at the goal."""
    env = gridworld.Gridworld()
    policy = MixedPolicy(GRID)
    theta = jnp.asarray(np.log(np.asarray(grid.initial_probabilities())).T)
    half = MixedWith(Mixed(jnp.zeros((4, 16)), jnp.float32(0.5)), theta)
    option = PolicyInTask(half, env.default_params)
    data = simulate(env, policy, jax.random.key(0), option, 2_000)
    expected = 0.5 * 0.25 + 0.5 * np.array([0.09135, 0.40865, 0.09135, 0.40865])
    np.testing.assert_allclose(data.probabilities, expected[np.asarray(data.actions)], rtol=1e-4)
    lengths = np.asarray(data.taken).sum(1)
    assert lengths.min() == 6
    assert lengths.max() == 10
    np.testing.assert_array_equal(np.asarray(data.rewards).sum(1), -lengths)
    at_goal = (np.asarray(data.observations) == 1).all(-1)
    assert not (at_goal & np.asarray(data.taken)).any()
    exact = grid.expected_return(jnp.broadcast_to(jnp.asarray(expected, jnp.float32), (16, 4)), 10)
    returns = np.asarray(RETURNS.returns(data), np.float64)
    error = returns.std() / np.sqrt(len(returns))
    assert abs(returns.mean() - RETURNS.normalised(float(exact))) < 4 * error


def test_bad_input(played):
    for change in ({"batch_size": 19}, {"num_batches": 0}, {"spends": True}):
        with pytest.raises(ValueError, match=f"^{next(iter(change))}: expected"):
            dataclasses.replace(Daedalus(METHOD, BATCH, BATCHES), **change)
    daedalus, params, moments = played
    data = batch_of(0.5, 0)
    half = jax.tree.map(lambda x: x[:25], data)
    with pytest.raises(ValueError, match=r"^data: expected 50 trajectories, got 25"):
        daedalus.tell(None, half, params, jax.random.key(0))
    with pytest.raises(ValueError, match=r"^data: expected at most 4 batches"):
        daedalus.tell(moments[-1][0], data, params, jax.random.key(0))
    for bad in ({"delta": 0}, {"floor": -0.1}, {"floor": 1.5}, {"initial": np.zeros((2, 3))}):
        with pytest.raises(ValueError, match=f"^{next(iter(bad))}: expected"):
            METHOD.params(**{"floor": 0.5, **bad})
