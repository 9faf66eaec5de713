"""A batch of races round by round, until the last of them ends.

Axes: B races (lanes), K options.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.racing import base
from jaxrace.racing.rows import map_rows

# Options of a batch from which on it pays to draw only for those that ask, once they are few.
_LISTED_ROWS = 256


class _Carry(NamedTuple):
    """The races between two chunks of rounds."""

    first_round: jax.Array  # int32 [], rounds told so far
    states: Any  # leaves [B, ...], some of them flattened
    asked: jax.Array  # bool [B, K]
    workspace: Any


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
    begun = jax.vmap(lambda p: race.begin(example, p))(params)
    rounds = jnp.arange(chunk, dtype=jnp.int32)

    def draw_next(option_key: jax.Array, option: Any, drawn: jax.Array) -> Any:
        # The rounds are the innermost axis: they fill the vector registers.
        numbers = (drawn + rounds).astype(jnp.uint32)
        return jax.vmap(draw, (None, None, 0))(option_key, option, numbers)

    def draw_all(rows: tuple[Any, ...], asked: jax.Array) -> Any:
        del asked
        return jax.vmap(jax.vmap(draw_next))(*rows)

    def draw_asked(rows: tuple[Any, ...], asked: jax.Array) -> Any:
        return map_rows(jax.vmap(draw_next), asked, rows)

    def draw_needed(asked: jax.Array, drawn: jax.Array) -> Any:
        # Each option goes on where its own samples end: races may advance options unequally.
        rows = (option_keys, options, drawn)
        if asked.size < _LISTED_ROWS:
            return draw_all(rows, asked)
        # A listed row takes hardly longer to draw than one of all.
        few = 10 * asked.sum(dtype=jnp.int32) < 9 * asked.size
        return lax.cond(few, draw_asked, draw_all, rows, asked)

    def ask(states: Any) -> jax.Array:
        return jax.vmap(race.needs)(states, params)

    def unfinished(carry: _Carry) -> jax.Array:
        return carry.asked.any()

    def flat(states: Any) -> Any:
        # Arrays [B, K, K] on two axes: loops over K numbers leave the vector units half empty.
        def square(x: jax.Array) -> bool:
            return x.ndim == 3 and x.shape[1] == x.shape[2]

        return jax.tree.map(lambda x: x.reshape(x.shape[0], -1) if square(x) else x, states)

    def in_shape(leaves: Any) -> Any:
        return jax.tree.map(lambda x, like: x.reshape(like.shape), leaves, begun)

    def play_chunk(carry: _Carry) -> _Carry:
        states = in_shape(carry.states)
        outcomes = draw_needed(carry.asked, states.simulated)
        states, workspace = race.advance_lanes(
            states, outcomes, params, carry.first_round, carry.workspace
        )
        return _Carry(carry.first_round + chunk, flat(states), ask(states), workspace)

    workspace = race.workspace(option_keys.shape[0], chunk)
    start = _Carry(jnp.int32(0), flat(begun), ask(begun), workspace)
    states = in_shape(lax.while_loop(unfinished, play_chunk, start).states)
    return jax.vmap(race.conclude)(states, params), jax.vmap(race.first_outcomes)(states)
