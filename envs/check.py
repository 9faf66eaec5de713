"""Does an environment keep the contract? A check for the tests of environments."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.core.float32 import strongly_typed
from jaxrace.core.inputs import require_truth
from jaxrace.core.keys import without_keys
from jaxrace.core.validation import BadArgument, require_hashable, require_integer
from jaxrace.envs.environment import Environment, absorb, require_same_types, require_scalars

MAX_STEPS = 1000  # of one history
BATCH = 3  # copies, to compare `vmap` with single calls

# Compilers round differently for different batch widths.
RELATIVE_TOLERANCE = 1e-4
ABSOLUTE_TOLERANCE = 1e-5

Transform = Callable[[Callable[..., Any]], Callable[..., Any]]


def check(env: Environment, action: Any, params: Any = None, key: jax.Array | None = None) -> None:
    """Raise BadArgument if `env` is seen to break the contract of `jaxrace.envs.Environment`.

    Checked are the attributes; structures, shapes and dtypes; that two calls with one key agree;
    that `jit` and `vmap` (over keys, states, actions and parameters) change no result; and that
    rewards and observations are finite in one history of `env.horizon` steps (at most 1000), up to
    its first terminal step or, if `env.continues_after_terminal`, to its end. The action is taken
    in every step.

    >>> from jaxrace.envs import medical
    >>> check(medical.Medical(), action=0.4)
    """
    _check_attributes(env)
    key = jax.random.key(0) if key is None else key
    params = env.default_params if params is None else params
    params = _call("params", "as a pytree of arrays", strongly_typed, params)
    action = _call("action", "as a pytree of arrays", strongly_typed, action)

    keys = jax.random.split(key, (2, BATCH))
    batched = jax.tree.map(lambda leaf: jnp.stack([leaf] * BATCH), (action, params))

    def take(transform: Transform, how: str, row: int | slice = 0, given: Any = (action, params)):
        # Keys are used again on purpose, which JAX may look for.
        return _take_step(env, transform, how, jax.random.clone(keys)[:, row], *given)

    plain, again = (take(lambda method: method, "in a plain call") for _ in range(2))
    require_same_types("step", "state", plain[0], plain[2])
    require_same_types("observe", "observation", plain[1], plain[3])
    require_scalars("step", plain[4], plain[5])
    _check_equal(plain, again, "twice the same result for the same arguments", exact=True)
    _check_equal(plain, take(jax.jit, "under jit"), "the same result with and without jit")
    batch = take(lambda method: jax.jit(jax.vmap(method)), "under vmap", slice(None), batched)
    for row in range(BATCH):
        batch_row = jax.tree.map(lambda leaf, row=row: leaf[row], batch)
        single = take(jax.jit, "under jit", row)
        _check_equal(single, batch_row, "the same result with and without vmap")
    _check_rollout(env, jax.random.clone(keys)[:, 0], action, params)


# What is looked at, of a reset and one step: the method that returned it, and what it is.
_PARTS = (
    ("reset", "state"),
    ("observe", "observation"),
    ("step", "state"),
    ("observe", "observation"),
    ("step", "reward"),
    ("step", "terminal"),
)
Parts = tuple[Any, ...]


def _call(name: str, how: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of the environment: any error breaks the contract."""
    try:
        return function(*arguments)
    except Exception as error:
        first_line = next(iter(str(error).splitlines()), "")
        got = f"{type(error).__name__}: {first_line}"
        raise BadArgument(name, f"to work {how}", got) from error


def _check_attributes(env: Environment) -> None:
    methods = "reset", "step", "observe"
    for name in (*methods, "horizon", "continues_after_terminal", "default_params"):
        is_there = callable(getattr(env, name, None)) if name in methods else hasattr(env, name)
        if not is_there:
            what = "a method" if name in methods else "an attribute"
            raise BadArgument(name, what, f"none in {type(env).__name__}")
    require_integer("horizon", env.horizon, 1)
    require_truth("continues_after_terminal", env.continues_after_terminal)
    require_hashable("environment", env)


