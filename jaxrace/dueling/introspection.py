"""The sampled test of independence of SAVAGE (Urvoy et al. 2013, Algorithm 2).

Axes: N parameters.
"""

import dataclasses
from typing import Protocol

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.dueling.decisions import Decision
from jaxrace.kernels import pick
from jaxrace.validation import require_integer, require_number


@dataclasses.dataclass(frozen=True)
class Introspection:
    """How many random walks through the box, and how often.

    A parameter is taken for independent if no change of it in any walk changed the decision: the
    test errs, rarely, by dropping a parameter that matters. The walks go through the whole box,
    whatever is known of the problem: more parameters seem to matter then.

    Attributes:
        starts: m, walks.
        steps: M, changes of one parameter each, per walk.
        growth: A test follows whenever the number of samples has grown by this factor; every
            sample is a step of its own at 1.

    Raises:
        ValueError: A number is outside its range.

    >>> Introspection(starts=10, steps=100).growth
    1.1
    """

    starts: int = 10
    steps: int = 100
    growth: float = 1.1

    def __post_init__(self) -> None:
        require_integer("starts", self.starts, 1)
        require_integer("steps", self.steps, 1)
        require_number("growth", self.growth, least=1)


class Box(Protocol):
    """The part of a state that the test looks at."""

    @property
    def time(self) -> jax.Array:
        """Samples so far, int32 []."""
        ...

    @property
    def lower(self) -> jax.Array:
        """Float32 [N]."""
        ...

    @property
    def upper(self) -> jax.Array:
        """Float32 [N]."""
        ...

    @property
    def active(self) -> jax.Array:
        """W, bool [N]."""
        ...

    @property
    def successes(self) -> jax.Array:
        """Int32 [N]."""
        ...


def independent(how: Introspection, decision: Decision, key: jax.Array, box: Box) -> jax.Array:
    """Which parameters were never seen to matter: bool [N]; none unless a test is due."""
    due = _is_due(how, box.time)
    # Runs with other data walk elsewhere.
    key = jax.random.fold_in(jax.random.fold_in(key, box.time), box.successes.sum())

    def walk(key: jax.Array, sensitive: jax.Array) -> jax.Array:
        start_key, walk_key = jax.random.split(key)
        width = box.upper - box.lower
        start = box.lower + width * jax.random.uniform(start_key, width.shape, jnp.float32)
        numbers = jax.random.uniform(walk_key, (how.steps, 2), jnp.float32)

        def change(carry: tuple, uniforms: jax.Array) -> tuple[tuple, None]:
            point, sensitive = carry
            place = pick(box.active & ~sensitive, uniforms[0])
            value = box.lower[place] + width[place] * uniforms[1]
            moved = point.at[place].set(value)
            matters = decision.decide(moved) != decision.decide(point)
            open_places = (box.active & ~sensitive).any()
            sensitive = sensitive.at[place].set(sensitive[place] | (matters & open_places))
            return (moved, sensitive), None

        return lax.scan(change, (start, sensitive), numbers)[0][1]

    def test() -> jax.Array:
        sensitive = jnp.zeros_like(box.active)
        keys = jax.random.split(key, how.starts)
        sensitive = lax.fori_loop(
            0, how.starts, lambda number, found: walk(keys[number], found), sensitive
        )
        return ~sensitive

    return lax.cond(due, test, lambda: jnp.zeros_like(box.active))


def _is_due(how: Introspection, time: jax.Array) -> jax.Array:
    """Is this the first number of samples beyond a power of the growth factor?"""
    if how.growth == 1:
        return jnp.ones_like(time, bool)
    log_growth = jnp.log(jnp.float32(how.growth))

    def power(number: jax.Array) -> jax.Array:
        return jnp.floor(jnp.log(jnp.maximum(number, 1).astype(jnp.float32)) / log_growth)

    return power(time) > power(time - 1)
