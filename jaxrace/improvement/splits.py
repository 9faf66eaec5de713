"""Parts of a data set in which every behaviour policy has its share. Axes: n trajectories."""

import jax
import jax.numpy as jnp


def stratified_order(key: jax.Array, behaviour: jax.Array, present: jax.Array) -> jax.Array:
    """All rows by behaviour policy, in random order within each; absent ones last: int32 [n]."""
    uniforms = jax.random.uniform(key, behaviour.shape, jnp.float32)
    return jnp.lexsort((uniforms, behaviour, ~present)).astype(jnp.int32)


def every_so_many(
    key: jax.Array, order: jax.Array, count: jax.Array, number: jax.Array, most: int
) -> jax.Array:
    """``number`` of the first ``count`` rows of an order, at equal distances from a random start.

    Of a stratified order each policy gets its share. int32 [most]; n where a place is unused.
    """
    # floor((k count + start) / number) for k = 0, 1, ...: whole numbers, so that none comes twice.
    divisor = jnp.maximum(number, 1)
    start = jax.random.randint(key, (), 0, jnp.maximum(count, 1), jnp.int32)
    numbers = jnp.arange(most, dtype=jnp.int32)
    places = numbers * (count // divisor) + (numbers * (count % divisor) + start) // divisor
    rows = order[jnp.minimum(places, order.shape[0] - 1)]
    return jnp.where(numbers < number, rows, order.shape[0])


def split(key: jax.Array, behaviour: jax.Array, present: jax.Array, number: jax.Array) -> jax.Array:
    """Marks ``number`` of the rows that are present, every policy's share of them: bool [n]."""
    order_key, start_key = jax.random.split(key)
    size = behaviour.shape[0]
    order = stratified_order(order_key, behaviour, present)
    count = present.sum(dtype=jnp.int32)
    rows = every_so_many(start_key, order, count, number, size)
    return jnp.zeros(size, bool).at[rows].set(True, mode="drop")
