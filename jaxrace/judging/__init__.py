"""Races on tables of scores, on the host: NumPy, float64, nothing compiled and JAX not imported."""

from jaxrace.evidence.independence import DependentRunsWarning as DependentRunsWarning
from jaxrace.evidence.independence import check_runs as check_runs
from jaxrace.judging.board_result import RankedOption as RankedOption
from jaxrace.judging.board_result import RankedPair as RankedPair
from jaxrace.judging.board_result import RankOfTable as RankOfTable
from jaxrace.judging.engine_result import Engine as Engine
from jaxrace.judging.engine_result import GateOfGames as GateOfGames
from jaxrace.judging.gate import gate as gate
from jaxrace.judging.gate_result import Candidate as Candidate
from jaxrace.judging.gate_result import GateOfTable as GateOfTable
from jaxrace.judging.plan import plan as plan
from jaxrace.judging.plan_result import PlanOfRace as PlanOfRace
from jaxrace.judging.rank import rank as rank
from jaxrace.judging.result import Option as Option
from jaxrace.judging.result import Pair as Pair
from jaxrace.judging.result import RaceOfTable as RaceOfTable
from jaxrace.judging.table_race import compare_next as compare_next
from jaxrace.judging.table_race import race as race
