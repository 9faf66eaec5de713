"""Who is best by comparisons that have been made, and what to compare next: NumPy alone, no JAX."""

from jaxrace.judging.rating.front import SelectionOfVotes as SelectionOfVotes
from jaxrace.judging.rating.front import select as select
