"""The best k of K options from comparisons of pairs, told who wins or by how much."""

from jaxrace.selection.active_ranking import ActiveRanking
from jaxrace.selection.base import Selector, Standing
from jaxrace.selection.comparisons import (
    NormalScores,
    RecordedScores,
    borda_top,
    normal_score,
    recorded,
    recorded_score,
    thurstone,
    win,
)
from jaxrace.selection.driver import ByNumber, Record, choice_key, pair_key, require_budget, run
from jaxrace.selection.job import SelectionJob, SelectionWork
from jaxrace.selection.pairwise_race import PairwiseRace
from jaxrace.selection.pocbam import (
    HybridPocbam,
    MlPocbam,
    Pocbam,
    fitted_moments,
    intransitivity_index,
)
from jaxrace.selection.result import SelectionResult
from jaxrace.selection.score_selector import KnowledgeGradient, ScoreSelector, Uniform
from jaxrace.selection.scores import Moments, Scores, observed_moments
from jaxrace.selection.single_options import Ocba
from jaxrace.selection.tournaments import Top

__all__ = [
    "ActiveRanking",
    "ByNumber",
    "HybridPocbam",
    "KnowledgeGradient",
    "MlPocbam",
    "Moments",
    "NormalScores",
    "Ocba",
    "PairwiseRace",
    "Pocbam",
    "Record",
    "RecordedScores",
    "ScoreSelector",
    "Scores",
    "SelectionJob",
    "SelectionResult",
    "SelectionWork",
    "Selector",
    "Standing",
    "Top",
    "Uniform",
    "borda_top",
    "choice_key",
    "fitted_moments",
    "intransitivity_index",
    "normal_score",
    "observed_moments",
    "pair_key",
    "recorded",
    "recorded_score",
    "require_budget",
    "run",
    "thurstone",
    "win",
]
