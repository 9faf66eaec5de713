"""Races on shared tasks: against the definition, decision by decision; ask and tell; batches."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from shared_cases import log_e_process, plain_race

import jaxrace
from jaxrace import kernels, racing
from jaxrace.evidence import levels
from jaxrace.evidence.task_bets import shared_bets

SEEDS = 10


def item_responses(key, num_tasks, num_options=5, spread=1.5):
    """Right or wrong answers, float32 [K, N], as in tests of ability."""
    ability, difficulty, chance = jax.random.split(key, 3)
    ability = 0.6 * jax.random.normal(ability, (num_options, 1))
    difficulty = spread * jax.random.normal(difficulty, (num_tasks,))
    right = jax.random.uniform(chance, (num_options, num_tasks))
    return (right < jax.nn.sigmoid(ability - difficulty)).astype(jnp.float32)


def lookup(key, option, task):
    """An outcome that is in a table already: an option is a row of it, a task its number."""
    return option[task]


def play(race, table, params, tell_at_most=10**9):
    """The ask/tell loop on scores [K, N, ...]."""
    options = np.arange(race.num_options)[:, None]
    state = race.init(table[0, 0], params)
    while (asked := np.asarray(race.ask(state, params))).any():
        number = min(int(asked.max()), tell_at_most)
        at = np.asarray(state.simulated)[:, None] + np.arange(number)
        told = table[options, np.minimum(at, table.shape[1] - 1)]
        state = race.tell(state, told, params)
    return race.result(state, params)


WINS: dict[str, Any] = {"by": "wins", "compare": kernels.total_order}
MEAN: dict[str, Any] = {"low": 0, "high": 1}
KINDS = {
    "mean of a stream": (MEAN, 0.0),
    "mean of a list": ({**MEAN, "finite": True}, 0.0),
    "mean of a list within a tolerance": ({**MEAN, "finite": True}, 0.05),
    "wins of a stream": (WINS, 0.0),
    "wins of a stream within a tolerance": (WINS, 0.05),
    "wins of a list": ({**WINS, "finite": True}, 0.0),
}


def differences_of(table):
    table = np.asarray(table, np.float64)
    return table[:, None] - table[None, :]


@pytest.mark.parametrize("kind", KINDS)
def test_every_decision_is_the_definitions(kind):
    """Scores are 0 or 1, so that means and wins have the same differences.

    A batch, single races and ask/tell make the same decisions.
    """
    settings, tolerance = KINDS[kind]
    race = racing.SharedRace(num_options=5, top=2, capacity=200, **settings)
    params = race.params(delta=0.1, tolerance=tolerance)
    keys = jax.random.split(jax.random.key(1), SEEDS)
    tables = jax.vmap(lambda key: item_responses(key, race.capacity))(keys)
    batch = jax.vmap(lambda k, x: racing.run(race, k, lookup, x, params))(keys, tables)
    for seed, key in enumerate(keys):
        order = np.asarray(racing.task_order(race, key))
        table = np.asarray(tables[seed])[:, order]
        samples, best, certificate, possible = plain_race(race, params, differences_of(table))
        found = [jax.tree.map(lambda x, seed=seed: x[seed], batch)]
        if seed < 2:
            found += [racing.run(race, key, lookup, tables[seed], params)]
            found += [play(race, table, params, tell_at_most=11)]
        for result in found:
            assert set(result.best.tolist()) == best
            assert (result.certificate or None) == certificate  # of a batch ""
            np.testing.assert_array_equal(result.samples, samples)
            if certificate is None:
                np.testing.assert_array_equal(result.possible, possible)
    assert "dominance" in set(batch.certificate)


@pytest.mark.parametrize("kind", ["mean of a list", "wins of a list", "mean of a stream"])
def test_a_table_is_judged_alike(kind):
    """What has been run when a race ends, as a table: the same certificate, and who may be best.

    Verdicts of the race need a little more evidence, for rounding: 1e-6 for each task.
    """
    settings, _ = KINDS[kind]
    race = racing.SharedRace(num_options=5, top=2, capacity=200, **settings)
    params = race.params(delta=0.1)
    if not race.finite:  # judged without a horizon
        bets, weights = shared_bets(0.0)
        params = race.params(delta=0.1, bets=bets, weights=weights)
    for seed in range(8):
        table = np.asarray(item_responses(jax.random.key(seed), race.capacity))
        result = play(race, table, params)
        told = np.arange(race.capacity) < np.asarray(result.samples)[:, None]
        runs = {str(i): np.where(told[i], table[i], np.nan) for i in range(5)}
        scale = MEAN if race.by == "mean" else {}
        number = race.capacity if race.finite else None
        judged = jaxrace.race(runs, 2, delta=0.1, by=race.by, shared=True, of=number, **scale)
        assert judged.certified == bool(result.decided)
        assert sorted(judged.possible) == [str(i) for i in np.flatnonzero(result.possible)]
        if judged.certified:
            assert sorted(judged.best) == sorted(str(i) for i in result.best)


@pytest.mark.parametrize("by", ["mean", "wins"])
def test_several_values_of_a_task_are_averaged(by):
    """By wins over all pairs of values, which by hand are 1/2, 0 and so on."""
    settings = MEAN if by == "mean" else WINS
    race = racing.SharedRace(num_options=2, top=1, capacity=30, values=2, **settings)
    params = race.params(first=1, least=1, growth=0)
    values = np.random.default_rng(0).choice([0, 0.25, 0.5, 1.0], (2, 30, 2))
    values[0] = np.maximum(values[0], 0.25)
    if by == "mean":
        differences = values.mean(-1)[:, None] - values.mean(-1)[None]
    else:
        x, y = values[:, None, :, :, None], values[None, :, :, None, :]
        differences = np.sign(x - y).mean((-2, -1))
    samples, best, certificate, _ = plain_race(race, params, differences)
    result = play(race, values.astype(np.float32), params)
    assert (set(result.best.tolist()), result.certificate) == (best, certificate)
    assert result.samples.tolist() == samples.tolist()
    np.testing.assert_allclose(
        result.mean_difference[0, 1], differences[0, 1, : samples.min()].mean(), atol=1e-6
    )


def test_a_list_is_decided_by_its_last_task():
    """51 of 100 tasks, won and lost in turns: no e-value sees it, and it is certain."""
    race = racing.SharedRace(num_options=2, top=1, capacity=101, finite=True, **MEAN)
    params = race.params()
    first = np.arange(101) % 2 == 0
    result = play(race, np.stack([first, ~first]).astype(np.float32), params)
    assert result.best.tolist() == [0]
    assert result.certificate == "dominance"
    # The last task alone does not count: after 100 tasks the two have won as many.
    assert result.samples.tolist() == [101, 101]


def test_a_list_takes_back_what_its_whole_refutes():
    """The first wins fifteen tasks, and then loses sixteen: evidence that was there is gone."""
    race = racing.SharedRace(num_options=2, top=1, capacity=31, finite=True, **MEAN)
    first = np.arange(31) < 15
    result = play(race, np.stack([first, ~first]).astype(np.float32), race.params(first=31))
    assert result.best.tolist() == [1]
    assert result.p_values[[0, 1], [1, 0]].tolist() == [1, 0]
    assert result.possible.tolist() == [False, True]


def test_options_that_tie_on_a_list_are_both_possible():
    """As for ``jaxrace.race``: a tie is no certificate, and nothing could settle it."""
    race = racing.SharedRace(num_options=3, top=1, capacity=40, finite=True, **MEAN)
    first = np.arange(40) % 2 == 0
    table = np.stack([np.zeros(40), first, ~first]).astype(np.float32)
    result = play(race, table, race.params())
    assert (result.certificate, result.possible.tolist()) == (None, [False, True, True])
    assert "TIED on the whole list: 1, 2" in str(result)
    columns = dict(zip("abc", table, strict=True))
    found = jaxrace.race(columns, shared=True, of=40, by="mean", low=0, high=1)
    assert (found.certified, found.tied) == (False, ["b", "c"])


def test_a_loser_is_out_before_anything_is_certified():
    race = racing.SharedRace(num_options=3, top=1, capacity=60, **MEAN)
    params = race.params(slack=100)
    even = np.arange(60) % 2
    table = np.stack([even, 1 - even, 0 * even]).astype(np.float32)
    result = play(race, table, params)
    assert result.certificate is None
    assert result.possible.tolist() == [True, True, False]
    assert "certainly out  2" in str(result)
    assert "so far         the best is one of 1, 0; wrong with probability at most 0.05" in str(
        result
    )


def test_equal_options_are_certified_within_a_tolerance():
    race = racing.SharedRace(num_options=3, top=1, capacity=300, **MEAN)
    table = np.tile(np.arange(300) % 2, (3, 1)).astype(np.float32)
    result = play(race, table, race.params(tolerance=0.1))
    assert result.certificate == "dominance"
    assert result.possible.all()
    assert "within 0.1" in str(result)


def test_rounding_certifies_nothing():
    """Just below the level in exact numbers is no verdict in float32."""
    race = racing.SharedRace(num_options=2, top=1, capacity=2000, **MEAN)
    params = race.params(bets=[0.001], first=2000)
    table = np.stack([np.ones(2000), np.zeros(2000)]).astype(np.float32)
    result = play(race, table, params)
    log_e = log_e_process(np.ones(2000), params)[-1]
    assert result.p_values[0, 1] == pytest.approx(np.exp(-log_e), rel=2e-3)
    exact = levels.levels("mean", 2, 1, 0.05).verdict
    assert exact < float(params.level) < exact + 0.01


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"low": 1.0}, "low < high, got 1.0, 1"),
        ({"by": "median"}, "by: expected one of"),
        ({"by": "wins"}, "low, high: expected none"),
        ({"compare": kernels.total_order}, "compare: expected none"),
        ({"values": 0}, "values: expected an integer"),
    ],
)
def test_settings_that_make_no_race(change, message):
    with pytest.raises(ValueError, match=message):
        racing.SharedRace(**{"num_options": 3, "top": 1, "capacity": 9, **MEAN, **change})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tolerance": 1.0}, "tolerance: expected a number in"),
        ({"bets": [0.96]}, "bets: expected at most 0.95"),
        ({"max_rounds": 10}, "max_rounds: expected at most 9"),
        ({"growth": -1}, "growth: expected a number in"),
    ],
)
def test_numbers_that_make_no_params(arguments, message):
    race = racing.SharedRace(num_options=3, top=1, capacity=9, **MEAN)
    with pytest.raises(ValueError, match=message):
        race.params(**arguments)


def test_scores_out_of_their_range_are_named():
    race = racing.SharedRace(num_options=2, top=1, capacity=9, **MEAN)
    params = race.params(first=3)
    state = race.tell(race.init(jnp.float32(0), params), np.zeros((2, 2), np.float32), params)
    with pytest.raises(ValueError, match=r"from 0 to 1, got another one for option 1 on task 3"):
        race.tell(state, np.array([[0.0], [1.5]], np.float32), params)
    with pytest.raises(ValueError, match="option 0 on task 1"):
        racing.run(race, jax.random.key(0), lookup, jnp.full((2, 9), 2.0), params)
    # What was not asked for is not looked at.
    race.tell(state, np.array([[0.0, 7.0], [1.0, jnp.nan]], np.float32), params)


@pytest.mark.parametrize("name", ["options", "tasks"])
@pytest.mark.skipif(jax.config.read("jax_enable_x64"), reason="64 bits tell the rows apart")
def test_rows_that_only_64_bits_tell_apart_are_refused(name):
    race = racing.SharedRace(num_options=2, top=1, capacity=2, **MEAN)
    rows = {"options": np.array([1.0, 2.0]), "tasks": np.array([1.0, 2.0])}
    rows[name] = np.array([1.0, 1.0 + 1e-9])
    key, options = jax.random.key(0), rows["options"]
    with pytest.raises(ValueError, match=f"{name}: expected rows that float32 tells apart"):
        racing.run(race, key, lambda key, x, t: x / 9, options, race.params(), tasks=rows["tasks"])


def test_only_a_race_on_shared_tasks_has_tasks():
    race = racing.HoeffdingRace(num_options=2, top=1)
    params = race.params(value_range=1.0)
    with pytest.raises(ValueError, match="tasks: expected none for a race of independent samples"):
        racing.run(
            race, jax.random.key(0), lambda key, x: x, jnp.zeros(2), params, tasks=jnp.zeros(9)
        )
