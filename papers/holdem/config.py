"""What `python -m papers.holdem` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses

from jaxrace.commands.train.config import require_step_size
from jaxrace.core.validation import BadArgument, require_choice, require_integer
from papers.config import require_names

SELECTIONS: dict[str, str] = {
    "hybrid": "pairs that make the selection surest, while scores look transitive",
    "pkg": "pairs that may change the selection, by the knowledge gradient",
    "race": "players in doubt against random others, by a race",
    "uniform": "all pairs in turn",
}

# Matches of each pair before a selector by scores begins to choose, if there are as many.
WARM_UP = 3
_DEFAULT_SIGMA = 0.8  # step size where the strategy has one and none was asked for
_LEAST_SAMPLES = 11  # the first block of a dominance race; with fewer samples it says nothing

# Hands and matches are counted in int32; of other things some are kept in memory.
_MOST, _MOST_KEPT = 10**9, 10**6

# Generations are ranked by pairs; chips are added in int32.
_MOST_OF = {"hands": _MOST, "seed": _MOST, "population": 1_000, "stack": 400_000_000}


@dataclasses.dataclass(frozen=True)
class HoldemConfig:
    """Evolve hold'em players, who are ranked by matches against each other.

    They are ranked by several selections from the same starts, each search until its generation has
    ended and all --hands are played. Prints what the players win from opponents that are always the
    same, and leaves a folder with config.json, log.csv, evaluation.csv, summary.json, players.npz
    and learning_curve.png. What is interrupted is saved, and goes on with --resume.

    For example:
      python -m papers.holdem
      python -m papers.holdem --selection pkg,uniform --hands 5000000 --out runs/players
      python -m papers.holdem --stack 2000 --sigma 1 --strategy Sep_CMA_ES

    Attributes:
        selection: How the better half of a generation is found, or several ways with commas
            between them, each from the same start.
        strategy: Evolution strategy; ``jaxrace list`` shows all. Players have 1,449 weights: too
            many for those with a covariance matrix.
        sigma: Its initial step size; null stands for 0.8, or for none where it has none.
        population: Players per generation; the better half is recombined.
        matches: Matches of a generation for each pair, on average; 3 of every pair come first.
            The most for race, which ends when the players in doubt have had their share.
        decks: Decks of a match, each played twice with players and cards exchanged.
        hands: Hands of each search; the generation that uses up the last is finished.
        stack: Chips of each seat at the beginning of a hand; the blinds are 50 and 100.
        pool: Decks that matches are drawn from.
        block: Matches that are played side by side; few on a CPU, for its caches, more on a GPU.
        repeats: Number of independent searches by each selection.
        test_matches: Matches against each fixed opponent, on fresh decks, by which players are
            evaluated.
        test_decks: Decks of such a match.
        seed: Seed of all random numbers.
    """

    selection: str = "hybrid,race,uniform"
    strategy: str = "SNES"
    sigma: float | None = None
    population: int = 32
    matches: int = 4
    decks: int = 5
    hands: int = 200_000
    stack: int = 20_000
    pool: int = 4_096
    block: int = 16
    repeats: int = 5
    test_matches: int = 16
    test_decks: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        require_names("selection", self.selections, SELECTIONS)
        least = {"population": 4, "matches": 2, "stack": 100, "test_matches": 2, "seed": 0}
        for field in dataclasses.fields(self):
            if field.type is int:
                value = getattr(self, field.name)
                most = _MOST_OF.get(field.name, _MOST_KEPT)
                require_integer(field.name, value, least.get(field.name, 1), most)
        if self.budget > _MOST:
            raise BadArgument(
                "matches",
                f"at most {_MOST:,} in a generation",
                f"{self.budget:,} with {self.matches} of each pair of {self.population}",
            )
        # Imported late: it imports JAX, which the command's help has no time for.
        from jaxrace.search.strategies import SUPPORTED

        require_choice("strategy", self.strategy, SUPPORTED)
        if self.sigma is not None:
            require_step_size(self.strategy, self.population, self.sigma)
        samples = self.budget // self.population
        if "race" in self.selections and samples < _LEAST_SAMPLES:
            raise BadArgument(
                "matches",
                f"at least {_LEAST_SAMPLES} of each player for a race",
                f"{samples} with {self.matches} of each pair of {self.population}",
            )

    @property
    def selections(self) -> tuple[str, ...]:
        """The names."""
        return tuple(self.selection.split(","))

    @property
    def budget(self) -> int:
        """Matches of a generation."""
        return self.matches * self.population * (self.population - 1) // 2

    @property
    def hands_of_match(self) -> int:
        """Hands of a match."""
        return 2 * self.decks

    @property
    def step_size(self) -> float | None:
        """The initial step size of the strategy, None if it has none."""
        from jaxrace.search.strategies import Strategy

        has_one = Strategy(self.strategy, self.population).has_step_size
        return _DEFAULT_SIGMA if self.sigma is None and has_one else self.sigma
