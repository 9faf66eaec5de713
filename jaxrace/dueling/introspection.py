"""The sampled test of independence of SAVAGE (Urvoy et al. 2013, Algorithm 2).

Axes: N parameters.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.dueling.decisions import Decision
from jaxrace.kernels import draw_uniforms
from jaxrace.validation import require_integer, require_number


@dataclasses.dataclass(frozen=True)
class Introspection:
    """At how many random points of the box every parameter is changed by itself, and how often.

    A parameter counts as independent if no change of it changed the decision: rarely the test drops
    one that matters. The paper's walk goes on from the changed point; here every point is a new
    one, of the same distribution.

    Points are those of the whole box, not only of the paper's feasible set F within it: what
    matters within F matters within the box. The two differ for ``CondorcetWinner`` alone. One
    change makes another matrix of F with another winner only if both arms of the pair beat all
    others, at first with probability 2^-(K - 2) / K. A walk within F would not see it in 1,000
    simulations of two thirds of the pairs of 10 arms, and drop these untried.

    Attributes:
        simulations: Points, each with a change of every parameter; a test ends before if all
            parameters have been seen to matter.
        growth: A test follows whenever the number of samples has grown by this factor; after
            every sample at 1.

    >>> Introspection(simulations=100).growth
    1.1
    """

    simulations: int = 1000
    growth: float = 1.1

    def __post_init__(self) -> None:
        require_integer("simulations", self.simulations, 1)
        require_number("growth", self.growth, least=1)


def independent(how: Introspection, decision: Decision, key: jax.Array, box: Any) -> jax.Array:
    """Which parameters were never seen to matter: bool [N]; none unless a test is due.

    ``box`` is a ``SavageState``.
    """
    due = _is_due(how, box.time)
    key = jax.random.fold_in(key, box.time)
    width = box.upper - box.lower

    def is_open(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
        number, matters = carry
        return (number < how.simulations) & (box.active & ~matters).any()

    def simulate(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        number, matters = carry
        uniforms = draw_uniforms(jax.random.fold_in(key, number), (2, width.shape[0]))
        point, other = box.lower + width * uniforms
        return number + 1, matters | decision.changes(point, other)

    # Under vmap a branch would always be taken; a loop without an iteration costs nothing.
    first = jnp.where(due, 0, how.simulations)
    _, matters = lax.while_loop(is_open, simulate, (first, jnp.zeros_like(box.active)))
    return due & ~matters


def _is_due(how: Introspection, time: jax.Array) -> jax.Array:
    """Is this the first number of samples beyond a power of the growth factor?"""
    if how.growth == 1:
        return jnp.ones_like(time, bool)
    log_growth = jnp.log(jnp.float32(how.growth))

    def power(number: jax.Array) -> jax.Array:
        return jnp.floor(jnp.log(jnp.maximum(number, 1).astype(jnp.float32)) / log_growth)

    return power(time) > power(time - 1)
