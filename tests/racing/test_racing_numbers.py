"""Right answers of races: numbers as they are, params of the race, runs that are independent."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from right_answers import check, params

from jaxrace import dueling, racing
from jaxrace.agents import outcomes, policies, preferences
from jaxrace.agents.rollout import PolicyInTask, Rollout, evaluate, history
from jaxrace.core.float32 import strongly_typed
from jaxrace.envs import medical
from jaxrace.kernels import total_order

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
    result = racing.judge(race.compare, samples, race.top, **more)
    best = [int(name.removeprefix("option ")) for name in result.best]
    return best if result.certified else None


def named(samples):
    result = racing.judge(RACE.compare, samples)
    return result.best if result.certified else None


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
ORIENTATION = ValueError("samples: expected samples by name, or a list")

CASES = [
    # Judged: of numbers nothing but their order counts, whatever their size.
    ("judge 2^32", lambda: judged([LOW[::-1] + 5, LOW, np.full(60, 2**32)]), [2]),
    ("judge uint64", lambda: judged([LOW[::-1] + 5, LOW, np.full(60, 2**63, np.uint64)]), [2]),
    (
        "judge uint64 that no float64 tells apart",
        lambda: judged([np.full(60, 2**63 + 1, np.uint64), np.full(60, 2**63, np.uint64), -LOW]),
        [0],
    ),
    (
        "judge floats and long integers",
        lambda: judged([LOW[::-1] + 0.5, LOW, np.full(60, 2**62)]),
        [2],
    ),
    (
        "judge nanoseconds",
        lambda: judged([x + y * 10**9 for x, y in zip(SPREAD, (2, 3, 1), strict=True)]),
        [1],
    ),
    (
        "judge 1 + 1e-9",
        lambda: judged([1.0 + 1e-9 * SHARES[0], 1.0 + 1e-9 * (1 + SHARES[1]), LOW * 0]),
        [1],
    ),
    ("judge 1e-40", lambda: judged([1e-40 * (1 + SHARES[0]), 1e-40 * SHARES[1], -LOW]), [0]),
    ("judge 1e300", lambda: judged([1e300 * SHARES[0], 1e300 * (2 + SHARES[1]), LOW]), [1]),
    ("judge 0.1", lambda: judged([np.full(60, 0.1), np.full(60, 0.3), np.full(60, 0.2)]), [1]),
    ("judge bool", lambda: judged([SHARES[0] > 0.9, SHARES[1] > 0.1, SHARES[2] > 0.9]), [1]),
    (
        "judge long times in pytrees",
        lambda: judged(
            [
                {"alive": SHARES[i] > 0.01, "time": SPREAD[i] + seconds * 10**9}
                for i, seconds in enumerate((3, 2, 4))
            ],
            TIMED,
        ),
        [1],
    ),
    ("judge own preference", lambda: judged([*BEST_LAST], OWN), [2]),
    ("judge own preference, 2^32", lambda: judged([LOW, LOW, np.full(60, 2**32)], OWN), INT32),
    ("judge own preference, 1 + 1e-9", lambda: judged([*(1 + 1e-9 * SHARES)], OWN), APART),
    (
        "judge complex",
        lambda: judged([LOW + 1j] * 3),
        ValueError("expected real numbers, got complex128"),
    ),
    (
        "judge dates",
        lambda: judged([np.zeros(60, "datetime64[s]")] * 3),
        ValueError(r"samples: expected arrays or numbers, got an array of datetime64\[s\]"),
    ),
    ("judge nothing of one", lambda: judged([[], *NOISE[1:]]), None),
    # Which axis is that of the options?
    ("judge by name", lambda: named(dict(zip("abc", BEST_LAST, strict=True))), ["c"]),
    ("judge lists", lambda: named(dict(zip("abc", BEST_LAST.tolist(), strict=True))), ["c"]),
    ("judge [K, n]", lambda: judged(BEST_LAST), ORIENTATION),
    ("judge [n, K]", lambda: judged(BEST_LAST.T), ORIENTATION),
    ("judge [K, K]", lambda: judged(BEST_LAST[:, :3]), ORIENTATION),
    (
        "judge names twice",
        lambda: judged({1: LOW, "1": LOW, 2: LOW}),
        ValueError("data: expected different names, got 1, 1, 2"),
    ),
    # Independent?
    (
        "judge drifting runs",
        lambda: judged([*drifting()]),
        ValueError("mean lag-1 rank correlation of 0"),
    ),
    (
        "judge drifting runs, own",
        lambda: judged([*drifting()], OWN),
        ValueError("mean lag-1 rank correlation of 0"),
    ),
    (
        "judge runs five times",
        lambda: judged([*COPIED]),
        ValueError("runs: expected independent ones"),
    ),
    (
        "judge runs five times, own",
        lambda: judged([*COPIED], OWN),
        ValueError("runs: expected independent ones"),
    ),
    (
        "judge sorted",
        lambda: judged({"a": np.sort(NOISE[0]), "b": NOISE[1], "c": LOW}),
        ValueError("got sorted runs of a .a clock or a step..; "),
    ),
    (
        "judge few drifting runs",
        lambda: judged([*drifting(0.6)[:, 20:40]]),
        racing.DependentRunsWarning(
            "mean lag-1 rank correlation of 0.*no certificate is guaranteed"
        ),
    ),
    # Told: 32 bits, or refused.
    ("tell 2^32", lambda: told(rows(5, 0, 2**32), example=np.int32(0)), INT32),
    ("tell 2^32 to floats", lambda: told(rows(5, 0, 2**32)), INT32),
    ("tell 2^24 + 1", lambda: told(rows(5, 2**24, 2**24 + 1)), APART),
    ("tell 1 + 1e-9", lambda: told(rows(0.5, 1.0, 1 + 1e-9)), APART),
    ("tell 1e-40", lambda: told(rows(0.0, 1e-40, 2e-40)), APART),
    (
        "tell 1e39",
        lambda: told(rows(0.5, 1.0, 1e39)),
        ValueError("expected numbers that a float32 holds, got 1e.39"),
    ),
    ("tell 0.1", lambda: told(rows(0.1, 0.2, 0.3), SOON), [2, 1, 0]),
    ("tell integers to floats", lambda: told(rows(1, 3, 2), SOON), [1, 2, 0]),
    (
        "tell complex",
        lambda: told(rows(0.1, 0.2, 0.3) + 1j),
        ValueError("expected float32 .*, got complex128"),
    ),
    (
        "tell complex to complex",
        lambda: told(rows(1j, 1, 2), example=1j),
        ValueError("expected real numbers"),
    ),
    (
        "tell dates",
        lambda: told(np.zeros((3, 11), "datetime64[s]")),
        ValueError("got an array of datetime64"),
    ),
    (
        "tell lists",
        lambda: RACE.tell(
            RACE.init(np.float32(0), RACE.params()), [[1.0], [2.0], [3.0]], RACE.params()
        ),
        ValueError("outcomes: expected .*: np.asarray makes an array of lists"),
    ),
    ("tell values", lambda: told([[0.1], [0.3], [0.2]], BY_VALUE), [1, 2, 0]),
    (
        "tell values beside 1e9",
        lambda: told([[1e9], [1e9], [1e9 + 0.5]], BY_VALUE),
        ValueError("a value_range of 1, got 1e.09; subtract"),
    ),
    (
        "tell values, complex",
        lambda: told([[1j], [0], [1]], BY_VALUE),
        ValueError("outcomes: expected real numbers"),
    ),
    # Drawn.
    ("run 2^32", lambda: run(np.array([1, 2, 2**32])), INT32),
    (
        "run 1 + 1e-9",
        lambda: run(np.array([0.0, 1.0, 1 + 1e-9])),
        ValueError("options: expected rows that float32 tells apart, got 1 and 2"),
    ),
    (
        "run a list",
        lambda: run([1.0, 2.0, 3.0]),
        ValueError(
            "options: expected leaves with leading axis 3, got .*: np.asarray makes an array"
        ),
    ),
    ("run 0.1", lambda: run(np.array([0.1, 5.3, 0.2]), SOON), [1]),
    (
        "run values beside 1e6",
        lambda: run(np.array([1e6, 2e6, 3e6]), BY_VALUE),
        ValueError("a value_range of 1, got 3e.06; subtract"),
    ),
    # Simulated.
    ("episode 2^32", lambda: played(np.int64(2**32)), INT32),
    ("episodes 2^32", lambda: evaluated(np.int64(2**32)), INT32),
    ("a state of 2^32", lambda: strongly_typed({"time": np.int64(2**32)}), INT32),
    ("a state of 2^32 in Python", lambda: strongly_typed({"time": 2**32}), INT32),
    (
        "a state of 1e39",
        lambda: strongly_typed(1e39),
        ValueError(r"expected numbers that a float32 holds, got 1e\+39"),
    ),
    # Preferred, outside of a race.
    ("larger, 2^32", lambda: preferred(preferences.Larger(), np.int64(2**32), np.int64(1)), 1),
    ("larger, 1 + 1e-9", lambda: preferred(preferences.Larger(), 1 + 1e-9, 1.0), 1),
    ("smaller, 1 + 1e-9", lambda: preferred(preferences.Smaller(), 1 + 1e-9, 1.0), -1),
    (
        "larger, complex",
        lambda: preferred(preferences.Larger(), 1j, 2.0),
        ValueError("outcome: expected real numbers, got complex128"),
    ),
    ("larger beside JAX", lambda: preferred(preferences.Larger(), jnp.int32(5), 2**32), INT32),
    # Duelled.
    ("means", lambda: means_of(0.5, 0.25), [0.5, 0.25]),
    ("means, complex", lambda: means_of(0.5, 1j), ValueError(r"means: expected numbers \[K\]")),
    ("means, texts", lambda: means_of("0.5", "0.25"), ValueError("means: expected numbers")),
    (
        "a masked matrix",
        lambda: dueling.duels(np.ma.masked_equal([[0.5, 0.7], [0.3, 0.5]], 0.7)),
        ValueError("matrix: expected numbers"),
    ),
    (
        "utilities of 1e39",
        lambda: dueling.arms([0.5, 0.4], [1e39, 2]),
        ValueError("utilities: expected"),
    ),
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)
