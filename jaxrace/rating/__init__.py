"""Who is best by comparisons that have been made, and what to compare next: NumPy alone, no JAX."""

from jaxrace.rating.front import select as select
from jaxrace.rating.result import SelectionOfVotes as SelectionOfVotes
