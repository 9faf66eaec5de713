"""Feeds a driver with samples that were written down beforehand."""

import jax
import jax.numpy as jnp
import numpy as np


def driver_key(key, option, round_number):
    """The key with which the driver draws round `round_number` (from 0) of an option."""
    return jax.random.fold_in(jax.random.fold_in(key, option), round_number)


def sample(key, option):
    """Find the round that the key belongs to and return what stands there.

    Rounds beyond the script are NaN: they may be drawn ahead, but must never count.
    """
    script, known_keys = option
    matches = (known_keys == jax.random.key_data(key)).all(-1)
    value = script[jnp.argmax(matches)]
    return jnp.where(matches.any(), value, jnp.nan)


@jax.jit
def options(key, script):
    """Options for the driver's `sample` from a script [K, n, ...] of what each would draw."""
    num_options, num_rounds = script.shape[:2]

    def key_data(option, round_number):
        return jax.random.key_data(driver_key(key, option, round_number))

    over_rounds = jax.vmap(key_data, (None, 0))
    over_options = jax.vmap(over_rounds, (0, None))
    return script, over_options(
        jnp.arange(num_options, dtype=np.uint32), jnp.arange(num_rounds, dtype=np.uint32)
    )
