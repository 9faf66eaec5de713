"""The preference-based race against the plain reference, decision by decision."""

import dataclasses
import functools
import itertools
import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from preference_cases import COMPARE, PREFER, dominance, draw_samples
from reference import reference_preference_race

from jaxrace import dueling
from jaxrace.kernels import total_order
from jaxrace.racing import PreferenceRace

slow = functools.partial(pytest.param, marks=pytest.mark.slow)


@functools.partial(jax.jit, static_argnums=0)
def play(race, outcomes, params):
    """Tell one round after another to many races [B, K, n, ...].

    Returns who was asked, and the state, after each round; and the results.
    """

    def one(outcomes):
        state = race.init(outcomes[0, 0], params)

        def step(state, samples):
            asked = race.ask(state, params)
            state = race.tell(state, samples[:, None], params)
            seen = (asked, state.active, state.beats, state.selected, state.discarded, state.net)
            return state, seen

        state, history = jax.lax.scan(step, state, jnp.moveaxis(outcomes, 1, 0))
        return history, race.result(state, params), state

    return jax.vmap(one)(outcomes)


def assert_ranking(result, expected, top):
    """Sort keys, the order by them, and the sets that a person sees."""
    copeland, borda = np.asarray(result.copeland), np.asarray(result.borda)
    np.testing.assert_array_equal(copeland, expected.copeland)
    # The second key is a fixed-point number; its unit depends on K alone.
    num_options = len(copeland)
    unit = 2.0 ** -min(24, 30 - int(np.ceil(np.log2(num_options))))
    np.testing.assert_allclose(borda * unit, expected.borda, rtol=0, atol=2 * num_options * unit)
    ranking = result.ranking.tolist()
    assert ranking == sorted(range(num_options), key=lambda i: (-copeland[i], -borda[i], i))
    for better, worse in itertools.pairwise(ranking):
        by_reference = expected.ranking.index(better) < expected.ranking.index(worse)
        tied = (
            copeland[better] == copeland[worse]
            and abs(expected.borda[better] - expected.borda[worse]) < 4 * num_options * unit
        )
        assert by_reference or tied
    last = expected.rounds[-1]
    assert bool(result.decided) == expected.finished
    if expected.finished:
        assert sorted(np.flatnonzero(result.selected)) == sorted(ranking[:top])
        assert not (np.asarray(result.selected) == np.asarray(result.discarded)).any()
    else:
        np.testing.assert_array_equal(result.selected, last.selected)
        np.testing.assert_array_equal(result.discarded, last.discarded)


def compare_with_reference(
    race, kind, outcomes, max_rounds, delta, epsilon=0.0, check_intervals=False
):
    """Play every instance in both ways; returns the reference's histories."""
    params = race.params(delta, max_rounds, epsilon)
    # Bounds differ in their params alone, unless intervals are asked for: they share a program.
    player = race if check_intervals else dataclasses.replace(race, bound="published")
    params = dataclasses.replace(params, owner=player._owner)
    history, results, states = jax.tree.map(np.asarray, play(player, outcomes, params))
    histories = []
    for number, instance in enumerate(outcomes):
        expected = reference_preference_race.race(
            instance,
            PREFER[kind],
            race.top,
            max_rounds,
            delta,
            race.bound,
            race.rule,
            epsilon,
            race.dynamic_delta,
            race.intersect,
            check_intervals,
        )
        histories.append(expected)
        same = True
        for t, wanted in enumerate(expected.rounds):
            asked, active, beats, selected, discarded, net = (x[number, t] for x in history)
            np.testing.assert_array_equal(asked, wanted.drawn)
            np.testing.assert_array_equal(net, wanted.net)
            if race.dynamic_delta and (beats != wanted.beats).any():
                # The device compares in float32: it may differ where the numbers are level.
                assert wanted.margin[beats != wanted.beats].max() < 1e-5
                same = False
                break
            np.testing.assert_array_equal(beats, wanted.beats)
            np.testing.assert_array_equal(selected, wanted.selected)
            np.testing.assert_array_equal(discarded, wanted.discarded)
            np.testing.assert_array_equal(active, wanted.active)
        if not same:
            continue
        if expected.finished:  # nothing is asked for, and nothing changes, after the end
            assert not history[0][number, len(expected.rounds) :].any()
            assert not states.active[number].any()
        result = jax.tree.map(operator.itemgetter(number), results)
        np.testing.assert_array_equal(result.samples, expected.samples)
        np.testing.assert_array_equal(result.simulated, expected.samples)
        np.testing.assert_array_equal(result.rounds, expected.counts)
        np.testing.assert_allclose(result.win_matrix, expected.estimate, rtol=0, atol=1e-15)
        assert result.oracle_calls == (expected.counts**2).sum() // 2
        assert_ranking(result, expected, race.top)
        if check_intervals:
            lower, upper = result.intervals
            np.testing.assert_allclose(lower, expected.lower, rtol=0, atol=1e-9)
            np.testing.assert_allclose(upper, expected.upper, rtol=0, atol=1e-9)
    return histories


