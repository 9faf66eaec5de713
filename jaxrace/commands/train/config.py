"""The options of `jaxrace train`; imports nothing heavy, for the command's help."""

import dataclasses
import itertools
from typing import Any, ClassVar, Literal, NamedTuple, get_args, get_type_hints

from jaxrace.core.inputs import require_default
from jaxrace.core.validation import (
    BadArgument,
    require_choice,
    require_integer,
    require_positive,
    require_probability,
)

Method = Literal["pb-edps-fast", "pb-edps", "edps", "edps-fast", "constant", "random"]

METHODS: dict[str, str] = {
    "pb-edps-fast": "evolution strategy, 28 policies that meet the same episodes",
    "pb-edps": "evolution strategy on ranks of preference-based races; published",
    "edps": "as pb-edps, by a Hoeffding race on returns; delta is a heuristic",
    "edps-fast": "as pb-edps-fast, by mean returns",
    "constant": "the same action in every step; learns nothing",
    "random": "a random action in every step; learns nothing",
}


ENVIRONMENTS: dict[str, str] = {
    "medical": "Cancer treatment (Busa-Fekete et al. 2014, section 6.2)."
}


class Setting(NamedTuple):
    """A point of the grid that is swept."""

    sigma: float | None
    delta: float


MIN_ROUNDS = 3  # floor of n_max, the rounds of a race (Busa-Fekete et al. 2014, section 6.2)
_SIGMA = 10.0
# Of fast methods, the best settings tried at equal budgets (docs/papers/reproductions.md, "Near the
# limit"): some 30 generations, of as many patients as the budget pays.
_FAST_POPULATION, _FAST_STRATEGY, _FAST_SIGMA = 28, "Sep_CMA_ES", 50.0
_EPISODES_PER_PATIENT, _LEAST_PATIENTS, _MOST_PATIENTS = 1_000, 10, 300
_LEAST_REPEATS = 11  # the first block of a dominance race
_MOST = 10**9  # episodes are counted in int32
_MOST_REPEATS = 10**6  # rows of some repeats are kept in memory, and so are states of patients
_MOST_POPULATION = 1_000  # races compare all pairs
_MOST_SEED = 2**32 - 1


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """Train policies, and compare them with baselines.

    Many evolutionary searches for a policy run side by side. Their policies, and policies that
    learn nothing, are evaluated on fresh episodes. Prints a table, and leaves a folder with
    config.json, log.csv, summary.json, timing.json and learning_curve.png. The last row of a search
    in log.csv is its policy, which jaxrace.runs.read_policies loads. Several step sizes or deltas
    make a grid: the table ranks the settings, and settings.png shows them. An interrupted run is
    saved; --resume goes on with it.

    The default method learns best at this budget (docs/papers/reproductions.md, "Near the limit").
    Method pb-edps is that of Busa-Fekete et al. 2014 in its medical experiment (section 6.2), but
    for its race: it has the library's default bound and the sharp rule. `--bound published` takes
    the paper's bound.

    For example:
      jaxrace train medical
      jaxrace train medical --method edps --hazard B --out runs/edps-b
      jaxrace train medical --sigma 1,10,50 --delta 0.1,0.2 --repeats 20 --out runs/grid
      jaxrace train medical --sigma 0.1,1,5,10,15,25,50,100 --race

    On a cluster of Ray, with a folder that all nodes see, or in a process per core:
      jaxrace train medical --sigma 1,10,50 --out /net/grid --ray auto
      jaxrace train medical --repeats 2000 --ray

    Attributes:
        env: The environment: one that ``jaxrace list`` shows, or your own as `module:name`.
            Policies are compared by returns, unless it has an attribute `compare`, a preference of
            two outcomes, and a `fold`, which makes an outcome of an episode. Tables then have the
            means of the outcome's numbers, too; settings of a grid are ranked by returns.
        method: What to train or to evaluate; ``jaxrace list`` explains.
        episodes: Training episodes of each search. The race that uses up the last is finished. Fast
            methods keep the last ones, a generation and up to 1,000, for a final race, which plays
            no more than it needs.
        repeats: The number of independent searches, of each setting of a grid.
        sigma: The initial step size of the evolution strategy, or several. Without it 50 with fast
            methods, 10 with the others, and none where the strategy has none.
        delta: The error probability of each race (of edps: of its heuristic), or several.
        bound: The confidence bound of pb-edps and pb-edps-fast; ``jaxrace list`` explains.
        strategy: The evolution strategy; ``jaxrace list`` shows all. Without it Sep_CMA_ES with
            fast methods, and CMA_ES with the others.
        population: Policies per generation. A race ranks them, and the better half is recombined.
            Fast methods have their own number.
        max_rounds: The most episodes that a race may spend on one policy. Fast methods have their
            own number.
        action: The action of method constant. Medical: a dose in [0, 1].
        hazard: How readily patients die. With B fewer die.
        coefficients: The growth rates of tumour and toxicity.
        reward: The reward of Zhao et al. 2009, or as printed in the 2014 paper.
        race: Of a grid: stop the repeats of settings that cannot be the best any more. A dominance
            race on their final results decides.
        test_patients: Fresh episodes on which every policy is evaluated.
        seed: The seed of all random numbers.
    """

    HELP_GROUPS: ClassVar = {"medical task": ("hazard", "coefficients", "reward")}

    env: str = "medical"
    method: Method = "pb-edps-fast"
    episodes: int = 10_000
    repeats: int = 100
    sigma: float | tuple[float, ...] | None = None
    delta: float | tuple[float, ...] = 0.2
    bound: str = "stitched-kl"
    strategy: str | None = None
    population: int = 7
    max_rounds: int = 100
    action: float = 0.4
    hazard: Literal["A", "B"] = "A"
    coefficients: Literal["seed000", "furnkranz2012"] = "seed000"
    reward: Literal["zhao", "printed"] = "zhao"
    race: bool = False
    test_patients: int = 300
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("sigma", "delta"):
            object.__setattr__(self, name, _as_scalar(name, getattr(self, name)))
        # Imported late: it imports JAX, which the command's help has no time for.
        from jaxrace import kernels

        require_environment(self.env)
        hints = get_type_hints(TrainConfig)
        for name in ("method", "hazard", "coefficients", "reward"):
            require_choice(name, getattr(self, name), get_args(hints[name]))
        require_integer("episodes", self.episodes, 1, _MOST)
        for name in ("repeats", "test_patients"):
            require_integer(name, getattr(self, name), 1, _MOST_REPEATS)
        require_integer("seed", self.seed, 0, _MOST_SEED)
        require_integer("max_rounds", self.max_rounds, MIN_ROUNDS, kernels.MAX_TABLE_CAPACITY)
        require_integer("population", self.population, 2, _MOST_POPULATION)
        for delta in _as_tuple(self.delta):
            require_probability("delta", delta)
        kernels.bound_named(self.bound)
        require_step_size(self.own_strategy, self.sizes[0], self.sigma)
        if self.race and not (self.is_grid and self.repeats >= _LEAST_REPEATS):
            wanted = f"several settings with at least {_LEAST_REPEATS} repeats"
            raise BadArgument("race", wanted, f"{len(self.settings)} with {self.repeats}")
        if not self.learns and self.is_grid:
            raise BadArgument("method", "pb-edps or edps for a grid", repr(self.method))
        unused = ["action"] if self.method != "constant" else []
        if self.is_fast:
            unused += ["population", "max_rounds"]
        if not self.learns:
            unused += ["sigma", "delta", "strategy", "population", "max_rounds"]
        if self.method not in ("pb-edps", "pb-edps-fast"):
            unused += ["bound"]
        for name in unused:
            require_default(name, self, f"with method {self.method}, which does not use it")

    @property
    def settings(self) -> list[Setting]:
        """Every initial step size with every delta; the step size may be None."""
        from jaxrace.search.strategies import Strategy

        sigma = self.sigma
        if sigma is None and Strategy(self.own_strategy, self.sizes[0]).has_step_size:
            sigma = _FAST_SIGMA if self.is_fast else _SIGMA
        return [
            Setting(*pair) for pair in itertools.product(_as_tuple(sigma), _as_tuple(self.delta))
        ]

    @property
    def is_grid(self) -> bool:
        """Are there several settings?"""
        return isinstance(self.sigma, tuple) or isinstance(self.delta, tuple)

    @property
    def learns(self) -> bool:
        """Does the method train policies, by an evolution strategy?"""
        return self.method not in ("constant", "random")

    @property
    def is_fast(self) -> bool:
        """Do all policies of a generation meet the same episodes, and does it end by a race?"""
        return self.method in ("pb-edps-fast", "edps-fast")

    @property
    def own_strategy(self) -> str:
        """The strategy that is asked for, or that of the method."""
        return self.strategy or (_FAST_STRATEGY if self.is_fast else "CMA_ES")

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Policies of a generation, and floor and cap of the rounds of its race."""
        if self.is_fast:
            patients = max(self.episodes // _EPISODES_PER_PATIENT, _LEAST_PATIENTS)
            patients = min(patients, _MOST_PATIENTS)
            return _FAST_POPULATION, patients, patients
        return self.population, MIN_ROUNDS, self.max_rounds


def require_environment(name: str) -> None:
    """Raise unless it is one of ``ENVIRONMENTS``, or has the form `module:name`."""
    if name not in ENVIRONMENTS and not all(name.partition(":")):
        hint = "; one of yours is module:name"
        raise BadArgument("env", f"one of {', '.join(ENVIRONMENTS)}", repr(name), hint)


def require_step_size(strategy: str, population: int, sigma: Any) -> None:
    """Raise unless ``sigma`` is None, or has step sizes and the strategy takes one."""
    from jaxrace.search.strategies import Strategy

    has_one = Strategy(strategy, population).has_step_size
    for size in () if sigma is None else _as_tuple(sigma):
        require_positive("sigma", size)
        if not has_one:
            wanted = f"null for {strategy}, which has no initial step size"
            raise BadArgument("sigma", wanted, repr(sigma))


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _as_scalar(name: str, value: Any) -> Any:
    """Several values as a tuple, a single one by itself."""
    if not isinstance(value, list | tuple):
        return value
    if not value or len(set(value)) < len(value):
        raise BadArgument(name, "different numbers, at least one", repr(value))
    return value[0] if len(value) == 1 else tuple(value)
