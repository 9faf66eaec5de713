"""Learning policies: EDPS and PB-EDPS, an evolution strategy driven by a race."""

from jaxrace.core.programs import stack_params as stack_params
from jaxrace.search.driver import Learner as Learner
from jaxrace.search.driver import SearchJob as SearchJob
from jaxrace.search.driver import SearchWork as SearchWork
from jaxrace.search.driver import run as run
from jaxrace.search.final_race import FinalRace as FinalRace
from jaxrace.search.final_race import FinalRaceParams as FinalRaceParams
from jaxrace.search.judged_search import JudgedParams as JudgedParams
from jaxrace.search.judged_search import JudgedSearch as JudgedSearch
from jaxrace.search.judged_search import JudgedState as JudgedState
from jaxrace.search.judged_search import ShownPairs as ShownPairs
from jaxrace.search.log import SearchLog as SearchLog
from jaxrace.search.policy_search import PolicySearch as PolicySearch
from jaxrace.search.policy_search import SearchParams as SearchParams
from jaxrace.search.policy_search import SearchRow as SearchRow
from jaxrace.search.policy_search import SearchState as SearchState
from jaxrace.search.strategies import Strategy as Strategy
