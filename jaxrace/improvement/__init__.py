"""High-confidence policy improvement: a new policy that is certainly no worse than the old one."""

from jaxrace.improvement.bounds import (
    BOUNDS,
    Betting,
    Bootstrap,
    Concentration,
    EmpiricalBernstein,
    LowerBound,
    StudentT,
    bound_called,
    lower_bound,
)
from jaxrace.improvement.candidates import CandidateSearch
from jaxrace.improvement.daedalus import Daedalus, DaedalusRow, DaedalusState
from jaxrace.improvement.doubly_robust import doubly_robust, fit_rewards
from jaxrace.improvement.plausibility import WeightCheck, check_weights, require_possible
from jaxrace.improvement.policies import LinearSoftmax, Mixed, MixedPolicy, MixedWith, unmixed
from jaxrace.improvement.policy_improvement import Improvement, ImprovementParams, PolicyImprovement
from jaxrace.improvement.trajectories import ReturnRange, Trajectories, trajectories
from jaxrace.improvement.trials import DaedalusJob, DaedalusWork, collect
from jaxrace.improvement.weights import Estimates, estimates

__all__ = [
    "BOUNDS",
    "Betting",
    "Bootstrap",
    "CandidateSearch",
    "Concentration",
    "Daedalus",
    "DaedalusJob",
    "DaedalusRow",
    "DaedalusState",
    "DaedalusWork",
    "EmpiricalBernstein",
    "Estimates",
    "Improvement",
    "ImprovementParams",
    "LinearSoftmax",
    "LowerBound",
    "Mixed",
    "MixedPolicy",
    "MixedWith",
    "PolicyImprovement",
    "ReturnRange",
    "StudentT",
    "Trajectories",
    "WeightCheck",
    "bound_called",
    "check_weights",
    "collect",
    "doubly_robust",
    "estimates",
    "fit_rewards",
    "lower_bound",
    "require_possible",
    "trajectories",
    "unmixed",
]
