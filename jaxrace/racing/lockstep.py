"""A batch of races, chunk by chunk, until the last of them ends.

Axes: B races (lanes), K options, R rows: options of races, n rounds of a chunk.
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
# So many rounds fill the vector registers as the innermost axis; fewer leave it to the options.
_FEW_ROUNDS = 16


class _Carry(NamedTuple):
    """The races between two chunks of rounds."""

    first_round: jax.Array  # int32 [], rounds told so far
    states: Any  # leaves [B, ...], some of them flattened
    asked: jax.Array  # bool [B, K]


def play(
    race: base.Race,
    draw: Callable[..., Any],
    chunk: int,
    example: Any,
    option_keys: jax.Array,
    options: Any,
    params: Any,
) -> tuple[Any, Any]:
    """Play B races.

    Args:
        race: What they have in common.
        draw: ``draw(option_key, option, sample_number) -> outcome``.
        chunk: Rounds per call.
        example: An outcome of ``jax.ShapeDtypeStruct``s.
        option_keys: [B, K].
        options: Leaves [B, K, ...].
        params: Leaves [B, ...].

    Returns:
        The results, and the races' ``first_outcomes``; leaves [B, ...].
    """
    lags = isinstance(race, base.UnequalRace)
    begun = jax.vmap(lambda p: race.init(example, p))(params)

    def ask(states: Any) -> jax.Array:
        return jax.vmap(race.ask)(states, params)

    def draw_next(asked: jax.Array, drawn: jax.Array, num_rounds: int) -> Any:
        """The next samples [B, K, n, ...], from where those of each option end: int32 [B, K]."""
        rows = (option_keys, options, drawn)
        if lags:
            return _draw_asked(draw, num_rounds, rows, asked)
        if asked.size < _LISTED_ROWS:
            return _draw_all(draw, num_rounds, rows, asked)
        # A listed row takes hardly longer to draw than one of all.
        few = 10 * asked.sum(dtype=jnp.int32) < 9 * asked.size
        return lax.cond(
            few,
            lambda rows, asked: _draw_asked(draw, num_rounds, rows, asked),
            lambda rows, asked: _draw_all(draw, num_rounds, rows, asked),
            rows,
            asked,
        )

    def flat(states: Any) -> Any:
        # Arrays [B, K, K] on two axes: loops over K numbers leave the vector units half empty.
        def square(x: jax.Array) -> bool:
            return x.ndim == 3 and x.shape[1] == x.shape[2]

        return jax.tree.map(lambda x: x.reshape(x.shape[0], -1) if square(x) else x, states)

    def in_shape(leaves: Any) -> Any:
        return jax.tree.map(lambda x, like: x.reshape(like.shape), leaves, begun)

    def play_chunk(carry: _Carry) -> _Carry:
        states = in_shape(carry.states)
        outcomes = draw_next(carry.asked, states.simulated, chunk)
        states = race.advance_lanes(states, outcomes, params, carry.first_round)
        return _Carry(carry.first_round + chunk, flat(states), ask(states))

    states = begun
    if isinstance(race, base.UnequalRace):
        outcomes = draw_next(ask(begun), begun.simulated, race.opening)
        states = race.open_lanes(begun, outcomes, params)
    start = _Carry(jnp.int32(0), flat(states), ask(states))
    end = lax.while_loop(lambda carry: carry.asked.any(), play_chunk, start)
    states = race.finish_lanes(in_shape(end.states), params)
    return jax.vmap(race.result)(states, params), jax.vmap(race.first_outcomes)(states)


def _draw_all(
    draw: Callable[..., Any], num_rounds: int, rows: tuple[Any, ...], asked: jax.Array
) -> Any:
    """Samples [B, K, n, ...] of all options."""
    del asked
    option_keys, options, drawn = rows
    # The rounds are the innermost axis: they fill the vector registers.
    numbers = _numbers(drawn, num_rounds)
    return jax.vmap(jax.vmap(jax.vmap(draw, (None, None, 0))))(option_keys, options, numbers)


def _draw_asked(
    draw: Callable[..., Any], num_rounds: int, rows: tuple[Any, ...], asked: jax.Array
) -> Any:
    """Samples [B, K, n, ...] of the options that ask; of the others nothing is drawn."""
    axis = 1 if num_rounds < _FEW_ROUNDS else 0

    def draw_block(option_keys: jax.Array, options: Any, drawn: jax.Array) -> Any:
        numbers = _numbers(drawn, num_rounds)  # [R, n]
        if num_rounds < min(_FEW_ROUNDS, drawn.size):
            return jax.vmap(jax.vmap(draw), (None, None, 0))(option_keys, options, numbers.T)
        return jax.vmap(jax.vmap(draw, (None, None, 0)), out_axes=axis)(
            option_keys, options, numbers
        )

    return map_rows(draw_block, asked, rows, axis=axis)


def _numbers(drawn: jax.Array, num_rounds: int) -> jax.Array:
    """uint32 [..., n], of the samples that follow so many."""
    return (drawn[..., None] + jnp.arange(num_rounds, dtype=jnp.int32)).astype(jnp.uint32)
