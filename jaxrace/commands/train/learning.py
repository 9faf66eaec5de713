"""The searches of a training job, and their evaluation. Axes: S settings, R repeats of each."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.typing import ArrayLike
from numpy.typing import NDArray

from jaxrace import racing, search, sweep
from jaxrace.agents.outcomes import Both, Return
from jaxrace.agents.rollout import PolicyInTask, Rollout
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.tasks import Task, evaluated
from jaxrace.core.compilation import jit
from jaxrace.core.protocol import pytree
from jaxrace.core.validation import BadArgument
from jaxrace.search.strategies import Strategy

CANDIDATES = 10  # of a final race
_FINAL_ROUNDS = 100  # that the one of a fast method reserves for each
# A million take .6 s of two cores, and 1.4 s side by side, which compiles 3 s less.
_FEW_EPISODES = 2_000_000


class TrainJob(NamedTuple):
    """One search."""

    setting: ArrayLike  # int32 []
    stream: ArrayLike  # uint32 [], of random numbers


class TrainRow(NamedTuple):
    """One generation."""

    search: Any  # the learner's, such as a ``SearchRow``
    metrics: dict[str, jax.Array]  # of its policy on fresh episodes, float32 []


State = tuple[tuple[Any, ArrayLike], ArrayLike]


@pytree
class TrainWork:
    """What ``sweep.run`` does with a ``TrainJob``."""

    searches: search.SearchWork  # with the settings
    train_key: jax.Array  # of all searches
    test_key: jax.Array  # of all evaluations; see ``evaluated``
    env_params: Any  # the simulator's
    rollout: Rollout = dataclasses.field(metadata={"static": True})  # of evaluations
    measure: Callable[..., dict[str, jax.Array]] = dataclasses.field(metadata={"static": True})
    episodes: int = dataclasses.field(metadata={"static": True})  # of each evaluation

    def init(self, job: TrainJob) -> State:
        """Before the first generation."""
        key = jax.random.fold_in(self.train_key, job.stream)
        return self.searches.init(search.SearchJob(key, job.setting)), job.stream

    def step(self, state: State) -> tuple[State, TrainRow]:
        """One generation, and an evaluation of its policy: rank 1 of the race, if there is one."""
        search_state, stream = state
        search_state, row = self.searches.step(search_state)
        return (search_state, stream), self.evaluated(row, stream)

    def evaluated(self, row: Any, stream: ArrayLike) -> TrainRow:
        """The row of a generation with its evaluation."""
        sizes, policy = (self.rollout, self.measure, self.episodes), row.best
        option = PolicyInTask(policy, self.env_params)
        return TrainRow(row, evaluated(sizes, self.test_key, row.generation, stream, option))

    def host_step(self, jobs: sweep.Jobs) -> Callable[..., Any] | None:
        """``step`` of a few jobs side by side, if their learner has that."""
        search_step = self.searches.host_step(jobs)
        if search_step is None:
            return None

        def step(states: State, alive: np.ndarray) -> tuple[State, TrainRow, Any]:
            search_states, streams = states
            search_states, rows, ran = search_step(search_states, alive)
            return (search_states, streams), _evaluate_all(self, rows, streams), ran

        return step

    def done(self, state: State) -> jax.Array:
        """Is the search over?"""
        return self.searches.done(state[0])

    def failed(self, row: TrainRow) -> jax.Array:
        """Was a counted outcome NaN or infinite?"""
        return self.searches.failed(row.search)


@jit(0)
def _evaluate_all(work: TrainWork, rows: Any, streams: Any) -> TrainRow:
    return jax.vmap(work.evaluated)(rows, streams)


def make_jobs(
    num_settings: int, repeats: int, independent: bool = False, brief: bool = False
) -> sweep.Jobs:
    """All repeats of the first setting, of the second, and so on.

    A repeat has the same random numbers in every setting, unless these are ``independent``.
    """

    def rows(numbers: NDArray[np.int64]) -> TrainJob:
        setting, repeat = np.divmod(numbers, repeats)
        stream = numbers if independent else repeat
        return TrainJob(setting.astype(np.int32), stream.astype(np.uint32))

    return sweep.Jobs(num_settings * repeats, rows, brief=brief)


def make_sweep(
    config: TrainConfig,
    task: Task,
    searches: search.SearchWork,
    train_key: jax.Array,
    test_key: jax.Array,
) -> tuple[TrainWork, sweep.Jobs]:
    """The searches of a job with their evaluations, as work and jobs of a sweep."""
    rollout = Rollout(task.env, searches.search.policy, Both(task.fold, Return()))
    evaluation = rollout, task.measure, config.test_patients
    work = TrainWork(searches, train_key, test_key, task.env_params, *evaluation)
    count = len(config.settings)
    brief = count * config.repeats * config.episodes <= _FEW_EPISODES
    return work, make_jobs(count, config.repeats, brief=brief)


def make_search(config: TrainConfig, task: Task) -> search.SearchWork:
    """EDPS or PB-EDPS with all settings, which are checked here."""
    size, min_rounds, max_rounds = config.sizes
    race: racing.Race
    if config.method in ("edps", "edps-fast"):
        race = racing.HoeffdingRace(size, size // 2, intersect=True, dynamic_delta=True)
        fold, numbers = Return(), {"value_range": task.value_range}
    else:
        race = racing.PreferenceRace(
            num_options=size,
            top=size // 2,
            capacity=max_rounds,
            compare=task.compare,
            bound=config.bound,
        )
        fold, numbers = task.fold, {}
    is_fast = config.is_fast
    # The rounds of a short race are drawn together.
    parts = task.env, task.policy, fold, race, Strategy(config.own_strategy, size)
    learner = search.PolicySearch(*parts, max_rounds if is_fast else None, is_fast)
    rounds = min_rounds, max_rounds
    try:
        rest = config.episodes, _FINAL_ROUNDS if is_fast else 0, numbers
        return searches_of(task, learner, config.settings, rounds, *rest)
    except BadArgument as error:  # evosax does not take every size
        if error.name != "population_size":
            raise
        raise BadArgument("population", error.expected, error.got, error.hint) from error


def search_budget(episodes: int, generation: int, final_rounds: int) -> int:
    """The episodes of a budget that are left to a search before a final race."""
    # The last race of the search may exceed its own budget by nearly a generation.
    return max(episodes - generation - min(CANDIDATES * final_rounds, episodes // 4), 1)


def searches_of(
    task: Task,
    learner: search.PolicySearch,
    settings: Sequence[tuple[Any, Any]],
    rounds: tuple[int, int],
    episodes: int,
    final_rounds: int,
    numbers: Mapping[str, float],
) -> search.SearchWork:
    """Searches with these step sizes and deltas, perhaps with a final race.

    ``rounds`` are floor and cap of n_max, ``final_rounds`` n_max of the final race, 0 for none;
    ``numbers`` are further numbers of the races.
    """
    generation = learner.race.num_options * rounds[1]
    budget = search_budget(episodes, generation, final_rounds) if final_rounds else episodes
    params = [
        learner.params(*setting, budget, *rounds, env_params=task.env_params, **numbers)
        for setting in settings
    ]
    if not final_rounds:
        return search.SearchWork(learner, search.stack_params(params))
    race: racing.Race = racing.PreferenceRace(CANDIDATES, 1, final_rounds, task.compare)
    own: dict[str, float] = {}
    if isinstance(learner.race, racing.HoeffdingRace):  # on returns, like the search
        race = dataclasses.replace(learner.race, num_options=CANDIDATES, top=1)
        own = {**numbers, "max_rounds": final_rounds}
    last = search.FinalRace(learner, race)
    # A budget that is too small for both has a round for each candidate.
    whole = max(episodes - generation, budget + CANDIDATES)
    ended = [last.params(one, whole, **own) for one in params]
    return search.SearchWork(last, search.stack_params(ended))
