"""MergeRUCB against the plain reference, duel by duel; its batches; how rarely it errs."""

import dataclasses

import duel_traces
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from error_rates import upper_limit
from reference import duel_races

from jaxrace.dueling import MergeRucb, duels, run, shuffled
from jaxrace.dueling.matrices import flat


@pytest.mark.parametrize(("num_arms", "batch_size", "count"), [(3, 2, 400), (13, 4, 3000)])
def test_against_the_reference(num_arms, batch_size, count):
    """With so large a delta that arms go and batches are merged, also where nobody beats all."""
    algorithm = MergeRucb(num_arms, batch_size)
    params = algorithm.params(delta=0.9)
    matrices = duel_traces.matrices_of(num_arms, 5)
    trace = duel_traces.trace(algorithm, matrices, params, count)
    duel_traces.assert_same_duels(
        trace,
        lambda: duel_races.MergeRucb(num_arms, float(params.alpha), 0.9, batch_size),
        lambda reference, noise: reference.choose(float(noise)),
    )
    assert (trace.decided_at[:, -1] > 0).any()
    assert (trace.state.stage > 1).any()
    batches = trace.state.batch.reshape(-1, num_arms)
    for state, count in zip(batches, trace.state.num_batches.ravel(), strict=True):
        sizes = np.bincount(state[state >= 0])
        assert len(sizes) == count
        assert sizes.min() > 0
        assert sizes.max() <= 1.5 * batch_size


def test_batches_of_single_arms_are_merged():
    """Three arms are more than 12 / 8, but there would be no more duels of two."""
    algorithm = MergeRucb(12)
    params = algorithm.params()
    batch = jnp.full(12, -1, jnp.int32).at[jnp.array([2, 5, 9])].set(jnp.arange(3, dtype=jnp.int32))
    state = algorithm.init(params)
    state = dataclasses.replace(state, batch=batch, stage=jnp.int32(3))
    state = algorithm.tell(state, [2, 2], True, params)
    assert state.batch[jnp.array([2, 5, 9])].tolist() == [0, 1, 0]
    assert (int(state.num_batches), int(state.stage)) == (2, 4)


def test_arms_of_other_batches_are_not_dropped():
    algorithm = MergeRucb(8)
    params = algorithm.params()
    state = algorithm.init(params)
    told = jax.lax.fori_loop(
        0, 500, lambda _, state: algorithm.tell(state, jnp.array([7, 0]), True, params), state
    )
    assert told.batch.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    told = jax.lax.fori_loop(
        0, 500, lambda _, state: algorithm.tell(state, jnp.array([7, 4]), True, params), told
    )
    assert told.batch.tolist() == [0, 0, 0, 0, -1, 1, 1, 1]


def test_the_best_arm_is_rarely_dropped():
    """Of 12, where each better one wins with .8: one is left, with probability 1 - delta it."""
    algorithm, problem = MergeRucb(12), duels(flat(12, 0.8))
    params = algorithm.params(delta=0.05)

    def one(key):
        order_key, own_key = jax.random.split(key)
        return run(algorithm, own_key, shuffled(order_key, problem), 6_000, params, 1)

    log = jax.vmap(one)(jax.random.split(jax.random.key(0), 200))
    assert (log.decided_at > 0).all()
    assert upper_limit(np.asarray(log.recommended[:, -1] != 0)) <= 0.05
