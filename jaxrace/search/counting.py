"""Counting for small searches: the host lists the open pairs, and one small program compares them.

It serves the races of a search and its final one, and compiles in a tenth of the time of one that
lists pairs itself. Compiled races count by ``kernels.wins.pair_gains``, its plain form.
Axes: B races, K options, m rounds told at once, P pairs.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.core.compilation import MIDDLING, jit
from jaxrace.racing import base
from jaxrace.racing.preference.state import PreferenceParams, PreferenceState, Told

_PAIRS = 512  # that are compared at once


def count(
    compare: Callable[[Any, Any], jax.Array],
    states: PreferenceState,
    outcomes: Any,
    params: PreferenceParams,
    first_round: int,
) -> tuple[PreferenceState, Told]:
    """The states with the next samples [B, K, m, ...], and what they tell.

    ``first_round`` is a multiple of m.
    """
    kept = jax.tree.map(np.array, states.outcomes)
    outcomes = jax.tree.map(lambda x, old: np.asarray(x).astype(old.dtype), outcomes, kept)
    num_races, num_options, num_rounds = jax.tree.leaves(outcomes)[0].shape[:3]
    for old, new in zip(jax.tree.leaves(kept), jax.tree.leaves(outcomes), strict=True):
        old[:, :, first_round : first_round + num_rounds] = new[:, :, : old.shape[2] - first_round]
    goes_on = first_round < np.asarray(params.max_rounds)
    is_open = np.asarray(states.active) & goes_on[:, None, None]
    new, old = (
        jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), samples) for samples in (outcomes, kept)
    )
    finite = base.finite_rounds(new, np).reshape(num_races, num_options, num_rounds)
    asked = is_open.any(-1)
    states = dataclasses.replace(
        states,
        outcomes=kept,
        round=np.asarray(states.round) + np.int32(num_rounds),
        simulated=np.asarray(states.simulated) + np.int32(num_rounds) * asked,
    )
    gains = _gains(compare, old, new, first_round, is_open)
    told: Any = gains, finite, np.int32(first_round)
    return states, Told(*told)


def _gains(
    compare: Callable[[Any, Any], jax.Array],
    old: Any,
    new: Any,
    num_old: int,
    is_open: np.ndarray,
) -> np.ndarray:
    """``kernels.open_round_gains`` of samples with leaves [B K, N, ...] and [B K, m, ...]."""
    num_options, num_rounds = is_open.shape[-1], jax.tree.leaves(new)[0].shape[1]
    race, i, j = np.nonzero(np.triu(is_open, 1))
    gains = np.zeros((is_open.size, num_rounds), np.int32)
    # The new sample of j against older ones of i, the reverse, and the two new ones.
    all_old = np.ones((num_rounds, num_rounds), bool)
    newest = np.tril(all_old), np.tril(all_old, -1)
    for start in range(0, len(race), _PAIRS):
        piece = slice(start, start + _PAIRS)
        size, of_race = len(race[piece]), race[piece] * num_options
        # Filled up with pairs that are compared already.
        pair = np.resize(of_race + i[piece], _PAIRS), np.resize(of_race + j[piece], _PAIRS)
        both = _of_both(new, pair, slice(None))
        gained = np.array(_compare(compare, *newest, both, both))
        for begin in range(0, num_old, num_rounds):
            before = _of_both(old, pair, slice(begin, begin + num_rounds))
            gained += np.asarray(_compare(compare, all_old, all_old, before, both))
        gains[pair[0][:size] * num_options + j[piece]] = gained[:size]
        gains[pair[1][:size] * num_options + i[piece]] = -gained[:size]
    return gains.T.reshape(num_rounds, *is_open.shape)


def _of_both(samples: Any, pair: tuple[np.ndarray, np.ndarray], rounds: slice) -> tuple[Any, Any]:
    """Samples of some rounds of both options of the pairs, leaves [P, rounds, ...]."""
    first, second = (jax.tree.map(lambda x, at=at: x[at, rounds], samples) for at in pair)
    return first, second


@jit(1, work=lambda *_: MIDDLING)
def _compare(
    compare: Callable[[Any, Any], jax.Array],
    forth: jax.Array,
    back: jax.Array,
    samples: tuple[Any, Any],
    new: tuple[Any, Any],
) -> jax.Array:
    """Signs of the samples of i against each new one of j, less the reverse: int32 [P, m].

    ``forth`` and ``back``, bool [m, samples], say which count.
    """
    against = jax.vmap(jax.vmap(jax.vmap(compare, (0, None)), (None, 0)))

    def sums(counts: jax.Array, signs: jax.Array) -> jax.Array:
        return jnp.where(counts, signs, 0).sum(-1, dtype=jnp.int32)

    return sums(forth, against(samples[0], new[1])) - sums(back, against(samples[1], new[0]))
