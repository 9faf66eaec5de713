"""Who is best by comparisons that there are, and what to compare next. Axes: K options, B pairs."""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.selection.pocbam import HybridPocbam, MlPocbam, Pocbam
from jaxrace.selection.score_selector import KnowledgeGradient, ScoreSelector, ScoreState, Uniform
from jaxrace.selection.scores import Scores
from jaxrace.selection.votes.linked import (
    Intervals,
    fit_linked,
    intervals_of_linked,
    linked_advice,
    linked_confidence,
)
from jaxrace.selection.votes.table import Table, scores_of

LEAST_OF_A_PAIR = 2  # comparisons of a pair from which its variance can be estimated, as these need

# Those that can go on from comparisons which others have chosen.
MAKERS: dict[str, Callable[..., ScoreSelector]] = {
    "pocbam": Pocbam,
    "ml-pocbam": MlPocbam,
    "ml-pocbam-stationary": functools.partial(MlPocbam, fit="followed"),
    "hybrid": HybridPocbam,
    "pkg": KnowledgeGradient,
    "uniform": Uniform,
}


class Judgement(NamedTuple):
    """What comparisons say."""

    model: str  # "pairs", each by itself, or what its selector fits; or "linked", one model
    ranking: np.ndarray  # int64 [K], from the best
    scores: np.ndarray  # float64 [K], what options are ranked by
    confidence: float  # that the first k are the best, an estimate; NaN: unknown
    pairs: np.ndarray  # int64 [B, 2], to compare next
    log_chance: float  # ln of the largest chance that one of these alone changes the selection
    is_connected: bool  # every two options are, through others if need be
    intervals: Intervals  # of the scores, approximate


def judgement_of(
    table: Table,
    top: int,
    method: str = "pkg",
    number: int = 5,
    pooled_samples: float = 2.0,
    seed: int = 0,
) -> Judgement:
    """Who is best, and what to compare next, by a method or, with gaps, by one model."""
    apart = ~np.eye(len(table.names), dtype=bool)
    # The numbers of a file are float64.
    with jax.enable_x64(True):
        scores = scores_of(table)
        fewest = int(np.asarray(scores.counts)[apart].min())
        if fewest >= LEAST_OF_A_PAIR:
            size = len(table.names)
            selector = MAKERS[method](size, top, LEAST_OF_A_PAIR, pooled_samples)
            return _judged_by_pairs(selector, scores, number, seed)
    linked = fit_linked(table, pooled_samples)
    rng = np.random.default_rng(seed)
    confidence = linked_confidence(linked, top, rng)
    advice = linked_advice(linked, top, number, rng)
    ranking = np.argsort(-linked.scores, kind="stable")
    rest = advice.pairs, advice.log_chance, linked.is_connected
    around = intervals_of_linked(linked, ranking, top)
    return Judgement("linked", ranking, linked.scores, confidence, *rest, around)


def _judged_by_pairs(selector: ScoreSelector, scores: Scores, number: int, seed: int) -> Judgement:
    params: Any = selector.params()
    state = _with_scores(selector, selector.init(params), scores)
    pairs = np.asarray(selector.ask_many(jax.random.key(seed), state, params, number))
    chosen = np.asarray(_log_chances(selector, state, params))[pairs[:, 0], pairs[:, 1]]
    result = selector.result(state, params)
    ranking, own_scores = np.asarray(result.ranking), np.asarray(result.scores)
    confidence = float(result.confidence) or math.nan
    moments = selector.moments(state, params)
    spread = np.asarray(moments.pair_variances), np.asarray(moments.counts)
    around = intervals_of_pairs(*spread, ranking, selector.top)
    rest = pairs, float(chosen.max()), True
    return Judgement("pairs", ranking, own_scores, confidence, *rest, around)


def intervals_of_pairs(
    variances: np.ndarray, counts: np.ndarray, ranking: np.ndarray, top: int
) -> Intervals:
    """Of scores that are sums over pairs, each compared by itself.

    Args:
        variances: Of one comparison of a pair, float [K, K], symmetric.
        counts: Of comparisons, [K, K], symmetric.
        ranking: The options from the best, [K].
        top: How many are selected, k < K.

    >>> four, zero = np.full((2, 2), 4.0), np.eye(2)
    >>> found = intervals_of_pairs(1 - zero, four, np.array([1, 0]), 1)
    >>> found.scores.round(2).tolist(), round(found.gap, 2)
    ([0.98, 0.98], 1.96)
    """
    apart = ~np.eye(len(counts), dtype=bool)
    of_means = np.where(apart, variances / np.where(apart, counts, 1), 0)
    total = of_means.sum(1)
    last, first = ranking[top - 1], ranking[top]
    # The mean of their own pair is in both scores, with another sign.
    of_gap = total[last] + total[first] + 2 * of_means[last, first]
    return Intervals.of(total, of_gap, math.inf)


@functools.partial(jax.jit, static_argnums=0)
def _with_scores(selector: ScoreSelector, state: ScoreState, scores: Scores) -> ScoreState:
    return selector.with_scores(state, scores, jnp.zeros((0, 2), jnp.int32))


@functools.partial(jax.jit, static_argnums=0)
def _log_chances(selector: ScoreSelector, state: ScoreState, params: Any) -> jax.Array:
    """ln of the chance that one comparison of a pair changes the selection, [K, K]."""
    moments = selector.moments(state, params)
    return kernels.log_change_chance(moments.means, moments.deviations, selector.top)
