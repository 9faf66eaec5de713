"""Right answers of races: numbers as they are, params of the race, runs that are independent."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import dueling, outcomes, policies, preferences, racing
from jaxrace.envs import medical
from jaxrace.kernels import total_order
from jaxrace.rollout import PolicyInTask, Rollout, evaluate, history

rng = np.random.default_rng(0)
RACE: Any = racing.DominanceRace(3, 1, 60, total_order)
OWN = dataclasses.replace(RACE, compare=lambda a, b: total_order(a, b).astype(jnp.int8))
TIMED = dataclasses.replace(
    RACE,
    compare=preferences.Lexicographic(preferences.Larger("alive"), preferences.Smaller("time")),
)
BY_VALUE: Any = racing.HoeffdingRace(3, 1)
# How numbers are told and drawn is a matter of every race: of this one it is compiled sooner.
SOON: Any = racing.PreferenceRace(3, 1, 60, total_order)

LOW = rng.integers(0, 5, 60)
SPREAD = rng.integers(0, 10**6, (3, 60))
NOISE = rng.normal(size=(3, 60))
SHARES = rng.random((3, 60))
BEST_LAST = NOISE + np.array([[0], [1], [3]])
COPIED = np.repeat(NOISE[:, :12], 5, axis=1)


def drifting(correlation=0.9):
    x = NOISE.copy()
    for t in range(1, 60):
        x[:, t] = correlation * x[:, t - 1] + np.sqrt(1 - correlation**2) * NOISE[:, t]
    return x


def judged(samples, race=RACE, **more):
    """What is certified, or None."""
    result = racing.judge(race, samples, race.params(0.05), **more)
    return result.best.tolist() if result.decided else None


def named(samples):
    result = racing.judge(RACE, samples, RACE.params(0.05))
    return result.best_names if result.decided else None


def params_of(race):
    return race.params(0.05, 20, 1.0) if race is BY_VALUE else race.params(0.05)


def told(outcomes, race=RACE, example: Any = 0.0):
    """The ranking after a tell, outcomes [3, r]."""
    params = params_of(race)
    state = race.tell(race.init(example, params), np.asarray(outcomes), params)
    return race.result(state, params).ranking.tolist()


def rows(*numbers):
    return np.repeat(np.array(numbers)[:, None], 11, axis=1)


def sample(key, option):
    return option + jax.random.uniform(key, (), jnp.float32)


def run(options, race=RACE):
    return racing.run(race, jax.random.key(0), sample, options, params_of(race)).best.tolist()


def played(dose):
    """An episode with a parameter of the simulator."""
    option = PolicyInTask(np.zeros(3, np.float32), dose)
    return history(medical.Medical(), policies.Sigmoid(2), jax.random.key(0), option)


def evaluated(dose):
    rollout = Rollout(medical.Medical(), policies.Sigmoid(2), outcomes.Return())
    option = PolicyInTask(np.zeros(3, np.float32), dose)
    return evaluate(rollout, jax.random.key(0), option, 2)


def preferred(compare, a, b):
    return int(compare(a, b))


def means_of(*numbers):
    return dueling.arms(np.array(numbers), [1.0, 2.0]).probabilities.tolist()


INT32 = ValueError("expected numbers that an int32 holds, got 4294967296")
APART = ValueError("expected numbers that a float32 tells apart, got .*; subtract what they have")
ORIENTATION = ValueError("samples: expected samples by name, or a list of arrays")

CASES = [
    # Judged: of numbers nothing but their order counts, whatever their size.
    ("judge 2^32", lambda: judged([LOW + 5, LOW, np.full(60, 2**32)]), [2]),
    (
        "judge long times in pytrees",
        lambda: judged(
            [
                {"alive": SHARES[0] > 0.01, "time": SPREAD[0] + seconds * 10**9}
                for seconds in (3, 2, 4)
            ],
            TIMED,
        ),
        [1],
    ),
    ("judge own preference", lambda: judged([*BEST_LAST], OWN), [2]),
    (
        "judge dates",
        lambda: judged([np.zeros(60, "datetime64[s]")] * 3),
        ValueError(r"samples: expected arrays or numbers, got an array of datetime64\[s\]"),
    ),
    # Which axis is that of the options?
    ("judge by name", lambda: named(dict(zip("abc", BEST_LAST, strict=True))), ["c"]),
    ("judge [K, n]", lambda: judged(BEST_LAST), [2]),
    ("judge [n, K]", lambda: judged(BEST_LAST.T), ORIENTATION),
    (
        "judge names twice",
        lambda: judged({1: LOW, "1": LOW, 2: LOW}),
        ValueError("samples: expected different names, got 1, 1, 2"),
    ),
    # Independent?
    (
        "judge drifting runs",
        lambda: judged([*drifting()]),
        ValueError("mean lag-1 rank correlation of 0"),
    ),
    (
        "judge runs five times",
        lambda: judged([*COPIED]),
        ValueError("runs: expected independent ones"),
    ),
    (
        "judge few drifting runs",
        lambda: judged([*drifting()[:, 20:40]]),
        racing.DependentRunsWarning(
            "mean lag-1 rank correlation of 0.*no certificate is guaranteed"
        ),
    ),
    # Told: 32 bits, or refused.
    ("tell 2^32", lambda: told(rows(5, 0, 2**32), example=np.int32(0)), INT32),
    ("tell 2^24 + 1", lambda: told(rows(5, 2**24, 2**24 + 1)), APART),
    ("tell 1 + 1e-9", lambda: told(rows(0.5, 1.0, 1 + 1e-9)), APART),
    ("tell 0.1", lambda: told(rows(0.1, 0.2, 0.3), SOON), [2, 1, 0]),
    ("tell integers to floats", lambda: told(rows(1, 3, 2), SOON), [1, 2, 0]),
    ("tell values", lambda: told([[0.1], [0.3], [0.2]], BY_VALUE), [1, 2, 0]),
    (
        "tell values beside 1e9",
        lambda: told([[1e9], [1e9], [1e9 + 0.5]], BY_VALUE),
        ValueError("a value_range of 1, got 1e.09; subtract"),
    ),
    # Drawn.
    (
        "run 1 + 1e-9",
        lambda: run(np.array([0.0, 1.0, 1 + 1e-9])),
        ValueError("options: expected rows that float32 tells apart, got 1 and 2"),
    ),
    ("run 0.1", lambda: run(np.array([0.1, 5.3, 0.2]), SOON), [1]),
    # Simulated.
    ("episode 2^32", lambda: played(np.int64(2**32)), INT32),
    # Preferred, outside of a race.
    ("larger, 2^32", lambda: preferred(preferences.Larger(), np.int64(2**32), np.int64(1)), 1),
    (
        "larger, complex",
        lambda: preferred(preferences.Larger(), 1j, 2.0),
        ValueError("outcome: expected real numbers, got complex128"),
    ),
    ("larger beside JAX", lambda: preferred(preferences.Larger(), jnp.int32(5), 2**32), INT32),
    # Duelled.
    ("means, complex", lambda: means_of(0.5, 1j), ValueError(r"means: expected numbers \[K\]")),
]
