"""Dominance races by mean and within a tolerance: against the evidence of tables, look by look."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dominance_cases import on_host
from reference import reference_dominance_race as reference

import jaxrace
from jaxrace import kernels
from jaxrace.evidence.decision import Seen, certify
from jaxrace.evidence.table_decision import decide
from jaxrace.racing import DominanceRace, SharedRace, run
from jaxrace.racing.certified import blocks
from jaxrace.racing.certified.race import standing

OPTIONS, CAPACITY = 4, 61
MEAN = {"by": "mean", "low": -1.0, "high": 3.0}
KINDS = {
    "mean": (MEAN, 0.0),
    "mean within a tolerance": (MEAN, 0.8),
    "wins": ({}, 0.0),
    "wins within a tolerance": ({}, 0.15),
}


def make_race(kind, first_block=5):
    return DominanceRace(OPTIONS, 2, CAPACITY, first_block=first_block, **KINDS[kind][0])


def scores(seed, spread):
    """Of unlike laws, from -1 to 3: [K, n]."""
    rng = np.random.default_rng(seed)
    even = rng.uniform(-0.5, 1.5, (OPTIONS, CAPACITY))
    even[1] = rng.choice([-1.0, 2.0], CAPACITY)
    even[2] = 0.5
    return (even + spread * np.arange(OPTIONS)[:, None] / 4).clip(-1, 3).astype(np.float32)


def play(race, outcomes, params, look=None):
    """By ask and tell, on samples [K, n] that are there; ``look(counts, asked)`` at every look."""
    state = race.init(np.float32(0), params)
    while True:
        asked = np.asarray(race.ask(state, params))
        if look is not None and np.asarray(state.simulated).any():
            look(np.asarray(state.simulated), asked)
        if not asked.any():
            return race.result(state, params)
        at = np.asarray(state.simulated)[:, None] + np.arange(race.rounds_to_tell(state))
        told = np.take_along_axis(outcomes, np.minimum(at, outcomes.shape[1] - 1), 1)
        state = race.tell(state, np.where(asked[:, None], told, np.nan), params)


@pytest.mark.parametrize("first_block", [5, 11])
@pytest.mark.parametrize("kind", KINDS)
def test_every_decision_is_that_of_a_table(kind, first_block, unchecked):
    """In float64, by the products of blocks that `test_judging_evidence.py` looks at."""
    race, tolerance = make_race(kind, first_block), KINDS[kind][1]
    params, ends = race.params(0.1, tolerance=tolerance), set()
    scale = KINDS[kind][0]
    for seed in range(6):
        outcomes = scores(seed, (0.0, 0.5, 2.0)[seed % 3])
        if kind == "wins":  # else it is too often the best one for anything to be certain
            outcomes[1] -= 3
        last = {}

        def look(counts, asked, outcomes=outcomes, last=last):
            samples = {str(i): x[:n] for i, (x, n) in enumerate(zip(outcomes, counts, strict=True))}
            last["on host"] = on_host(race, [*samples.values()], params)
            _, found, asked_on_host = last["on host"]
            if asked.any():
                np.testing.assert_array_equal(asked_on_host, asked)
                assert found.certificate is None
            if first_block == 5:  # as tables have
                settings = {"tolerance": tolerance, "horizon": CAPACITY, **scale}
                last["table"] = table = jaxrace.race(samples, 2, delta=0.1, **settings)
                if asked.any():
                    assert set(table.next_runs) == {str(i) for i in np.flatnonzero(asked)}

        result = play(race, outcomes, params, look)
        highest, found, _ = last["on host"]
        np.testing.assert_allclose(highest, result.highest, atol=1e-4)
        assert found.certificate == (result.certificate if result.decided else None)
        if result.decided:
            assert set(result.best.tolist()) == set(np.flatnonzero(found.leads).tolist())
        if first_block == 5:
            assert last["table"].certificate == found.certificate
            assert not result.decided or set(last["table"].best) == {*map(str, result.best)}
        ends.add(result.certificate)
    assert "dominance" in ends
    assert tolerance or None in ends


def test_the_evidence_is_the_mean_over_permutations():
    race, (x, y, *_) = make_race("mean within a tolerance"), scores(0, 2.0)
    params = race.params(0.1, tolerance=0.4)
    highest, logs, start = -math.inf, np.zeros(params.bets.size), 0
    for size in reference.block_sizes(CAPACITY, 5, 5):
        block = slice(start, start + size)
        differences = (x[block, None].astype(float) - y[None, block]) / 4
        matched = differences[np.arange(size), reference.permutations(size)]
        for number, bet in enumerate(np.asarray(params.bets, float)):
            factors = 1 + bet / 2 * (matched + 0.4 / 4)  # the null: worse by .1 of the range
            logs[number] += math.log(factors.prod(1).mean())
        highest = max(highest, np.logaddexp.reduce(logs + np.asarray(params.log_weights)))
        start += size
    state = race.tell(race.init(np.float32(0), params), scores(0, 2.0), params)
    assert float(state.highest[0, 0]) == pytest.approx(highest, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_and_a_single_race_decide_as_ask_and_tell(kind):
    race = make_race(kind)
    params = race.params(0.1, tolerance=KINDS[kind][1])
    means = jnp.array([0.0, 0.4, 0.5, 1.5])

    def sample(key, mean):
        return jnp.clip(mean + jax.random.uniform(key, (), jnp.float32, -1, 1), -1, 3)

    keys = jax.random.split(jax.random.key(0), 3)
    batch = jax.jit(jax.vmap(lambda key: run(race, key, sample, means, params)))(keys)
    single = run(race, keys[1], sample, means, params)
    for name in ("ranking", "samples", "certificate_number", "margin"):
        np.testing.assert_array_equal(getattr(batch, name)[1], getattr(single, name), name)
    of_option = jax.vmap(jax.random.fold_in, (None, 0))(keys[1], jnp.arange(OPTIONS))
    of_sample = jax.vmap(jax.vmap(jax.random.fold_in, (None, 0)), (0, None))
    drawn = jax.vmap(jax.vmap(sample, (0, None)))(of_sample(of_option, jnp.arange(CAPACITY)), means)
    told = play(race, np.asarray(drawn), params)
    np.testing.assert_array_equal(told.ranking, single.ranking)
    np.testing.assert_array_equal(told.samples, single.samples)


@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_who_is_over_the_first_within_a_tolerance_leaves_a_pair_in_doubt(tolerance):
    """Verdicts run in a circle, 0 leads by its sum; 1 over 0 settles both but for a tolerance."""
    race = DominanceRace(3, 1, 60)
    params = race.params(0.05, tolerance=tolerance)
    level = float(params.level)
    highest = np.full((3, 3), 1.0, np.float32)
    highest[0, 2] = highest[1, 0] = highest[2, 1] = level + 1
    mean = np.array([[0.0, -0.1, 0.5], [0.1, 0.0, -0.1], [-0.5, 0.1, 0.0]])
    over = highest >= level
    on_host = Seen(highest.astype(float), over, over & False, mean)
    found = decide(on_host, 1, level, 1.0, is_tolerant=tolerance > 0)
    assert found.leads.tolist() == [True, False, False]
    assert bool(found.doubtful[0, 1]) == (tolerance > 0)
    margin = jnp.asarray(np.rint(mean * race.blocks.unit), jnp.int32)
    seen = jnp.asarray(highest), margin, jnp.ones(3, jnp.int32)
    same = blocks.decide(*seen, params, top=1, blocks=race.blocks)
    assert bool(same.doubtful[0, 1]) == (tolerance > 0)
    settings = {"by": "wins", "compare": kernels.total_order}
    shared = SharedRace(3, 1, 60, **settings).params(0.05, tolerance=tolerance)
    on_tasks = Seen(*map(jnp.asarray, (highest, over, over & False, mean)))
    asked = certify(
        on_tasks,
        standing(on_tasks).first(1, jnp),
        jnp.ones(3, jnp.int32),
        jnp.int32(60),
        shared.level,
        shared.slack,
        is_tolerant=tolerance > 0,
        by_counts=tolerance == 0,
        xp=jnp,
    ).asked
    assert asked.tolist()[:2] == [True, tolerance > 0]


def test_ties_end_within_a_tolerance_and_a_guess_goes_by_the_means():
    race = make_race("mean within a tolerance")
    equal = np.full((OPTIONS, CAPACITY), 0.5, np.float32)
    result = play(race, equal, race.params(0.1, tolerance=1.5))
    assert result.certificate == "dominance"
    assert "none of the others is better by 1.5" in str(result)
    assert play(race, equal, race.params(0.1)).certificate is None
    close = equal + np.float32(0.01) * np.array([[2], [0], [3], [1]], np.float32)
    assert play(race, close, race.params(0.1)).ranking.tolist() == [2, 0, 3, 1]


def test_what_is_no_score_is_refused():
    race = make_race("mean")
    params, told = race.params(), np.zeros((OPTIONS, 5), np.float32)
    told[2, 3] = 3.5
    refused = "outcomes: expected scores from -1.0 to 3.0, got another one for option 2 in round 4"
    with pytest.raises(ValueError, match=refused):
        race.tell(race.init(np.float32(0), params), told, params)
    with pytest.raises(ValueError, match="example_outcome: expected a single number"):
        race.init(np.zeros(2, np.float32), params)


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({"by": "mean"}, "low, high: expected the range"),
        ({"low": 0.0}, "low, high: expected none"),
        ({"by": "mean", "low": 1.0, "high": 1.0}, "low, high: expected low < high"),
        ({"by": "mean", "low": 1e6, "high": 1e6 + 1}, "low, high: expected a range in which"),
        ({"by": "mean", "low": 0, "high": 1, "compare": kernels.pareto}, "compare: expected none"),
        ({"by": "median"}, "by: expected"),
    ],
)
def test_what_is_no_race_is_refused(settings, refused):
    with pytest.raises(ValueError, match=refused):
        DominanceRace(3, 1, 20, **settings)


def test_a_tolerance_is_less_than_all():
    for kind, most in (("mean", 4.0), ("wins within a tolerance", 0.5)):
        with pytest.raises(ValueError, match="tolerance: expected"):
            make_race(kind).params(tolerance=most)
