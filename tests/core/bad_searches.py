"""Bad arguments of rollouts, strategies and searches: what to call, and what the error says."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import racing, search
from jaxrace.agents import outcomes, policies, rollout
from jaxrace.envs import medical
from jaxrace.search import strategies

# Much here has the wrong type on purpose, so type checkers are told nothing of these.
PreferenceRace: Any = racing.PreferenceRace
Rollout: Any = rollout.Rollout
Strategy: Any = strategies.Strategy
run: Any = search.run
stack_params: Any = search.stack_params

KEY = jax.random.key(0)
KEYS = jax.random.split(KEY, 3)
START = np.zeros(3, np.float32)
POPULATION = np.ones((4, 3), np.float32)
CONSTANT, RETURN = policies.Constant(), outcomes.Return()
MEDICAL: Any = search.PolicySearch(
    medical.Medical(),
    policies.Sigmoid(2),
    medical.TreatmentOutcome(),
    PreferenceRace(7, 3, 100, medical.prefer),
)


@dataclasses.dataclass(frozen=True)
class Walk:
    """An environment whose step may break the contract in one way."""

    broken: str = ""
    horizon: int = 3
    continues_after_terminal: bool = False

    @property
    def default_params(self):
        return jnp.float32(1)

    def reset(self, key, params):
        return {"place": jnp.zeros(2, jnp.float32)}

    def step(self, key, state, action, params):
        place = state["place"] + action
        states = {
            "shape": {"place": place.sum()},
            "dtype": {"place": place.astype(jnp.int32)},
            "structure": {"place": place, "time": jnp.int32(0)},
        }
        reward = place if self.broken == "reward" else place.sum()
        terminal = jnp.int32(0) if self.broken == "terminal" else jnp.bool_(False)
        return states.get(self.broken, {"place": place}), reward, terminal

    def observe(self, state, params):
        return state["place"]


@dataclasses.dataclass(frozen=True)
class GrowingFold(outcomes.Return):
    def update(self, carry, transition, params):
        return carry + transition.next_state["place"]


class Unhashable(Walk):
    def __hash__(self):
        raise TypeError("unhashable")


def play(broken="", policy: Any = CONSTANT, fold=RETURN, theta=0.5, key=KEY):
    return Rollout(Walk(broken), policy, fold)(key, rollout.PolicyInTask(jnp.float32(theta), None))


def with_preference(compare):
    race = dataclasses.replace(MEDICAL.race, compare=compare)
    return dataclasses.replace(MEDICAL, race=race)


def tell_strategy(population, ranking):
    strategy = Strategy("CMA_ES", 4)
    params = strategy.params(START, 1.0)
    state = strategy.init(KEY, START, params)
    strategy.tell(state, population, ranking, params, KEY, START)


BAD = {
    # Environments, policies and rollouts
    "step changes a shape": (
        lambda: play("shape"),
        r"Walk.step: expected state\['place'\] to stay float32\[2\], got float32\[\]",
    ),
    "step changes the structure": (lambda: play("structure"), "Walk.step: expected a state with"),
    "step in a search": (
        lambda: run(
            dataclasses.replace(MEDICAL, env=Walk("shape"), fold=RETURN),
            KEYS,
            dataclasses.replace(MEDICAL.params(), env=jnp.float32(0)),
        ),
        r"Walk.step: expected state\['place'\] to stay float32\[2\]",
    ),
    "fold changes a shape": (
        lambda: play(fold=GrowingFold()),
        r"GrowingFold.update: expected carry to stay float32\[\], got float32\[2\]",
    ),
    "policy": (lambda: Rollout(Walk(), None, RETURN), "policy: expected a function"),
    "observation": (
        lambda: policies.Linear(3)(jnp.asarray(START), jnp.zeros(4), KEY),
        r"observation: expected shape \[3\], got \[4\]",
    ),
    # Strategies and searches
    "strategy": (lambda: Strategy("CMAES"), "strategy: expected one of CMA_ES, "),
    "sigma0 0": (lambda: Strategy().params(START, 0.0), "sigma0: expected a positive number"),
    "sigma0 swept": (
        lambda: Strategy("Open_ES", 8).params(START, 1.0),
        "sigma0: expected none for Open_ES, which has no initial step size, got 1.0; strategies ",
    ),
    "ranking": (
        lambda: tell_strategy(POPULATION, np.array([0, 1, 1, 2])),
        r"ranking: expected 0 to 3 in some order, got \[0, 1, 1, 2\]",
    ),
    "lambda": (
        lambda: dataclasses.replace(MEDICAL, strategy=Strategy("CMA_ES", 8)),
        "race: expected num_options = population_size = 8, got 7",
    ),
    "mu": (
        lambda: dataclasses.replace(MEDICAL, race=PreferenceRace(7, 2, 9, medical.prefer)),
        "race: expected top = 3, ",
    ),
    "preference of a search": (
        lambda: with_preference(lambda a, b: 2 * medical.prefer(a, b)).params(),
        "compare: expected -1, 0 or .1, got -?2 for",
    ),
    "min_rounds": (
        lambda: MEDICAL.params(min_rounds=9, max_rounds=8),
        "max_rounds: expected an int",
    ),
    "search max_rounds": (
        lambda: MEDICAL.params(max_rounds=101),
        "max_rounds: expected at most the",
    ),
    "one key": (
        lambda: run(MEDICAL, KEY, MEDICAL.params()),
        "keys: expected a list of keys",
    ),
}
