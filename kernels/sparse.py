"""Work on the few marked places of a large mask, block by block, and on slices of samples.

A mask saves nothing by itself in compiled code. A list of the marked places, as long as the mask,
does: only its blocks with places in them are worked through.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.kernels.devices import sizes

Carry = TypeVar("Carry")
Result = TypeVar("Result")

MAX_ROUNDS = 32767  # samples of an option: win counts of 2 n^2 half units must fit in an int32

_LEAST_BLOCK = 32  # places per call that fill the vector units
_PER_STEP = 4  # places per step of a plain loop


def listing_block(most: int, light: bool = False) -> int:
    """How many of at most ``most`` marked places ``for_listed`` had better take per call.

    Few of few, as the last call takes as long as any. ``light``: little to do for each.

    >>> listing_block(45), listing_block(900), listing_block(100_000)
    (32, 256, 512)
    """
    if light and sizes().takes_all:
        return min(most, sizes().light_places)
    quarter = -(-most // (4 * _LEAST_BLOCK)) * _LEAST_BLOCK
    return max(_LEAST_BLOCK, min(quarter, sizes().places))


def for_listed(
    wanted: jax.Array, block: int, body: Callable[[jax.Array, Carry], Carry], carry: Carry
) -> Carry:
    """Call ``body(places, carry) -> carry`` on the marked places, ``block`` at a time.

    Places are int32 [block], indices into ``wanted.reshape(-1)``. Unmarked ones in a block are
    ``wanted.size``: a gather clamps it, and ``at[...].set(..., mode="drop")`` passes it over.

    >>> marked = jnp.array([True, False, True, True])
    >>> def add(places, total): return total + places.sum(dtype=jnp.int32)
    >>> print(for_listed(marked, 2, add, jnp.int32(0)))
    9
    """
    size = wanted.size
    if block >= size and sizes().takes_all:
        every = jnp.arange(block, dtype=jnp.int32)
        marked = jnp.pad(wanted.reshape(-1), (0, block - size))
        return body(jnp.where(marked, every, size), carry)
    listed, count = _listed(wanted.reshape(-1), size + -size % block)

    def play(index: jax.Array, carry: Carry) -> Carry:
        return body(lax.dynamic_slice_in_dim(listed, index * block, block), carry)

    return lax.fori_loop(0, -(-count // block), play, carry)


def update_listed(
    wanted: jax.Array,
    update: Callable[..., Carry],
    kept: Carry,
    *operands: Any,
    block: int | None = None,
) -> Carry:
    """``update(kept, *operands)`` at the marked places, bool ``[*n]``, of ``kept``, ``[*n, ...]``.

    Leaves of operands are ``[*n, ...]`` as well; ``update`` is given rows of each, [block, ...]:
    unless given as many as if it is light.

    >>> wanted, kept = jnp.array([True, False, True]), jnp.array([1, 2, 3])
    >>> update_listed(wanted, jnp.add, kept, jnp.array([10, 20, 30])).tolist()
    [11, 2, 33]
    """
    size, given = wanted.size, block
    block = given or listing_block(size, light=True)
    flat = jax.tree.map(lambda x: x.reshape(size, *x.shape[wanted.ndim :]), (kept, *operands))
    if block >= size and sizes().takes_all:
        marked = functools.partial(jnp.expand_dims, wanted.reshape(-1))
        new = update(*flat)
        new = jax.tree.map(lambda x, y: jnp.where(marked(range(1, y.ndim)), x, y), new, flat[0])
    else:

        def body(places: jax.Array, kept: Carry) -> Carry:
            rows = jnp.minimum(places, size - 1)
            own = jax.tree.map(lambda x: x[rows], (kept, *flat[1:]))
            is_any = places[0] < size  # always, but XLA does not know it
            new = with_operands_kept(update, is_any, *own) if given else update(*own)
            return jax.tree.map(lambda x, y: x.at[places].set(y, mode="drop"), kept, new)

        new = for_listed(wanted, block, body, flat[0])
    return jax.tree.map(lambda x, old: x.reshape(old.shape), new, kept)


def with_operands_kept(
    function: Callable[..., Result], wanted: jax.Array, *operands: Any
) -> Result:
    """``function(*operands)`` with the operands kept in memory; anything unless ``wanted``.

    XLA makes a gather anew in each loop that reads it, but does not look into a conditional:
    ``wanted`` must be unknown at compile time. Some devices gain nothing by it (``Sizes``).

    >>> square = jnp.arange(4).reshape(2, 2)
    >>> with_operands_kept(lambda x: x.sum(0), square.any(), square.T).tolist()
    [1, 5]
    """
    if not sizes().compiles_long:
        return function(*operands)

    def nothing(*operands: Any) -> Result:
        found = jax.eval_shape(function, *operands)
        return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), found)

    return lax.cond(wanted, function, nothing, *operands)


def sample_slices(samples: Any, row: jax.Array, start: jax.Array, size: int) -> Any:
    """Consecutive samples of P rows, the pairs last: leaves [size, P, ...].

    Of leaves [rows, N, ...]; ``row`` and the first sample ``start``, at most N - ``size``, are
    int32 [P].

    >>> samples = jnp.arange(8).reshape(2, 4)
    >>> sample_slices(samples, jnp.array([0, 1]), jnp.array([2, 0]), 2).tolist()
    [[2, 4], [3, 5]]
    """
    slices = row_slices(samples, row, start, size)
    return jax.tree.map(lambda x: jnp.moveaxis(x, 1, 0), slices)


def row_slices(samples: Any, row: jax.Array, start: jax.Array, size: int) -> Any:
    """``sample_slices`` with the pairs first: leaves [P, size, ...]."""

    def cut(x: jax.Array) -> jax.Array:
        at = (row, start, *[jnp.zeros_like(row)] * (x.ndim - 2))
        return jax.vmap(lambda *at: lax.dynamic_slice(x, at, (1, size, *x.shape[2:]))[0])(*at)

    return jax.tree.map(cut, samples)


def _listed(wanted: jax.Array, length: int) -> tuple[jax.Array, jax.Array]:
    """The marked places in order, int32 [length], filled up with the size; and how many."""

    def at_once(wanted: jax.Array) -> tuple[jax.Array, jax.Array]:
        listed = jnp.flatnonzero(wanted, size=length, fill_value=wanted.size)
        return listed.astype(jnp.int32), wanted.sum(dtype=jnp.int32)

    one_by_one = functools.partial(_listed_one_by_one, length=length)
    return lax.platform_dependent(wanted, cpu=one_by_one, default=at_once)


def _listed_one_by_one(wanted: jax.Array, length: int) -> tuple[jax.Array, jax.Array]:
    """The same by a plain loop: on a CPU a seventh of the time of a cumulative sum."""
    padded = jnp.pad(wanted, (0, -wanted.size % _PER_STEP))

    def write(step: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, ...]:
        listed, count = carry
        first = step * _PER_STEP
        marked = lax.dynamic_slice(padded, (first,), (_PER_STEP,), allow_negative_indices=False)
        for number in range(_PER_STEP):
            # Unmarked places are overwritten by what follows.
            place = jnp.where(marked[number], first + number, wanted.size)
            listed = lax.dynamic_update_slice(
                listed, place.astype(jnp.int32)[None], (count,), allow_negative_indices=False
            )
            count += marked[number].astype(jnp.int32)
        return listed, count

    empty = jnp.full((length + 1,), wanted.size, jnp.int32)
    listed, count = lax.fori_loop(0, padded.size // _PER_STEP, write, (empty, jnp.int32(0)))
    return listed[:length], count
