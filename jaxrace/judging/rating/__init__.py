"""Who is best by comparisons that have been made, and what to compare next: NumPy alone, no JAX."""

from jaxrace.judging.rating.front import select as select
from jaxrace.judging.rating.result import SelectionOfVotes as SelectionOfVotes
