"""Bad arguments of races, preferences and kernels: what to call, and what the error says."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import audit, kernels, preferences, racing
from jaxrace.kernels import strict_order, total_order

# Much here has the wrong type on purpose, so type checkers are told nothing of these.
PreferenceRace: Any = racing.PreferenceRace
HoeffdingRace: Any = racing.HoeffdingRace
BernsteinRace: Any = racing.BernsteinRace
DominanceRace: Any = racing.DominanceRace
Lexicographic: Any = preferences.Lexicographic
Margin: Any = preferences.Margin
Strict: Any = kernels.Strict

KEY = jax.random.key(0)
KEYS = jax.random.split(KEY, 3)
RACE = PreferenceRace(3, 1, 20, total_order)
PARAMS = RACE.params(0.1)
VALUE_RACE = HoeffdingRace(3, 1)
VALUE_PARAMS = VALUE_RACE.params(0.1, 20, 1.0)
DOMINANCE_RACE = DominanceRace(3, 1, 20, total_order)
OPTIONS: Any = jnp.arange(3, dtype=jnp.float32)
START = np.zeros(3, np.float32)
TOLD = np.arange(3, dtype=np.float32)[:, None].repeat(11, 1)


def params_of(race):
    more = {"value_range": 1.0} if isinstance(race, racing.ValueRace) else {}
    return race.params(0.1, 20, **more)


def sample(key, option):
    return option + jax.random.uniform(key, (), jnp.float32)


def sample_nan(key, option):
    return jnp.where(option == 2, jnp.nan, sample(key, option))


def race_with(compare):
    return dataclasses.replace(RACE, compare=compare)


def run_dominance(**changes):
    return run(dataclasses.replace(DOMINANCE_RACE, **changes))


def run(race=RACE, key: Any = KEY, sampler: Any = sample, options=OPTIONS, params=None, **more):
    params = params_of(race) if params is None else params
    return racing.run(race, key, sampler, options, params, **more)


def tell(values, race=RACE, example: Any = 0.0):
    params = params_of(race)
    return race.tell(race.init(example, params), values, params)


def at_least(a, b):
    return jnp.where(a >= b, jnp.int8(1), jnp.int8(-1))


def first_always(a, b):
    return (a != b).astype(jnp.int8)


def doubled(a, b):
    return 2 * total_order(a, b)


def floating(a, b):
    return jnp.sign(a - b)


def is_larger(a, b):
    return a > b


def branching(a, b):
    return 1 if a > b else -1


def pair_of_signs(a, b):
    return jnp.stack([total_order(a, b)] * 2)


def no_sign(a, b):
    return None


BAD = {
    # Races
    "top 0": (lambda: PreferenceRace(3, 0, 9, total_order), "top: expected an integer of at least"),
    "top K": (lambda: PreferenceRace(3, 3, 9, total_order), "top: expected fewer than"),
    "top of a value race": (lambda: HoeffdingRace(3, 4), "top: expected fewer than"),
    "top 1.5": (lambda: BernsteinRace(3, 1.5), "top: expected an integer of at least 1, got 1.5"),
    "top True": (lambda: PreferenceRace(3, True, 9, total_order), "top: expected an integer"),
    "one option": (lambda: PreferenceRace(1, 1, 9, total_order), "num_options: expected an int"),
    "no options": (lambda: HoeffdingRace(0, 1), "num_options: expected an integer of at least 2"),
    "capacity 0": (lambda: PreferenceRace(3, 1, 0, total_order), "capacity: expected an integer"),
    "capacity 32768": (lambda: PreferenceRace(3, 1, 2**15, total_order), "capacity: expected at m"),
    "bound": (lambda: PreferenceRace(3, 1, 9, total_order, "wide"), "bound: expected one of publi"),
    "rule": (
        lambda: PreferenceRace(3, 1, 9, total_order, rule="dull"),
        "rule: expected one of sharp, printed, got 'dull'",
    ),
    "dynamic bound": (
        lambda: PreferenceRace(3, 1, 9, total_order, dynamic_delta=True),
        "bound: expected 'published' with dynamic_delta, got 'stitched-kl'",
    ),
    "delta 0": (lambda: RACE.params(0), "delta: expected a number between 0 and 1"),
    "delta 1": (lambda: RACE.params(1.0), "delta: expected a number between 0 and 1"),
    "delta nan": (lambda: VALUE_RACE.params(np.nan), "delta: expected a number between 0 and 1"),
    "delta text": (lambda: RACE.params("0.1"), "delta: expected a number .*, got '0.1'"),
    "delta list": (lambda: RACE.params([0.1]), r"delta: expected a number .*, got \[0.1\]"),
    "max_rounds 0": (lambda: RACE.params(0.1, 0), "max_rounds: expected an integer of at least 1"),
    "max_rounds 2.0": (lambda: VALUE_RACE.params(0.1, 2.0), "max_rounds: expected an integer"),
    "max_rounds 21": (lambda: RACE.params(0.1, 21), "max_rounds: expected at most the capacity 20"),
    "epsilon 0.5": (lambda: RACE.params(epsilon=0.5), r"epsilon: expected a number in \[0, 0.5\)"),
    "epsilon < 0": (lambda: RACE.params(epsilon=-0.1), r"epsilon: expected a number in \[0, 0.5"),
    "epsilon None": (lambda: RACE.params(epsilon=None), r"epsilon: expected .*, got None"),
    "epsilon and dynamic": (
        lambda: PreferenceRace(3, 1, 9, total_order, "published", dynamic_delta=True).params(
            epsilon=0.1
        ),
        "epsilon: expected 0 with dynamic_delta, got 0.1",
    ),
    "value_range 0": (lambda: VALUE_RACE.params(value_range=0), "value_range: expected a positive"),
    "value_range missing": (
        lambda: VALUE_RACE.params(0.1),
        "value_range: expected .*, got nothing",
    ),
    "max_rounds 2^25": (lambda: VALUE_RACE.params(0.1, 2**25), "max_rounds: expected at most"),
    "value_range inf": (lambda: VALUE_RACE.params(value_range=np.inf), "value_range: expected a p"),
    # Dominance races
    "dominance top": (lambda: DominanceRace(3, 3, 9, total_order), "top: expected fewer than"),
    "dominance one option": (
        lambda: DominanceRace(1, 1, 9, total_order),
        "num_options: expected an integer of at least 2, got 1",
    ),
    "dominance capacity": (
        lambda: DominanceRace(3, 1, 2**15, total_order),
        "capacity: expected at most 32767, got 32768",
    ),
    "first_block 1": (
        lambda: DominanceRace(3, 1, 9, total_order, 1),
        "first_block: expected one of 2, 3, 5, 7, 11, 13, 17, 19, 23, got 1",
    ),
    "block 4": (
        lambda: DominanceRace(3, 1, 9, total_order, block=4),
        "block: expected one of 2, 3, 5, .*, got 4",
    ),
    "block 29": (
        lambda: DominanceRace(3, 1, 9, total_order, 11, 29),
        "^block: expected one of .*, got 29",
    ),
    "block text": (lambda: DominanceRace(3, 1, 9, total_order, "5"), "first_block: .*, got '5'"),
    "dominance delta 0": (
        lambda: DOMINANCE_RACE.params(0),
        "delta: expected a number between 0 and 1",
    ),
    "dominance delta 1": (
        lambda: DOMINANCE_RACE.table(1.0),
        "delta: expected a number between 0 and 1",
    ),
    "dominance max_rounds 0": (
        lambda: DOMINANCE_RACE.params(0.1, 0),
        "max_rounds: expected an integer of at least 1, got 0",
    ),
    "dominance max_rounds 21": (
        lambda: DOMINANCE_RACE.params(0.1, 21),
        "max_rounds: expected at most the capacity 20, got 21",
    ),
    "slack < 0": (lambda: DOMINANCE_RACE.params(slack=-0.1), "slack: expected .*, got -0.1"),
    "give_up < 0": (lambda: DOMINANCE_RACE.params(give_up=-1), "give_up: expected .*, got -1"),
    "slack nan": (lambda: DOMINANCE_RACE.params(slack=np.nan), "slack: expected .*, got nan"),
    "slack None": (lambda: DOMINANCE_RACE.params(slack=None), "slack: expected .*, got None"),
    "bets 0": (lambda: DOMINANCE_RACE.params(bets=[0.0, 1.0]), "bets: expected a positive num"),
    "bets 2": (lambda: DOMINANCE_RACE.params(bets=[0.5, 2.0]), "bets: expected .* 1.95, got 2.0"),
    "bets nan": (lambda: DOMINANCE_RACE.params(bets=[np.nan]), "bets: expected .*, got nan"),
    "bets text": (lambda: DOMINANCE_RACE.params(bets=["a"]), "bets: expected .*, got 'a'"),
    "no bets": (
        lambda: DOMINANCE_RACE.params(bets=[], weights=[]),
        "bets: expected at least one, got none",
    ),
    "weights of others": (
        lambda: DOMINANCE_RACE.params(bets=[0.5, 1.0], weights=[1.0]),
        "weights: expected as many as bets, 2, got 1",
    ),
    "weights 0": (
        lambda: DOMINANCE_RACE.params(bets=[0.5, 1.0], weights=[1.0, 0.0]),
        "weights: expected a positive number, got 0.0",
    ),
    "weights inf": (
        lambda: DOMINANCE_RACE.params(bets=[0.5], weights=[np.inf]),
        "weights: expected a positive number, got inf",
    ),
    "dominance, other params": (
        lambda: run(DOMINANCE_RACE, params=PARAMS),
        "params: expected what the race's own params.. makes, got PreferenceParams",
    ),
    "preference, params of dominance": (
        lambda: run(params=DOMINANCE_RACE.params(0.1)),
        "params: expected what the race's own params.. makes, got DominanceParams",
    ),
    "dominance compare not antisymmetric": (
        lambda: run_dominance(compare=first_always),
        "compare: expected opposite signs .*, got 1 and 1 for",
    ),
    "dominance compare told": (
        lambda: tell(TOLD, dataclasses.replace(DOMINANCE_RACE, compare=first_always)),
        "compare: expected opposite signs",
    ),
    "dominance compare float": (
        lambda: run_dominance(compare=floating),
        r"compare: expected one signed integer \(int8\) per pair of outcomes, got float32\[\]",
    ),
    "dominance compare is none": (
        lambda: DominanceRace(3, 1, 9, None),
        "compare: expected a function, got None",
    ),
    "dominance told K": (
        lambda: tell(np.zeros((4, 11), np.float32), DOMINANCE_RACE),
        r"leaves \[3, rounds\] .*, got \[4, 11\]",
    ),
    "dominance told no rounds": (
        lambda: tell(np.zeros((3, 0), np.float32), DOMINANCE_RACE),
        r"outcomes: .* got \[3, 0\]",
    ),
    "dominance told no axis": (
        lambda: tell(np.zeros(3, np.float32), DOMINANCE_RACE),
        r"outcomes: expected .* got \[3\]",
    ),
    "dominance told structure": (
        lambda: tell({"a": np.zeros((3, 11))}, DOMINANCE_RACE),
        "outcomes: expected the structure",
    ),
    "dominance told nan": (
        lambda: tell(np.array([[0], [np.nan], [1]], np.float32).repeat(11, 1), DOMINANCE_RACE),
        "outcomes: expected finite numbers, got NaN or infinity for option 1 in round 1$",
    ),
    "dominance drawn nan": (
        lambda: run(DOMINANCE_RACE, sampler=sample_nan),
        "outcomes: .* option 2 in round 1$",
    ),
    "dominance chunk 0": (
        lambda: run(DOMINANCE_RACE, chunk=0),
        "chunk: expected an integer of at least 1, got 0",
    ),
    # Preferences
    "compare is none": (lambda: race_with(3), "compare: expected a function, got 3"),
    "compare with ties": (
        lambda: run(race_with(at_least)),
        "compare: expected 0 for an outcome and",
    ),
    "compare strict with ties": (
        lambda: tell(np.ones((3, 2), np.float32), race_with(strict_order)),
        "compare: expected outcomes that never tie, for a Strict preference, got a tie of 1.0 and",
    ),
    "compare strict, at least": (
        lambda: run(race_with(Strict(jnp.greater_equal))),
        "compare: expected that no outcome is preferred to itself, for a Strict preference, got",
    ),
    "compare strict, of a sign": (
        lambda: run(race_with(Strict(total_order))),
        "compare: expected a function .*, got ValueError: prefers: expected a bool, got int8",
    ),
    "compare strict, of a sign, in a kernel": (
        lambda: kernels.total_wins(Strict(total_order), jnp.zeros((2, 3))),
        "prefers: expected a bool, got int8",
    ),
    "no rounds": (
        lambda: kernels.total_wins(total_order, jnp.zeros((2, 0))),
        "outcomes: expected at least one round, got none",
    ),
    "no new rounds": (
        lambda: kernels.round_gains(total_order, jnp.zeros((2, 3)), jnp.zeros((2, 0)), 3),
        "outcomes: expected at least one round, got none",
    ),
    "bound is a list": (
        lambda: PreferenceRace(3, 1, 20, total_order, bound=["kl"]),
        r"bound: expected one of published, .*, got \['kl'\]",
    ),
    "intersect is a word": (
        lambda: PreferenceRace(3, 1, 20, total_order, intersect="yes"),
        "intersect: expected a bool, got 'yes'",
    ),
    "dynamic_delta is None": (
        lambda: PreferenceRace(3, 1, 20, total_order, "published", dynamic_delta=None),
        "dynamic_delta: expected a bool, got None",
    ),
    "compare strict, of nothing": (
        lambda: Strict(None),
        "prefers: expected a function, got None",
    ),
    "compare not antisymmetric": (
        lambda: run(race_with(first_always)),
        "compare: expected opposite signs .*, got 1 and 1 for",
    ),
    "compare 2": (lambda: run(race_with(doubled)), "compare: expected -1, 0 or .1, got -?2 for"),
    "compare float": (
        lambda: run(race_with(floating)),
        r"compare: expected one signed integer \(int8\) per pair of outcomes, got float32\[\]",
    ),
    "compare bool": (lambda: run(race_with(is_larger)), r"compare: expected .*, got bool\[\]"),
    "compare [2]": (lambda: run(race_with(pair_of_signs)), r"compare: expected .*, got int8\[2\]"),
    "compare nothing": (lambda: run(race_with(no_sign)), "compare: expected .*, got None"),
    "compare in Python": (
        lambda: run(race_with(branching)),
        "compare: expected a function of two outcomes in pure JAX, got TracerBoolConversionError",
    ),
    "compare of other outcomes": (
        lambda: run(race_with(preferences.Larger("score"))),
        "compare: expected a function of two outcomes in pure JAX, got AttributeError",
    ),
    "compare told": (
        lambda: tell(np.arange(3, dtype=np.float32)[:, None], race_with(first_always)),
        "compare: expected opposite signs",
    ),
    "compare at init": (
        lambda: race_with(floating).init(0.0, PARAMS),
        "compare: expected one sign",
    ),
    "compare under vmap": (
        lambda: jax.vmap(lambda key: run(race_with(floating), key))(KEYS),
        "compare: expected one signed integer",
    ),
    "check without outcomes": (
        lambda: racing.check_compare(total_order, ()),
        r"outcomes: .*, got \[\]",
    ),
    "check of two lengths": (
        lambda: racing.check_compare(total_order, (jnp.zeros(2), jnp.zeros(3))),
        r"outcomes: expected leaves \[n, ...\] with one n >= 1, got \[\[2\], \[3\]\]",
    ),
    "no criterion": (preferences.Pareto, "Pareto: expected at least one criterion"),
    "criterion": (lambda: Lexicographic("a"), "Lexicographic: expected preferences"),
    "margin < 0": (
        lambda: Margin(-1.0),
        "least: expected a number in .0, inf., got -1",
    ),
    "margin text": (lambda: Margin("1"), "least: expected a number .*, got '1'"),
    # Outcomes
    "no example": (lambda: RACE.init((), PARAMS), "example_outcome: expected at least one array"),
    "example text": (
        lambda: RACE.init("abc", PARAMS),
        "example_outcome: expected arrays or numbers",
    ),
    "example vector": (
        lambda: VALUE_RACE.init(START, VALUE_PARAMS),
        "example_outcome: expected a s",
    ),
    "told K": (
        lambda: tell(np.zeros((4, 1), np.float32)),
        r"leaves \[3, rounds\] .*, got \[4, 1\]",
    ),
    "told no rounds": (lambda: tell(np.zeros((3, 0), np.float32)), r"outcomes: .* got \[3, 0\]"),
    "told no axis": (lambda: tell(np.zeros(3, np.float32)), r"outcomes: expected .* got \[3\]"),
    "told structure": (lambda: tell({"a": np.zeros((3, 1))}), "outcomes: expected the structure"),
    "told text": (lambda: tell("abc"), "outcomes: expected arrays or numbers, got 'abc'"),
    "told floats for ints": (
        lambda: tell(np.ones((3, 1), np.float32), example=np.int32(0)),
        "outcomes: expected int32 as in the example outcome, got float32",
    ),
    "told values": (
        lambda: tell(np.zeros((2, 1)), VALUE_RACE),
        r"outcomes: expected one array \[3",
    ),
    "told nan": (
        lambda: tell(np.array([[0], [np.nan], [1]], np.float32)),
        "outcomes: expected finite numbers, got NaN or infinity for option 1 in round 1",
    ),
    "told inf": (
        lambda: tell(np.array([[0, 0], [1, np.inf], [1, 1]], np.float32), VALUE_RACE),
        "outcomes: expected finite numbers, .* option 1 in round 2",
    ),
    "drawn nan": (lambda: run(sampler=sample_nan), "outcomes: .* option 2 in round 1"),
    "intervals of a batch": (
        lambda: jax.vmap(lambda key: run(key=key))(KEYS).intervals,
        "intervals: expected the result of one race, got a batch",
    ),
    # The driver
    "run K": (lambda: run(options=jnp.zeros(4)), r"options: .* leading axis 3, got \[4\]"),
    "run no axis": (lambda: run(options=1.0), r"options: .* leading axis 3, got \[\]"),
    "run without options": (lambda: run(options=()), "options: .* got no arrays"),
    "run options text": (
        lambda: run(options=["a", "b", "c"]),
        "options: expected arrays or numbers, got 'a'",
    ),
    "run common numbers": (
        lambda: run(common_random_numbers="no"),
        "common_random_numbers: expected a bool, got 'no'",
    ),
    "run chunk 0": (lambda: run(chunk=0), "chunk: expected an integer of at least 1, got 0"),
    "run seed": (lambda: run(key=0), "key: expected a key from jax.random.key, got 0"),
    "run old key": (
        lambda: run(key=jax.random.PRNGKey(0)),
        r"key: expected a key from jax.random.key, got uint32\[2\]; jax.random.wrap_key_data",
    ),
    "run keys": (lambda: run(key=KEYS), r"key: expected a key .*, got keys of shape \[3\]"),
    "run sampler": (lambda: run(sampler=1.0), "sample: expected a function, got 1.0"),
    "run table": (
        lambda: run(params=RACE.table(0.1)),
        "params: expected those of one race with cap",
    ),
    "run other params": (lambda: run(params=VALUE_PARAMS), "params: expected what the race's own"),
    "value race, other params": (
        lambda: run(VALUE_RACE, params=PARAMS),
        "params: expected what the race's own params.. makes, got PreferenceParams",
    ),
    "init batch": (
        lambda: RACE.init(0.0, jax.tree.map(lambda x: jnp.stack([x, x]), PARAMS)),
        "params: expected those of one race, got .2. of them; use jax.vmap",
    ),
    "state of another kind": (
        lambda: RACE.tell(VALUE_RACE.init(0.0, VALUE_PARAMS), START[:, None], PARAMS),
        "state: expected what the race's own init.. makes, got ValueState",
    ),
    "state of another size": (
        lambda: RACE.ask(PreferenceRace(4, 1, 20, total_order).init(0.0, PARAMS), PARAMS),
        r"state: expected that of one race of 3 options, got samples of shape \[4\]$",
    ),
    "state of another capacity": (
        lambda: DOMINANCE_RACE.result(
            dataclasses.replace(DOMINANCE_RACE, capacity=40).init(0.0, DOMINANCE_RACE.params(0.1)),
            DOMINANCE_RACE.params(0.1),
        ),
        "state: expected that of a race with capacity 20, got room for 40 samples",
    ),
    "states of a batch": (
        lambda: RACE.ask(jax.vmap(lambda x: RACE.init(x, PARAMS))(START), PARAMS),
        r"state: .* got samples of shape \[3, 3\]; use jax.vmap for a batch",
    ),
    "no state": (
        lambda: VALUE_RACE.result(None, VALUE_PARAMS),
        "state: expected what the race's own init.. makes, got NoneType",
    ),
    "asked with other params": (
        lambda: RACE.ask(RACE.init(0.0, PARAMS), VALUE_PARAMS),
        "params: expected what the race's own params.. makes, got ValueParams",
    ),
    "judged text": (
        lambda: racing.judge(DOMINANCE_RACE, [np.array(["a"])] * 3, DOMINANCE_RACE.params(0.1)),
        "samples: expected outcomes that are alike: .*",
    ),
    "audit": (lambda: next(audit.audit(0)), "races: expected an integer of at least 1, got 0"),
    # Kernels
    "kernel bound": (lambda: kernels.bound_named("kl2"), "bound: expected one of .*, got 'kl2'"),
    "kernel rule": (
        lambda: kernels.select_and_discard(jnp.zeros((2, 2), bool), 1, "dull"),
        "rule: expected one of sharp, printed",
    ),
    "kernel block": (
        lambda: kernels.log_block_factors(jnp.zeros((4, 4, 1), jnp.int8), jnp.ones(1)),
        "signs: expected a block of 2, 3, 5, .* samples, got 4",
    ),
    "kernel rounds": (
        lambda: kernels.sorted_wins(jnp.zeros((2, 2**15))),
        "outcomes: expected at most 32767 rounds",
    ),
}
