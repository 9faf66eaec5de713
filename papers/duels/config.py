"""What simulated bandits are asked to do; imports nothing heavy, for the command's help."""

import dataclasses

from jaxrace.commands.options import Decimal, Delimiter
from jaxrace.core.inputs import require_default
from jaxrace.core.validation import require_integer, require_probability
from papers.config import require_names

ALGORITHMS: dict[str, str] = {
    "rucb": "RUCB: upper confidence bounds; needs a Condorcet winner",
    "dts": "double Thompson sampling, for Copeland winners",
    "dts-plus": "the same, ties broken by expected regret; slower",
    "sup-klucb": "KL-UCB on pairs, by Copeland scores; no guarantee",
    "sup-klucb-borda": "the same by Borda scores",
    "rmed1": "RMED1: by likelihoods; needs a Condorcet winner",
    "merge-rucb": "RUCB in small batches that merge; the same",
    "self-sparring": "both arms by Thompson sampling; for total orders",
    "savage": "explores until it is sure of the Copeland winner; exploits",
    "savage-condorcet": "the same for a Condorcet winner",
    "savage-borda": "the same for the Borda winner",
    "borda-elimination": "action elimination by duels with random arms, for the same",
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
MOST_ARMS = 20_000  # a matrix of so many arms takes 1.6 GB
_MOST = 10**9  # choices are counted in int32
_MOST_REPEATS = 10**6  # rows of some repeats are kept in memory


@dataclasses.dataclass(frozen=True)
class DuelsConfig:
    """Run dueling bandits on a preference matrix, many repeats side by side.

    Prints who beats how many and a table of regrets, and leaves a folder with config.json, log.csv,
    summary.json, regret.png and, of a file, matrix.png. What is interrupted is saved, and goes on
    with --resume.

    For example:
      python -m papers.duels random
      python -m papers.duels mine.csv --algorithm rucb,dts --horizon 100000 --repeats 50
      python -m papers.duels hard-condorcet --algorithm savage --arms 20 --out runs/savage

    Attributes:
        algorithm: What to run, or several with commas between them.
        matrix: A file as for jaxrace duel, or a name; random ones are drawn once, from the seed.
        arms: Number of arms of a matrix by name; null stands for 10.
        horizon: Duels of each run, rounded down a little where there are no equal intervals between
            some 100 records.
        repeats: Independent runs of each algorithm, each with the arms in another random order.
        delta: Error probability of savage and borda-elimination; null stands for 1 / horizon.
        seed: Seed of all random numbers.
        decimal: Of a file: its decimal sign; auto takes a comma for one where it can be no other.
        delimiter: Of a file: what is between its columns; auto takes what all lines allow.
    """

    algorithm: str = "rucb,dts,sup-klucb,savage"
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
        if not any(name.startswith(("savage", "borda")) for name in self.algorithms):
            require_default("delta", self, f"with {self.algorithm}, which does not use it")

    @property
    def inputs(self) -> dict[str, str]:
        """The files that the options name."""
        return {} if self.matrix in MATRICES else {"matrix": self.matrix}

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The names."""
        return tuple(self.algorithm.split(","))
