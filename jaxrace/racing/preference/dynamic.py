"""The dynamic correction of a preference-based race (eq. 8): its level changes with every verdict.

Axes: K options, r rounds.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.racing.preference import rounds
from jaxrace.racing.preference.rounds import NEVER, NUMBER, Progress
from jaxrace.racing.preference.state import PreferenceParams, PreferenceState


def play_rounds(
    state: PreferenceState,
    params: PreferenceParams,
    gains: jax.Array,
    finite: jax.Array,
    first_round: jax.Array,
    *,
    top: int,
    rule: str,
) -> PreferenceState:
    """``rounds.play_rounds`` of one race, with gains [r, K, K]."""
    start = rounds.begin(state, params, first_round)
    look = _dynamic_look(state, params, gains, first_round)
    end = rounds.last_of(params, first_round, gains.shape[0])
    found = rounds.go_through(start, look(start), end, top=top, rule=rule, look=look)
    progress = rounds.stop(found, end)
    return rounds.finish(state, params, progress, gains, finite, first_round)


def _dynamic_look(
    state: PreferenceState, params: PreferenceParams, gains: jax.Array, first_round: jax.Array
) -> Callable[[Progress], jax.Array]:
    """Finds verdicts whose level changes with every verdict: each time all rounds are looked at."""
    numbers = rounds.numbers_of(gains.shape[0])
    played = first_round + numbers.astype(jnp.int32)
    evidence = _evidence(state.net, gains, played)

    def look(progress: Progress) -> jax.Array:
        level = _dynamic_level(params, progress, first_round, state.net.shape[-1])
        return _dynamic_verdict_rounds(evidence, numbers, progress.now, level)

    return look


def _dynamic_level(
    params: PreferenceParams, progress: Progress, first_round: jax.Array, num_options: int
) -> jax.Array:
    """ln(2 c_t / delta), the same for all rounds t after ``now`` until options are decided.

    c_t = (K-1) [sum_{l<t} m_l + (n_max - t + 1) m_t]: eq. 8 with m the number of undecided
    options and the sum over its own index; with m unchanged since ``now`` the sum is complete.
    """
    # In floats: the product of K, K - 1 and n_max may exceed an int32.
    undecided = (~(progress.selected | progress.discarded)).sum(dtype=jnp.int32)
    now = first_round + progress.now.astype(jnp.int32)
    remaining = jnp.maximum(params.max_rounds - now, 0)
    statements = progress.undecided_sum.astype(jnp.float32) + (
        remaining.astype(jnp.float32) * undecided.astype(jnp.float32)
    )
    return jnp.log(2 * (num_options - 1) * statements / params.delta)


def _evidence(net: jax.Array, gains: jax.Array, played: jax.Array) -> jax.Array:
    """t times 2 (S - 1/2)^2 = C^2 / (2 t^3) where S > 1/2, else -1: float32 [r, K, K].

    The interval of the dynamic correction puts s_ij above 1/2 where it exceeds ln(2 c_t / delta).
    """
    counts = kernels.net_counts(net, gains).astype(jnp.float32)
    t = played.astype(jnp.float32)[:, None, None]
    return jnp.where(counts > 0, (counts / t) ** 2 / (2 * t), -1.0)


def _dynamic_verdict_rounds(
    evidence: jax.Array, numbers: jax.Array, now: jax.Array, level: jax.Array
) -> jax.Array:
    """The first round after ``now`` with more evidence than ``level``: int8 [K, K].

    Of both orders of a pair only the one that comes first has its round.
    """
    numbers = numbers[:, None, None]
    verdicts = jnp.where((evidence > level) & (numbers > now), numbers, NUMBER(NEVER)).min(0)
    return jnp.where(verdicts < verdicts.T, verdicts, NUMBER(NEVER))
