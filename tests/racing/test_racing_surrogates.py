"""Races by Borda's score and by the random walk: against the reference, and their guarantee."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scripted
from preference_cases import COMPARE
from reference import surrogates

from jaxrace import kernels, racing
from jaxrace.kernels import total_order
from jaxrace.racing import PreferenceRace
from jaxrace.racing.preference.surrogates import settle_borda
from papers.preference_racing.options import Normal

slow = functools.partial(pytest.param, marks=pytest.mark.slow)


@functools.partial(jax.jit, static_argnums=0)
def play(race, outcomes, params):
    """Tell one round after another to many races [B, K, n, ...]."""

    def one(outcomes):
        state = race.init(outcomes[0, 0], params)

        def step(state, samples):
            asked = race.ask(state, params)
            state = race.tell(state, samples[:, None], params)
            return state, (asked, state.net, state.selected, state.discarded)

        state, history = jax.lax.scan(step, state, jnp.moveaxis(outcomes, 1, 0))
        return history, race.result(state, params)

    return jax.vmap(one)(outcomes)


def compare_with_reference(race, kind, outcomes, delta):
    """Decision by decision; returns the reference's histories."""
    max_rounds = outcomes.shape[2]
    params = race.params(delta, max_rounds)
    history, results = jax.tree.map(np.asarray, play(race, outcomes, params))
    histories = []
    for number, instance in enumerate(outcomes):
        expected = surrogates.race(
            instance,
            surrogates.PREFER[kind],
            race.ranking,
            race.top,
            max_rounds,
            delta,
            race.bound,
            race.rule,
        )
        histories.append(expected)
        told, result = jax.tree.map(lambda x, i=number: x[i], (history, results))
        surrogates.assert_agrees(told, result, expected)
    return histories


@pytest.mark.parametrize(
    ("ranking", "num_options", "top", "kind", "number", "rounds", "bound", "rule"),
    [
        ("borda", 3, 2, "ties", 8, 60, "stitched-kl", "sharp"),
        ("borda", 5, 2, "pareto", 8, 70, "published", "sharp"),
        ("random_walk", 3, 1, "pareto", 4, 60, "kl", "printed"),
    ],
)
def test_decision_by_decision(ranking, num_options, top, kind, number, rounds, bound, rule):
    race = PreferenceRace(num_options, top, rounds, COMPARE[kind], bound, rule, ranking=ranking)
    outcomes = surrogates.draw_samples(kind, num_options, number, num_options, rounds)
    histories = compare_with_reference(race, kind, outcomes, 0.3)
    assert not any(h.rounds[-1].selected.any() for h in histories[::4])  # equal options
    decided = [h.rounds[-1].selected | h.rounds[-1].discarded for h in histories]
    if rule == "sharp" and ranking == "borda" and num_options < 5:
        assert any(h.finished for h in histories)
    if ranking == "borda" and num_options > 3:  # some are decided and dropped, others are not
        assert any(0 < mask.sum() < num_options for mask in decided)
        assert any(len(set(h.samples.tolist())) > 1 for h in histories)


def test_a_filled_place_discards_the_others_at_once():
    unknown, first = jnp.full((3, 3), 2**24, jnp.int32), jnp.arange(3) == 0
    found = settle_borda(unknown, first, jnp.zeros(3, bool), top=1, rule="sharp")
    assert [x.tolist() for x in found] == [[True, False, False], [False, True, True]]


def test_separated_options_are_decided():
    """The first to be decided are sampled on, or their intervals would hold up the others."""
    race = PreferenceRace(6, 3, 150, total_order, "stitched-kl", ranking="borda")
    outcomes = np.tile(np.arange(6, dtype=np.float32)[None, :, None], (1, 1, 150))
    _, result = play(race, outcomes, race.params(0.05))
    assert result.decided.all()
    assert result.best[0].tolist() == [5, 4, 3]
    assert len(set(result.samples[0].tolist())) == 1


