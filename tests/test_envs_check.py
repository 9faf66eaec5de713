"""`check` passes what keeps the contract and names the fault of what does not."""

import dataclasses
import itertools
import types
from typing import Any, ClassVar

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
import pytest

import jaxrace.envs
from jaxrace.envs import check, gridworld, marketing, medical, mountain_car


@dataclasses.dataclass(frozen=True)
class Walk:
    """Keeps the contract; the broken ones below change one thing each."""

    horizon: int = 5
    continues_after_terminal: bool = False

    @property
    def default_params(self):
        return {"drift": jnp.float32(0.25)}

    def reset(self, key, params) -> Any:
        return {"position": jax.random.normal(key, (), jnp.float32), "time": 0}

    def step(self, key, state, action, params) -> Any:
        move = params["drift"] + action * jax.random.normal(key, (), jnp.float32)
        state = {"position": state["position"] + move, "time": state["time"] + 1}
        return state, -jnp.abs(state["position"]), state["time"] >= 3

    def observe(self, state, params) -> Any:
        return state["position"][None]


def test_passes():
    check(Walk(), action=0.5)
    check(Walk(continues_after_terminal=True), jnp.float32(0.5), key=jax.random.key(3))
    check(Walk(horizon=100_000), action=1.0)  # simulates the beginning only


def test_params_can_be_given():
    check(Walk(), 0.5, params={"drift": 1.0})
    with pytest.raises(ValueError, match="reset: expected to work in a plain call, got KeyError"):
        check(NeedsParameter(), 0.5, params={"drift": 1.0})


class NeedsParameter(Walk):
    def reset(self, key, params):
        return {"position": params["start"], "time": 0}


def test_random_keys_may_lie_in_the_state():
    check(KeyInState(), 0.5)


class KeyInState(Walk):
    def reset(self, key, params):
        key, sub = jax.random.split(key)
        return {**super().reset(sub, params), "key": key}

    def step(self, key, state, action, params):
        key, sub = jax.random.split(state["key"])
        state, reward, terminal = super().step(sub, state, action, params)
        return {**state, "key": key}, reward, terminal


def test_nothing_counts_after_a_terminal_step():
    check(NanAfterTerminal(), 0.5)
    with pytest.raises(ValueError, match=r"step: expected a finite reward, got .* step 4 of 5"):
        check(NanAfterTerminal(continues_after_terminal=True), 0.5)


class NanAfterTerminal(Walk):
    def step(self, key, state, action, params):
        state, reward, terminal = super().step(key, state, action, params)
        return state, jnp.where(state["time"] > 3, jnp.float32(jnp.nan), reward), terminal


BROKEN = []


def broken(message, **fields):
    """Register an environment with the message that it must cause."""

    def register(cls):
        BROKEN.append(pytest.param(cls, fields, message, id=cls.__name__))
        return cls

    return register


@broken("horizon: expected a positive integer, got 0", horizon=0)
class NoHorizon(Walk):
    pass


@broken("horizon: expected a positive integer, got 5.0", horizon=5.0)
class FloatHorizon(Walk):
    pass


@broken("continues_after_terminal: expected a bool, got None", continues_after_terminal=None)
class ContinuesPerhaps(Walk):
    pass


@broken("observe: expected a method, got none")
class NoObserve(Walk):
    observe: Any = None


@broken("default_params: expected an attribute, got none")
class NoParams(Walk):
    @property
    def default_params(self):
        raise AttributeError


@broken("environment: expected to work as a key of a dictionary .*unhashable")
class Unhashable(Walk):
    __hash__: Any = None


@broken("params: expected to work as a pytree of arrays")
class TextInParams(Walk):
    @property
    def default_params(self):
        return {"drift": jnp.float32(0.25), "name": "walk"}


@broken("reset: expected to work in a plain call, got TypeError")
class ResetTakesNoKey(Walk):
    def reset(self, params):  # pyright: ignore[reportIncompatibleMethodOverride]
        return {"position": jnp.float32(0), "time": 0}


@broken("reset: expected to work in a plain call, got TypeError")
class TextInState(Walk):
    def reset(self, key, params):
        return {**super().reset(key, params), "name": "walk"}


@broken("step: expected a tuple .state, reward, terminal., got tuple of another form")
class FourResults(Walk):
    def step(self, key, state, action, params):
        return (*super().step(key, state, action, params), {})


@broken("step: expected a state with the structure .* as before, got")
class NewField(Walk):
    def step(self, key, state, action, params):
        state, reward, terminal = super().step(key, state, action, params)
        return {**state, "last": reward}, reward, terminal


@broken(r"step: expected state\['position'\] to stay float32\[\], got float32\[1\]")
class NewShape(Walk):
    def step(self, key, state, action, params):
        state, reward, terminal = super().step(key, state, action, params)
        return {**state, "position": state["position"][None]}, reward, terminal


@broken(r"step: expected state\['time'\] to stay int32\[\], got float32\[\]")
class NewDtype(Walk):
    def step(self, key, state, action, params):
        state, reward, terminal = super().step(key, state, action, params)
        return {**state, "time": jnp.float32(state["time"])}, reward, terminal


@broken(r"observe: expected observation to stay float32\[1\], got float32\[2\]")
class NewObservationShape(Walk):
    calls: ClassVar = itertools.cycle([1, 2])

    def observe(self, state, params):
        return jnp.full((next(self.calls),), state["position"])


