"""The Hoeffding and the Bernstein race against the plain reference, decision by decision."""

import functools
import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import reference_value_race

from jaxrace import racing
from jaxrace.racing import BernsteinRace, HoeffdingRace
from jaxrace.racing.value import FEWEST

KINDS = {"hoeffding": HoeffdingRace, "bernstein": BernsteinRace}

# The device computes in float32; where the reference's numbers are this close, it may differ.
LEVEL = 1e-4


@functools.partial(jax.jit, static_argnums=0)
def play(race, values, params):
    """Tell one round after another to many races [B, K, n]; see test_racing_preference."""

    def one(values):
        state = race.init(values[0, 0], params)

        def step(state, samples):
            asked = race.ask(state, params)
            state = race.tell(state, samples[:, None], params)
            seen = (asked, state.selected, state.discarded, state.lower, state.upper)
            return state, seen

        state, history = jax.lax.scan(step, state, values.T)
        return history, race.result(state, params)

    return jax.vmap(one)(values)


def draw_values(seed, number, num_options, num_rounds):
    """Numbers float32 [number, K, n] in intervals of width 1."""
    rng = np.random.default_rng(seed)
    spread = rng.choice([0.3, 2.0, 6.0], (number, 1, 1))
    means = spread * rng.random((number, num_options, 1))
    means[::5] = means[::5, :1]
    noise = rng.beta(
        rng.choice([0.3, 2, 20], (number, num_options, 1)), 3, (number, num_options, num_rounds)
    )
    return (means + noise).astype(np.float32)


def compare_with_reference(race, kind, values, max_rounds, delta, value_range):
    params = race.params(delta, max_rounds, value_range)
    history, results = jax.tree.map(np.asarray, play(race, values, params))
    histories = []
    disagreements = 0
    for number, instance in enumerate(values):
        expected = reference_value_race.race(
            instance,
            kind,
            race.top,
            max_rounds,
            delta,
            value_range,
            race.intersect,
            race.dynamic_delta,
        )
        histories.append(expected)
        same = True
        for t, wanted in enumerate(expected.rounds):
            asked, selected, discarded, lower, upper = (x[number, t] for x in history)
            np.testing.assert_array_equal(asked, wanted.drawn)
            if (selected != wanted.selected).any() or (discarded != wanted.discarded).any():
                assert wanted.margin < LEVEL
                disagreements += 1
                same = False
                break
            if wanted.margin > LEVEL:  # else an intersection may be empty in one of them only
                np.testing.assert_allclose(lower, wanted.lower, rtol=2e-5, atol=2e-5)
                np.testing.assert_allclose(upper, wanted.upper, rtol=2e-5, atol=2e-5)
        if not same:
            continue
        assert not history[0][number, len(expected.rounds) :].any()
        result = jax.tree.map(operator.itemgetter(number), results)
        np.testing.assert_array_equal(result.samples, expected.samples)
        np.testing.assert_array_equal(result.simulated, expected.samples)
        np.testing.assert_allclose(result.mean, expected.mean, rtol=1e-5, atol=1e-6)
        assert bool(result.decided) == expected.decided
        assert set(result.best.tolist()) == expected.best
        assert result.best[0] in expected.best
        if all(r.margin > LEVEL for r in expected.rounds):
            np.testing.assert_array_equal(result.empty, expected.empty)
    # Nearly all of them were compared to the end.
    assert disagreements <= len(values) / 10
    return histories


@pytest.mark.parametrize(
    ("num_options", "top", "kind", "intersect", "dynamic_delta"),
    [
        (2, 1, "hoeffding", False, False),
        (5, 2, "bernstein", True, False),
        (5, 2, "hoeffding", True, True),
    ],
)
def test_against_the_reference(num_options, top, kind, intersect, dynamic_delta):
    race = KINDS[kind](num_options, top, intersect=intersect, dynamic_delta=dynamic_delta)
    values = draw_values(num_options, 20 if num_options < 10 else 10, num_options, 60)
    histories = compare_with_reference(race, kind, values, 60, 0.2, 1.0)
    # Samples that jump all at once make the intervals fail, so that intersections do get empty.
    late = np.where(np.arange(100) < 20, 0.0, 0.95)
    jumps = late + draw_values(1, 6, num_options, 100) % 0.05
    histories += compare_with_reference(race, kind, np.float32(jumps), 100, 0.2, 1.0)
    assert any(h.decided for h in histories)
    assert any(not h.decided for h in histories)
    assert any(h.rounds[-1].selected.any() and not h.decided for h in histories) or top == 1
    if not (intersect and kind == "bernstein"):  # whose intervals follow the true deviation
        assert any(h.empty.any() for h in histories) == intersect


