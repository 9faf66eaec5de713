"""The fused driver against the ask/tell loop; batches, compilations, memory, reports, errors."""

import functools
import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scripted

from jaxrace import racing
from jaxrace.kernels import total_order
from jaxrace.racing import BernsteinRace, HoeffdingRace, PreferenceRace


def assert_equal_results(got, expected, simulated=True):
    """Every array of two results; `simulated` depends on how many rounds are drawn at once."""
    for field in ("ranking", "selected", "discarded", "decided", "samples", "invalid"):
        np.testing.assert_array_equal(getattr(got, field), getattr(expected, field), field)
    if isinstance(expected, racing.PreferenceResult):
        for field in ("copeland", "borda", "net", "rounds"):
            np.testing.assert_array_equal(getattr(got, field), getattr(expected, field), field)
    else:
        # Another shape of batch or chunk is another program: XLA may fuse a multiplication with
        # an addition in one and not in the other, which moves the last bit.
        for field in ("mean", "lower", "upper"):
            np.testing.assert_allclose(
                getattr(got, field), getattr(expected, field), rtol=1e-6, atol=1e-6
            )
        np.testing.assert_array_equal(got.empty, expected.empty)
    if simulated:
        np.testing.assert_array_equal(got.simulated, expected.simulated)


def script(seed, num_options=5, num_rounds=33, deviation=0.5):
    rng = np.random.default_rng(seed)
    means = np.linspace(0, 1 + 2 * (seed % 3), num_options)[rng.permutation(num_options)]
    noise = rng.normal(size=(num_options, num_rounds))
    return np.round(means[:, None] + deviation * noise, 1).astype(np.float32)


def ask_and_tell(race, values, params, at_once=1):
    """The loop of a user who has the samples [K, n] in NumPy; who is not asked for gets NaN."""
    state = race.init(np.float32(0), params)
    start = 0
    while (asked := np.asarray(race.ask(state, params))).any():
        told = np.full((race.num_options, at_once), np.nan, np.float32)
        piece = values[:, start : start + at_once]
        told[:, : piece.shape[1]] = piece
        told[~asked] = np.nan
        start += at_once
        state = race.tell(state, told, params)
    return race.result(state, params)


RACES = [
    PreferenceRace(5, 2, 33, total_order, "kl-verdict"),
    PreferenceRace(5, 2, 33, total_order, "published", "printed"),
    PreferenceRace(5, 2, 33, total_order, "published", dynamic_delta=True),
    HoeffdingRace(5, 2, intersect=True),
    BernsteinRace(5, 2, dynamic_delta=True),
]


def params_of(race, max_rounds=33, value_range=0.6):
    if isinstance(race, PreferenceRace):
        return race.params(0.3, max_rounds)
    return race.params(0.3, max_rounds, value_range)


