"""Right answers of tasks, policies and features: numbers of the host as they are, or refused."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from right_answers import check, params

from jaxrace.agents import bases, outcomes, policies
from jaxrace.agents.rollout import PolicyInTask, history
from jaxrace.core.float32 import strongly_typed
from jaxrace.envs import Transition, gridworld, gymnax, medical, mountain_car
from papers.improvements import grid, marketing
from papers.improvements.open_bandit import load_click_model
from papers.preference_racing import options

KEY = jax.random.key(0)
PATIENTS = medical.Medical()
CAR = mountain_car.MountainCar()
VISITS = marketing.Marketing()
MODEL = load_click_model()
TASKS = (options.Normal(), options.BernoulliDrift(), options.Uniform())
AT_1 = jnp.ones(2, jnp.float32)


def host(*numbers: Any) -> Any:
    """An array of 64 bits."""
    return np.array(numbers)


class Slow:
    """A task of the interface of gymnax whose rewards and params are as told."""

    def __init__(self, reward: Any = 0.0, params: Any = None) -> None:
        self.reward, self.default_params = reward, params or {}

    def reset_env(self, key, params):
        return 0.0, 0

    def step_env(self, key, state, action, params):
        return 0.0, state, self.reward, False, {}


def drawn(k):
    return TASKS[2].draw(KEY, k, 3).upper_limit.tolist()


def wins(*limits):
    """Of the first option against each."""
    return TASKS[2].win_probabilities(options.UniformOptions(host(*limits)))[0].tolist()


def adapted(*args, horizon=5):
    return gymnax.GymnaxAdapter(Slow(*args), horizon)


def rewarded(reward):
    env = adapted(reward)
    return float(env.step(KEY, env.reset(KEY, {}), 0, {})[1])


def walked(action, state: Any = (0, 0)):
    grid = gridworld.Gridworld()
    return grid.step(KEY, host(*state), action, {})[0].tolist()


def driven(action, **params):
    params = mountain_car.MountainCarParams(**{"force": 0.001, "gravity": 0.0025, **params})
    return CAR.step(KEY, CAR.reset(KEY, params), action, params)


def treated(dose, **params):
    changed = dataclasses.replace(PATIENTS.default_params, **params)
    return PATIENTS.step(KEY, PATIENTS.reset(KEY, changed), dose, changed)


def shown(action):
    params = VISITS.default_params
    return VISITS.step(KEY, VISITS.reset(KEY, params), action, params)[0].fatigue.tolist()


def customers(**changed):
    return VISITS.make_params(MODEL._replace(**changed)).cumulative_shares[1].item()


def earned(reward):
    step = Transition(None, None, reward, False, None)
    return float(outcomes.Return().update(jnp.float32(0), step, None))


def played_with(params):
    """By a policy, in a task with params of one's own."""
    option = PolicyInTask(np.float32(0), params)
    return history(adapted(), policies.Constant(), KEY, option)


def cell(*observation, cells=4):
    return bases.Cells(cells, 1)(host(*observation)).argmax().item()


def survived(toxicity: Any, tumour: Any = 0.0, alive: Any = True):
    return medical.Outcome(alive, toxicity, tumour)


def held(name: str, got: Any = r"1e\+39", dtype: str = "a float32"):
    return ValueError(f"{name}: expected numbers that {dtype} holds, got {got}")


def counted(name, most, got):
    return ValueError(f"{name}: expected at most {most}, got {got}")


EVEN = host(*np.full((16, 4), 0.25))


def _complexities():
    for task in TASKS:
        name = type(task).__name__
        for k in (1e39, 10**40, np.float64(1e39), 1e-50):
            said = ValueError("k: expected a positive number from .*, as float32 holds, got")
            yield f"{name}, k = {k!r:.20}", lambda task=task, k=k: task.draw(KEY, k, 3), said
        said = ValueError("k: expected a positive number, got")
        yield f"{name}, k = 0", lambda task=task: task.draw(KEY, 0.0, 3), said


def _horizons():
    makers = {
        "gridworld": lambda steps: gridworld.Gridworld(horizon=steps),
        "expected return": lambda steps: grid.expected_return(EVEN, steps),
        "mountain car": lambda steps: mountain_car.MountainCar(horizon=steps),
        "medical": lambda steps: medical.Medical(horizon=steps),
        "marketing": lambda steps: marketing.Marketing(horizon=steps),
        "gymnax": lambda steps: adapted(horizon=steps),
    }
    for name, make in makers.items():
        right = counted("horizon", 2147483647, 2**31)
        yield f"{name}, 2^31 steps", lambda make=make: make(2**31), right


def _policies():
    wide, ones = host(1e39, 1.0), host(1.0, 1.0)
    made = {
        "linear": policies.Linear(2),
        "sigmoid": policies.Sigmoid(2, bias=False),
        "softmax": policies.Softmax(lambda s: jnp.stack([s, -s]), 2),
    }
    for name, policy in made.items():
        for theta, seen, right in ((wide, ones, "theta"), (AT_1, wide, "observation")):
            act = lambda policy=policy, theta=theta, seen=seen: policy(theta, seen, KEY)  # noqa: E731
            yield f"{name}, {right} of 1e39", act, held(right)
    layers = [(host([1e39], [1.0]), host(0.0))]
    yield "layers of 1e39", lambda: policies.MLP((2, 1))(layers, AT_1, KEY), held("theta")
    for basis in (bases.Fourier(2, 2), bases.Cells(2, 2), bases.Affine(2)):
        name = type(basis).__name__
        yield f"{name} of 1e39", lambda basis=basis: basis(wide), held("observation")


