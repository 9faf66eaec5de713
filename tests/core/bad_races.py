"""Bad arguments of races and preferences: what to call, and what the error says."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels, racing
from jaxrace.agents import preferences
from jaxrace.kernels import total_order

# Much here has the wrong type on purpose, so type checkers are told nothing of these.
PreferenceRace: Any = racing.PreferenceRace
HoeffdingRace: Any = racing.HoeffdingRace
BernsteinRace: Any = racing.BernsteinRace
DominanceRace: Any = racing.DominanceRace
Lexicographic: Any = preferences.Lexicographic

KEY = jax.random.key(0)
KEYS = jax.random.split(KEY, 3)
RACE = PreferenceRace(3, 1, 20, total_order)
PARAMS = RACE.params(0.1)
VALUE_RACE = HoeffdingRace(3, 1)
VALUE_PARAMS = VALUE_RACE.params(0.1, 20, 1.0)
DOMINANCE_RACE = DominanceRace(3, 1, 20, total_order)
OPTIONS: Any = jnp.arange(3, dtype=jnp.float32)
START = np.zeros(3, np.float32)


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


def branching(a, b):
    return 1 if a > b else -1


BAD = {
    # Races
    "top 0": (lambda: PreferenceRace(3, 0, 9, total_order), "top: expected an integer of at least"),
    "capacity 32768": (lambda: PreferenceRace(3, 1, 2**15, total_order), "capacity: expected at m"),
    "rule": (
        lambda: PreferenceRace(3, 1, 9, total_order, rule="dull"),
        "rule: expected one of sharp, printed, got 'dull'",
    ),
    "dynamic bound": (
        lambda: PreferenceRace(3, 1, 9, total_order, dynamic_delta=True),
        "bound: expected 'published' with dynamic_delta, got 'stitched-kl'",
    ),
    "max_rounds 21": (lambda: RACE.params(0.1, 21), "max_rounds: expected at most the capacity 20"),
    "epsilon 0.5": (lambda: RACE.params(epsilon=0.5), r"epsilon: expected a number in \[0, 0.5\)"),
    "epsilon and dynamic": (
        lambda: PreferenceRace(3, 1, 9, total_order, "published", dynamic_delta=True).params(
            epsilon=0.1
        ),
        "epsilon: expected 0 with dynamic_delta, got 0.1",
    ),
    "value_range missing": (
        lambda: VALUE_RACE.params(0.1),
        "value_range: expected .*, got nothing",
    ),
    # Preferences
    "compare is none": (lambda: race_with(3), "compare: expected a function, got 3"),
    "compare with ties": (
        lambda: racing.check_compare(at_least, START),
        "compare: expected 0 for an outcome and",
    ),
    "no rounds": (
        lambda: kernels.prefix_wins(total_order, jnp.zeros((2, 0))),
        "outcomes: expected at least one round, got none",
    ),
    "intersect is a word": (
        lambda: PreferenceRace(3, 1, 20, total_order, intersect="yes"),
        "intersect: expected a bool, got 'yes'",
    ),
    "compare not antisymmetric": (
        lambda: run(race_with(first_always)),
        "compare: expected opposite signs .*, got 1 and 1 for",
    ),
    "compare float": (
        lambda: run(race_with(floating)),
        r"compare: expected one signed integer \(int8\) .*, got float32\[\]; end it with .astype",
    ),
    "compare bool": (
        lambda: run(race_with(lambda a, b: a > b)),
        r"compare: expected one signed .*, got bool\[\]; a preference has three answers",
    ),
    "outcome is a vector, and nobody compares": (
        lambda: run(sampler=lambda key, option: jnp.zeros(3) + option),
        r"outcomes: expected single numbers, .* got float32\[3\]; return a number, or give the",
    ),
    "outcome is a dict, and nobody compares": (
        lambda: run(sampler=lambda key, option: {"a": option}),
        r"outcomes: expected single numbers, .* got {'a': 'float32\[\]'}",
    ),
    "traced delta": (
        lambda: jax.vmap(RACE.params)(START + 0.1),
        "delta: expected a number that is known now, .* vmap over jaxrace.racing.stack_params",
    ),
    "traced max_rounds": (
        lambda: jax.jit(lambda most: RACE.params(0.1, most))(3),
        "max_rounds: expected a number that is known now, got one that JAX traces",
    ),
    "compare in Python": (
        lambda: run(race_with(branching)),
        "compare: expected a function of two outcomes in pure JAX, got TracerBoolConversionError",
    ),
    "compare told": (
        lambda: tell(np.arange(3, dtype=np.float32)[:, None], race_with(first_always)),
        "compare: expected opposite signs",
    ),
    "check of two lengths": (
        lambda: racing.check_compare(total_order, (jnp.zeros(2), jnp.zeros(3))),
        r"outcomes: expected leaves \[n, ...\] with one n >= 1, got \[\[2\], \[3\]\]",
    ),
}
