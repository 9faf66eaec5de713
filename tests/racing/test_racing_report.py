"""What `print(result)` says: nothing uncertain may read like something certain."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import racing
from jaxrace.kernels import total_order
from jaxrace.racing import HoeffdingRace, PreferenceRace


def tell_all(race, values, params):
    """All of values [K, n], told round by round until the race has ended."""
    state = race.init(np.float32(0), params)
    for t in range(values.shape[1]):
        if not race.ask(state, params).any():
            break
        state = race.tell(state, values[:, t : t + 1], params)
    return race.result(state, params)


def repeated(*scores, rounds=40):
    return np.repeat(np.array(scores, np.float32)[:, None], rounds, axis=1)


def rows_of(text):
    """The report's lines between the guarantee and the table, by their first words."""
    lines = text.splitlines()
    return {line[2:17].strip(): line[17:] for line in lines[3 : lines.index("")]}


def test_a_decided_race():
    race = PreferenceRace(4, 2, 40, total_order, "published")
    result = tell_all(race, repeated(2, 0, 3, 1), race.params(0.1))
    lines = str(result).splitlines()
    assert lines[0].startswith("Top 2 of 4 options: preference race (Copeland), bound published")
    assert lines[1].strip() == "decided"
    assert lines[2].strip() == "what is certain is right with probability at least 0.9"
    samples, comparisons = int(np.sum(result.samples)), int(result.oracle_calls)
    assert rows_of(str(result)) == {
        "certainly in": "2, 0",
        "certainly out": "3, 1",
        "undecided": "-",
        "cost": f"{samples} samples counted, {samples} simulated, {comparisons:,} comparisons",
    }
    table = [line.split() for line in lines[-4:]]
    assert [(row[1], row[-1]) for row in table] == [
        ("2", "in"),
        ("0", "in"),
        ("3", "out"),
        ("1", "out"),
    ]
    assert [row[3] for row in table] == ["1.000", "0.667", "0.333", "0.000"]  # mean S


def test_an_undecided_heuristic_race():
    race = PreferenceRace(3, 1, 40, total_order, "published", dynamic_delta=True)
    # Option 2 loses for certain; the other two are the same.
    values = np.tile(np.array([[1, 2], [1, 2], [0, 0]], np.float32), 20)
    result = tell_all(race, values, race.params(0.1))
    text = str(result)
    assert "NOT decided within 40 rounds" in text
    assert "heuristic, no guarantee: the dynamic correction has no proof" in text
    assert "certain" not in text
    rows = rows_of(text)
    assert (rows["perhaps in"], rows["perhaps out"], rows["undecided"]) == ("-", "2", "0, 1")


def test_a_tie_at_the_boundary_is_no_verdict():
    """A cycle of three: each of them is an optimal choice."""
    race = PreferenceRace(3, 1, 20_000, total_order)
    dice = np.array([[2, 4, 9], [1, 6, 8], [3, 5, 7]], np.float32)
    faces = np.random.default_rng(0).integers(0, 3, (3, 20_000))
    rolls = dice[np.arange(3)[:, None], faces]
    params = race.params(0.1)
    state = race.init(np.float32(0), params)
    while race.ask(state, params).any():
        t = int(state.round)
        state = race.tell(state, rolls[:, t : t + 500], params)
    result = race.result(state, params)
    assert result.decided
    assert result.tied.tolist() == [True] * 3
    assert result.selected.tolist() == [True, False, False]
    rows = rows_of(str(result))
    assert (rows["certainly in"], rows["certainly out"]) == ("-", "-")
    first, *others = result.ranking.tolist()
    assert first == 0
    assert (
        rows["tied"]
        == f"0, {others[0]}, {others[1]}: any 1 of them will do, and the first is taken"
    )


def test_an_epsilon_race_promises_less():
    race = PreferenceRace(4, 2, 400, total_order)
    result = tell_all(race, repeated(0, 0, 0, 0, rounds=400), race.params(0.1, epsilon=0.2))
    text = str(result)
    assert result.decided
    assert "epsilon 0.2" in text.splitlines()[0]
    assert "for some win probabilities within 0.2 of the true ones" in text
    assert "certainly" not in text


def test_a_one_sided_bound_names_its_condition():
    race = PreferenceRace(2, 1, 40, total_order, "stitched-kl-verdict")
    text = str(tell_all(race, repeated(1, 0), race.params(0.1)))
    assert "if no two options tie exactly (else delta doubles)" in text


def test_a_value_race_names_its_range():
    race = HoeffdingRace(2, 1)
    result = tell_all(race, repeated(1, 0), race.params(0.1, 40, value_range=2.0))
    assert "if every option's outcomes span at most 2" in str(result)


def test_batches_say_what_they_promise():
    race = PreferenceRace(2, 1, 50, total_order)
    params = [race.params(delta) for delta in (0.01, 0.5)]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *params)

    def sample(key, option):
        return option + jax.random.normal(key, (), jnp.float32)

    def play(key, params):
        options = jnp.array([0.0, 3.0], jnp.float32)
        return racing.run(race, key, sample, options, params, 25)

    keys = jax.random.split(jax.random.key(0), 2)
    batch = jax.vmap(play)(keys, stacked)
    text = str(batch)
    assert "2 races" in text
    assert "delta 0.01 to 0.5" in text
    assert "probability at least 0.5 to 0.99" in text
    assert "2 of 2 decided" in text
    assert "not out yet" not in text
    few = jax.vmap(lambda key: play(key, race.params(0.01, 2)))(keys)
    assert "\n  options not out yet in a race that is not decided: 2.0, mean\n" in str(few)
    text = str(dataclasses.replace(batch, common_random_numbers=True))
    assert "heuristic, no guarantee: common random numbers" in text
    assert "right with" not in text