@pytest.mark.parametrize(
    "race",
    [RACES[0], *(pytest.param(race, marks=pytest.mark.slow) for race in RACES[2:])],
    ids=lambda race: type(race).__name__,
)
def test_chunks_change_nothing_and_ask_tell_agrees(race):
    """33 rounds of capacity are no multiple of 7, nor are 20."""
    key = jax.random.key(1)
    # All sizes for one race; each compiles anew.
    chunks = {RACES[0]: (1, 7)}.get(race, (7,))
    ends = set()
    for seed, max_rounds in ((0, 33), (1, 33), (2, 33), (1, 20), (2, 20)):
        params = params_of(race, max_rounds)
        # Of races by value, which decide in 33 rounds, the range is small.
        values = script(seed, deviation=0.5 if isinstance(race, PreferenceRace) else 0.1)
        options = scripted.options(key, values)
        loop = ask_and_tell(race, values, params)
        ends.add(int(np.max(loop.samples)))
        for chunk in chunks:
            fused = racing.run(race, key, scripted.sample, options, params, chunk)
            assert_equal_results(fused, loop, simulated=chunk == 1)
            # Who is drawn at all is drawn to the end of the chunk.
            samples, simulated = np.asarray(fused.samples), np.asarray(fused.simulated)
            np.testing.assert_array_equal(simulated, -(-samples // chunk) * chunk)
        for at_once in (7, 50):
            assert_equal_results(ask_and_tell(race, values, params, at_once), loop, False)
    assert len(ends) > 1


def test_the_samples_of_the_driver_are_those_that_it_documents():
    """Round t of option i: fold_in(fold_in(key, i), t); one key for all with common numbers."""

    def sample(key, mean):
        return mean + jax.random.normal(key)

    race = PreferenceRace(4, 1, 30, total_order, intersect=True)
    params = race.params(0.1)
    means, key = jnp.array([0.0, 0.2, 0.1, 0.3]), jax.random.key(3)
    draw = jax.jit(lambda i, t, mean: sample(scripted.driver_key(key, i, t), mean))
    for common in (False, True):
        result = racing.run(race, key, sample, means, params, 10, common_random_numbers=common)
        kept = np.asarray(result.outcomes)
        for i in range(4):
            for t in (0, 9, 10, 29):
                drawn = draw(0 if common else i, t, means[i])
                # The mean and what is added to it may cancel, their rounding does not.
                np.testing.assert_allclose(kept[i, t], drawn, rtol=1e-6, atol=1e-7)
        assert (result.heuristic is not None) == common
        assert ("common random numbers" in str(result)) == common


def test_the_default_chunk_overshoots_the_capacity_by_little():
    capacity, chunk = 20, 16
    race = PreferenceRace(2, 1, capacity, total_order)
    assert race.chunk == chunk
    result = racing.run(race, jax.random.key(0), uniform_sample, jnp.zeros(2), race.params(1e-6))
    assert result.simulated.tolist() == [-(-capacity // chunk) * chunk] * 2


def uniform_sample(key, option):
    return option + jax.random.uniform(key)


def test_batches_equal_single_races():
    race = RACES[0]
    keys = jax.random.split(jax.random.key(4), (2, 3))
    options = np.random.default_rng(5).random((2, 5)).astype(np.float32)
    all_params = [params_of(race, n) for n in (12, 25, 33)]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *all_params)

    def play(key, options, params):
        return racing.run(race, key, uniform_sample, options, params, 7)

    # Keys over both axes, options over the first and params over the second.
    nested = jax.jit(jax.vmap(jax.vmap(play, (0, None, 0)), (0, 0, None)))
    batch = jax.tree.map(np.asarray, nested(keys, options, stacked))
    flat_run = jax.jit(jax.vmap(play, (0, None, None)))
    flat = jax.tree.map(np.asarray, flat_run(keys[0], options[0], all_params[2]))
    for i in range(2):
        for j in range(3):
            single = play(keys[i, j], options[i], all_params[j])
            assert_equal_results(jax.tree.map(operator.itemgetter((i, j)), batch), single)
    for j in range(3):
        single = play(keys[0, j], options[0], all_params[2])
        assert_equal_results(jax.tree.map(operator.itemgetter(j), flat), single)
    assert "6 races" in str(batch)


def test_a_table_serves_every_horizon():
    race = RACES[0]
    table = race.table(0.3)
    values = script(2)
    play = jax.jit(
        lambda n, options: racing.run(
            race, jax.random.key(1), scripted.sample, options, race.params_at(table, n)
        )
    )
    options = scripted.options(jax.random.key(1), values)
    for max_rounds in (1, 8, 19, 33):
        expected = ask_and_tell(race, values, race.params(0.3, max_rounds))
        assert_equal_results(play(jnp.int32(max_rounds), options), expected, False)
    nothing = play(jnp.int32(0), options)
    assert not np.asarray(nothing.samples).any()


def test_new_numbers_and_equal_races_do_not_compile_again(count_compilations):
    def one_race():
        return PreferenceRace(5, 2, 33, total_order, "stitched-kl")

    first = one_race().params(0.3, 33)
    others = [one_race().params(0.05, 20), one_race().params(0.3, 33, epsilon=0.1)]
    keys = [jax.random.key(seed) for seed in range(3)]
    options = [jnp.linspace(0, spread, 5) for spread in (1.0, 2.0)]
    values = script(1)

    def everything(race, key, options, params):
        racing.run(race, key, uniform_sample, options, params)
        ask_and_tell(race, values, params)

    everything(one_race(), keys[0], options[0], first)
    with count_compilations() as compilations:
        for key, params in zip(keys[1:], others, strict=True):
            everything(one_race(), key, options[1], params)
    assert compilations.count == 0
    with count_compilations() as compilations:  # the counter counts
        racing.run(
            PreferenceRace(5, 3, 33, total_order), keys[0], uniform_sample, options[0], first
        )
    assert compilations.count > 0


@pytest.mark.parametrize("race", RACES[::3], ids=lambda race: type(race).__name__)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_counted_outcome_that_is_not_finite_is_an_error(race, bad):
    values = script(1)
    values[3, 4] = bad
    params = params_of(race, value_range=4.0)
    message = r"outcomes: expected finite numbers, .* option 3 in round 5$"
    for at_once in (1, 7):
        with pytest.raises(ValueError, match=message):
            ask_and_tell(race, values, params, at_once)
    key = jax.random.key(1)
    options = scripted.options(key, values)
    for chunk in (1, 7):
        with pytest.raises(ValueError, match=message):
            racing.run(race, key, scripted.sample, options, params, chunk)
    # Under a trace there is no error, but a flag: the first such round.
    values[3, 11] = bad
    options = scripted.options(key, values)
    run = jax.jit(functools.partial(racing.run, race, sample=scripted.sample, chunk=7))
    result = run(key, options=options, params=params)
    assert result.invalid.tolist() == [0, 0, 0, 5, 0]


@pytest.mark.parametrize(
    "race",
    [RACES[0], *RACES[3:]],
    ids=lambda race: type(race).__name__,
)
def test_what_never_counts_may_be_nan(race):
    values = np.linspace(0, 4, 5)[:, None] + np.zeros((5, 33))
    values += 0.1 * np.arange(33) % 0.3
    values = values.astype(np.float32)
    params = params_of(race, 33)
    key = jax.random.key(1)
    expected = ask_and_tell(race, values, params)
    samples = np.asarray(expected.samples)
    assert expected.decided
    assert samples.max() < 33
    for option, count in enumerate(samples):
        values[option, count:] = np.nan
    for chunk in (1, 7):
        options = scripted.options(key, values)
        assert_equal_results(
            racing.run(race, key, scripted.sample, options, params, chunk), expected, False
        )