@broken(r"step: expected a floating scalar as reward, got int32\[\]")
class IntegerReward(Walk):
    def step(self, key, state, action, params):
        state, _, terminal = super().step(key, state, action, params)
        return state, state["time"], terminal


@broken(r"step: expected a floating scalar as reward, got float32\[1\]")
class VectorReward(Walk):
    def step(self, key, state, action, params):
        state, reward, terminal = super().step(key, state, action, params)
        return state, reward[None], terminal


@broken("step: expected a floating scalar as reward, got dict")
class DictReward(Walk):
    def step(self, key, state, action, params):
        state, reward, terminal = super().step(key, state, action, params)
        return state, {"win": reward}, terminal


@broken(r"step: expected a boolean scalar as terminal, got float32\[\]")
class FloatTerminal(Walk):
    def step(self, key, state, action, params):
        state, reward, terminal = super().step(key, state, action, params)
        return state, reward, jnp.float32(terminal)


@broken("step: expected a finite reward, got another in step 3 of 5")
class NanReward(Walk):
    def step(self, key, state, action, params):
        state, reward, terminal = super().step(key, state, action, params)
        return state, jnp.where(terminal, jnp.float32(jnp.nan), reward), terminal


@broken("observe: expected finite numbers, got another in step 2 of 5")
class InfiniteObservation(Walk):
    def observe(self, state, params):
        return jnp.where(jnp.asarray(state["time"]) == 2, jnp.inf, state["position"])


@broken("observe: expected finite numbers, got others in the initial state")
class NanAtFirst(Walk):
    def observe(self, state, params):
        return jnp.where(jnp.asarray(state["time"]) == 0, jnp.nan, state["position"])


@broken("reset: expected twice the same result for the same arguments, got another")
class NumpyNoiseInReset(Walk):
    def reset(self, key, params):
        return {"position": jnp.float32(np.random.default_rng().normal()), "time": 0}


@broken("step: expected twice the same result for the same arguments, got another reward")
class NumpyNoiseInReward(Walk):
    def step(self, key, state, action, params):
        state, _, terminal = super().step(key, state, action, params)
        return state, jnp.float32(np.random.default_rng().normal()), terminal


@broken("step: expected twice the same result for the same arguments, got another state")
class Counter(Walk):
    calls: ClassVar = itertools.count()

    def step(self, key, state, action, params):
        state, reward, terminal = super().step(key, state, action, params)
        return {**state, "time": next(self.calls)}, reward, terminal


@broken("step: expected to leave the state that it is given as it is, got a change of it")
class InPlace(Walk):
    def step(self, key, state, action, params):
        new, reward, terminal = super().step(key, state, action, params)
        state.update(new)
        return state, reward, terminal


@broken("step: expected to work under jit, got TracerBoolConversionError")
class PythonBranch(Walk):
    def step(self, key, state, action, params):
        state, reward, terminal = super().step(key, state, action, params)
        return state, (reward if state["position"] > 0 else -reward), terminal


@broken("observe: expected the same result with and without jit, got another observation")
class OtherUnderJit(Walk):
    def observe(self, state, params):
        traced = isinstance(state["position"], jax.core.Tracer)
        return state["position"] + (1 if traced else 0)


@broken("step: expected to work under vmap, got NotImplementedError")
class CallbackWithoutVmap(Walk):
    def step(self, key, state, action, params):
        state, reward, terminal = super().step(key, state, action, params)
        kind = jax.ShapeDtypeStruct((), jnp.float32)
        return state, jax.pure_callback(np.negative, kind, reward), terminal


@broken("step: expected the same result with and without vmap, got another reward")
class OtherUnderVmap(Walk):
    def step(self, key, state, action, params):
        state, reward, terminal = super().step(key, state, action, params)

        @jax.custom_batching.custom_vmap
        def double(x):
            return 2 * x

        @double.def_vmap
        def _(axis_size, in_batched, x):
            return 2 * x[::-1], True

        return state, double(reward), terminal


@pytest.mark.parametrize(("cls", "fields", "message"), BROKEN)
def test_catches(cls, fields, message):
    with pytest.raises(ValueError, match=message) as caught:
        check(cls(**fields), action=0.5)
    assert "\n" not in str(caught.value)


def test_missing_method_of_any_object():
    nothing: Any = types.SimpleNamespace(horizon=3)
    with pytest.raises(ValueError, match="reset: expected a method, got none in SimpleNamespace"):
        check(nothing, action=0.5)


ENVIRONMENTS = [
    (gridworld.Gridworld(), np.int32(1)),
    (mountain_car.MountainCar(), np.int32(1)),
    (marketing.Marketing(), np.int32(1)),
    (medical.Medical(), np.float32(0.4)),
]


@pytest.mark.parametrize(("env", "action"), ENVIRONMENTS, ids=repr)
def test_strict_promotion_and_x64_change_nothing(env, action):
    def play():
        params = env.default_params
        state = env.reset(jax.random.key(7), params)
        state, reward, terminal = env.step(jax.random.key(8), state, action, params)
        return state, reward, terminal, env.observe(state, params)

    plain = jax.jit(play)()
    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"):
        found = jax.jit(play)()
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(plain), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def test_the_package_offers_the_function():
    assert callable(jaxrace.envs.check)
