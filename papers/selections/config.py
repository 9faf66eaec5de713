"""What simulated selections are asked to do; imports nothing heavy, for the command's help."""

import dataclasses

from jaxrace.core.inputs import require_default
from jaxrace.core.validation import (
    BadArgument,
    require_choice,
    require_integer,
    require_number,
    require_probability,
)
from papers.config import require_names

SELECTORS: dict[str, str] = {
    "pocbam": "POCBAm: pairs that make the selection surest; no model",
    "ml-pocbam": "the same on a Thurstone model, one sweep of its fit",
    "ml-pocbam-stationary": "the same, the model fitted to the end; slower",
    "hybrid": "ml-pocbam while scores look transitive, else pocbam",
    "pkg": "PKG: pairs that may change the selection, by how much",
    "uniform": "all pairs in turn",
    "ocba": "allocation by single options, random opponents",
    "top": "SELECT/TOP: knock-out tournaments; needs a total order",
    "active-ranking": "random duels, wins only; guaranteed with 1 - delta",
    "active-ranking-wide": "the same with the wider intervals of its first version",
    "pairwise-race": "pairs in doubt, wins only; guaranteed with 1 - delta",
    "pairwise-race-copeland": "the same for those who beat the most others",
    "pairwise-race-walk": "by visits of a random walk; hardly ever decides",
}

PROBLEMS: dict[str, str] = {
    "thurstone": "scores N(g_i - g_j + noise, s_ij^2), g and s^2 (or s) uniform in [0, 1]",
    "wins": "wins, p_ij logistic in the difference of qualities",
    "circle": "the same and a circle in which everybody beats the next ones",
}

# Selectors that estimate variances of pairs.
FROM_SCORES = ("pocbam", "ml-pocbam", "ml-pocbam-stationary", "hybrid", "pkg", "uniform")

# See ``ScoreSelector``. Of wins 1, 2 and 4 are about as good and 0 is not; of scores it helps some
# methods and makes hardly a difference to the others (docs/papers/top_k_selection.md).
POOLED_SAMPLES = 2.0
_GUARANTEED = ("active-ranking", "pairwise-race")
_MOST = 10**9


@dataclasses.dataclass(frozen=True)
class SelectionsConfig:
    """Simulate how often each method finds the best k from comparisons of two.

    Leaves a folder with config.json, log.csv, summary.json and success.png. What is interrupted is
    saved, and goes on with --resume.

    For example:
      python -m papers.selections thurstone --method hybrid,pocbam,uniform --noise 0.2
      python -m papers.selections wins --options 20 --top 1 --budget 5000 --out runs/wins

    Attributes:
        method: How to choose pairs, or several methods with commas between them.
        problem: What to simulate.
        top: How many of the best to select, k.
        options: Number of options, K.
        noise: Of problem thurstone: standard deviation of what is not transitive.
        uniform: Of problem thurstone: what is uniform in [0, 1], the variance s^2 or the deviation
            s of a pair's scores.
        budget: Comparisons of each selection; above the warm-up, 3 of each pair. Rounded down a
            little where there are no equal intervals between some 100 records.
        repeats: Selections by each method.
        batch: Comparisons that are chosen before any of them is made; above 1 for pocbam,
            ml-pocbam, hybrid, pkg and uniform.
        pooled_samples: Of the same methods: the variance of every pair is mixed with so many
            samples of the variance within all pairs.
        delta: Of the active rankings and pairwise races: their error probability.
        seed: Seed of all random numbers.
    """

    method: str = "pkg"
    problem: str = "thurstone"
    top: int = 1
    options: int = 10
    noise: float = 0.0
    uniform: str = "variance"
    budget: int = 1_000
    repeats: int = 200
    batch: int = 1
    pooled_samples: float = POOLED_SAMPLES
    delta: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        require_names("method", self.methods, SELECTORS)
        require_choice("problem", self.problem, tuple(PROBLEMS))
        for name in ("top", "budget", "batch"):
            require_integer(name, getattr(self, name), 1, _MOST)
        require_integer("repeats", self.repeats, 2, _MOST)
        require_integer("seed", self.seed, 0, _MOST)
        require_number("noise", self.noise, 0)
        require_number("pooled_samples", self.pooled_samples, 0)
        require_probability("delta", self.delta)
        require_choice("uniform", self.uniform, ("variance", "deviation"))
        if self.problem != "thurstone":
            why = f"with problem {self.problem}, as it is of problem thurstone"
            require_default("noise", self, why)
            require_default("uniform", self, why)
        require_integer("options", self.options, 2)
        if self.top >= self.options:
            raise BadArgument("top", f"less than options = {self.options}", str(self.top))
        if not any(method.startswith(_GUARANTEED) for method in self.methods):
            require_default("delta", self, f"with method {self.method}, which guarantees nothing")
        others = [method for method in self.methods if method not in FROM_SCORES]
        if len(others) == len(self.methods):
            why = f"with method {self.method}, which estimates no variances of pairs"
            require_default("pooled_samples", self, why)
        if others and self.batch > 1:
            raise BadArgument(
                "batch", f"1 with method {others[0]}, which chooses one by one", f"{self.batch}"
            )

    @property
    def methods(self) -> tuple[str, ...]:
        """The names."""
        return tuple(self.method.split(","))
