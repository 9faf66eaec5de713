"""Policies that tests play with."""

import jax.numpy as jnp

from jaxrace.envs.holdem.abstraction import ALL_IN, CALL, FOLD, HALF_POT


def always_all_in(key, observation):
    """All-in wherever it is legal, else call."""
    del key
    return jnp.where(observation.legal[ALL_IN], jnp.int32(ALL_IN), jnp.int32(CALL))


def by_strength(key, observation):
    """Some action that depends on everything that is observed, and on no random number."""
    del key
    told = (observation.own, observation.other, observation.street, observation.seat)
    mixed = (1e6 * observation.strength).astype(jnp.int32)
    for number in told:
        mixed = (mixed * 31 + number // 7) % 10_007
    wanted = (mixed // 7) % 7
    found = jnp.full_like(wanted, CALL)
    for shift in reversed(range(7)):  # the first legal one, from the wanted one on
        action = (wanted + shift) % 7
        is_legal = jnp.take_along_axis(observation.legal, action[None], axis=0)[0]
        found = jnp.where(is_legal, action, found)
    return found


def half_pots(key, observation):
    """Half a pot wherever it is legal, else call."""
    del key
    return jnp.where(observation.legal[HALF_POT], jnp.int32(HALF_POT), jnp.int32(CALL))


def folds_too_much(key, observation):
    """Illegal where checking is free."""
    del key
    return jnp.where(observation.street == 3, jnp.int32(FOLD), jnp.int32(CALL))
