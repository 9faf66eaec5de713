"""The result of a preference-based race by Borda's score or by the random walk. Axes: K options."""

from typing import Any

import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.racing import base
from jaxrace.racing.preference import random_walk, surrogates
from jaxrace.racing.preference.result import SurrogateResult
from jaxrace.racing.preference.state import PreferenceState, SurrogateParams


def conclude(state: PreferenceState, params: SurrogateParams, **race: Any) -> SurrogateResult:
    """The result of a race after any number of rounds; ``race`` is what results hold of it."""
    borda = base.fixed_point_margins(state.net, state.rounds).sum(-1, dtype=jnp.int32)
    if race["ranked_by"] == "borda":
        scores, key = surrogates.borda_scores(state.net, state.rounds), borda
    else:
        scores = random_walk.walk_scores(state.net, state.rounds)
        key = kernels.visits_key(scores)
    # Estimates go on moving after a verdict, but the verdict stays.
    standing = state.selected.astype(jnp.int32) - state.discarded.astype(jnp.int32)
    known = state.rounds > 0
    threshold = params.thresholds[jnp.maximum(state.rounds, 1) - 1]
    return SurrogateResult(
        ranking=base.ranking_from_keys(standing, key),
        selected=state.selected,
        discarded=state.discarded,
        tied=jnp.zeros_like(state.selected),
        decided=(state.selected | state.discarded).all(),
        samples=state.samples,
        simulated=state.simulated,
        beats=known & (state.net >= threshold),
        copeland=(state.net > 0).sum(-1, dtype=jnp.int32),
        borda=borda,
        net=state.net,
        rounds=state.rounds,
        invalid=state.invalid,
        params=params,
        scores=scores,
        **race,
    )
