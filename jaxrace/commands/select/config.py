"""What `jaxrace select` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses
from typing import Literal, get_args

from jaxrace.commands.table_options import Decimal, Delimiter
from jaxrace.validation import (
    require_choice,
    require_default,
    require_integer,
    require_names,
    require_number,
    require_probability,
)

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
    "thurstone": "scores N(g_i - g_j + noise, s_ij^2), g and s^2 uniform in [0, 1]",
    "wins": "wins, p_ij logistic in the difference of qualities",
    "circle": "the same and a circle in which everybody beats the next ones",
}

# Selectors that estimate variances of pairs.
FROM_SCORES = ("pocbam", "ml-pocbam", "ml-pocbam-stationary", "hybrid", "pkg", "uniform")

# See ``ScoreSelector``. Of wins 1, 2 and 4 are about as good and 0 is not; of scores it helps some
# methods and makes hardly a difference to the others (docs/top_k_selection.md).
POOLED_SAMPLES = 2.0
_GUARANTEED = ("active-ranking", "pairwise-race")
# How a file is read.
OF_COLUMNS = ("first_column", "second_column", "score_column", "decimal", "delimiter")
_MOST = 10**9
_MOST_PROPOSED = 10_000
Score = Literal["auto", "win", "margin"]


@dataclasses.dataclass(frozen=True)
class SelectConfig:
    """Find the best k from comparisons of two.

    Of a file of comparisons (columns such as first, second, score) prints the ranking, how sure it
    is, and what to compare next, at once and without JAX; --out also leaves a folder with
    config.json, summary.json, ranking.csv and its figure as PNG and SVG. A score is by how much the
    first was better, so 1, -1 and 0 for won, lost and tied, or the share of a win, 1, 0 and 0.5:
    --score margin or --score win says which, where the file does not. Exit status: 0, or 3 while
    the selection is right with an estimated probability below 1 - delta. Of a simulated problem
    prints how often each method finds the best, and leaves a folder with config.json, log.csv,
    summary.json and success.png. What is interrupted is saved, and goes on with --resume.

    For example:
      jaxrace select games.csv --top 3 --next 10
      jaxrace select votes.csv --score win
      jaxrace select thurstone --method hybrid,pocbam,uniform --noise 0.2
      jaxrace select wins --options 20 --top 1 --budget 5000 --out runs/wins

    Attributes:
        method: Of a simulation: how to choose pairs, or several methods with commas between them;
            ``jaxrace list`` explains.
        problem: A file of comparisons made so far (CSV or other text with delimiters, JSON, Excel,
            Parquet, PGN) with two columns of options, such as first and second or model_a and
            model_b, and one that says who has won, such as score, winner or result; or what to
            simulate, see ``jaxrace list``.
        top: How many of the best to select, k.
        next: Of a file: how many comparisons to propose.
        score: Of a file: margin, by how much the first was better, below 0 if it was worse (so 1,
            -1 and 0 for won, lost and tied); win, the first's share of a win: 1, 0 and .5 for won,
            lost and tied. auto reads nothing but 0, .5 and 1 as win, and what has negative scores
            as margin; of other files it says what is unclear.
        first_column: Of a file: the column of the first option, where its name does not say so.
        second_column: Of a file: that of the second one.
        score_column: Of a file: the column that says who has won.
        decimal: Of a file: its decimal sign; auto takes a comma for one where it can be no other.
        delimiter: Of a file: what is between its columns; auto takes what all lines allow.
        options: Of a simulation: number of options, K.
        noise: Of problem thurstone: standard deviation of what is not transitive.
        budget: Of a simulation: comparisons of each selection; above the warm-up, 3 of each pair.
            Rounded down a little where there are no equal intervals between some 100 records.
        repeats: Of a simulation: selections by each method.
        batch: Of a simulation: comparisons that are chosen before any of them is made; above 1 for
            pocbam, ml-pocbam, hybrid, pkg and uniform.
        pooled_samples: Of the same methods: the variance of every pair is mixed with so many
            samples of the variance within all pairs.
        delta: Of a file: the exit status is 3 while the selection is right with an estimated
            probability below 1 - delta. Of the active rankings and pairwise races: their error
            probability.
        seed: Seed of all random numbers.
    """

    method: str = "pkg"
    problem: str = "thurstone"
    top: int = 1
    next: int = 5
    score: Score = "auto"
    first_column: str | None = None
    second_column: str | None = None
    score_column: str | None = None
    decimal: Decimal = "auto"
    delimiter: Delimiter = "auto"
    options: int = 10
    noise: float = 0.0
    budget: int = 1_000
    repeats: int = 200
    batch: int = 1
    pooled_samples: float = POOLED_SAMPLES
    delta: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        require_names("method", self.methods, SELECTORS)
        for name in ("top", "budget", "repeats", "batch"):
            require_integer(name, getattr(self, name), 1, _MOST)
        require_integer("next", self.next, 1, _MOST_PROPOSED)
        require_choice("score", self.score, get_args(Score))
        require_integer("seed", self.seed, 0, _MOST)
        require_number("noise", self.noise, 0)
        require_number("pooled_samples", self.pooled_samples, 0)
        require_probability("delta", self.delta)
        if self.is_file:
            self._check_of_file()
        else:
            self._check_of_simulation()

    def _check_of_file(self) -> None:
        if "." not in self.problem:
            raise ValueError(
                f"problem: expected a file or one of {', '.join(PROBLEMS)}, got {self.problem!r}"
            )
        for name in ("method", "options", "noise", "budget", "repeats", "batch", "pooled_samples"):
            require_default(name, self, f"with problem {self.problem}, as it is of a simulation")

    def _check_of_simulation(self) -> None:
        for name in ("next", "score", *OF_COLUMNS):
            require_default(name, self, f"with problem {self.problem}, as it is of a file")
        if self.problem != "thurstone":
            why = f"with problem {self.problem}, as it is of problem thurstone"
            require_default("noise", self, why)
        require_integer("options", self.options, 2)
        if self.top >= self.options:
            raise ValueError(f"top: expected less than options = {self.options}, got {self.top}")
        require_integer("repeats", self.repeats, 2)
        if not any(method.startswith(_GUARANTEED) for method in self.methods):
            require_default("delta", self, f"with method {self.method}, which guarantees nothing")
        others = [method for method in self.methods if method not in FROM_SCORES]
        if len(others) == len(self.methods):
            why = f"with method {self.method}, which estimates no variances of pairs"
            require_default("pooled_samples", self, why)
        if others and self.batch > 1:
            raise ValueError(
                f"batch: expected 1 with method {others[0]}, which chooses one by one, "
                f"got {self.batch}"
            )

    @property
    def methods(self) -> tuple[str, ...]:
        """The names."""
        return tuple(self.method.split(","))

    @property
    def inputs(self) -> dict[str, str]:
        """The files that the options name."""
        return {"problem": self.problem} if self.is_file else {}

    @property
    def is_file(self) -> bool:
        """Are there comparisons already?"""
        return self.problem not in PROBLEMS

    @property
    def is_answered_at_once(self) -> bool:
        """The same: needs no JAX."""
        return self.is_file
