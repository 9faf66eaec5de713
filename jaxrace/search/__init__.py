"""Learning policies: EDPS and PB-EDPS, an evolution strategy driven by a race; SARSA and PBPI."""

from jaxrace.search.driver import SearchLog, run_searches, stack_params
from jaxrace.search.final_race import FinalRace, FinalRaceParams
from jaxrace.search.job import Learner, SearchJob, SearchWork
from jaxrace.search.policy_iteration import PolicyIteration
from jaxrace.search.policy_search import PolicySearch, SearchParams, SearchRow, SearchState
from jaxrace.search.sarsa import Sarsa
from jaxrace.search.split_race import SplitRaceSearch

__all__ = [
    "FinalRace",
    "FinalRaceParams",
    "Learner",
    "PolicyIteration",
    "PolicySearch",
    "Sarsa",
    "SearchJob",
    "SearchLog",
    "SearchParams",
    "SearchRow",
    "SearchState",
    "SearchWork",
    "SplitRaceSearch",
    "run_searches",
    "stack_params",
]
