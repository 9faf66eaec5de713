"""`jaxrace train module:name`: an environment of the user's, and what is said where one lacks."""

import sys

import jax
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from jaxrace import BadArgument, evaluate, runs
from jaxrace.agents.bases import PerAction
from jaxrace.agents.policies import MLP, Linear, Softmax
from jaxrace.commands import cli

MODULE = '''
import dataclasses
import jax.numpy as jnp
from jaxrace.agents.outcomes import Return
from jaxrace.agents.policies import Linear
from jaxrace.agents.preferences import Smaller


@dataclasses.dataclass(frozen=True)
class Arms:
    """Of three actions the second is best; what is seen says nothing."""

    horizon: int = 2
    num_actions: int | None = 3
    continues_after_terminal = False
    default_params = ()

    def reset(self, key, params):
        return jnp.zeros(2, jnp.float32)

    def observe(self, state, params):
        return state

    def step(self, key, state, action, params):
        return state, jnp.array([0.0, 1.0, 0.2], jnp.float32)[action], jnp.bool_(False)


@dataclasses.dataclass(frozen=True)
class Aimed(Arms):
    """The action is a number, and the best one is 2."""

    num_actions: int | None = None
    policy = Linear(2, bias=True)
    return_range = (-200.0, 0.0)

    def step(self, key, state, action, params):
        return state, -jnp.minimum(jnp.abs(action - 2), 100), jnp.bool_(False)


class Costly(Aimed):
    """The larger return is disliked."""

    @staticmethod
    def compare(a, b):
        return jnp.sign(b - a).astype(jnp.int8)


class Judged:
    """The return, whether it was large, and what no table shows."""

    def init(self, state, params):
        return {"sum": jnp.float32(0), "seen": jnp.zeros(2, jnp.float32)}

    def update(self, found, step, params):
        return {"sum": found["sum"] + step.reward, "seen": step.state}

    def finish(self, found, params):
        return {**found, "large": found["sum"] > 1.5, "cost": -found["sum"]}


class Spared(Arms):
    fold, compare = Judged(), Smaller("cost")


class Score:
    init, update, finish = Return.init, Return.update, lambda self, sum, params: -sum


class Scored(Arms):
    """Without a preference the larger outcome is better, here the smaller return."""

    fold = Score()


class Broken(Arms):
    def step(self, key, state, action, params):
        return state, jnp.float32(0)


class Blind(Arms):
    observe = None


def wanting(size):
    return Arms()


arms, nameless, number = Arms(), Arms(num_actions=None), 3
'''


