"""1,000 races: the fused driver against NumPy, and the best size of a batch."""

import jax
import measuring
import normal_races as task
import numpy as np
import pytest
from peers import numpy_batched_race, numpy_lockstep_race, numpy_plain_race

RACES = 1000
PLAIN_RACES = 20
CHECKED_RACES = 100
ROUNDS = 25  # calls that count: some seconds, as the speed of a virtual machine varies


def keys(num_races):
    return jax.random.split(jax.random.key(0), num_races)


def test_the_peers_decide_as_we_do():
    play = jax.jit(jax.vmap(task.one_race()))
    samples, ranking = map(np.asarray, play(keys(CHECKED_RACES)))
    outcomes, thresholds = np.asarray(task.outcomes_of(keys(CHECKED_RACES))), task.thresholds()

    def draw(races, first, count):
        return outcomes[races, :, first : first + count]

    shape = (CHECKED_RACES, task.OPTIONS, task.TOP)
    batched = numpy_batched_race.play(draw, thresholds, *shape)
    lockstep = numpy_lockstep_race.play(draw, thresholds, *shape)
    plain = [numpy_plain_race.play(x, thresholds, task.TOP) for x in outcomes[:PLAIN_RACES]]
    np.testing.assert_array_equal(batched.samples, samples)
    np.testing.assert_array_equal(lockstep[0], samples)
    np.testing.assert_array_equal([p.samples for p in plain], samples[:PLAIN_RACES])
    top = np.sort(ranking[:, : task.TOP])
    np.testing.assert_array_equal(np.sort(batched.ranking[:, : task.TOP]), top)
    np.testing.assert_array_equal(np.sort(lockstep[1][:, : task.TOP]), top)
    plain_top = np.sort([p.ranking[: task.TOP] for p in plain])
    np.testing.assert_array_equal(plain_top, top[:PLAIN_RACES])


def test_jaxrace(benchmark):
    run = task.many_races(None)
    measuring.record_jax(benchmark, "races/jaxrace", run, keys(RACES), rounds=ROUNDS)


def samples_alone():
    """A function of keys [R]: it draws as many samples as races need, and compares nothing."""
    samples = jax.jit(task.many_races(None))(keys(RACES))[0]
    rounds = round(float(np.asarray(samples).mean()))
    return lambda keys: task.outcomes_of(keys, rounds).sum((1, 2))


def test_samples_alone(benchmark):
    """As many samples as the races need on average, each with its own key."""
    draw = samples_alone()
    measuring.record_jax(benchmark, "races/samples alone", draw, keys(RACES), rounds=ROUNDS)


@pytest.mark.parametrize("batch_size", [25, 50, 100, 200, 500, None])
@pytest.mark.parametrize("num_races", [1000, 10_000])
def test_batch_sizes(benchmark, quick, num_races, batch_size):
    if batch_size not in (100, 500, None) and (quick or num_races > RACES):
        pytest.skip("takes long")
    if quick and num_races > RACES:
        pytest.skip("left out of a quick run")
    size = batch_size or num_races
    measuring.record_jax(
        benchmark,
        f"batches of {num_races}/{size}",
        task.many_races(batch_size),
        keys(num_races),
        rounds=3 if num_races == RACES else 1,
        axis=f"batch size ({num_races} races)",
        value=size,
    )


def play_open_pairs():
    """As many races in NumPy, sampling included."""
    draw = task.numpy_draw(0, RACES)
    numpy_batched_race.play(draw, task.thresholds(), RACES, task.OPTIONS, task.TOP)


def test_numpy_open_pairs(benchmark):
    measuring.record(benchmark, "races/numpy open pairs", play_open_pairs, rounds=ROUNDS)


def test_numpy_lockstep(benchmark, quick):
    num_races = 100 if quick else RACES

    def run():
        draw = task.numpy_draw(0, num_races)
        numpy_lockstep_race.play(draw, task.thresholds(), num_races, task.OPTIONS, task.TOP)

    scale = RACES / num_races
    measuring.record(benchmark, "races/numpy lockstep", run, rounds=2, scale=scale)


def test_numpy_plain(benchmark):
    outcomes, thresholds = task.numpy_draw(0, RACES), task.thresholds()

    def run():
        for race in range(PLAIN_RACES):
            drawn = outcomes(np.array([race]), 0, task.ROUNDS)[0]
            numpy_plain_race.play(drawn, thresholds, task.TOP)

    scale = RACES / PLAIN_RACES
    measuring.record(benchmark, "races/numpy plain", run, rounds=ROUNDS, scale=scale)
