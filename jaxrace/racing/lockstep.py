"""A batch of races round by round: all of them draw for all options until the last one ends.

Axes: B races (lanes), K options.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.racing import base
from jaxrace.racing.rows import map_rows

# Options of a batch from which on it pays to draw only for those that ask, once they are few.
_LISTED_ROWS = 2048


def play(
    race: base.Race,
    draw: Callable[..., Any],
    chunk: int,
    example: Any,
    option_keys: jax.Array,
    options: Any,
    params: Any,
) -> tuple[Any, Any]:
    """Play B races; see ``refill.play``."""
    states = jax.vmap(lambda p: race.begin(example, p))(params)
    # The rounds are the innermost axis: they fill the vector registers.
    draw_rows = jax.vmap(jax.vmap(draw, (None, None, 0)))

    def draw_all(asked: jax.Array, rows: tuple[Any, ...]) -> Any:
        del asked
        return jax.vmap(draw_rows)(*rows)

    def draw_asked(asked: jax.Array, rows: tuple[Any, ...]) -> Any:
        return map_rows(draw_rows, asked, rows)

    def draw_needed(asked: jax.Array, rows: tuple[Any, ...]) -> Any:
        if asked.size < _LISTED_ROWS:
            return draw_all(asked, rows)
        few = 2 * asked.sum(dtype=jnp.int32) < asked.size
        return lax.cond(few, draw_asked, draw_all, asked, rows)

    def ask(states: Any) -> jax.Array:
        return jax.vmap(race.needs)(states, params)

    def unfinished(carry: tuple[jax.Array, Any, jax.Array]) -> jax.Array:
        return carry[2].any()

    def play_chunk(carry: tuple[jax.Array, Any, jax.Array]) -> tuple[jax.Array, Any, jax.Array]:
        first_round, states, asked = carry
        # Each option goes on where its own samples end: races may advance options unequally.
        numbers = states.simulated[..., None] + jnp.arange(chunk, dtype=jnp.int32)
        outcomes = draw_needed(asked, (option_keys, options, numbers.astype(jnp.uint32)))
        states = race.advance_lanes(states, outcomes, params, first_round)
        return first_round + chunk, states, ask(states)

    start = (jnp.int32(0), states, ask(states))
    states = lax.while_loop(unfinished, play_chunk, start)[1]
    return jax.vmap(race.conclude)(states, params), jax.vmap(race.first_outcomes)(states)
