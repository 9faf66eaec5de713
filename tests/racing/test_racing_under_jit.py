"""What a result says of a race inside of somebody's own jit, where outcomes raise no errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import kernels, racing
from jaxrace.core.validation import BadArgument

OPTIONS = jnp.linspace(0.0, 3.0, 4)
WINS = {"num_options": 4, "top": 1, "capacity": 60, "compare": kernels.total_order}
RANGE = {"num_options": 4, "top": 1, "capacity": 60, "by": "mean", "low": -10, "high": 20}
RACES = {
    "wins": (racing.DominanceRace(**WINS), {}),
    "mean": (racing.DominanceRace(**RANGE), {}),
    "tasks": (racing.SharedRace(**RANGE), {}),
    "Copeland": (racing.PreferenceRace(**WINS), {}),
    "Borda": (racing.PreferenceRace(**WINS, ranking="borda"), {}),
    "Hoeffding": (racing.HoeffdingRace(4, 1), {"max_rounds": 60, "value_range": 1}),
}
# A NumPy value, or a word: each is computed by plain Python.
ON_HOST = {
    "wins": ("certificate", "p_values", "e_values", "log_evidence", "log_highest", "oracle_calls"),
    "tasks": ("certificate", "p_values", "evaluations", "log_highest", "oracle_calls"),
    "Copeland": ("win_matrix", "oracle_calls", "intervals", "empty_intersections"),
}


def play(kind, option, read=lambda result: result):
    """A race under jit, whose best option gives what ``option`` makes of it and of the key."""
    race, numbers = RACES[kind]

    def sample(key, mean, *task):
        return jnp.where(mean > 2.9, option(key), mean + 0.1 * jax.random.normal(key))

    params = race.params(delta=0.2, **numbers)
    return lambda key: read(racing.run(race, key, sample, OPTIONS, params))


@pytest.mark.parametrize("kind", RACES)
def test_a_race_with_nan_under_jit_proves_nothing_and_says_so(kind):
    result = jax.jit(play(kind, lambda key: jnp.nan))(jax.random.key(0))
    assert result.invalid.tolist() == [0, 0, 0, 1]
    assert not result.decided
    assert not (result.selected | result.discarded).any()
    first = str(result).splitlines()[0]
    assert first.startswith("INVALID: option 3 gave NaN")
    assert first.endswith(
        f"in {'task' if kind == 'tasks' else 'sample'} 1; the race proves nothing"
    )
    assert "certainly" not in str(result)
    if kind in ("wins", "mean", "tasks"):
        assert result.certificate is None
        assert result.possible.all()


def test_a_batch_counts_its_invalid_races():
    bad = play("wins", lambda key: jnp.where(jax.random.bernoulli(key, 0.05), jnp.nan, 3.0))
    batch = jax.jit(jax.vmap(bad))(jax.random.split(jax.random.key(1), 8))
    count = int((np.asarray(batch.invalid) > 0).any(-1).sum())
    assert 0 < count < 8
    assert str(batch).startswith(
        f"INVALID: {count} of 8 races prove nothing: option 3 gave NaN or infinity\n"
    )
    assert not batch.decided[(batch.invalid > 0).any(-1)].any()
    assert ((batch.certificate != "") == batch.decided).all()


def test_scores_out_of_range_are_invalid_too():
    result = jax.jit(play("mean", lambda key: 21.0))(jax.random.key(0))
    assert str(result).startswith("INVALID: option 3 gave NaN, infinity or a score out of range in")


def test_the_best_may_be_taken_inside_of_jit():
    best = jax.jit(play("wins", lambda key: 3.0, lambda result: result.best))
    assert best(jax.random.key(0)).tolist() == [3]


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in ON_HOST.items() for name in names]
)
def test_what_plain_python_computes_names_the_array_to_take(kind, name):
    run = play(kind, lambda key: 3.0, lambda result: getattr(result, name))
    expected = r"^result\.\w+: .* under a trace; inside jit and vmap take `(\w+)`"
    with pytest.raises(BadArgument, match=expected) as raised:
        jax.eval_shape(run, jax.random.key(0))
    # What the message names is there, and is an array.
    named = raised.value.hint.split("`")[1].split(" ")[0]
    jax.eval_shape(
        play(kind, lambda key: 3.0, lambda result: getattr(result, named)), jax.random.key(0)
    )


def test_a_result_printed_under_a_trace_says_where_to_print_it():
    def told(result):
        assert str(result) == "DominanceResult under a trace: print it outside of jit"
        return result

    jax.eval_shape(play("wins", lambda key: 3.0, told), jax.random.key(0))


def race_by(kind, compare):
    """A race under a trace by a preference of one's own, as a function of keys [B]."""
    race = type(RACES[kind][0])(**{**WINS, "compare": compare})
    params = race.params(delta=0.2)

    def sample(key, mean):
        return mean + 0.1 * jax.random.normal(key)

    return jax.jit(jax.vmap(lambda key: racing.run(race, key, sample, OPTIONS, params)))


@pytest.mark.parametrize(
    ("kind", "compare"),
    [
        ("wins", lambda a, b: (a > b).astype(jnp.int8)),
        ("Copeland", lambda a, b: jnp.int8(1)),
        ("Copeland", lambda a, b: 2 * kernels.total_order(a, b)),
    ],
    ids=["one side only", "always", "twos"],
)
def test_a_preference_that_is_no_sign_makes_races_void(kind, compare):
    result = race_by(kind, compare)(jax.random.split(jax.random.key(0), 2))
    assert not (result.decided | result.selected.any(1) | result.discarded.any(1)).any()
    assert (result.invalid == -1).all()
    assert str(result).startswith("INVALID: 2 of 2 races prove nothing: compare(a, b) and")
    one = jax.tree.map(lambda x: x[0], result)
    assert str(one).startswith("INVALID: the race proves nothing: compare(a, b) and")


def test_a_preference_of_ones_own_that_is_a_sign_is_raced():
    race = race_by("Copeland", lambda a, b: -kernels.total_order(a, b))
    result = race(jax.random.split(jax.random.key(0), 2))
    assert result.decided.all()
    assert result.best.tolist() == [[0], [0]]
