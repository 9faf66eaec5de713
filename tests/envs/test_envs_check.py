"""`check` passes what keeps the contract and names the fault of what does not."""

import dataclasses
import itertools
import types
from typing import Any, cast

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.envs import check


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


@dataclasses.dataclass(frozen=True)
class Changed(Walk):
    """A walk whose step gives something else."""

    change: Any = None

    def step(self, key, state, action, params):
        return self.change(*super().step(key, state, action, params))


@dataclasses.dataclass(frozen=True)
class Seen(Walk):
    """A walk of which other things are observed."""

    seen: Any = None

    def observe(self, state, params):
        return self.seen(jnp.asarray(state["time"]), state["position"])


@dataclasses.dataclass(frozen=True)
class Begun(Walk):
    """A walk that begins otherwise."""

    reset: Any = None


class NoObserve(Walk):
    observe: Any = None


class NoParams(Walk):
    @property
    def default_params(self):
        raise AttributeError


class Unhashable(Walk):
    __hash__: Any = None


class TextInParams(Walk):
    @property
    def default_params(self):
        return {"drift": jnp.float32(0.25), "name": "walk"}


class InPlace(Walk):
    def step(self, key, state, action, params):
        new, reward, terminal = super().step(key, state, action, params)
        state.update(new)
        return state, reward, terminal


def noise():
    return jnp.float32(np.random.default_rng().normal())


def through_numpy(reward):
    return jax.pure_callback(np.negative, jax.ShapeDtypeStruct((), jnp.float32), reward)


@jax.custom_batching.custom_vmap
def doubled(x):
    return 2 * x


@doubled.def_vmap
def _(axis_size, in_batched, x):
    return 2 * x[::-1], True


SIZES, COUNTS = itertools.cycle([1, 2]), itertools.count()

BROKEN = [
    (Walk(horizon=0), "horizon: expected an integer of at least 1, got 0"),
    (Walk(horizon=cast(Any, 5.0)), "horizon: expected an integer of at least 1, got 5.0"),
    (
        Walk(continues_after_terminal=cast(Any, None)),
        "continues_after_terminal: expected True or False, got None",
    ),
    (NoObserve(), "observe: expected a method, got none"),
    (NoParams(), "default_params: expected an attribute, got none"),
    (Unhashable(), "environment: expected a hashable object .*unhashable"),
    (TextInParams(), "params: expected to work as a pytree of arrays"),
    (InPlace(), "step: expected to leave the state that it is given as it is, got a change of it"),
    # Where it begins.
    *(
        (Begun(reset=reset), f"reset: expected {message}")
        for reset, message in (
            (lambda params: {"position": jnp.float32(0)}, "to work in a plain call, got TypeError"),
            (lambda key, params: {"name": "walk"}, "to work in a plain call, got TypeError"),
            (
                lambda key, params: {"position": noise(), "time": 0},
                "twice the same result for the same arguments, got another",
            ),
        )
    ),
    # What a step gives.
    *(
        (Changed(change=change), f"step: expected {message}")
        for change, message in (
            (lambda s, r, t: (s, r, t, {}), "a tuple .state, reward, terminal., got tuple of anot"),
            (
                lambda s, r, t: ({**s, "last": r}, r, t),
                "a state with the structure .* as before, got",
            ),
            (
                lambda s, r, t: ({**s, "position": s["position"][None]}, r, t),
                r"state\['position'\] to stay float32\[\], got float32\[1\]",
            ),
            (
                lambda s, r, t: ({**s, "time": jnp.float32(s["time"])}, r, t),
                r"state\['time'\] to stay int32\[\], got float32\[\]",
            ),
            (lambda s, r, t: (s, s["time"], t), r"a floating scalar as reward, got int32\[\]"),
            (lambda s, r, t: (s, r[None], t), r"a floating scalar as reward, got float32\[1\]"),
            (lambda s, r, t: (s, {"win": r}, t), "a floating scalar as reward, got dict"),
            (
                lambda s, r, t: (s, r, jnp.float32(t)),
                r"a boolean scalar as terminal, got float32\[\]",
            ),
            (
                lambda s, r, t: (s, jnp.where(t, jnp.float32(jnp.nan), r), t),
                "a finite reward, got another in step 3 of 5",
            ),
            (
                lambda s, r, t: (s, noise(), t),
                "twice the same result for the same arguments, got another reward",
            ),
            (
                lambda s, r, t: ({**s, "time": next(COUNTS)}, r, t),
                "twice the same result for the same arguments, got another state",
            ),
            (
                lambda s, r, t: (s, (r if s["position"] > 0 else -r), t),
                "to work under jit, got TracerBoolConversionError",
            ),
            (
                lambda s, r, t: (s, through_numpy(r), t),
                "to work under vmap, got NotImplementedError",
            ),
            (
                lambda s, r, t: (s, doubled(r), t),
                "the same result with and without vmap, got another reward",
            ),
        )
    ),
    # What is observed.
    *(
        (Seen(seen=seen), f"observe: expected {message}")
        for seen, message in (
            (
                lambda time, place: jnp.full((next(SIZES),), place),
                r"observation to stay float32\[1\], got float32\[2\]",
            ),
            (
                lambda time, place: jnp.where(time == 2, jnp.inf, place),
                "finite numbers, got another in step 2 of 5",
            ),
            (
                lambda time, place: jnp.where(time == 0, jnp.nan, place),
                "finite numbers, got others in the initial state",
            ),
            (
                lambda time, place: place + (1 if isinstance(place, jax.core.Tracer) else 0),
                "the same result with and without jit, got another observation",
            ),
        )
    ),
]


@pytest.mark.parametrize(("env", "message"), BROKEN)
def test_catches(env, message):
    with pytest.raises(ValueError, match=message) as caught:
        check(env, action=0.5)
    assert "\n" not in str(caught.value)


def test_missing_method_of_any_object():
    nothing: Any = types.SimpleNamespace(horizon=3)
    with pytest.raises(ValueError, match="reset: expected a method, got none in SimpleNamespace"):
        check(nothing, action=0.5)
