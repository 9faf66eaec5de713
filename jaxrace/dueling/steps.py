"""The random numbers of a run: those of choice t do not depend on how many are drawn at once."""

import jax
import jax.numpy as jnp
from numpy.typing import ArrayLike

from jaxrace.dueling.problems import Problem


def step_keys(key: jax.Array, time: int | jax.Array) -> tuple[jax.Array, jax.Array]:
    """The keys of choice number ``time`` of a run: for ``ask``, and for ``draw_outcome``.

    >>> ask_key, outcome_key = step_keys(jax.random.key(0), 7)
    """
    own = jax.random.fold_in(key, time)
    # Both at once: the generator is a loop of its own wherever it is called, also for the compiler.
    both = jax.vmap(jax.random.fold_in, (None, 0))(own, jnp.arange(2))
    return both[0], both[1]


def draw_uniform(key: jax.Array, time: int | jax.Array) -> jax.Array:
    """What decides choice number ``time`` of the run with this key: float32 [] in [0, 1).

    >>> bool(0 <= draw_uniform(jax.random.key(0), 7) < 1)
    True
    """
    # The second of `step_keys`, without drawing the first.
    return uniform_of(jax.random.fold_in(jax.random.fold_in(key, time), 1))


def uniform_of(key: jax.Array) -> jax.Array:
    """What the key of an outcome decides it by: float32 [] in [0, 1).

    >>> keys = step_keys(jax.random.key(0), 7)
    >>> bool(uniform_of(keys[1]) == draw_uniform(jax.random.key(0), 7))
    True
    """
    return jax.random.uniform(key, (), jnp.float32)


def draw_outcome(key: jax.Array, problem: Problem, choice: ArrayLike) -> jax.Array:
    """Does the first arm win (the arm pay)? A bool [], as ``play`` draws it.

    >>> from jaxrace.dueling import duels
    >>> from jaxrace.dueling.matrices import flat
    >>> bool(draw_outcome(jax.random.key(0), duels(flat(2, 0.999)), [0, 1]))
    True
    """
    return uniform_of(key) < problem.probability(jnp.asarray(choice, jnp.int32))
