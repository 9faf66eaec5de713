"""Races: which of K stochastic options are the best kappa, from as few samples as possible."""

from jaxrace.judging.independence import DependentRunsWarning as DependentRunsWarning
from jaxrace.judging.independence import check_runs as check_runs
from jaxrace.racing.base import Race as Race
from jaxrace.racing.comparing import check_compare as check_compare
from jaxrace.racing.dominance.race import DominanceRace as DominanceRace
from jaxrace.racing.dominance.result import DominanceResult as DominanceResult
from jaxrace.racing.dominance.state import DominanceParams as DominanceParams
from jaxrace.racing.dominance.state import DominanceState as DominanceState
from jaxrace.racing.driver import run as run
from jaxrace.racing.judge import judge as judge
from jaxrace.racing.preference.race import PreferenceRace as PreferenceRace
from jaxrace.racing.preference.result import PreferenceResult as PreferenceResult
from jaxrace.racing.preference.result import SurrogateResult as SurrogateResult
from jaxrace.racing.preference.state import PreferenceParams as PreferenceParams
from jaxrace.racing.preference.state import PreferenceState as PreferenceState
from jaxrace.racing.preference.state import SurrogateParams as SurrogateParams
from jaxrace.racing.result import RaceResult as RaceResult
from jaxrace.racing.value import BernsteinRace as BernsteinRace
from jaxrace.racing.value import HoeffdingRace as HoeffdingRace
from jaxrace.racing.value import ValueParams as ValueParams
from jaxrace.racing.value import ValueRace as ValueRace
from jaxrace.racing.value import ValueResult as ValueResult
from jaxrace.racing.value import ValueState as ValueState
