"""What selectors by scores are told: many scores at once, traced states, the edge of float32."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import selection as reference
from selection_cases import Normals
from test_selection_scores import SELECTORS

from jaxrace.selection import MlPocbam, Pocbam
from jaxrace.selection.pocbam import _following
from jaxrace.selection.scores import all_told


@pytest.mark.parametrize("scale", [2e15, 1e-17])
@pytest.mark.parametrize("name", ["pocbam", "swept"])
def test_nobody_is_compared_with_itself(name, scale):
    """At the edge of what float32 holds nothing may be known, but there is a next pair."""
    selector = SELECTORS[name][0](4, 2)
    params, rng = selector.params(), np.random.default_rng(0)
    state = selector.init(params)
    for number in range(30):
        i, j = selector.ask(jax.random.key(number), state, params).tolist()
        state = selector.tell(state, [i, j], scale * rng.uniform(-1, 1), params)
    pairs = selector.ask_many(jax.random.key(0), state, params, 5)
    assert (pairs[:, 0] < pairs[:, 1]).all()


@pytest.mark.parametrize("selector", [Pocbam(10, 4), MlPocbam(10, 4, fit="followed")])
def test_programs_of_batches_do_not_grow_with_them(selector):
    params = selector.params()
    state = selector.init(params)

    def size(batch):
        told = jnp.zeros((batch, 2), jnp.int32), jnp.zeros(batch)
        tell = jax.make_jaxpr(lambda *told: selector.tell_many(state, *told, params))
        return len(str(tell(*told)).splitlines())

    assert size(200) == size(5)


def test_a_pair_can_be_told_to_a_traced_state():
    selector = Pocbam(4, 2)
    params = selector.params()
    state = selector.init(params)
    told = jax.jit(lambda state: selector.tell(state, [0, 1], 1.0, params))(state)
    assert told.scores.means[0, 1] == 1


def test_the_inverse_follows_the_pair_that_was_told(float64):
    """By Sherman and Morrison it is the inverse of the Hessian with the new score."""
    selector = MlPocbam(5, 2, fit="followed")
    params, compare = selector.params(), Normals(2, 5)
    state = selector.init(params)
    for number in range(selector.opening + 20):
        i, j = selector.ask(jax.random.key(number), state, params).tolist()
        state = selector.tell(state, [i, j], compare(i, j), params)

    def curvatures(scores):
        v = reference.likely(np.asarray(scores.counts), np.asarray(scores.variances))
        qualities = np.asarray(state.model.qualities)
        squares = (np.asarray(scores.means) - qualities[:, None] + qualities) ** 2
        ones = (v + squares) ** 2 + np.eye(5)
        return np.asarray(scores.counts) * (v - squares) / ones

    def laplacian(weights):
        return np.diag(weights.sum(1)) - weights

    # Exactly the inverse before, so that what follows is the update alone.
    before = np.linalg.pinv(laplacian(curvatures(state.scores)))
    model = dataclasses.replace(state.model, inverse=jnp.asarray(before))
    pairs = jnp.array([[0, 3], [1, 2], [0, 3]])
    new = all_told(state.scores, pairs, jnp.array([0.4, -0.2, 0.1]))
    followed = _following(model, state.scores, new, pairs, 0.0).inverse
    # A second sample of a pair in one batch sees the first one: all end with the new scores.
    after = np.linalg.pinv(laplacian(curvatures(new)))
    center = np.eye(5) - 1 / 5
    np.testing.assert_allclose(center @ followed @ center, after, rtol=1e-6, atol=1e-9)
    assert np.abs(after - before).max() > 1e-3
