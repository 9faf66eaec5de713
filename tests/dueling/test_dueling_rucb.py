"""RUCB against the plain reference, duel by duel, and its regret."""

import dataclasses
import math

import duel_traces
import jax.numpy as jnp
import numpy as np
import pytest
from reference import duels

from jaxrace.dueling import Rucb

ALPHA = float(np.float32(0.51))


@pytest.mark.parametrize("num_arms", [3, 7])
def test_against_the_reference(num_arms):
    algorithm = Rucb(num_arms)
    matrices = duel_traces.matrices_of(num_arms, 5)
    trace = duel_traces.trace(algorithm, matrices, algorithm.params(), 400)
    duel_traces.assert_same_duels(
        trace,
        lambda: duels.Rucb(num_arms, ALPHA),
        lambda reference, noise: reference.choose(noise.astype(float)),
    )
    if num_arms == 3:  # where an arm meets itself now and then
        assert (trace.pair[..., 0] == trace.pair[..., 1]).any()


def test_the_candidates():
    """What ends at "released" is the set of all i with u_ij >= 1/2 for every j, at every duel."""
    algorithm = Rucb(7)
    matrices = duel_traces.matrices_of(7, 5)
    sizes = set()
    for alpha in (0.02, 0.51):
        trace = duel_traces.trace(algorithm, matrices, algorithm.params(alpha), 400)
        for game in range(len(matrices)):
            reference = duels.Rucb(7, float(np.float32(alpha)))
            for moment in duel_traces.duels_of(trace, game):
                reference.tell(moment.pair, moment.outcome)
                released = moment.state.released.astype(float)
                candidates = np.flatnonzero(math.log(reference.time) >= released).tolist()
                assert candidates == reference.candidates()
                reference.update_champion()
                champion = 7 if reference.champion is None else reference.champion
                assert moment.state.champion == champion
                sizes.add(len(candidates))
    assert sizes >= {0, 1, 2, 3}


def test_a_rival_that_may_be_even_is_met():
    """u_ji = 1/2 exactly, as ln 1 = 0: the rival goes before the arm itself, which is at 1/2."""
    algorithm, params = Rucb(3), Rucb(3).params()
    state = algorithm.init(params)
    even = {"wins": jnp.ones((3, 3), jnp.int32), "duels": jnp.full((3, 3), 2, jnp.int32)}
    state = dataclasses.replace(state, **even)
    first, second = algorithm.choose(jnp.array([0.9, 0.1], jnp.float32), state, params)
    assert (int(first), int(second)) == (0, 1)
