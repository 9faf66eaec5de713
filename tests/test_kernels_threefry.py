"""Fast keys draw the numbers of JAX's own, whatever is drawn and however it is batched."""

import jax
import jax.numpy as jnp
import jaxlib.version
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxrace import kernels, racing
from jaxrace.envs import medical
from jaxrace.kernels import total_order
from jaxrace.kernels.threefry import threefry2x32
from jaxrace.outcomes import Return
from jaxrace.policies import Constant
from jaxrace.rollout import PolicyInTask, Rollout, evaluate

# Key, counter and result: of all zeros, all ones, and the digits of pi (kat_vectors of Random123).
KNOWN_ANSWERS = (
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
)

DRAWS = {
    "one number": jax.random.uniform,
    "normal numbers": lambda key: jax.random.normal(key, (5,)),
    "as many as are drawn one by one": lambda key: jax.random.uniform(key, (4, 4)),
    "one more": lambda key: jax.random.uniform(key, (17,)),
    "many": lambda key: jax.random.uniform(key, (3, 100)),
    "none": lambda key: jax.random.uniform(key, (0,)),
    "bytes": lambda key: jax.random.bits(key, (9,), jnp.uint8),
    "halves": lambda key: jax.random.bits(key, (2, 3), jnp.uint16),
    "whole numbers": lambda key: jax.random.randint(key, (7,), -3, 40, jnp.int32),
    "coins": lambda key: jax.random.bernoulli(key, 0.3, (6,)),
    "a permutation": lambda key: jax.random.permutation(key, 40),
    "choices": lambda key: jax.random.choice(key, 30, (4,), replace=False),
    "a category": lambda key: jax.random.categorical(key, jnp.arange(5.0)),
    "split": lambda key: jax.random.key_data(jax.random.split(key, (2, 3))),
    "split, then drawn": lambda key: jax.vmap(jax.random.normal)(jax.random.split(key, 3)),
    "folded": lambda key: jax.random.key_data(jax.random.fold_in(key, 7)),
    "another key, cloned": lambda key: jax.random.uniform(jax.random.clone(key)),
}


@pytest.mark.parametrize(("key", "counter", "words"), KNOWN_ANSWERS)
def test_known_answers(key, counter, words):
    found = threefry2x32(tuple(map(jnp.uint32, key)), tuple(map(jnp.uint32, counter)))
    assert tuple(map(int, found)) == words


def test_keys_made_of_keys_compile():
    """Several times twenty rounds, then a maximum, and a sum in which the number stays the same.

    Without loops of their own for keys, JAX 0.11 had not compiled the like after some minutes.
    """
    borders = jnp.linspace(0, 1, 31)[1:]

    @jax.jit
    @jax.vmap
    def draw(key):
        key = jax.random.fold_in(jax.random.fold_in(key, 1), 2)
        keys = jax.random.split(key)
        first, second = jax.random.uniform(keys[0]), jax.random.uniform(keys[1], (4,))
        return jnp.sum(first >= borders), jnp.sum(second[:, None] >= borders, 1)

    keys = jax.random.split(jax.random.key(3), 2500)
    fast, plain = draw(kernels.fast_keys(keys)), draw(keys)
    jax.tree.map(np.testing.assert_array_equal, fast, plain)
    assert 14 < fast[0].mean() < 15


@pytest.mark.parametrize(("version", "kept_apart"), [((0, 10, 2), False), ((0, 11, 0), True)])
@pytest.mark.parametrize(
    "make", [lambda key: jax.random.fold_in(key, 1), lambda key: jax.random.split(key)[0]]
)
def test_keys_are_made_in_a_loop_of_their_own(make, version, kept_apart, monkeypatch):
    monkeypatch.setattr(jaxlib.version, "__version_info__", version)
    draw = jax.jit(lambda key: jax.random.uniform(make(key)))
    text = draw.lower(kernels.fast_keys(jax.random.key(0))).as_text()
    assert ("optimization_barrier" in text) == kept_apart


# Shapes and words of every kind; what JAX makes of them is slow.
DEFAULT = ("one number", "one more", "none", "bytes", "split, then drawn", "folded", "coins")