CASES = [
    # Tasks of racing.
    *_complexities(),
    ("Uniform, k = 1e38", lambda: TASKS[2].draw(KEY, 1e38, 3), ValueError(r"to 3.4e\+37, as")),
    (
        "range, k = 1e38",
        lambda: TASKS[2].value_range(1e38),
        ValueError(r"k: expected .* to 3.4e\+37, as float32 holds, got 1e\+38"),
    ),
    ("Normal, k = 1e38", lambda: bool(np.isfinite(TASKS[0].draw(KEY, 1e38, 3).mean).all()), True),
    ("k of NumPy", lambda: drawn(np.float64(3)) == drawn(3), True),
    *(
        (
            f"scale {scale}",
            lambda scale=scale: options.BernoulliDrift(scale),
            ValueError("drift_scale: expected a positive number"),
        )
        for scale in (1e39, 1e-50, 0.0, host(1.0, 2.0))
    ),
    (
        "k over a small scale",
        lambda: options.BernoulliDrift(1e-30).draw(KEY, 1e30, 3),
        ValueError("k: expected a positive number from .*, as float32 holds, got"),
    ),
    ("limits of 1e39", lambda: wins(1e39, 2e39), held("options")),
    ("limits of NumPy", lambda: wins(4.0, 2.0), [0.5, 0.75]),
    (
        "a drift of 1e39",
        lambda: TASKS[1].sample(KEY, options.BernoulliDriftOptions(host(1e39)[0])),
        held("option"),
    ),
    (
        "a mean of 1e39",
        lambda: TASKS[0].means(options.NormalOptions(host(1e39), host(1.0))),
        held("options"),
    ),
    # Steps and sizes.
    *_horizons(),
    ("2^31 held", lambda: mountain_car.MountainCar(hold=2**31), counted("hold", 2**31 - 1, 2**31)),
    ("50,000 x 50,000 cells", lambda: gridworld.Gridworld(50000), counted("size", 46340, 50000)),
    # What is done, and in what.
    ("a walk", lambda: walked(np.int64(3)), [0, 1]),
    (
        "a walk, 2^32 + 3",
        lambda: walked(np.int64(2**32 + 3)),
        held("action", 2**32 + 3, "an int32"),
    ),
    ("a walk from 2^32", lambda: walked(3, (2**32, 0)), held("state", 2**32, "an int32")),
    ("chances of 1e39", lambda: grid.expected_return(4e39 * EVEN, 3), held("probabilities")),
    ("a drive, 2^32 + 2", lambda: driven(2**32 + 2), held("action", 2**32 + 2, "an int32")),
    ("a drive, 1.9", lambda: driven(1.9), held("action", 1.9, "an int32")),
    ("a drive, 2.0", lambda: driven(2.0)[0].position == driven(2)[0].position, True),
    ("a force of 1e39", lambda: driven(2, force=1e39), held("force")),
    ("gravity of 1e39", lambda: driven(2, gravity=np.float64(1e39)), held("gravity")),
    ("an ad, 1", lambda: shown(1), [0.0, 2.0]),
    ("an ad, 2^32 + 1", lambda: shown(2**32 + 1), held("action", 2**32 + 1, "an int32")),
    ("an ad, 0.5", lambda: shown(0.5), held("action", 0.5, "an int32")),
    ("an intercept of 1e39", lambda: customers(intercept=1e39), held("intercept")),
    ("weights of 1e39", lambda: customers(user_weights=np.full(7, 1e39)), held("user_weights")),
    ("2^60 of each kind", lambda: customers(counts=np.full(30, 2**60)), float(np.float32(2 / 30))),
    ("a dose of 1e39", lambda: treated(1e39), held("action")),
    ("hazards of 1e39", lambda: treated(0.5, hazard_tumour=1e39), held("hazard_tumour")),
    (
        "toxicity of 1e39",
        lambda: medical.prefer(survived(1e39), survived(2e39)),
        held("worst_toxicity"),
    ),
    ("a reward of 1e39", lambda: rewarded(1e39), held("reward")),
    ("a reward of 2", lambda: rewarded(2), 2.0),
    ("a task of 1e39", lambda: adapted(0.0, {"a": 1e39}).default_params, held("default_params")),
    (
        "a task of 2^100",
        lambda: adapted(0.0, {"a": 2**100}).default_params,
        held("default_params", 2**100, "an int32"),
    ),
    ("a state of 1e39j", lambda: strongly_typed(1e39j), ValueError("that a float32 holds, got 1e")),
    (
        "a state of uint64",
        lambda: strongly_typed(np.uint64(2**63)),
        ValueError("that a uint32 holds, got 9223372036854775808"),
    ),
    ("params of 1e39", lambda: played_with({"a": 1e39}), held("option")),
    ("params of 2^32", lambda: played_with({"a": 2**32}), held("option", 2**32, "an int32")),
    ("a return of 1e39", lambda: earned(1e39), held("reward")),
    ("a return of 2^40", lambda: earned(2**40), 2.0**40),
    # Policies and features.
    *_policies(),
    (
        "three of two actions",
        lambda: policies.UniformChoice(3)(AT_1, None, KEY),
        ValueError(r"theta: expected shape \[3\], got \[2\]"),
    ),
    (
        "2^31 actions",
        lambda: policies.UniformChoice(2**31),
        ValueError("num_actions: expected at most 2147483647, got 2147483648"),
    ),
    ("a cell", lambda: cell(0.3), 1),
    ("a cell far out", lambda: cell(3e9), 3),
    ("a cell far below", lambda: cell(-3e9), 0),
    ("a cell of a large integer", lambda: cell(2**30), 3),
    ("a cell of 2^40", lambda: cell(2**40), held("observation", 2**40, "an int32")),
    # Margins are those of the numbers that are handed over.
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)
