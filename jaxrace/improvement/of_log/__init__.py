"""A policy that is certainly no worse, from a log of decisions."""

from jaxrace.improvement.of_log.front import improve as improve
from jaxrace.improvement.of_log.result import ImprovementOfLog as ImprovementOfLog
