"""Who is best by comparisons that there are, and what to compare next. Axes: K options, B pairs."""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels, selection
from jaxrace.commands.select.config import LEAST_OF_A_PAIR, SelectConfig
from jaxrace.commands.select.file import Table, scores_of
from jaxrace.commands.select.intervals import (
    Intervals,
    intervals_of_linked,
    intervals_of_pairs,
)
from jaxrace.commands.select.model import fit_linked, linked_advice, linked_confidence
from jaxrace.selection.score_selector import ScoreState

# Those that can go on from comparisons which others have chosen.
MAKERS: dict[str, Callable[..., selection.ScoreSelector]] = {
    "pocbam": selection.Pocbam,
    "ml-pocbam": selection.MlPocbam,
    "ml-pocbam-stationary": functools.partial(selection.MlPocbam, fit="followed"),
    "hybrid": selection.HybridPocbam,
    "pkg": selection.KnowledgeGradient,
    "uniform": selection.Uniform,
}


class Judgement(NamedTuple):
    """What comparisons say."""

    model: str  # "pairs", each by itself, or what its selector fits; or "linked", one model
    ranking: np.ndarray  # int64 [K], from the best
    scores: np.ndarray  # float64 [K], what options are ranked by
    confidence: float  # that the first k are the best, an estimate; NaN: unknown
    pairs: np.ndarray  # int64 [B, 2], to compare next
    log_chance: float  # ln of the largest chance that one of these alone changes the selection
    fewest: int  # comparisons of a pair
    is_connected: bool  # every two options are, through others if need be
    intervals: Intervals  # of the scores, approximate


def judgement_of(config: SelectConfig, table: Table) -> Judgement:
    """Who is best, and what to compare next, by the config's method or, with gaps, by one model."""
    apart = ~np.eye(len(table.names), dtype=bool)
    # The numbers of a file are float64.
    with jax.enable_x64(True):
        scores = scores_of(table)
        fewest = int(np.asarray(scores.counts)[apart].min())
        if fewest >= LEAST_OF_A_PAIR:
            return _judged_by_pairs(config, scores, fewest)
    linked = fit_linked(table, config.pooled_samples)
    rng = np.random.default_rng(config.seed)
    confidence = linked_confidence(linked, config.top, rng)
    advice = linked_advice(linked, config.top, config.next, rng)
    ranking = np.argsort(-linked.scores, kind="stable")
    rest = advice.pairs, advice.log_chance, fewest, linked.is_connected
    around = intervals_of_linked(linked, ranking, config.top)
    return Judgement("linked", ranking, linked.scores, confidence, *rest, around)


def _judged_by_pairs(config: SelectConfig, scores: selection.Scores, fewest: int) -> Judgement:
    size = scores.counts.shape[0]
    selector = MAKERS[config.method](size, config.top, LEAST_OF_A_PAIR, config.pooled_samples)
    params: Any = selector.params()
    state = _with_scores(selector, selector.init(params), scores)
    pairs = np.asarray(selector.ask_many(jax.random.key(config.seed), state, params, config.next))
    chosen = np.asarray(_log_chances(selector, state, params))[pairs[:, 0], pairs[:, 1]]
    result = selector.result(state, params)
    ranking, own_scores = np.asarray(result.ranking), np.asarray(result.scores)
    confidence = float(result.confidence) or math.nan
    moments = selector.moments(state, params)
    spread = np.asarray(moments.pair_variances), np.asarray(moments.counts)
    around = intervals_of_pairs(*spread, ranking, config.top)
    rest = pairs, float(chosen.max()), fewest, True
    return Judgement("pairs", ranking, own_scores, confidence, *rest, around)


@functools.partial(jax.jit, static_argnums=0)
def _with_scores(
    selector: selection.ScoreSelector, state: ScoreState, scores: selection.Scores
) -> ScoreState:
    return selector.with_scores(state, scores, jnp.zeros((0, 2), jnp.int32))


@functools.partial(jax.jit, static_argnums=0)
def _log_chances(selector: selection.ScoreSelector, state: ScoreState, params: Any) -> jax.Array:
    """ln of the chance that one comparison of a pair changes the selection, [K, K]."""
    moments = selector.moments(state, params)
    return kernels.log_change_chance(moments.means, moments.deviations, selector.top)
