"""Bad samples, states, arguments of the driver, and kernels: what to call, what the error says."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from bad_races import (
    DOMINANCE_RACE,
    KEYS,
    PARAMS,
    RACE,
    START,
    VALUE_PARAMS,
    VALUE_RACE,
    PreferenceRace,
    run,
    sample_nan,
    tell,
)

from jaxrace.kernels import total_order

WIDER = PreferenceRace(4, 1, 20, total_order)
PUBLISHED = dataclasses.replace(RACE, bound="published")
PAIR = dataclasses.replace(DOMINANCE_RACE, top=2)
BY_MEAN = dataclasses.replace(DOMINANCE_RACE, by="mean", low=0, high=1)
LONGER = dataclasses.replace(DOMINANCE_RACE, capacity=40)
SAMPLES = [START] * 3


def batch_of(params):
    return jax.tree.map(lambda x: jnp.stack([x, x]), params)


# Their guarantee would be void.
OTHERS_PARAMS = {
    "run": lambda: run(params=WIDER.params(0.1)),
    "run, another capacity": lambda: run(
        DOMINANCE_RACE, params=dataclasses.replace(DOMINANCE_RACE, capacity=40).params(0.1)
    ),
    "run, in a batch": lambda: jax.vmap(lambda params: run(params=params))(
        batch_of(WIDER.params(0.1))
    ),
    "at a horizon": lambda: RACE.params_at(WIDER.table(0.1), jnp.int32(10)),
    "init": lambda: RACE.init(0.0, WIDER.params(0.1)),
    "ask": lambda: RACE.ask(RACE.init(0.0, PARAMS), WIDER.params(0.1)),
    "tell": lambda: RACE.tell(RACE.init(0.0, PARAMS), START[:, None], WIDER.params(0.1)),
    "result": lambda: RACE.result(RACE.init(0.0, PARAMS), WIDER.params(0.1)),
}

BAD = {
    **{
        f"another's params: {name}": (
            act,
            r"params: expected params of \w+Race\(.*, got params of ",
        )
        for name, act in OTHERS_PARAMS.items()
    },
    # Outcomes
    "no example": (lambda: RACE.init((), PARAMS), "example_outcome: expected at least one array"),
    "example vector": (
        lambda: VALUE_RACE.init(START, VALUE_PARAMS),
        "example_outcome: expected a s",
    ),
    "told K": (
        lambda: tell(np.zeros((4, 1), np.float32)),
        r"leaves \[3, rounds\] .*, got \[4, 1\]",
    ),
    "told floats for ints": (
        lambda: tell(np.ones((3, 1), np.float32), example=np.int32(0)),
        "outcomes: expected int32 as in the example outcome, got float32",
    ),
    "told nan": (
        lambda: tell(np.array([[0], [np.nan], [1]], np.float32)),
        "outcomes: expected finite numbers, got NaN or infinity for option 1 in round 1",
    ),
    "drawn nan": (lambda: run(sampler=sample_nan), "outcomes: .* option 2 in round 1"),
    "intervals of a batch": (
        lambda: jax.vmap(lambda key: run(key=key))(KEYS).intervals,
        "intervals: expected the result of one race, got a batch",
    ),
    # The driver
    "run K": (lambda: run(options=jnp.zeros(4)), r"options: .* leading axis 3, got \[4\]"),
    "run without options": (lambda: run(options=()), "options: .* got no arrays"),
    "run chunk 0": (lambda: run(chunk=0), "chunk: expected an integer of at least 1, got 0"),
    "run other params": (lambda: run(params=VALUE_PARAMS), "params: expected a PreferenceParams"),
    "init batch": (
        lambda: RACE.init(0.0, jax.tree.map(lambda x: jnp.stack([x, x]), PARAMS)),
        "params: expected those of one race, got .2. of them; use jax.vmap",
    ),
    "state of another size": (
        lambda: RACE.ask(WIDER.init(0.0, WIDER.params(0.1)), PARAMS),
        r"state: expected that of one race of 3 options, got samples of shape \[4\]$",
    ),
    "state of another capacity": (
        lambda: DOMINANCE_RACE.result(
            LONGER.init(0.0, LONGER.params(0.1)), DOMINANCE_RACE.params(0.1)
        ),
        r"state: expected state of DominanceRace\(.*capacity=20, .* got state of .*capacity=40, ",
    ),
    "state of another number of the best": (
        lambda: DOMINANCE_RACE.ask(PAIR.init(0.0, PAIR.params(0.1)), DOMINANCE_RACE.params(0.1)),
        r"state: expected state of DominanceRace\(num_options=3, top=1, .* got .* top=2, ",
    ),
    "state of a race by wins in one by mean": (
        lambda: BY_MEAN.ask(
            DOMINANCE_RACE.init(0.0, DOMINANCE_RACE.params(0.1)), BY_MEAN.params(0.1)
        ),
        r"state: expected state of .* by='mean', low=0, high=1\), got state of .* by='wins'",
    ),
    "state of a race by value that intersects": (
        lambda: VALUE_RACE.ask(
            dataclasses.replace(VALUE_RACE, intersect=True).init(0.0, VALUE_PARAMS), VALUE_PARAMS
        ),
        r"state: expected .* intersect=False, .* got .* intersect=True, ",
    ),
    "states of a batch": (
        lambda: RACE.ask(jax.vmap(lambda x: RACE.init(x, PARAMS))(START), PARAMS),
        r"state: .* got samples of shape \[3, 3\]; use jax.vmap for a batch",
    ),
    # Kernels
}
