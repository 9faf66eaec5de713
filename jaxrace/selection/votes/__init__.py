"""Who is best by comparisons that have been made, and what to compare next."""

from jaxrace.selection.votes.front import select as select
from jaxrace.selection.votes.result import SelectionOfVotes as SelectionOfVotes
