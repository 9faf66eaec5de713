"""Tables in: the files and frames that people have become named options and NumPy arrays.

``read_scores`` takes scores of options, ``read_votes`` comparisons of two, ``read_matrix`` who
beats whom, and ``read_log`` logged decisions. They say what they have guessed, and refuse what may
be read in more than one way. Nothing here imports JAX.
"""

from jaxrace.tables.log import Log as Log
from jaxrace.tables.log import read_log as read_log
from jaxrace.tables.matrix import Matrix as Matrix
from jaxrace.tables.matrix import read_matrix as read_matrix
from jaxrace.tables.runs import Scores as Scores
from jaxrace.tables.scores import read_scores as read_scores
from jaxrace.tables.votes import Votes as Votes
from jaxrace.tables.votes import read_votes as read_votes