@pytest.fixture
def train(tmp_path, monkeypatch, capsys):
    (tmp_path / "own_arms.py").write_text(MODULE)
    (tmp_path / "own_lacking.py").write_text("import nothing_of_this_name\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run(words):
        sys.modules.pop("own_arms", None)
        status = cli.main(["train", *words.split(), "--no-compilation-cache"])
        return status, capsys.readouterr()

    return run


SMALL = "--repeats 2 --episodes 900 --test-patients 20"


def test_an_environment_with_actions_is_learned_beside_its_baselines(train):
    status, told = train(f"own_arms:arms {SMALL}")
    assert status == 0
    found = runs.read_summary("runs/own_arms-arms-pb-edps-fast-1")
    assert found["mean_return"]["mean"] > 1.9
    baselines = {name: one["mean_return"]["mean"] for name, one in found["baselines"].items()}
    assert baselines == pytest.approx(
        {"constant 0": 0, "constant 1": 2, "constant 2": 0.4, "random": 0.8}, abs=0.15
    )
    assert "constant 1" in told.out
    log = runs.read_log("runs/own_arms-arms-pb-edps-fast-1")
    assert {f"theta_{i}" for i in range(6)} <= log.keys()  # two actions of d + 1 weights


@pytest.mark.parametrize(
    ("words", "least", "most"),
    [
        ("own_arms:Aimed --method edps", -2.0, 0.0),
        ("own_arms:Costly", -200.0, -20.0),
        ("own_arms:arms --method constant --action 2", 0.39, 0.41),
    ],
)
def test_what_an_environment_says_is_used(train, words, least, most):
    assert train(f"{words} {SMALL} --out found")[0] == 0
    assert least <= runs.read_summary("found")["mean_return"]["mean"] <= most


def test_what_was_preferred_is_shown_beside_the_return(train):
    status, told = train(f"own_arms:Spared {SMALL} --out found")
    assert status == 0
    found = runs.read_summary("found")
    labels = {"outcome_cost": "cost", "outcome_large": "large", "outcome_sum": "sum"}
    assert found["metrics"] == labels | {"mean_return": "return"}
    assert found["outcome_cost"]["mean"] == pytest.approx(-found["mean_return"]["mean"])
    assert found["outcome_cost"]["mean"] < -1.9
    # Of the baselines as well: action 1 always has the sum 2, action 0 never.
    for name, share in {"constant 1": 1, "constant 0": 0}.items():
        assert found["baselines"][name]["outcome_large"]["mean"] == share
    assert "learned by `compare` of own_arms:Spared" in told.out
    assert told.out.split("\n")[0].split() == ["cost", "large", "sum", "return"]


def test_settings_are_ranked_by_an_outcome_that_is_one_number(train):
    status, told = train(f"own_arms:Scored {SMALL} --sigma 0.001,50 --out found")
    assert status == 0
    found = runs.read_summary("found")
    assert found["objective"] == "outcome"
    assert "settings ranked by outcome, best first" in told.out
    assert found["settings"][0]["sigma"] == 50
    assert found["settings"][0]["mean_return"]["mean"] < 0.2
    assert "learned by" not in told.out


def test_learned_policies_are_read_and_play_as_they_were_evaluated(train):
    assert train(f"own_arms:arms {SMALL} --sigma 1,50 --out found")[0] == 0
    policy, env = Softmax(PerAction(3), 6), sys.modules["own_arms"].arms
    theta, last = runs.read_policies("found", policy)
    assert theta.shape == (4, 6)
    assert theta.dtype == np.float32
    assert last["sigma"].tolist() == [1, 1, 50, 50]
    assert last["repeat"].tolist() == [0, 1, 0, 1]
    assert (last["episodes"] > 600).all()  # the last rows
    for one, mean in zip(theta, last["mean_return"], strict=True):
        assert evaluate(policy, env, one, 2_000).mean == pytest.approx(mean, abs=0.2)


def test_policies_that_are_not_there(train):
    assert train(f"own_arms:arms --method constant --action 1 {SMALL} --out none")[0] == 0
    with pytest.raises(BadArgument, match="folder: expected a run that learned policies"):
        runs.read_policies("none", Linear(2))
    runs.write_log("none", {"generation": [1, 1], "repeat": [0, 1], "theta_0": [1.0, 2.0]})
    with pytest.raises(BadArgument, match="policy: expected one of 1 weights, as in 'none', got 2"):
        runs.read_policies("none", Linear(2))
    runs.write_summary("none", {"failed": [{"sigma": 1, "delta": 0.2, "repeat": 0}]})
    theta, last = runs.read_policies("none", Linear(1))
    assert theta.tolist() == [[2.0]]
    assert last["repeat"].tolist() == [1]


def test_a_policy_of_several_arrays_is_read(tmp_path):
    policy = MLP((2, 3, 1))
    flat = np.arange(13.0)
    log = {"generation": [1, 2], "repeat": [0, 0]}
    log |= {f"theta_{i}": [0.0, x] for i, x in enumerate(flat)}
    runs.write_log(tmp_path, log)
    runs.write_summary(tmp_path, {"failed": []})
    theta, _ = runs.read_policies(tmp_path, policy)
    assert theta[0][0].shape == (1, 2, 3)
    one = jax.tree.map(lambda x: x[0], theta)
    assert ravel_pytree(one)[0].tolist() == flat.tolist()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("own_arms", "env: expected one of medical, got 'own_arms'; one of yours is module:name"),
        ("own_arms:", "env: expected one of medical, got 'own_arms:'"),
        ("own_no:arms", "env: expected module:name of an environment, got no module own_no"),
        ("own_lacking:env", "got no module nothing_of_this_name, neither installed nor in"),
        ("own_arms:nobody", "env: expected nobody in own_arms, got none"),
        ("own_arms:wanting", "what makes one without arguments, as wanting, got wanting() missing"),
        ("own_arms:number", "what makes one without arguments, as number, got 'int' object"),
        ("own_arms:nameless", "env: expected num_actions, for actions 0, 1, ..., got none in own_"),
        ("own_arms:Broken", "step: expected a tuple (state, reward, terminal), got"),
        ("own_arms:Blind", "observe: expected a method, got none in Blind"),
        ("own_arms:arms --method edps", "env: expected a return_range (low, high)"),
        ("own_arms:Aimed --method random", "method: expected a method that learns"),
        ("own_arms:arms --method constant", "action: expected an integer from 0 to 2, got 0.4"),
        ("own_arms:arms --hazard B", "hazard: expected none with own_arms:arms"),
    ],
)
def test_what_lacks_is_said(train, words, message):
    status, told = train(words)
    assert status == 2
    assert message in told.err
