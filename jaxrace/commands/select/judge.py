"""Of comparisons that have been made: who is best so far, and what to compare next.

Axes: K options, B pairs.
"""

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
    """What a table says."""

    model: str  # "pairs", each by itself, or what its selector fits; or "linked", see select_model
    ranking: np.ndarray  # int64 [K], from the best
    scores: np.ndarray  # float64 [K], what options are ranked by
    confidence: float  # that the first k are the best, an estimate; NaN: unknown
    pairs: np.ndarray  # int64 [B, 2], to compare next
    log_chance: float  # ln of the largest chance that one of these alone changes the selection
    fewest: int  # comparisons of a pair
    is_connected: bool  # every two options are, through others if need be


def judgement_of(config: SelectConfig, table: Table) -> Judgement:
    """Who is best, and what to compare next, by the config's method or, with gaps, by one model.

    All in float64: numbers of a file have as many digits.
    """
    apart = ~np.eye(len(table.names), dtype=bool)
    with jax.enable_x64(True):
        scores = scores_of(table)
        fewest = int(np.asarray(scores.counts)[apart].min())
        if fewest >= LEAST_OF_A_PAIR:
            selector = MAKERS[config.method](
                len(table.names), config.top, LEAST_OF_A_PAIR, config.pooled_samples
            )
            result, pairs, log_chance = judged(selector, scores, config.next, config.seed)
            return Judgement(
                "pairs",
                np.asarray(result.ranking),
                np.asarray(result.scores),
                float(result.confidence) or math.nan,
                pairs,
                log_chance,
                fewest,
                is_connected=True,
            )
    linked = fit_linked(table, config.pooled_samples)
    rng = np.random.default_rng(config.seed)
    confidence = linked_confidence(linked, config.top, rng)
    advice = linked_advice(linked, config.top, config.next, rng)
    ranking = np.argsort(-linked.scores, kind="stable")
    rest = advice.pairs, advice.log_chance, fewest, linked.is_connected
    return Judgement("linked", ranking, linked.scores, confidence, *rest)


def judged(
    selector: selection.ScoreSelector, scores: selection.Scores, number: int, seed: int
) -> tuple[selection.SelectionResult, np.ndarray, float]:
    """What has been found, B pairs to compare next, and ln of the chance that one changes it."""
    params: Any = selector.params()
    state = _with_scores(selector, selector.init(params), scores)
    pairs = np.asarray(selector.ask_many(jax.random.key(seed), state, params, number))
    chosen = np.asarray(_log_chances(selector, state, params))[pairs[:, 0], pairs[:, 1]]
    return selector.result(state, params), pairs, float(chosen.max())


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