@pytest.mark.parametrize(
    ("bound", "rule", "kind"),
    [
        slow("published", "printed", "pareto"),
        ("stitched-kl-verdict", "sharp", "ties"),
        slow("open-stitched", "sharp", "numbers"),
    ],
)
def test_bounds_and_rules(bound, rule, kind):
    """K = 5, with continuous, tied and incomparable outcomes."""
    race = PreferenceRace(5, 2, 45, COMPARE[kind], bound, rule)
    outcomes = draw_samples(kind, 2 if kind == "pareto" else 1, 10, 5, 45)
    histories = compare_with_reference(race, kind, outcomes, 45, 0.3)
    # The instances are of all sorts.
    assert any(h.finished for h in histories)
    assert any(not h.finished for h in histories)
    assert any(h.rounds[-1].beats.any() and not h.finished for h in histories)
    assert len({len(h.rounds) for h in histories}) >= 3


@pytest.mark.parametrize(
    ("num_options", "top", "kind"),
    [
        (2, 1, "numbers"),
        (12, 2, "pareto"),
    ],
)
def test_every_size(num_options, top, kind):
    race = PreferenceRace(num_options, top, 40, COMPARE[kind], "stitched-kl-verdict")
    number = 16 if num_options < 8 else 6
    outcomes = draw_samples(kind, num_options, number, num_options, 40)
    histories = compare_with_reference(race, kind, outcomes, 40, 0.3)
    assert any(h.rounds[-1].selected.any() for h in histories)
    assert any(h.rounds[-1].discarded.any() for h in histories)


@pytest.mark.slow
def test_many_options():
    kind, bound, rule = "ties", "kl", "sharp"
    race = PreferenceRace(40, 10, 40, COMPARE[kind], bound, rule)
    outcomes = draw_samples(kind, 6, 2, 40, 40)
    steps = 0.3 * np.arange(40)[:, None]
    outcomes[0] += steps[..., None] if kind == "pareto" else steps
    histories = compare_with_reference(race, kind, outcomes, 40, 0.2)
    assert any(h.rounds[-1].selected.any() for h in histories)


@pytest.mark.parametrize(
    ("bound", "epsilon"),
    [
        ("published", 0.15),
        ("stitched-kl-verdict", 0.45),
    ],
)
def test_epsilon_relaxation(bound, epsilon):
    race = PreferenceRace(4, 2, 40, total_order, bound)
    outcomes = draw_samples("ties", 7, 12, 4, 40)
    outcomes[:5, 1] = outcomes[:5, 0]  # net counts of exactly 0
    relaxed = compare_with_reference(race, "ties", outcomes, 40, 0.3, epsilon)
    exact = compare_with_reference(race, "ties", outcomes, 40, 0.3)
    assert sum(h.samples.sum() for h in relaxed) < sum(h.samples.sum() for h in exact)


def test_dynamic_correction():
    num_options, top, kind, rule = 7, 3, "numbers", "sharp"
    race = PreferenceRace(num_options, top, 60, total_order, "published", rule, dynamic_delta=True)
    outcomes = draw_samples(kind, 8, 7, num_options, 60)
    outcomes[::2] += np.arange(num_options)[:, None]
    dynamic = compare_with_reference(race, kind, outcomes, 60, 0.3)
    plain = PreferenceRace(num_options, top, 60, total_order, "published", rule)
    # The correction must matter, or the test shows nothing.
    costs = [h.samples.sum() for h in compare_with_reference(plain, kind, outcomes, 60, 0.3)]
    assert any(h.samples.sum() < cost for h, cost in zip(dynamic, costs, strict=True))


@pytest.mark.parametrize(
    ("bound", "intersect"),
    [
        ("published", True),
        ("stitched-kl-verdict", False),
    ],
)
def test_intervals(bound, intersect):
    race = PreferenceRace(4, 2, 30, total_order, bound, intersect=intersect)
    outcomes = draw_samples("ties", 9, 4, 4, 30)
    # A large delta, for short epochs; a power of two, because params keep it in float32.
    histories = compare_with_reference(race, "ties", outcomes, 30, 0.5, check_intervals=True)
    apart = ~np.eye(4, dtype=bool)
    for history in histories:
        beats = history.rounds[-1].beats
        if not bound.endswith("verdict"):
            np.testing.assert_array_equal(history.lower[apart] > 0.5, beats[apart])


@pytest.mark.parametrize("max_rounds", [1, 13, 29])
def test_fewer_rounds_than_capacity(max_rounds):
    """The level is that of max_rounds, not of the capacity, and nothing counts after it."""
    race = PreferenceRace(4, 1, 30, total_order, "kl-verdict")
    outcomes = draw_samples("ties", 11, 20, 4, 30)
    outcomes[:, 0] += 2
    histories = compare_with_reference(race, "ties", outcomes, max_rounds, 0.4)
    assert all(len(h.rounds) <= max_rounds for h in histories)


