"""10,000 dominance races: against as many sharp preference races, and against NumPy."""

import jax
import measuring
import normal_races as task
import numpy as np
from peers import numpy_dominance_race

from jaxrace import racing
from jaxrace.kernels import total_order

RACES = 10_000
PEER_RACES = 20
LARGE, LARGE_TOP = 100, 10


def race_of(num_options, top):
    return racing.DominanceRace(num_options, top, task.ROUNDS, total_order)


def one_race(num_options, top):
    """``race(key) -> samples [K], ranking [K]`` on a random instance, sampling included."""
    race = race_of(num_options, top)
    params = race.params(task.DELTA)

    def play(key):
        task_key, race_key = jax.random.split(key)
        drawn = task.TASK.draw(task_key, task.DISTANCE, num_options)
        result = racing.run(race, race_key, task.TASK.sample, drawn, params)
        return result.samples, result.ranking

    return play


def keys(num_races):
    return jax.random.split(jax.random.key(0), num_races)


def peer_race(outcomes):
    """The NumPy race on samples [K, n] drawn beforehand."""
    drawn = np.zeros(len(outcomes), int)

    def draw(option, count):
        start = drawn[option]
        drawn[option] += count
        return outcomes[option, start : start + count]

    params = race_of(len(outcomes), task.TOP).params(task.DELTA)
    bets, weights = np.asarray(params.bets, float), np.exp(np.asarray(params.log_weights, float))
    numbers = (task.TOP, task.DELTA, task.ROUNDS, bets, weights, float(params.slack))
    return numpy_dominance_race.play(draw, len(outcomes), *numbers)


def test_the_peer_decides_as_we_do():
    few = keys(PEER_RACES)
    samples, ranking = map(np.asarray, jax.jit(jax.vmap(one_race(task.OPTIONS, task.TOP)))(few))
    peers = [peer_race(outcomes) for outcomes in np.asarray(task.outcomes_of(few))]
    np.testing.assert_array_equal([peer.samples for peer in peers], samples)
    best = [sorted(peer.best) for peer in peers]
    np.testing.assert_array_equal(best, np.sort(ranking[:, : task.TOP]))


def test_dominance(benchmark):
    run = jax.vmap(one_race(task.OPTIONS, task.TOP))
    measuring.record_jax(benchmark, "dominance/jaxrace", run, keys(RACES))


def test_sharp(benchmark):
    run = task.many_races(500)
    measuring.record_jax(benchmark, "dominance/sharp", run, keys(RACES), rounds=3)


def test_numpy(benchmark):
    outcomes = np.asarray(task.outcomes_of(keys(PEER_RACES)))

    def run():
        return [peer_race(x) for x in outcomes]

    measuring.record(benchmark, "dominance/numpy", run, rounds=3, scale=RACES / PEER_RACES)


def test_large(benchmark):
    """One race of 100 options."""
    run = one_race(LARGE, LARGE_TOP)
    measuring.record_jax(benchmark, "dominance/one of 100 options", run, jax.random.key(0))
