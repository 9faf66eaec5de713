"""What `jaxrace duel` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses

from jaxrace.commands.options import Decimal, Delimiter


@dataclasses.dataclass(frozen=True)
class DuelConfig:
    """Say who beats whom in a matrix of wins or preferences.

    Prints who beats how many, who is the best in which way and, of counts, how clear that is.
    Imports no JAX. Exit status: 0, or 3 for counts by which it is not clear that one beats all
    others.

    For example:
      jaxrace duel wins.csv
      jaxrace duel wins.csv --out runs/wins

    Attributes:
        matrix: A file with p_ij (arm i beats arm j), or how often i has beaten j, in row i and
            column j, perhaps with names (CSV or other text with delimiters, Excel, Parquet, .npy).
        decimal: The decimal sign; auto takes a comma for one where it can be no other.
        delimiter: What is between the columns; auto takes what all lines allow.
    """

    matrix: str
    decimal: Decimal = "auto"
    delimiter: Delimiter = "auto"

    @property
    def inputs(self) -> dict[str, str]:
        """The file that is read."""
        return {"matrix": self.matrix}
