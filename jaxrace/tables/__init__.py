"""Tables in: the files and frames that people have become named options and NumPy arrays.

Four doors: ``read_scores`` takes scores of options, ``read_votes`` comparisons of two,
``read_matrix`` who beats whom, and ``read_log`` logged decisions. They say what they have guessed,
and refuse with a ``BadArgument`` what may be read in more than one way. Nothing here imports JAX.

All doors take a ``source``: a path to CSV or other text with delimiters, JSON, JSON lines, Parquet
or Excel; a data frame of pandas, polars or pyarrow; columns by name; or rows. Last come ``decimal``
("comma" or "point", or "auto" for what the cells allow), ``delimiter`` of a text ("comma",
"semicolon", "tab", "bar" or "space", or "auto" for what the lines allow), and ``argument``, what
messages begin with.
"""

from jaxrace.tables.log import Log as Log
from jaxrace.tables.log import read_log as read_log
from jaxrace.tables.matrix import Matrix as Matrix
from jaxrace.tables.matrix import read_matrix as read_matrix
from jaxrace.tables.runs import Scores as Scores
from jaxrace.tables.scores import read_scores as read_scores
from jaxrace.tables.votes import Votes as Votes
from jaxrace.tables.votes import read_votes as read_votes
