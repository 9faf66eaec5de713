"""100 policy searches of 10,000 episodes on the medical task, against pycma with NumPy."""

import jax
import measuring
import numpy as np
from peers import pycma_noise_search, pycma_search

from jaxrace import kernels, racing
from jaxrace.agents.policies import Sigmoid
from jaxrace.agents.rollout import PolicyInTask, Rollout, evaluate
from jaxrace.envs import medical
from jaxrace.search import PolicySearch, run

SEARCHES, BUDGET, DELTA, CAPACITY, BOUND = 100, 10_000, 0.2, 100, "stitched-kl"
PEER_SEARCHES = 10
GENERATIONS = 27  # of every search
UNIFORMS = 3  # that an episode takes: tumour, toxicity, what is survived
TASK, POLICY, FOLD = medical.Medical(), Sigmoid(2), medical.TreatmentOutcome()


def search_and_params():
    race = racing.PreferenceRace(7, 3, CAPACITY, medical.prefer, BOUND)
    search = PolicySearch(TASK, POLICY, FOLD, race)
    with jax.ensure_compile_time_eval():  # params are of numbers, also under a trace
        return search, search.params(sigma0=10.0, delta=DELTA, budget=BUDGET)


def test_jaxrace(benchmark):
    search, params = search_and_params()
    keys = jax.random.split(jax.random.key(0), SEARCHES)
    # What the first call takes beyond a later one: tracing and compiling.
    compile_seconds = run(search, keys, params).compile_seconds
    log = measuring.record(
        benchmark,
        "searches/jaxrace",
        lambda: run(search, keys, params),
        compile_seconds=compile_seconds,
    )
    assert (log.rows.episodes[-1] >= BUDGET).all()
    benchmark.extra_info["episodes"] = int(log.rows.episodes[-1].sum())


def search_with_pycma():
    """A function that makes some searches, one by one."""
    bound = kernels.bound_named(BOUND)
    table = np.asarray(kernels.threshold_table(bound, 7, CAPACITY, DELTA))
    return lambda: [pycma_search.search(seed, table, BUDGET) for seed in range(PEER_SEARCHES)]


def test_pycma(benchmark):
    scale = SEARCHES / PEER_SEARCHES
    learned = measuring.record(benchmark, "searches/pycma", search_with_pycma(), scale=scale)
    benchmark.extra_info["episodes"] = int(scale * sum(one.episodes for one in learned))


def test_pycma_noise_handler(benchmark):
    def run():
        return [pycma_noise_search.search(seed, BUDGET) for seed in range(PEER_SEARCHES)]

    scale = SEARCHES / PEER_SEARCHES
    learned = measuring.record(benchmark, "searches/pycma NoiseHandler", run, scale=scale)
    benchmark.extra_info["episodes"] = int(scale * sum(one.episodes for one in learned))


def test_random_numbers_alone(benchmark):
    """The random numbers of so many episodes, each from its own key: a floor under our time."""

    def of_episode(key, number):
        episode = jax.random.fold_in(jax.random.fold_in(key, number), 0)
        return jax.random.uniform(episode, (UNIFORMS,)).sum()

    def of_search(key):
        return jax.vmap(of_episode, (None, 0))(key, jax.numpy.arange(BUDGET)).sum()

    def of_all(keys):
        return jax.lax.map(of_search, keys, batch_size=2)

    keys = jax.random.split(jax.random.key(0), SEARCHES)
    measuring.record_jax(benchmark, "searches/random numbers alone", of_all, keys)


def episodes_alone(keys, theta):
    """The outcomes of so many episodes for each key [S], summed: leaves [S]; nothing is compared.

    Searches go in batches of the best of five sizes.
    """
    option = PolicyInTask(theta, TASK.default_params)

    def of_search(key):
        outcomes = evaluate(Rollout(TASK, POLICY, FOLD), key, option, BUDGET)
        return jax.tree.map(lambda x: x.sum(), outcomes)

    return jax.lax.map(of_search, keys, batch_size=5)


def learning_alone(keys):
    """The means after as many generations as searches take, for each key [S]: leaves [S, ...].

    CMA-ES alone, every search at once: nothing is played, and the ranking is as it comes.
    """
    search, params = search_and_params()
    strategy, example, of_strategy = search.strategy, POLICY.example(), params.strategy
    ranking = jax.numpy.arange(strategy.population_size, dtype=jax.numpy.int32)

    def generation(number, states):
        def of_search(key, state):
            ask_key, tell_key = jax.random.split(jax.random.fold_in(key, number))
            population, asked = strategy.ask(ask_key, state, of_strategy, example)
            return strategy.tell(asked, population, ranking, of_strategy, tell_key, example)

        return jax.vmap(of_search)(keys, states)

    states = jax.vmap(search.init, (0, None))(keys, params).strategy
    return jax.lax.fori_loop(0, GENERATIONS, generation, states).mean


def test_episodes_alone(benchmark):
    keys = jax.random.split(jax.random.key(0), SEARCHES)
    measuring.record_jax(
        benchmark, "searches/episodes alone", episodes_alone, keys, POLICY.example(), rounds=25
    )


def test_learning_alone(benchmark):
    keys = jax.random.split(jax.random.key(0), SEARCHES)
    measuring.record_jax(benchmark, "searches/CMA-ES alone", learning_alone, keys, rounds=25)
