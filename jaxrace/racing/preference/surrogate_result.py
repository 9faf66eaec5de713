"""The result of a preference-based race by Borda's score or by the random walk. Axes: K options."""

from typing import Any

import jax
import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.racing import base
from jaxrace.racing.preference import random_walk, surrogates
from jaxrace.racing.preference.result import SurrogateResult
from jaxrace.racing.preference.state import PreferenceState


def conclude(state: PreferenceState, borda: jax.Array, **held: Any) -> SurrogateResult:
    """The result after any number of rounds; ``held`` is what both kinds of results hold."""
    if held["ranked_by"] == "borda":
        scores, key = surrogates.borda_scores(state.net, state.rounds), borda
    else:
        scores = random_walk.walk_scores(state.net, state.rounds)
        key = kernels.visits_key(scores)
    # Estimates go on moving after a verdict, but the verdict stays.
    standing = state.selected.astype(jnp.int32) - state.discarded.astype(jnp.int32)
    known = state.rounds > 0
    threshold = held["params"].thresholds[jnp.maximum(state.rounds, 1) - 1]
    return SurrogateResult(
        ranking=base.ranking_from_keys(standing, key),
        selected=state.selected,
        discarded=state.discarded,
        tied=jnp.zeros_like(state.selected),
        decided=(state.selected | state.discarded).all(),
        beats=known & (state.net >= threshold),
        copeland=(state.net > 0).sum(-1, dtype=jnp.int32),
        scores=scores,
        borda=borda,
        **held,
    )
