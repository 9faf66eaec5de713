"""What selectors by scores are told: many scores at once, traced states, the edge of float32."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_selection_scores import SELECTORS

from jaxrace.selection import Pocbam
from papers.top_k.stationary import StationaryMlPocbam


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


@pytest.mark.parametrize("selector", [Pocbam(10, 4), StationaryMlPocbam(10, 4, follows=True)])
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
