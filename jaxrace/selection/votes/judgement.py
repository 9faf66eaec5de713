"""Who is best by comparisons that there are, and what to compare next. Axes: K options, B pairs."""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.data import Votes
from jaxrace.selection.pocbam import HybridPocbam, MlPocbam, Pocbam
from jaxrace.selection.score_selector import KnowledgeGradient, ScoreSelector, ScoreState, Uniform
from jaxrace.selection.scores import Scores
from jaxrace.selection.votes import linked

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
    intervals: linked.Intervals  # of the scores, approximate


def judgement_of(
    votes: Votes,
    top: int,
    method: str = "pkg",
    number: int = 5,
    pooled_samples: float = 2.0,
    seed: int = 0,
) -> Judgement:
    """Who is best, and what to compare next, by a method or, with gaps, by one model."""
    size = len(votes.names)
    # The numbers of a file are float64.
    with jax.enable_x64(True):
        scores = scores_of(votes)
        if int(np.asarray(scores.counts)[~np.eye(size, dtype=bool)].min()) >= LEAST_OF_A_PAIR:
            selector = MAKERS[method](size, top, LEAST_OF_A_PAIR, pooled_samples)
            return _judged_by_pairs(selector, scores, number, seed)
    fit = linked.fit_linked(votes, pooled_samples)
    rng = np.random.default_rng(seed)
    confidence = linked.linked_confidence(fit, top, rng)
    advice = linked.linked_advice(fit, top, number, rng)
    ranking = np.argsort(-fit.scores, kind="stable")
    around = linked.intervals_of(fit.covariance_of_scores, fit.degrees, ranking, top)
    rest = *advice, fit.is_connected, around
    return Judgement("linked", ranking, fit.scores, confidence, *rest)


def scores_of(votes: Votes) -> Scores:
    """Sufficient statistics, in as many digits as JAX has."""
    counts, means = linked.counts_and_means(votes)
    squares = linked.summed(votes, (votes.margins - means[votes.first, votes.second]) ** 2)
    variances = (squares + squares.T) / np.maximum(counts, 1)
    floats = (jnp.asarray(numbers, float) for numbers in (means, variances))
    return Scores(jnp.asarray(counts, jnp.int32), *floats)


def _judged_by_pairs(selector: ScoreSelector, scores: Scores, number: int, seed: int) -> Judgement:
    params: Any = selector.params()
    state = _with_scores(selector, selector.init(params), scores)
    pairs = np.asarray(selector.ask_many(jax.random.key(seed), state, params, number))
    chosen = np.asarray(_log_chances(selector, state, params))[pairs[:, 0], pairs[:, 1]]
    result = selector.result(state, params)
    ranking, own_scores = np.asarray(result.ranking), np.asarray(result.scores)
    confidence = float(result.confidence) or math.nan
    moments = selector.moments(state, params)
    apart = ~np.eye(selector.num_options, dtype=bool)
    counts = np.where(apart, np.asarray(moments.counts), 1)
    of_means = np.where(apart, np.asarray(moments.pair_variances) / counts, 0)
    # The mean of a pair is in the scores of both, with another sign.
    covariance = np.diag(of_means.sum(1)) - of_means
    around = linked.intervals_of(covariance, math.inf, ranking, selector.top)
    rest = pairs, float(chosen.max()), True, around
    return Judgement("pairs", ranking, own_scores, confidence, *rest)


@functools.partial(jax.jit, static_argnums=0)
def _with_scores(selector: ScoreSelector, state: ScoreState, scores: Scores) -> ScoreState:
    return selector.with_scores(state, scores, jnp.zeros((0, 2), jnp.int32))


@functools.partial(jax.jit, static_argnums=0)
def _log_chances(selector: ScoreSelector, state: ScoreState, params: Any) -> jax.Array:
    """ln of the chance that one comparison of a pair changes the selection, [K, K]."""
    moments = selector.moments(state, params)
    return kernels.log_change_chance(moments.means, moments.deviations, selector.top)
