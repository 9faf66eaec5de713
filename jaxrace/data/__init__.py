"""Tables in: the files and frames that people have become named options and NumPy arrays.

Nothing here imports JAX. ``read_scores`` takes scores, ...
"""

from jaxrace.data.runs import Scores as Scores
from jaxrace.data.scores import read_scores as read_scores