def test_stationary_distribution_and_group_inverse():
    num_options = 7
    rng = np.random.default_rng(num_options)
    for _ in range(3):
        estimate = surrogates.draw_neighbours(rng, num_options)[0]
        matrix, visits, inverse = surrogates.walk(estimate)
        got = kernels.transition_matrix(jnp.asarray(estimate, jnp.float32))
        found = kernels.long_run(got)
        np.testing.assert_allclose(got, matrix, rtol=0, atol=1e-6)
        np.testing.assert_allclose(found[0], visits, rtol=0, atol=1e-5)
        np.testing.assert_allclose(found[1], inverse, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("num_options", [2, 3, 6])
def test_the_bound_of_the_walk_holds_inside_the_intervals(num_options):
    """No matrix within the radii has visits farther from the estimate's than the bound says."""
    rng = np.random.default_rng(num_options)
    for _ in range(300):
        estimate, other, radius = surrogates.draw_neighbours(rng, num_options)
        _, visits, inverse = surrogates.walk(estimate)
        bound = max(1.96 * radius.sum(1) / estimate.sum(0)) * abs(inverse).max()
        assert abs(surrogates.walk(other)[1] - visits).max() <= bound + 1e-9


@pytest.mark.slow
def test_run_returns_what_ask_and_tell_return():
    """Bit for bit, whatever the chunk, alone and in a batch."""
    ranking, num_options, rounds = "borda", 3, 60
    race = PreferenceRace(num_options, 1, rounds, total_order, "stitched-kl", ranking=ranking)
    params = race.params(0.3)
    scripts = surrogates.draw_samples("numbers", 5, 8, num_options, rounds)
    keys = jax.random.split(jax.random.key(1), len(scripts))
    told = []
    for script in scripts:
        state = race.init(jnp.float32(0), params)
        while race.ask(state, params).any():
            now = int(state.round)
            state = race.tell(state, script[:, now : now + 5], params)
        told.append(race.result(state, params))
    assert any(result.decided for result in told)
    assert not all(result.decided for result in told)
    options = jax.vmap(scripted.options)(keys, jnp.asarray(scripts))

    def run(key, option):
        return racing.run(race, key, scripted.sample, option, params, chunk=25)

    batch = jax.vmap(run)(keys, options)
    fields = ("ranking", "selected", "discarded", "decided", "samples", "net", "rounds", "scores")
    for number, expected in enumerate(told):
        alone = run(keys[number], jax.tree.map(lambda x, row=number: x[row], options))
        for field in fields:
            wanted = np.asarray(getattr(expected, field))
            np.testing.assert_array_equal(getattr(alone, field), wanted)
            np.testing.assert_array_equal(getattr(batch, field)[number], wanted)


@pytest.mark.parametrize("ranking", ["borda", "random_walk"])
def test_a_table_serves_every_horizon(ranking):
    race = PreferenceRace(3, 1, 30, total_order, "stitched-kl", ranking=ranking)
    table = race.table(0.2)
    for max_rounds in (1, 17, 30):
        ours = race.params_at(table, jnp.int32(max_rounds))
        jax.tree.map(np.testing.assert_array_equal, ours, race.params(0.2, max_rounds))


def coin_or_constant(key, risky):
    """Options of equal score whose comparisons vary as much as they can."""
    return jnp.where(risky, 2.0 * jax.random.bernoulli(key).astype(jnp.float32) - 1.0, 0.0)


@functools.partial(jax.jit, static_argnums=0)
def null_errors(race, keys, params):
    """Was anything decided? In a race of equal options every decision is wrong."""
    options = jnp.arange(race.num_options) == 0

    def one(key):
        result = racing.run(race, key, coin_or_constant, options, params)
        return (result.selected | result.discarded).any()

    return jax.vmap(one)(keys)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranking", "num_options", "bound"),
    [
        ("borda", 2, "published"),
        ("borda", 4, "stitched-kl"),
        ("random_walk", 2, "stitched-kl"),
    ],
)
def test_the_guarantee_where_nothing_is_to_be_found(ranking, num_options, bound):
    delta, number = 0.3, 3000
    race = PreferenceRace(num_options, 1, 60, total_order, bound, ranking=ranking)
    keys = jax.random.split(jax.random.key(2), number)
    params = race.params(delta)
    assert params.allowed is not None
    errors = np.asarray(null_errors(race, keys, params))
    assert errors.mean() <= delta + 3 * np.sqrt(delta / number)
    if num_options == 2 and ranking == "borda":  # the same count finds too narrow intervals
        narrow = dataclasses.replace(params, allowed=params.allowed / 9)
        assert np.asarray(null_errors(race, keys[:500], narrow)).mean() > 0.4


