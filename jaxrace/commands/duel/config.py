"""What `jaxrace duel` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses

from jaxrace.commands.table_options import Decimal, Delimiter
from jaxrace.validation import require_default, require_integer, require_names, require_probability

ALGORITHMS: dict[str, str] = {
    "rucb": "RUCB: upper confidence bounds; needs a Condorcet winner",
    "dts": "double Thompson sampling, for Copeland winners",
    "dts-plus": "the same, ties broken by expected regret; slower",
    "sup-klucb": "KL-UCB on pairs, by Copeland scores; no guarantee",
    "sup-klucb-borda": "the same by Borda scores",
    "savage": "explores until it is sure of the Copeland winner; exploits",
    "savage-condorcet": "the same for a Condorcet winner",
    "savage-borda": "the same for the Borda winner",
    "savage-sampled": "savage by a sampled test; right as often, slower to run",
    "interleaved-filter": "IF2: a candidate against all; needs a Condorcet winner",
    "beat-the-mean": "BTM: drops the worst on average; needs a Condorcet winner",
    "uniform": "two random arms",
}

MATRICES: dict[str, str] = {
    "random": "every p_ij uniform in [0, 1]",
    "linear": "arm 0 best, then arm 1, ...; p_ij uniform in [1/2, 1]",
    "hard-condorcet": "p_ij = 1/2 + j / 2K: near arms are hard to tell",
    "flat": "the better arm wins with probability 0.6",
    "cyclic": "a circle: every arm beats the half that follows it",
    "plackett-luce": "p_ij = w_i / (w_i + w_j), w uniform in [0, 1]",
    "thurstone": "p_ij from normal performances with random means",
}

DEFAULT_ARMS = 10
_DEFAULT = "rucb", "dts", "sup-klucb", "savage"  # of a matrix by name
MOST_ARMS = 20_000  # a matrix of so many arms takes 1.6 GB
_MOST = 10**9  # choices are counted in int32
_MOST_REPEATS = 10**6  # rows of some repeats are kept in memory


@dataclasses.dataclass(frozen=True)
class DuelConfig:
    """Say who beats whom in a preference matrix, and run dueling bandits on it.

    Of a file, prints who beats how many, who is the best in which way and, of counts, how clear
    that is, at once and without JAX; --out also leaves a folder with config.json, summary.json,
    options.csv and a figure as PNG and SVG. Exit status: 0, or 3 for counts by which it is not
    clear that one beats all others. With --algorithm, and of a matrix by name, bandits are
    simulated on it, many repeats side by side: also prints a table of regrets, and leaves a folder
    with config.json, log.csv, summary.json, regret.png and, of a file, matrix.png. What is
    interrupted is saved, and goes on with --resume.

    For example:
      jaxrace duel mine.csv
      jaxrace duel mine.csv --algorithm rucb,dts --horizon 100000 --repeats 50
      jaxrace duel random
      jaxrace duel hard-condorcet --algorithm savage --arms 20 --out runs/savage

    Attributes:
        algorithm: What to simulate, or several with commas between them; ``jaxrace list`` explains;
            null stands for nothing of a file, for rucb,dts,sup-klucb,savage of a matrix by name.
        matrix: A file with p_ij (arm i beats arm j), or how often i has beaten j, in row i and
            column j, perhaps with names (CSV or other text with delimiters, Excel, Parquet, .npy);
            or a name that ``jaxrace list`` shows; random ones are drawn once, from the seed.
        arms: Number of arms of a matrix by name; null stands for 10.
        horizon: Duels of each run, rounded down a little where there are no equal intervals between
            some 100 records.
        repeats: Independent runs of each algorithm, each with the arms in another random order.
        delta: Error probability of the savage algorithms; null stands for 1 / horizon.
        seed: Seed of all random numbers.
        decimal: Of a file: its decimal sign; auto takes a comma for one where it can be no other.
        delimiter: Of a file: what is between its columns; auto takes what all lines allow.
    """

    algorithm: str | None = None
    matrix: str = "random"
    arms: int | None = None
    horizon: int = 10_000
    repeats: int = 100
    delta: float | None = None
    seed: int = 0
    decimal: Decimal = "auto"
    delimiter: Delimiter = "auto"

    def __post_init__(self) -> None:
        require_names("algorithm", self.algorithms, ALGORITHMS)
        if self.matrix in MATRICES:
            for name in ("decimal", "delimiter"):
                require_default(name, self, f"with matrix {self.matrix}, as it is of a file")
        if self.arms is not None:
            require_integer("arms", self.arms, 2, MOST_ARMS)
        require_integer("horizon", self.horizon, 1, _MOST)
        require_integer("repeats", self.repeats, 1, _MOST_REPEATS)
        require_integer("seed", self.seed, 0, _MOST)
        if self.delta is not None:
            require_probability("delta", self.delta)
        if not self.algorithms:
            for name in ("horizon", "repeats", "delta", "seed"):
                require_default(name, self, "of a file without --algorithm, which simulates")
        elif not any(name.startswith("savage") for name in self.algorithms):
            require_default("delta", self, f"with {self.algorithm}, which does not use it")

    @property
    def inputs(self) -> dict[str, str]:
        """The files that the options name."""
        return {} if self.matrix in MATRICES else {"matrix": self.matrix}

    @property
    def is_answered_at_once(self) -> bool:
        """Is nothing simulated? It needs no JAX then."""
        return not self.algorithms

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The names; none of a file that is only looked at."""
        if self.algorithm is None:
            return _DEFAULT if self.matrix in MATRICES else ()
        return tuple(self.algorithm.split(","))
