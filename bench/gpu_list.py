"""The programs that a GPU is asked to run: one list for counting launches and for the clock.

Each is built for some number of lanes, so that a machine without a GPU can try it small.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import bench_dominance
import bench_kernels
import here  # noqa: F401
import jax
import jax.numpy as jnp
import normal_races

from jaxrace import dueling, kernels, racing, selection
from jaxrace.agents.policies import Sigmoid
from jaxrace.agents.rollout import PolicyInTask, Rollout, evaluate
from jaxrace.dueling import matrices
from jaxrace.envs import medical
from jaxrace.envs.holdem import SEATINGS, Rules, deal, prepare, table
from jaxrace.improvement.bounds import BOUNDS, Used
from jaxrace.search import PolicySearch, SearchJob, SearchWork, stack_params
from jaxrace.sweep import lanes as sweep_lanes
from papers.duels.lineup import entrant
from papers.holdem import policies
from papers.improvements.domains import DOMAINS, DaedalusWork, daedalus_of
from papers.top_k.stationary import StationaryMlPocbam

ARMS, DUELS = 10, 256
CANDIDATES, RESAMPLES = 64, 2_000
EPISODES = 100
TASKS = 300


@dataclasses.dataclass(frozen=True)
class Program:
    """Something to run on a GPU.

    Attributes:
        name: What the tables call it.
        unit: What is counted.
        per_lane: So many of them for each lane.
        lanes: Of a large run, on a GPU.
        few: Of a small run, to try it.
        build: ``build(lanes) -> (function, args)``; the function is pure, and not jitted.
        trips: Passes of the loops whose length no compiler knows, the outermost first, in a
            large run: what a prediction takes them to be. Deeper loops pass as often as the last.
        later: The same of those behind the first of the outermost, where they differ.
        comparisons: Of samples, per lane, at least.
        wanted: Units per second that the issue of a GPU is about; None where none is named.
    """

    name: str
    unit: str
    lanes: int
    few: int
    build: Callable[[int], tuple[Callable[..., Any], tuple[Any, ...]]]
    per_lane: int = 1
    trips: tuple[int, ...] = (1,)
    later: tuple[int, ...] = ()
    comparisons: int = 0
    wanted: float | None = None


def _keys(lanes: int) -> jax.Array:
    return jax.random.split(jax.random.key(0), lanes)


def _preference(race: racing.PreferenceRace, lanes: int) -> Any:
    return jax.vmap(normal_races.one_race(race)), (_keys(lanes),)


def _dominance(lanes: int) -> Any:
    one = bench_dominance.one_race(normal_races.OPTIONS, normal_races.TOP)
    return jax.vmap(one), (_keys(lanes),)


def _answer(key: jax.Array, option: Any, difficulty: jax.Array) -> jax.Array:
    own = jax.random.fold_in(key, option["number"])
    chance = jax.nn.sigmoid(option["skill"] - difficulty)
    return jax.random.bernoulli(own, chance).astype(jnp.float32)


def _shared(lanes: int) -> Any:
    """Races of ten models on lists of 300 questions of their own, by their share of right ones."""
    race = racing.SharedRace(ARMS, 1, TASKS, low=0, high=1, finite=True)
    params = race.params(0.05)

    def play(key: jax.Array) -> Any:
        keys = jax.random.split(key, 3)
        skill = 0.6 * jax.random.normal(keys[0], (ARMS,))
        models = {"skill": skill, "number": jnp.arange(ARMS)}
        questions = jax.random.normal(keys[1], (TASKS,))
        result = racing.run(race, keys[2], _answer, models, params, tasks=questions)
        return result.samples, result.ranking

    return jax.vmap(play), (_keys(lanes),)


def _duels(name: str, lanes: int) -> Any:
    one = entrant(name, ARMS, 1_000_000, 1e-6, jax.random.key(0))
    problem = dueling.duels(matrices.hard_condorcet(ARMS))

    def play(key: jax.Array) -> Any:
        return dueling.run(one.algorithm, key, problem, DUELS, one.params, 1)

    return jax.vmap(play), (_keys(lanes),)


def medical_search() -> tuple[PolicySearch, Any]:
    """The search of `jaxrace train medical --method pb-edps`, and its numbers."""
    race = racing.PreferenceRace(7, 3, 100, medical.prefer)
    search = PolicySearch(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome(), race)
    return search, search.params(sigma0=10.0, delta=0.2, budget=10_000)


def _searches(lanes: int) -> Any:
    """All generations of searches, as a sweep plays them: bursts of up to 32 steps."""
    search, params = medical_search()
    work = SearchWork(search, stack_params([params]))

    def play(keys: jax.Array) -> jax.Array:
        jobs = SearchJob(keys, jnp.zeros(len(keys), jnp.int32))
        states = jax.vmap(work.init)(jobs)
        lanes = sweep_lanes.Lanes(states, ~jax.vmap(work.done)(states))
        limit, quota = jnp.int32(sweep_lanes.MOST_STEPS), jnp.int32(len(keys))
        nothing = jobs, jnp.zeros(len(keys), bool)  # more begins
        _, burst = sweep_lanes.advance(work, lanes, nothing, limit, quota)
        return burst.rows.episodes.max(0).sum()

    return play, (_keys(lanes),)


def _episodes(lanes: int) -> Any:
    rollout = Rollout(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome())
    theta, params = Sigmoid(2).example(), medical.Medical().default_params

    def play(key: jax.Array) -> Any:
        outcomes = evaluate(rollout, key, PolicyInTask(theta, params), EPISODES)
        return jax.tree.map(lambda x: x.sum(), outcomes)

    return jax.vmap(play), (_keys(lanes),)


def _prefix(lanes: int) -> Any:
    given = jax.random.normal(
        jax.random.key(0), (lanes, bench_kernels.OPTIONS, bench_kernels.ROUNDS)
    )
    return bench_kernels.prefix_wins(kernels.total_order), (given,)


def _selections(selector: Any, lanes: int) -> Any:
    params, budget = selector.params(), selector.opening + 100

    def play(key: jax.Array) -> Any:
        keys = jax.random.split(key)
        problem = selection.thurstone(keys[0], selector.num_options)
        log = selection.run(selector, keys[1], selection.normal_score, problem, budget, params, 100)
        return log.selected[-1]

    return jax.vmap(play), (_keys(lanes),)


def _bca(lanes: int) -> Any:
    """Bounds of 64 candidates from as many values as there are lanes."""
    used = jnp.ones(lanes, bool)
    rows = Used(used, jnp.zeros(lanes, jnp.int32))
    noise = jax.random.normal(jax.random.key(1), (CANDIDATES, lanes), jnp.float32)

    def bounds(key: jax.Array, values: jax.Array) -> jax.Array:
        counts = kernels.resampling_counts(key, used, jnp.int32(lanes), RESAMPLES)
        return jax.vmap(lambda x: BOUNDS["bca"].bound(counts, x, rows, jnp.float32(0.05)))(values)

    return bounds, (jax.random.key(0), jnp.exp(noise))


def _daedalus(lanes: int) -> Any:
    """Trials of one batch each."""
    domain = DOMAINS["gridworld"]
    daedalus = daedalus_of(domain, "none", "bca", 1, False)
    params = daedalus.improvement.params(0.238, 0.05, domain.initial())
    work = DaedalusWork(daedalus, domain.env, domain.env.default_params, params)

    def play(key: jax.Array) -> Any:
        return work.step(work.init(key))[1]

    return jax.vmap(play), (_keys(lanes),)


def _hands(lanes: int) -> Any:
    both = policies.play_uniformly, policies.play_uniformly

    def play(key: jax.Array) -> jax.Array:
        keys = jax.random.split(key)
        deals = prepare(deal(keys[0], lanes))
        return table.play(both, keys[1], deals, SEATINGS[0], Rules()).winnings

    return play, (jax.random.key(0),)


# A race compares every sample of an option with every one of another.
_COMPARED = bench_kernels.COMPARISONS // bench_kernels.RACES
PROGRAMS = (
    Program(
        "preference races",
        "races",
        10_000,
        16,
        functools.partial(_preference, normal_races.RACE),
        trips=(10, 4),
        wanted=10_000 / 0.02,
    ),
    # 22 looks, counted on a CPU; what follows them passes 3, 3 and 4 times, a guess.
    Program(
        "dominance races",
        "races",
        10_000,
        16,
        _dominance,
        trips=(22,),
        later=(3, 3, 4),
        wanted=5e5,
    ),
    Program("races on shared tasks", "races", 10_000, 16, _shared, trips=(251,)),
    *(
        Program(
            f"duels, {name}",
            "duels",
            65_536,
            8,
            functools.partial(_duels, name),
            per_lane=DUELS,
            trips=(DUELS // 8, 2) if name == "savage" else (4,),
            wanted=1e9 if name == "rucb" else None,
        )
        for name in ("rucb", "savage", "dts")
    ),
    Program(
        "searches of 10,000 episodes",
        "searches",
        32_768,
        4,
        _searches,
        trips=(27, 3, 8),
        wanted=32_768 / 5,
    ),
    Program("episodes, medical", "episodes", 65_536, 16, _episodes, per_lane=EPISODES),
    Program("win counts of all prefixes", "races", 10_000, 8, _prefix, comparisons=_COMPARED),
    Program(
        "selections, POCBAm",
        "comparisons",
        4_096,
        4,
        functools.partial(_selections, selection.Pocbam(10, 4, 3)),
        per_lane=100,
    ),
    Program(
        "selections, ML-POCBAm",
        "comparisons",
        4_096,
        4,
        functools.partial(_selections, selection.MlPocbam(10, 4, 3)),
        per_lane=100,
    ),
    Program(
        "selections, ML-POCBAm to a stationary point",
        "comparisons",
        4_096,
        4,
        functools.partial(_selections, StationaryMlPocbam(10, 4, 3, follows=True)),
        per_lane=100,
        trips=(45,),
    ),
    Program("BCa bounds of 64 candidates", "values", 2_000, 64, _bca),
    Program("Daedalus2, one batch", "trials", 256, 2, _daedalus, trips=(50, 10)),
    Program("hold'em hands", "hands", 1_000_000, 64, _hands, trips=(20,)),
)
