"""Ways to run PB-EDPS on the medical task, to see which of them pays."""

import dataclasses
import functools
from collections.abc import Callable

from jaxrace import racing
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import searched, with_final_race
from jaxrace.commands.train.tasks import Task
from jaxrace.search import PolicySearch, SearchWork, SplitRaceSearch, stack_params
from jaxrace.strategies import Strategy

# FAST is what `--method pb-edps-fast` does.
PUBLISHED, FAST = "published schedule", "population 14, 30 rollouts, final race"
_SIGMA, _DELTA, _MAX_ROUNDS = 10.0, 0.2, 100


@dataclasses.dataclass(frozen=True)
class Variant:
    """A way to run PB-EDPS."""

    race: Callable[..., racing.Race]  # of a generation, given lambda, mu and ``compare``
    population: int = 7  # lambda
    rounds: tuple[int, int] = (3, _MAX_ROUNDS)  # floor and cap of n_max
    race_numbers: tuple[tuple[str, float], ...] = ()  # further numbers of the race
    deltas: tuple[float, ...] = (_DELTA,)  # take turns while the budget is used up
    # Of the halves of a race, above which the next one is shorter; None: decided.
    agreement: float | None = None
    is_final: bool = False  # does a final race choose among the last generations' best?
    base: str = PUBLISHED  # the variant with which it is compared

    def searches(self, config: TrainConfig, task: Task) -> SearchWork:
        """The learner and its numbers."""
        size, parents = self.population, self.population // 2
        race = self.race(size, parents, compare=task.compare)
        strategy = Strategy("CMA_ES", size)
        parts = (task.env, task.policy, task.fold, race, strategy)
        search = PolicySearch(*parts)
        if self.agreement is not None:
            search = SplitRaceSearch(*parts, agreement=self.agreement)
        generation = size * self.rounds[1]
        budget = searched(config.episodes, generation) if self.is_final else config.episodes
        sizes, numbers = (_SIGMA, self.deltas, budget, *self.rounds), dict(self.race_numbers)
        params = search.params(*sizes, env_params=task.env_params, **numbers)
        if self.is_final:
            return with_final_race(task, search, [params], config.episodes, generation)
        return SearchWork(search, stack_params([params]))


_published = functools.partial(racing.PreferenceRace, capacity=_MAX_ROUNDS, bound="published")
_stitched = functools.partial(racing.PreferenceRace, capacity=_MAX_ROUNDS)
_dominance = functools.partial(racing.DominanceRace, capacity=_MAX_ROUNDS)

# From loose to strict, as the budget is used up.
_ADAPTIVE = tuple(0.5 - 0.05 * part for part in range(10))

VARIANTS: dict[str, Variant] = {
    PUBLISHED: Variant(_published),
    **{f"{n} rollouts": Variant(_published, rounds=(n, n)) for n in (3, 10, 30, 100)},
    "n_max up to 30": Variant(_published, rounds=(3, 30)),
    "stitched-KL race": Variant(_stitched),
    "stitched-KL, epsilon 0.05": Variant(_stitched, race_numbers=(("epsilon", 0.05),)),
    "stitched-KL, epsilon 0.1": Variant(_stitched, race_numbers=(("epsilon", 0.1),)),
    "stitched-KL, delta 0.5 to 0.05": Variant(_stitched, deltas=_ADAPTIVE),
    "stitched-KL, epsilon 0.1, delta 0.5 to 0.05": Variant(
        _stitched, race_numbers=(("epsilon", 0.1),), deltas=_ADAPTIVE
    ),
    "dominance race": Variant(_dominance),
    **{
        f"until the halves agree to {agreement:.0%}": Variant(_published, agreement=agreement)
        for agreement in (0.5, 0.7, 0.9)
    },
    "population 14": Variant(_published, population=14),
    "population 28": Variant(_published, population=28),
    "population 14, 30 rollouts": Variant(_published, population=14, rounds=(30, 30)),
    "population 28, 30 rollouts": Variant(_published, population=28, rounds=(30, 30)),
    "population 28, 10 rollouts": Variant(_published, population=28, rounds=(10, 10)),
    "final race": Variant(_published, is_final=True),
    **{
        f"{n} rollouts, final race": Variant(
            _published, rounds=(n, n), is_final=True, base=f"{n} rollouts"
        )
        for n in (10, 30)
    },
    # With the default bound of the command. In 30 rounds neither bound decides anything.
    FAST: Variant(_stitched, 14, (30, 30), is_final=True, base="population 14, 30 rollouts"),
}

# Those that end a race when its order is certain enough, each by another standard.
RACES = tuple(
    name for name in VARIANTS if name.startswith(("stitched-KL", "dominance", "until the halves"))
)
