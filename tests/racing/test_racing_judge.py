"""Outcomes that a preference in JAX compares are judged as a table, and as a race draws them."""

import itertools
import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from reference import reference_dominance_race as reference

import jaxrace
from jaxrace.agents.preferences import Larger, Lexicographic, Pareto, Smaller
from jaxrace.evidence.blocks import independent_bets
from jaxrace.evidence.decision import Seen
from jaxrace.evidence.table_decision import who_may_help
from jaxrace.kernels import pareto, total_order
from jaxrace.racing import DominanceRace, judge

COUNTS = (60, 15, 35, 10, 50)


def draw(seed, counts=COUNTS, spread=0.5):
    rng = np.random.default_rng(seed)
    return [rng.normal(spread * i, 1, n).astype(np.float32) for i, n in enumerate(counts)]


def majority(a, b):
    """The sign of the sum of three criteria."""
    return jnp.sign(total_order(a, b).sum(dtype=jnp.int8)).astype(jnp.int8)


def in_threes(samples, seed=0):
    rng = np.random.default_rng(seed)
    return [x[:, None] + rng.normal(size=(len(x), 3)).astype(np.float32) for x in samples]


def test_evidence_is_that_of_the_reference(unchecked):
    samples = in_threes(draw(0))
    found = judge(majority, samples, 2)
    level = math.log(5 / (0.95 * 0.05))
    bets, weights = independent_bets(level, 300)
    assert len(found.pairs) == 6
    for pair in found.pairs:
        i, j = (int(name.removeprefix("option ")) for name in (pair.better, pair.worse))
        n = min(COUNTS[i], COUNTS[j])
        x, y = samples[i][:n], samples[j][:n]
        signs = np.sign(np.sign(x[:, None] - y[None]).sum(-1)).astype(np.int8)
        logs, highest = np.zeros(len(bets)), -np.inf
        for start in range(0, n, 5):
            block = signs[start : start + 5, start : start + 5]
            logs += [reference.log_factor(block, 2 * bet) for bet in bets]
            highest = max(highest, np.logaddexp.reduce(np.log(weights) + logs))
        assert pair.evidence == pytest.approx(highest / level, abs=1e-9)


def test_numbers_are_judged_as_a_table():
    samples = {f"option {i}": x for i, x in enumerate(draw(1))}
    choices: tuple[dict[str, Any], ...] = ({}, {"tolerance": 0.1, "delta": 0.1})
    for settings in choices:
        of_signs = judge(lambda a, b: jnp.sign(a - b).astype(jnp.int8), samples, 2, **settings)
        of_table = jaxrace.race(samples, 2, **settings)
        assert of_signs.pairs == of_table.pairs
        assert of_signs.headline() == of_table.headline()
        assert judge(total_order, list(samples.values()), 2, **settings).pairs == of_table.pairs


def test_the_outcomes_of_a_race_are_judged_as_the_race_was(unchecked):
    """Also those of options that were drawn less than others."""
    race = DominanceRace(5, 2, 60, majority, first_block=5)
    params, ends = race.params(0.05, horizon=300), set()
    for seed in range(6):
        outcomes = np.stack(in_threes(draw(seed, (60,) * 5, 0.4 + 0.6 * (seed % 3)), seed))
        drawn = play(race, outcomes, params)
        counts = np.asarray(drawn.simulated)
        judged = judge(majority, [x[:n] for x, n in zip(outcomes, counts, strict=True)], 2)
        assert judged.certified == bool(drawn.decided)
        if drawn.decided:
            assert judged.certificate == drawn.certificate
            assert set(judged.best) == {f"option {i}" for i in drawn.best}
        ends.add(drawn.certificate)
    assert ends == {"dominance", None}


def play(race, outcomes, params):
    """By ask and tell, on outcomes [K, n, ...] that are there."""
    state = race.init(outcomes[0, 0], params)
    while np.asarray(asked := race.ask(state, params)).any():
        at = np.asarray(state.simulated)[:, None] + np.arange(race.rounds_to_tell(state))
        at = np.minimum(at, outcomes.shape[1] - 1)
        told = outcomes[np.arange(len(outcomes))[:, None], at]
        state = race.tell(state, np.where(asked[:, None, None], told, np.nan), params)
    return race.result(state, params)


def test_outcomes_that_depend_on_each_other_are_refused():
    """What is looked at is how often an outcome is preferred to the others of its option."""
    first, second = draw(2, (60, 60), 3.0)
    assert judge(majority, in_threes([first, second])).certified
    for spoilt in (np.sort(second), np.repeat(second[:12], 5), np.convolve(second, np.ones(8))):
        samples = [np.stack([x, x, x], -1) for x in (first, spoilt)]
        with pytest.raises(ValueError, match="runs: expected independent ones"):
            judge(majority, samples)
        assert not judge(majority, samples, dependent=True).certified
        by_name = {"a": [tuple(x) for x in samples[0]], "b": [tuple(x) for x in samples[1]]}
        with pytest.raises(ValueError, match="runs: expected independent ones"):
            jaxrace.race(by_name, compare=lambda a, b: int(a > b) - int(a < b))


