"""The result of a preference-based race by Copeland scores. Axes: K options."""

from typing import Any

import jax
import jax.numpy as jnp

from jaxrace.racing import base
from jaxrace.racing.preference.result import PreferenceResult
from jaxrace.racing.preference.state import PreferenceState


def conclude(state: PreferenceState, borda: jax.Array, **held: Any) -> PreferenceResult:
    """The result after any number of rounds; ``held`` is what both kinds of results hold."""
    top = held["top"]
    undecided = ~(state.beats | state.beats.T)
    ahead = state.beats | (undecided & (state.net > 0))
    copeland = ahead.sum(-1, dtype=jnp.int32)  # #{j : S_ij > 1/2}
    ranking = base.ranking_from_keys(copeland, borda)
    in_top = jnp.argsort(ranking) < top
    decided = ~state.active.any()
    # A decided race may leave a Copeland tie across the boundary; any kappa options by
    # score are optimal then, so the first kappa of the ranking are.
    ordered = copeland[ranking]
    boundary = ordered[top - 1]
    tied = decided & (boundary == ordered[top]) & (copeland == boundary)
    return PreferenceResult(
        ranking=ranking,
        selected=jnp.where(decided, in_top, state.selected),
        discarded=jnp.where(decided, ~in_top, state.discarded),
        tied=tied,
        decided=decided,
        beats=state.beats,
        copeland=copeland,
        borda=borda,
        **held,
    )