@pytest.mark.parametrize("kind", ["hoeffding", "bernstein"])
def test_fewer_rounds_than_are_told(kind):
    race = KINDS[kind](4, 2)
    histories = compare_with_reference(race, kind, draw_values(3, 12, 4, 40), 25, 0.3, 1.0)
    assert any(len(h.rounds) == 25 for h in histories)


def test_the_flag_of_an_empty_intersection():
    race = HoeffdingRace(2, 1, intersect=True)
    params = race.params(0.5, 100, value_range=1.0)
    state = race.init(np.float32(0), params)
    # Equal options, so that the race goes on, with a mean that leaves its first interval.
    state = race.tell(state, np.zeros((2, 25), np.float32), params)
    assert not race.result(state, params).empty.any()
    result = race.result(state, params)
    while not result.empty.any():
        state = race.tell(state, np.ones((2, 1), np.float32), params)
        result = race.result(state, params)
    assert result.empty.all()
    # The newest interval stands, around the newest mean.
    middle = (result.lower + result.upper) / 2
    np.testing.assert_allclose(middle, [1 - 25 / result.samples[0]] * 2, atol=1e-6)


def test_integers_and_shifted_numbers():
    """Counts as outcomes, and no loss of digits where the numbers are far from zero."""
    race = BernsteinRace(3, 1)
    params = race.params(0.1, 50, value_range=4.0)
    values = np.random.default_rng(8).integers(0, 5, (1, 3, 50))
    _, small = play(race, jnp.asarray(values), params)
    _, far = play(race, jnp.asarray(values, jnp.float32) + 4096, params)
    np.testing.assert_allclose(far.lower - 4096, small.lower, atol=2e-2)
    np.testing.assert_array_equal(far.samples, small.samples)


def test_only_single_numbers_are_accepted():
    race = HoeffdingRace(3, 1)
    params = race.params(0.1, value_range=1.0)
    with pytest.raises(ValueError, match="example_outcome: expected a single number"):
        race.init(np.zeros(2, np.float32), params)
    state = race.init(np.float32(0), params)
    with pytest.raises(ValueError, match="outcomes: expected one array"):
        race.tell(state, np.zeros((2, 1), np.float32), params)
    with pytest.raises(ValueError, match="outcomes: expected at least one round"):
        race.tell(state, np.zeros((3, 0), np.float32), params)
    with pytest.raises(ValueError, match="value_range: expected a positive number"):
        race.params(0.1, 10, value_range=0.0)


def normal(key, mean):
    return mean + 5 * jax.random.normal(key)


MEANS = jnp.array([0.0, 0.0, 0.0, 0.3], jnp.float32)


@pytest.mark.parametrize("kind", ["hoeffding", "bernstein"])
def test_outcomes_that_prove_a_range_too_small_make_a_race_void(kind):
    """Most of these certificates were wrong when nobody looked."""
    race = KINDS[kind](4, 1)
    params = race.params(0.05, 200, value_range=1.0)
    message = r"outcomes: expected those of an option within a value_range of 1, got -?\d.* to \d"
    with pytest.raises(ValueError, match=message):
        racing.run(race, jax.random.key(1), normal, MEANS, params)
    state = race.init(np.float32(0), params)
    with pytest.raises(ValueError, match=r"value_range of 1, got -2 to 3 for option 2$"):
        race.tell(state, np.array([[0, 0], [1, 1], [3, -2], [4, 4]], np.float32), params)

    def play(key):
        return racing.run(race, key, normal, MEANS, params)

    found = jax.jit(jax.vmap(play))(jax.random.split(jax.random.key(0), 40))
    assert not np.asarray(found.decided | found.selected.any(-1) | found.discarded.any(-1)).any()
    assert np.asarray(found.invalid > 0).any(-1).all()
    assert "INVALID: 40 of 40 races prove nothing" in str(found)
    assert "a score out of range" in str(jax.tree.map(operator.itemgetter(0), found))


def test_only_outcomes_of_one_option_that_counted_have_a_range():
    race = HoeffdingRace(2, 1)
    params = race.params(0.05, 200, value_range=1.0)
    values = np.zeros((2, 40), np.float32)
    values[1] = 100 + np.arange(40) % 2 * 1.0005  # far from the other, and as wide as is allowed
    values[:, 20:] *= -1  # after the end
    state = race.tell(race.init(np.float32(0), params), values, params)
    result = race.result(state, params)
    assert result.best.tolist() == [1]
    # Far apart at once: that is believed when a range too small would have been seen.
    assert result.samples.tolist() == [FEWEST, FEWEST]
    assert not result.invalid.any()
    assert (result.least.tolist(), result.greatest.tolist()) == (
        [0, 100],
        [0, np.float32(101.0005)],
    )