@pytest.mark.parametrize(
    ("samples", "match"),
    [
        ([np.float32(1), *draw(0)[1:]], "one length for option 0"),
        ([np.zeros((60, 2)), *draw(0)[1:]], "samples: expected outcomes that are alike"),
        ([np.array([0.0] * 10 + [np.nan]), *draw(0)[1:]], "finite numbers, got NaN or infinity"),
        (np.zeros((5, 3)), "samples by name, or a list"),
        ([np.array(["a"])] * 3, "samples: expected arrays or numbers, got an array of <U1"),
        ([np.arange(12.0).reshape(-1, 1), np.arange(3)], r"are alike, got \(\) and \(1,\)"),
    ],
)
def test_what_is_no_sample_is_refused(samples, match):
    with pytest.raises(ValueError, match=match):
        judge(majority, samples)


def test_so_many_different_outcomes_are_refused():
    many = [np.arange(4001.0), np.arange(5000.0) - 0.5]
    with pytest.raises(ValueError, match="at most 8,000 different outcomes, got 9,001"):
        judge(lambda a, b: total_order(a, b), many, dependent=True)  # noqa: PLW0108
    assert judge(total_order, many, dependent=True).better == "larger"  # numbers need no signs


def test_orders_of_numbers_need_no_signs():
    samples = draw(1)
    smaller = jaxrace.race(samples, 2, smaller=True)
    assert judge(Smaller(), samples, 2).pairs == smaller.pairs
    assert judge(lambda a, b: -total_order(a, b), samples, 2).pairs == smaller.pairs
    # In a list nothing is taken for tasks, and all numbers are compared as they are.
    times = [2**62 + np.arange(20) % 7, np.arange(20) % 5 + 0.5]
    assert judge(total_order, times).certified
    never = judge(Pareto(Larger(), Smaller()), samples)
    assert {pair.estimate for pair in never.pairs} == {0.5}


def test_outcomes_of_any_structure_and_tasks_in_common():
    """Alive first, then the smaller dose: as by the same preference in Python."""
    rng = np.random.default_rng(6)
    samples = {
        name: {"alive": rng.random(60) < chance, "dose": rng.integers(0, 9, 60)}
        for name, chance in (("a", 0.98), ("b", 0.1), ("c", 0.4))
    }
    in_python = {name: list(zip(*x.values(), strict=True)) for name, x in samples.items()}

    def compare(x, y):
        return int(x[0]) - int(y[0]) or (x[1] < y[1]) - int(x[1] > y[1])

    preference = Lexicographic(Larger("alive"), Smaller("dose"))
    choices: tuple[dict[str, Any], ...] = ({}, {"shared": True})
    for settings in choices:
        expected = jaxrace.race(in_python, compare=compare, **settings)
        assert judge(preference, samples, **settings).to_dict() == expected.to_dict()
        assert expected.certified


def test_a_preference_that_is_no_sign_is_refused():
    with pytest.raises(ValueError, match="compare"):
        judge(lambda a, b: (a > b).astype(jnp.int8), draw(0))
    assert judge(lambda a, b: pareto(total_order(a, b)), draw(0)).better == "preferred"


def test_nobody_who_may_help_is_missed():
    """Against all sets of so many options, one by one."""
    rng = np.random.default_rng(0)
    num_options, top = 5, 2
    number = 400
    # Mostly in line, so that some sets are left and some races have none.
    drawn = rng.random((number, num_options, num_options)) < 0.6
    over = np.triu(drawn | drawn.swapaxes(1, 2), 1)
    flipped = rng.random((number, 1, 1)) < 0.3
    over = np.where(flipped, over & drawn | (over & ~drawn).swapaxes(1, 2), over)
    helps = np.zeros((number, num_options), bool)
    for place, verdicts in enumerate(over):
        seen = Seen(np.where(verdicts, 9.0, 0.0), verdicts, verdicts & False, np.zeros((5, 5)))
        helps[place] = who_may_help(seen, top).any(1)
    barred = over.swapaxes(1, 2)
    left, certified = np.zeros((2, number), bool)
    for inside in itertools.combinations(range(num_options), top):
        outside = [j for j in range(num_options) if j not in inside]
        left |= ~barred[:, inside][:, :, outside].any((1, 2))
        certified |= over[:, inside][:, :, outside].all((1, 2))
    assert helps[left & ~certified].any(1).all()
    # What is left by the rule and not by the list of all sets is little.
    nothing = ~left
    assert nothing.sum() > 50
    assert helps[nothing].any(1).mean() < 0.2