@functools.partial(jax.jit, static_argnums=0)
def play_normal_task(race, keys, params):
    """Draws, precision by means, and whether a verdict was wrong, on the paper's task at k = 10."""
    task = Normal()

    def one(key):
        task_key, race_key = jax.random.split(key)
        options = task.draw(task_key, 10.0, 10)
        result = racing.run(race, race_key, task.sample, options, params)
        best = jnp.argsort(-task.means(options))[:5]
        top = jnp.argsort(-task.win_probabilities(options).sum(-1))[:5]
        in_top = jnp.isin(jnp.arange(10), top)
        wrong = (result.selected & ~in_top).any() | (result.discarded & in_top).any()
        return result.samples.sum(), jnp.isin(result.ranking[:5], best).mean(), wrong

    return jax.vmap(one)(keys)


@pytest.mark.slow
def test_borda_on_the_published_task():
    """Busa-Fekete et al. 2013, figure 2: precision .990 at k = 10."""
    keys = jax.random.split(jax.random.key(5), 300)
    draws = []
    for rule in ("sharp", "printed"):
        race = PreferenceRace(10, 5, 300, total_order, "published", rule, ranking="borda")
        samples, found, wrong = map(np.asarray, play_normal_task(race, keys, race.params(0.05)))
        draws.append(samples.mean())
        assert abs(found.mean() - 0.990) < 4 * found.std() / np.sqrt(300)
        assert wrong.mean() <= 0.05
    assert draws[0] < draws[1] < 3000


@pytest.mark.parametrize("ranking", ["borda", "random_walk"])
def test_settings_without_intervals_are_refused(ranking):
    make = functools.partial(PreferenceRace, 3, 1, 30, total_order, ranking=ranking)
    with pytest.raises(ValueError, match=r"bound: expected intervals with ranking"):
        make(bound="stitched-kl-verdict")
    with pytest.raises(ValueError, match=r"dynamic_delta: expected False with ranking"):
        make(bound="published", dynamic_delta=True)
    with pytest.raises(ValueError, match=r"epsilon: expected 0 with ranking"):
        make().params(0.1, epsilon=0.1)
    copeland = PreferenceRace(3, 1, 30, total_order)
    with pytest.raises(ValueError, match=rf"params: expected those of ranking '{ranking}'"):
        make().init(0.0, copeland.params(0.1))
    with pytest.raises(ValueError, match=r"params: expected those of ranking 'copeland'"):
        copeland.init(0.0, make().params(0.1))
    with pytest.raises(ValueError, match=r"ranking: expected one of .*borda.*, got 'elo'"):
        make(ranking="elo")


@pytest.mark.parametrize("ranking", ["borda", "random_walk"])
def test_a_counted_outcome_that_is_not_finite_is_named(ranking):
    race = PreferenceRace(3, 1, 30, total_order, ranking=ranking)
    params = race.params(0.1)
    bad = np.zeros((3, 6), np.float32)
    bad[1, 5] = np.nan
    with pytest.raises(ValueError, match=r"option 1 in round 6"):
        race.tell(race.init(0.0, params), bad, params)


def reports(ranking, rule="sharp", rounds=200, shared=False):
    """The report of one race of two options far apart, and that of a batch of them."""
    race = PreferenceRace(2, 1, 200, total_order, "kl", rule, ranking=ranking)
    outcomes = np.tile(np.array([0, 9], np.float32)[None, :, None], (3, 1, 200))
    _, batch = play(race, outcomes, race.params(0.1, rounds))
    batch = dataclasses.replace(batch, common_random_numbers=shared)
    return str(jax.tree.map(lambda x: x[0], batch)), str(batch)


@pytest.mark.slow
@pytest.mark.parametrize(("ranking", "name"), [("borda", "Borda"), ("random_walk", "random walk")])
def test_reports_name_the_ranking_and_claim_what_is_proven(ranking, name):
    one, batch = reports(ranking)
    for text in (one, batch):
        assert f"({name})" in text
        assert "Copeland" not in text
        assert "is right with probability at least 0.9" in text
    assert "certainly in   1" in one
    unfinished, _ = reports(ranking, rounds=2)
    assert "NOT decided within 2 rounds" in unfinished
    assert "undecided      1, 0" in unfinished
    rule = "printed" if ranking == "random_walk" else "sharp"
    for text in (*reports(ranking, rule, shared=rule == "sharp"), reports(ranking, shared=True)[0]):
        assert "heuristic, no guarantee" in text
        assert "certainly" not in text
        assert "probability at least" not in text
