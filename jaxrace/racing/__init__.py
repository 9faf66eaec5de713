"""Races: which of K stochastic options are the best kappa, from as few samples as possible."""

# What these add to tables of races: rankings, and reports of results.
import jaxrace.racing.certified.report
import jaxrace.racing.preference.surrogates  # noqa: F401
from jaxrace.core.programs import stack_params as stack_params
from jaxrace.evidence.independence import DependentRunsWarning as DependentRunsWarning
from jaxrace.evidence.independence import check_runs as check_runs
from jaxrace.racing.base import Race as Race
from jaxrace.racing.certified.blocks import DominanceParams as DominanceParams
from jaxrace.racing.certified.blocks import DominanceResult as DominanceResult
from jaxrace.racing.certified.blocks import DominanceState as DominanceState
from jaxrace.racing.certified.dominance import DominanceRace as DominanceRace
from jaxrace.racing.certified.race import CertifiedRace as CertifiedRace
from jaxrace.racing.certified.result import CertifiedResult as CertifiedResult
from jaxrace.racing.certified.shared import SharedRace as SharedRace
from jaxrace.racing.certified.shared import task_order as task_order
from jaxrace.racing.certified.tasks import PairEvidence as PairEvidence
from jaxrace.racing.certified.tasks import SharedParams as SharedParams
from jaxrace.racing.certified.tasks import SharedResult as SharedResult
from jaxrace.racing.certified.tasks import SharedState as SharedState
from jaxrace.racing.checks import check_compare as check_compare
from jaxrace.racing.comparing import ComparingRace as ComparingRace
from jaxrace.racing.driver import run as run
from jaxrace.racing.judge import judge as judge
from jaxrace.racing.preference.race import PreferenceRace as PreferenceRace
from jaxrace.racing.preference.result import PreferenceResult as PreferenceResult
from jaxrace.racing.preference.rounds import PreferenceParams as PreferenceParams
from jaxrace.racing.preference.rounds import PreferenceState as PreferenceState
from jaxrace.racing.result import RaceResult as RaceResult
from jaxrace.racing.value import BernsteinRace as BernsteinRace
from jaxrace.racing.value import HoeffdingRace as HoeffdingRace
from jaxrace.racing.value import ValueParams as ValueParams
from jaxrace.racing.value import ValueRace as ValueRace
from jaxrace.racing.value import ValueResult as ValueResult
from jaxrace.racing.value import ValueState as ValueState
