"""Races: which of K stochastic options are the best kappa, from as few samples as possible."""

from jaxrace.racing.base import Race
from jaxrace.racing.checks import check_compare
from jaxrace.racing.dominance.race import DominanceRace
from jaxrace.racing.dominance.result import DominanceResult
from jaxrace.racing.dominance.state import DominanceParams, DominanceState
from jaxrace.racing.driver import run
from jaxrace.racing.independence import DependentRunsWarning, check_runs
from jaxrace.racing.judge import judge
from jaxrace.racing.preference.race import PreferenceRace
from jaxrace.racing.preference.result import PreferenceResult, SurrogateResult
from jaxrace.racing.preference.state import PreferenceParams, PreferenceState, SurrogateParams
from jaxrace.racing.result import RaceResult
from jaxrace.racing.value import (
    BernsteinRace,
    HoeffdingRace,
    ValueParams,
    ValueRace,
    ValueResult,
    ValueState,
)

__all__ = [
    "BernsteinRace",
    "DependentRunsWarning",
    "DominanceParams",
    "DominanceRace",
    "DominanceResult",
    "DominanceState",
    "HoeffdingRace",
    "PreferenceParams",
    "PreferenceRace",
    "PreferenceResult",
    "PreferenceState",
    "Race",
    "RaceResult",
    "SurrogateParams",
    "SurrogateResult",
    "ValueParams",
    "ValueRace",
    "ValueResult",
    "ValueState",
    "check_compare",
    "check_runs",
    "judge",
    "run",
]
