"""The contract between an environment and its simulators.

An environment is a frozen, hashable dataclass of what is static, with pure, unbatched methods.
Every number that one may want to sweep lies in `params`, a pytree of strongly typed arrays.

Callers promise: each `reset` and each `step` gets a key of its own; they take at most `horizon`
steps; nothing of a history counts after its first terminal step (the reward is then 0, and the
state stays, unless the environment sets `continues_after_terminal`). So an environment needs
neither auto-reset nor absorbing states. Noise is best drawn in one call in `reset`.

One method is optional: `renew(key, state, params) -> state`, the same situation with fresh chance.
Several histories from a state that holds noise need it.
"""

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from jaxrace.core.validation import BadArgument


class Transition(NamedTuple):
    """One step of a history, unbatched."""

    state: Any
    action: Any
    reward: Any
    terminal: Any
    next_state: Any


class Environment(Protocol):
    """What every environment offers. Subclassing is not needed.

    >>> import dataclasses, jax.numpy as jnp
    >>> @dataclasses.dataclass(frozen=True)
    ... class RandomWalk:
    ...     horizon: int = 5
    ...     continues_after_terminal = False
    ...     default_params = {}
    ...     def reset(self, key, params): return jnp.zeros((), jnp.float32)
    ...     def observe(self, state, params): return state[None]
    ...     def step(self, key, state, action, params):
    ...         state = state + action * jax.random.normal(key, (), jnp.float32)
    ...         return state, -jnp.abs(state), jnp.abs(state) > 3
    >>> from jaxrace.envs import check
    >>> check(RandomWalk(), action=1.0)
    """

    @property
    def horizon(self) -> int:
        """Number of steps T of a full history, at least 1."""
        ...

    @property
    def continues_after_terminal(self) -> bool:
        """Do states go on changing after a terminal step?"""
        ...

    @property
    def default_params(self) -> Any:
        """The usual parameters: a pytree of strongly typed arrays."""

    def reset(self, key: jax.Array, params: Any) -> Any:
        """Draw an initial state, a pytree of arrays."""

    def step(self, key: jax.Array, state: Any, action: Any, params: Any) -> tuple[Any, Any, Any]:
        """Return the next state, the reward (floating []) and whether it is terminal (bool [])."""
        ...

    def observe(self, state: Any, params: Any) -> Any:
        """Return what a policy sees of a state: an array or a pytree of arrays."""


class OutcomeFold(Protocol):
    """Reduces a history to its outcome while it is simulated: memory does not grow with T.

    The carry is a pytree whose shapes and dtypes `update` keeps. Folds are unbatched, frozen,
    hashable dataclasses.

    >>> import dataclasses
    >>> @dataclasses.dataclass(frozen=True)
    ... class Return:
    ...     def init(self, state, params): return 0.0
    ...     def update(self, carry, transition, params): return carry + transition.reward
    ...     def finish(self, carry, params): return carry
    >>> step = Transition(state=1.5, action=1.0, reward=5.0, terminal=False, next_state=0.95)
    >>> Return().update(Return().init(1.5, None), step, None)
    5.0
    """

    def init(self, state: Any, params: Any) -> Any:
        """Return the carry before the first step."""

    def update(self, carry: Any, transition: Transition, params: Any) -> Any:
        """Return the carry after one more step."""

    def finish(self, carry: Any, params: Any) -> Any:
        """Return the outcome."""


def absorb(ended: jax.Array, state: Any, next_state: Any) -> Any:
    """The next state, or, once ``ended`` (bool []), the one before; leaves may be keys."""

    def choose(old: jax.Array, new: jax.Array) -> jax.Array:
        if new is old:  # choosing between a key and itself would count as using it twice
            return new
        if not jnp.issubdtype(old.dtype, jax.dtypes.prng_key):
            return jnp.where(ended, old, new)
        # The step used the old key, but what is made of it again does not count: so clones.
        return jax.random.clone(jnp.where(ended, jax.random.clone(old), new))

    return jax.tree.map(choose, state, next_state)


def require_same_types(name: str, what: str, before: Any, after: Any) -> None:
    """Raise unless a pytree, ``what``, keeps its structure, shapes and dtypes."""
    structure, after_structure = jax.tree.structure(before), jax.tree.structure(after)
    if structure != after_structure:
        wanted = f"a {what} with the structure {structure} as before"
        raise BadArgument(name, wanted, str(after_structure))
    old_leaves = jax.tree_util.tree_leaves_with_path(before)
    for (path, old), new in zip(old_leaves, jax.tree.leaves(after), strict=True):
        same = jnp.shape(old) == jnp.shape(new)
        # A number written in Python takes on the dtype of what it meets.
        if not jax.typeof(old).weak_type:
            same &= jnp.result_type(old) == jnp.result_type(new)
        if not same:
            wanted = f"{what}{jax.tree_util.keystr(path)} to stay {_described(old)}"
            raise BadArgument(name, wanted, _described(new))


def require_scalars(name: str, reward: Any, terminal: Any) -> None:
    """Raise unless a step returns a floating and a boolean scalar."""
    for what, value, kind in (
        ("a floating scalar as reward", reward, jnp.floating),
        ("a boolean scalar as terminal", terminal, jnp.bool_),
    ):
        if not jax.tree_util.all_leaves([value]):
            raise BadArgument(name, what, type(value).__name__)
        if jnp.shape(value) != () or not jnp.issubdtype(jnp.result_type(value), kind):
            raise BadArgument(name, what, _described(value))


def _described(value: Any) -> str:
    return f"{jnp.result_type(value).name}{list(jnp.shape(value))}"