def _take_step(
    env: Environment, transform: Transform, how: str, keys: jax.Array, action: Any, params: Any
) -> Parts:
    """Reset and take one step with transformed methods: the parts as NumPy arrays."""

    def call(name: str, *arguments: Any) -> Any:
        method = transform(lambda *given: strongly_typed(getattr(env, name)(*given)))
        return _call(name, how, method, *arguments)

    start = call("reset", keys[0], params)
    before = _to_numpy((start, call("observe", start, params)))
    result = call("step", keys[1], start, action, params)
    if type(result) is not tuple or len(result) != 3:
        got = f"{type(result).__name__} of another form"
        raise BadArgument("step", "a tuple (state, reward, terminal)", got)
    if not _agree(_to_numpy(start), before[0], exact=True):
        raise BadArgument("step", "to leave the state that it is given as it is", "a change of it")
    state, *rest = result
    return *before, *_to_numpy((state, call("observe", state, params), *rest))


def _to_numpy(tree: Any) -> Any:
    """Copies of the leaves, with the numbers of random keys."""
    return jax.tree.map(np.array, without_keys(tree))


def _agree(a: Any, b: Any, exact: bool) -> bool:
    """Are two pytrees of NumPy arrays equal? Floats nearly, unless `exact`."""

    def agree(x: np.ndarray, y: np.ndarray) -> bool:
        near = not exact and jnp.issubdtype(x.dtype, jnp.inexact)
        rtol, atol = (RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE) if near else (0, 0)
        same = (x.dtype, x.shape) == (y.dtype, y.shape)
        return same and np.allclose(x, y, rtol, atol, equal_nan=True)

    same = jax.tree.structure(a) == jax.tree.structure(b)
    return same and all(map(agree, jax.tree.leaves(a), jax.tree.leaves(b)))


def _check_equal(a: Parts, b: Parts, expected: str, exact: bool = False) -> None:
    for (method, what), x, y in zip(_PARTS, a, b, strict=True):
        if not _agree(x, y, exact):
            raise BadArgument(method, expected, f"another {what}")


def _is_finite(tree: Any) -> jax.Array:
    leaves = [leaf for leaf in jax.tree.leaves(tree) if jnp.issubdtype(leaf.dtype, jnp.inexact)]
    return jnp.all(jnp.array([jnp.all(jnp.isfinite(leaf)) for leaf in leaves], jnp.bool_))


def _check_rollout(env: Environment, keys: jax.Array, action: Any, params: Any) -> None:
    """Rewards and observations of one history are finite for as long as they count."""
    length = min(env.horizon, MAX_STEPS)

    def advance(carry: Any, key: jax.Array) -> Any:
        state, ended = carry
        next_state, reward, terminal = strongly_typed(env.step(key, state, action, params))
        next_state = absorb(ended, state, next_state)
        finite = (_is_finite(reward) | ended, _is_finite(env.observe(next_state, params)))
        stops = jnp.bool_(not env.continues_after_terminal)
        return (next_state, ended | (terminal & stops)), finite

    def simulate() -> Any:
        start = strongly_typed(env.reset(keys[0], params))
        of_steps = jax.random.split(keys[1], length)
        _, finite = jax.lax.scan(advance, (start, jnp.bool_(False)), of_steps)
        return (*finite, _is_finite(env.observe(start, params)))

    rewards, observations, start = _call("step", "in a scan over the horizon", jax.jit(simulate))
    if not start:
        raise BadArgument("observe", "finite numbers", "others in the initial state")
    for name, what, finite in (
        ("step", "a finite reward", rewards),
        ("observe", "finite numbers", observations),
    ):
        if not finite.all():
            step = int(jnp.argmin(finite)) + 1
            raise BadArgument(name, what, f"another in step {step} of {length}")