@pytest.mark.parametrize("bound", ["published", "kl-verdict", "open-stitched"])
def test_a_table_for_every_horizon(bound):
    """What searches that adapt n_max race with is what a race of that n_max would be given."""
    race = PreferenceRace(5, 2, 40, total_order, bound)
    table = race.table(0.3)
    for max_rounds in (1, 2, 13, 39, 40):
        adapted = race.params_at(table, jnp.int32(max_rounds))
        own = race.params(0.3, max_rounds)
        jax.tree.map(np.testing.assert_array_equal, adapted, own)


def test_the_top_of_the_ranking_is_what_the_rule_has_selected():
    """In a race that has ended, ties of the Copeland scores included."""
    race = PreferenceRace(6, 3, 40, dominance, "published")
    params = race.params(0.3)
    outcomes = draw_samples("pareto", 12, 60, 6, 40)
    outcomes[::2] += 5 * np.arange(6)[:, None, None]
    # A cycle of three, and two that lose to all: everybody of the cycle has the same score.
    cycle = np.zeros((6, 40, 2), np.float32)
    cycle[:3, :, 0] = 1
    outcomes[1] = cycle
    _, results, states = jax.tree.map(np.asarray, play(race, outcomes, params))
    ended = 0
    for number in np.flatnonzero(results.decided):
        ended += 1
        top = set(results.ranking[number][:3].tolist())
        assert set(np.flatnonzero(states.selected[number]).tolist()) <= top
        assert not set(np.flatnonzero(states.discarded[number]).tolist()) & top
        assert set(np.flatnonzero(results.selected[number]).tolist()) == top
        assert set(np.flatnonzero(results.discarded[number]).tolist()) == set(range(6)) - top
    assert ended >= 20


def rock_paper_scissors(a, b):
    """1 beats 0, 2 beats 1, 0 beats 2; all of them beat 3."""
    inner = (a < 3) & (b < 3)
    cycle = jnp.array([0, 1, -1], jnp.int8)[jnp.mod(a - b, 3)]
    return jnp.where(inner, cycle, total_order(b, a))


@pytest.mark.parametrize("top", [1, 2, 3])
def test_a_decided_race_with_an_exact_copeland_tie(top):
    """Three options in a cycle and one that always loses."""
    race = PreferenceRace(4, top, 40, rock_paper_scissors, "stitched-kl")
    params = race.params(0.1)
    state = race.init(np.int32(0), params)
    while race.ask(state, params).any():
        state = race.tell(state, np.arange(4, dtype=np.int32)[:, None], params)
    result = race.result(state, params)
    assert result.decided
    assert result.copeland.tolist() == [2, 2, 2, 0]
    assert result.ranking.tolist() == [0, 1, 2, 3]
    assert np.flatnonzero(result.selected).tolist() == list(range(top))
    assert np.flatnonzero(result.discarded).tolist() == list(range(top, 4))
    if top == 3:  # no tie at this boundary: the rule itself has settled all
        assert jnp.logical_or(state.selected, state.discarded).all()


def in_a_circle(a, b):
    """0 beats 1, 1 beats 2, 2 beats 0, and all three beat 3."""
    of_three = jnp.where((b - a) % 3 == 1, 1, jnp.where(a == b, 0, -1))
    with_last = jnp.sign(b - a).astype(jnp.int32)
    return jnp.where((a == 3) | (b == 3), with_last, of_three).astype(jnp.int32)


def in_order(a, b):
    """2 beats 0, 1 and 3, 0 beats 1 and 3, 1 beats 3."""
    places = jnp.array([1, 2, 0, 3])
    return jnp.sign(places[b] - places[a]).astype(jnp.int32)


def test_who_is_best_by_other_rules():
    """By hand: in a circle and before a last one; and in the order 2, 0, 1, 3."""
    outcomes = jnp.broadcast_to(jnp.arange(4)[:, None], (4, 5))
    orders = {in_a_circle: [0, 1, 2, 3], in_order: [2, 0, 1, 3]}
    for compare, order in orders.items():
        race = PreferenceRace(num_options=4, top=1, capacity=5, compare=compare)
        params = race.params(delta=0.1, max_rounds=5)
        state = race.tell(race.init(jnp.int32(0), params), outcomes, params)
        result = race.result(state, params)
        assert dueling.kemeny_ranking(result.win_matrix).tolist() == order
        if compare is in_a_circle:
            assert dueling.condorcet_winner(result.win_matrix) is None
            assert dueling.smith_set(result.win_matrix).tolist() == [True, True, True, False]
            # Each loses to somebody for sure.
            assert dueling.maximin_ranking(result.win_matrix).tolist() == [0, 1, 2, 3]
        else:
            assert dueling.condorcet_winner(result.win_matrix) == 2
            assert dueling.smith_set(result.win_matrix).tolist() == [False, False, True, False]
            assert dueling.maximin_ranking(result.win_matrix).tolist() == [2, 0, 1, 3]
