"""The numbers and the progress of a preference-based race. Axes: K options, N = capacity."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.core.protocol import pytree
from jaxrace.core.validation import Owner


@pytree
class PreferenceParams:
    """The numbers of a ``PreferenceRace``; make them with ``PreferenceRace.params``."""

    delta: jax.Array  # float32 []
    max_rounds: jax.Array  # int32 [], n_max
    epsilon: jax.Array  # float32 []
    thresholds: jax.Array  # int32 [N], net count that decides a pair in round 1 .. N
    # float32 [N], L / n: the largest divergence of s_ij from S_ij per round; None by Copeland
    allowed: jax.Array | None
    owner: Owner = dataclasses.field(metadata={"static": True})  # the kind and size of the race


@pytree
class PreferenceState:
    """The progress of a ``PreferenceRace``."""

    outcomes: Any  # leaves [K, N, ...], all samples so far
    round: jax.Array  # int32 [], rounds told, some perhaps after the end
    samples: jax.Array  # int32 [K], samples that counted
    simulated: jax.Array  # int32 [K], samples told for options that had asked
    net: jax.Array  # int32 [K, K], C_ij; frozen once a pair is dropped
    rounds: jax.Array  # int32 [K, K], samples per option behind net
    active: jax.Array  # bool [K, K], the paper's A
    beats: jax.Array  # bool [K, K], l_ij > 1/2; kept by Copeland races only
    selected: jax.Array  # bool [K], the paper's C
    discarded: jax.Array  # bool [K], the paper's D
    undecided_sum: jax.Array  # int32 [], sum over past rounds l of m_l = K - |C u D|
    invalid: jax.Array  # int32 [K], first round with a counted outcome that is not finite


class Told(NamedTuple):
    """What r rounds bring to a race, or to B races."""

    gains: jax.Array  # int32 [r, (B,) K, K], what each round adds to the net counts
    finite: jax.Array  # bool [(B,) K, r], is the option's outcome of the round finite?
    first_round: jax.Array  # int32 [], rounds played before


RACE_AXES = Told._make((1, 0, None))  # where the axis B is, for vmap


def write_rounds(first_round: jax.Array, buffer: jax.Array, new: jax.Array) -> jax.Array:
    """Put ``new`` [K, r, ...] at round ``first_round``; what exceeds the capacity is dropped."""
    capacity = buffer.shape[1]
    new = new[:, :capacity].astype(buffer.dtype)
    size = new.shape[1]
    # The window of the buffer that is written: it ends where the buffer does, if not before.
    start = jnp.minimum(first_round, capacity - size)
    skipped = first_round - start

    def behind_kept(new: jax.Array) -> jax.Array:
        window = lax.dynamic_slice_in_dim(buffer, start, size, axis=1)
        rounds = jnp.arange(size, dtype=jnp.int32).reshape(1, -1, *[1] * (new.ndim - 2))
        return jnp.where(rounds >= skipped, jnp.roll(new, skipped, axis=1), window)

    # Only the last rounds of a race may not fit.
    written = lax.cond(skipped > 0, behind_kept, lambda new: new, new)
    return lax.dynamic_update_slice_in_dim(buffer, written, start, axis=1)


def keep_samples(state: PreferenceState, outcomes: Any, first_round: jax.Array) -> PreferenceState:
    """Put the samples [K, r, ...] of the next rounds behind those before."""
    write = functools.partial(write_rounds, first_round)
    num_told = jax.tree.leaves(outcomes)[0].shape[1]
    return dataclasses.replace(
        state,
        outcomes=jax.tree.map(write, state.outcomes, outcomes),
        round=state.round + num_told,
    )
