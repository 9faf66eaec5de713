"""The driver serves races that advance their options unequally."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import racing
from jaxrace.protocol import verb
from jaxrace.racing import base


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class State:
    seen: jax.Array  # float32 [K, N], each option's samples in the order of their arrival
    samples: jax.Array  # int32 [K]
    simulated: jax.Array  # int32 [K]
    round: jax.Array  # int32 []
    invalid: jax.Array  # int32 [K]


@dataclasses.dataclass(frozen=True)
class HalfPace(base.Race):
    """Asks every option but the last in every call, and the last in every second one."""

    capacity: int = 12

    def params(self, delta=0.1, max_rounds=1, **_):
        return jnp.float32(delta)

    def table(self, delta, **_):
        return self.params(delta)

    def params_at(self, table, max_rounds):
        return table

    @verb
    def init(self, example_outcome, params):
        counts = jnp.zeros(self.num_options, jnp.int32)
        seen = jnp.full((self.num_options, self.capacity), -1.0, jnp.float32)
        return State(seen, counts, counts, jnp.zeros((), jnp.int32), counts)

    @verb
    def ask(self, state, params):
        last = jnp.arange(self.num_options) == self.num_options - 1
        behind = 2 * state.samples[-1] < state.samples[0]
        return (state.samples[0] < self.capacity) & (~last | behind)

    @verb
    def tell(self, state, outcomes, params):
        asked = self.ask(state, params)
        block = outcomes.shape[1]
        columns = jnp.arange(self.capacity)
        place = columns[None, :] - state.samples[:, None]
        new = (place >= 0) & (place < block) & asked[:, None]
        fetched = jnp.take_along_axis(outcomes, jnp.clip(place, 0, block - 1), axis=1)
        step = jnp.where(asked, jnp.int32(block), 0)
        return State(
            seen=jnp.where(new, fetched, state.seen),
            samples=state.samples + step,
            simulated=state.simulated + step,
            round=state.round + block,
            invalid=state.invalid,
        )

    @verb
    def result(self, state, params):
        return ResultOfState(state)

    def check_outcomes(self, state, outcomes): ...

    def check_numbers(self, state, outcomes, params): ...

    def check_params(self, params): ...

    def check_state(self, state): ...

    def check_preferences(self, first, source=None): ...


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ResultOfState:
    state: Any
    common_random_numbers: bool = dataclasses.field(default=False, metadata={"static": True})

    @property
    def invalid(self):
        return self.state.invalid


def sample(key, option):
    return option + jax.random.uniform(key, (), jnp.float32)


@pytest.mark.parametrize("chunk", [1, 2, 3, 4])
def test_samples_are_numbered_per_option(chunk):
    """Sample t of option i has the key fold_in(fold_in(key, i), t), however late it is drawn."""
    race = HalfPace(num_options=3, top=1)
    key, options = jax.random.key(0), jnp.array([0, 10, 20], jnp.float32)

    state = racing.run(race, key, sample, options, race.params(), chunk=chunk).state

    counts = np.asarray(state.samples)
    assert counts[0] == counts[1] == 12
    assert 4 <= counts[2] <= 8
    for i in range(3):
        expected = [
            float(sample(jax.random.fold_in(jax.random.fold_in(key, i), t), options[i]))
            for t in range(counts[i])
        ]
        np.testing.assert_allclose(state.seen[i, : counts[i]], expected, rtol=1e-6)


def test_batches_of_unequal_races_equal_single_ones():
    race = HalfPace(num_options=3, top=1)
    options = jnp.array([0, 10, 20], jnp.float32)
    keys = jax.random.split(jax.random.key(1), 4)

    def run(key):
        return racing.run(race, key, sample, options, race.params(), chunk=2)

    batch = jax.vmap(run)(keys).state
    for b in range(4):
        np.testing.assert_array_equal(batch.seen[b], run(keys[b]).state.seen)
