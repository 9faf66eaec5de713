"""A policy that is certainly better than the one in use, from a log, on the host: no JAX."""

from jaxrace.judging.policies.front import improve as improve
from jaxrace.judging.policies.result import ImprovementOfLog as ImprovementOfLog
from jaxrace.judging.policies.saved import SavedPolicy as SavedPolicy
from jaxrace.judging.policies.saved import load_policy as load_policy
