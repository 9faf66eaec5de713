"""Policy search: EDPS and PB-EDPS, an evolution strategy driven by a race."""

from jaxrace.search.driver import SearchLog, run_searches, stack_params
from jaxrace.search.job import SearchJob, SearchWork
from jaxrace.search.policy_search import PolicySearch, SearchParams, SearchRow, SearchState

__all__ = [
    "PolicySearch",
    "SearchJob",
    "SearchLog",
    "SearchParams",
    "SearchRow",
    "SearchState",
    "SearchWork",
    "run_searches",
    "stack_params",
]
