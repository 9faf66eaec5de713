"""`jaxrace train module:name`: an environment of the user's, and what is said where one lacks."""

import sys

import pytest

from jaxrace import runs
from jaxrace.commands import cli

MODULE = '''
import dataclasses
import jax.numpy as jnp
from jaxrace.agents.policies import Linear


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