@pytest.mark.parametrize(
    "draw",
    [
        pytest.param(draw, marks=() if name in DEFAULT else pytest.mark.slow, id=name)
        for name, draw in DRAWS.items()
    ],
)
def test_the_same_numbers(draw):
    keys = jax.random.split(jax.random.key(11), 6)
    fast = kernels.fast_keys(keys)
    np.testing.assert_array_equal(draw(fast[0]), draw(keys[0]))
    many = jax.jit(jax.vmap(draw))
    np.testing.assert_array_equal(many(fast), many(keys))


@pytest.mark.slow
def test_gamma_numbers():
    """JAX computes them key by key for other keys than its own, which rounds otherwise."""
    keys = jax.random.split(jax.random.key(11), 6)
    many = jax.vmap(lambda key: jax.random.gamma(key, 2.5, (3,)))
    np.testing.assert_allclose(many(kernels.fast_keys(keys)), many(keys), rtol=2e-6)


fast_keys = jax.jit(kernels.fast_keys)


@jax.jit
def bits_of(key, number):
    return jax.random.bits(jax.random.fold_in(key, number), (3,), jnp.uint32)


@given(words=st.tuples(*[st.integers(0, 2**32 - 1)] * 2), number=st.integers(0, 2**32 - 1))
def test_any_key_and_number(words, number):
    key = jax.random.wrap_key_data(jnp.array(words, jnp.uint32))
    found, expected = (bits_of(of_key, np.uint32(number)) for of_key in (fast_keys(key), key))
    np.testing.assert_array_equal(found, expected)


def test_they_are_others_on_a_cpu():
    key = jax.random.key(0)
    assert (kernels.fast_keys(key).dtype != key.dtype) == (jax.default_backend() == "cpu")


def test_64_bits():
    key = jax.random.key(3)
    with jax.enable_x64(True):
        found = jax.random.bits(kernels.fast_keys(key), (5,), jnp.uint64)
        np.testing.assert_array_equal(found, jax.random.bits(key, (5,), jnp.uint64))
        assert found.dtype == jnp.uint64


def test_other_keys_stay_as_they_are():
    of_rbg = jax.random.key(0, impl="rbg")
    assert kernels.fast_keys(of_rbg).dtype == of_rbg.dtype
    fast = kernels.fast_keys(jax.random.key(0))
    assert kernels.fast_keys(fast).dtype == fast.dtype


def test_the_generator_of_before_stays_as_it_is():
    key = jax.random.key(0)
    with jax.threefry_partitionable(False):
        assert kernels.fast_keys(key) is key


def race_with(sample):
    race = racing.PreferenceRace(3, 1, 20, total_order)
    return racing.run(race, jax.random.key(2), sample, jnp.arange(1.0, 4.0), race.params(0.2))


@pytest.mark.parametrize("kind", [pytest.param("poisson", marks=pytest.mark.slow), "its own key"])
def test_races_of_samples_that_take_no_other_keys(kind):
    constant = jax.random.key(9)

    def poisson(key, rate):
        return jax.random.poisson(key, rate).astype(jnp.float32)

    def mixed(key, rate):
        chosen = jnp.where(rate > 2, key, constant)
        return rate * jax.random.uniform(chosen)

    result = race_with(poisson if kind == "poisson" else mixed)
    assert int(result.samples.sum()) > 0


@pytest.mark.slow
def test_races_and_rollouts_draw_from_fast_keys():
    seen = []

    class Watched(medical.Medical):
        def reset(self, key, params):
            seen.append(key.dtype)
            return super().reset(key, params)

    env = Watched()
    rollout = Rollout(env, Constant(), Return())
    option = PolicyInTask(jnp.float32(0.4), env.default_params)
    evaluate(rollout, jax.random.key(0), option, 3)
    fast = kernels.fast_keys(jax.random.key(0)).dtype
    assert set(seen) == {fast}

    drawn = []

    def sample(key, mean):
        drawn.append(key.dtype)
        return mean + jax.random.normal(key)

    race_with(sample)
    assert set(drawn) == {fast}
