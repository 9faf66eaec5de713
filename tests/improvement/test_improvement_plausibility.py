"""The test that importance weights have a mean of 1 at most, and what it says of a log."""

import dataclasses
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from in_files import HEAD

from jaxrace import improve, runs
from jaxrace.commands.cli import main
from jaxrace.improvement import (
    LinearSoftmax,
    PolicyImprovement,
    ReturnRange,
    StudentT,
    check_weights,
    trajectories,
)
from jaxrace.judging.policies.plausibility import check_actions
from jaxrace.judging.policies.trajectories import Trajectories


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.lognormal(-1.125, 1.5, 200),
        lambda rng: 50.0 * (rng.random(200) < 0.02),
        lambda rng: rng.exponential(size=200),
        lambda rng: rng.choice([0.5, 1.5], 200),
    ],
    ids=["lognormal", "rare", "exponential", "two"],
)
def test_right_probabilities_are_hardly_ever_refuted(draw):
    """In one of 1,000 logs at most: of 3,000 no more than 10, which has probability 3e-4."""
    rng = np.random.default_rng(0)
    assert sum(check_weights(draw(rng)).is_refuted for _ in range(3_000)) <= 10


def test_wrong_ones_are_refuted():
    rng = np.random.default_rng(0)
    found = [check_weights(1.5 * rng.lognormal(-0.125, 0.5, 200)).is_refuted for _ in range(100)]
    assert sum(found) > 95
    assert check_weights(np.array([1.0, np.inf])).is_refuted


def check(rng, count, true, logged, steps=1, behaviour=1):
    """Of trajectories of as many behaviour policies; probabilities [cells, A], in random cells."""
    true, logged = np.broadcast_arrays(true, logged)
    cells = rng.integers(len(true), size=(count, steps))
    done = (true[cells].cumsum(-1) < rng.random((count, steps, 1))).sum(-1)
    done = done.clip(max=true.shape[1] - 1)
    taken = np.arange(steps) < rng.integers(1, steps + 1, (count, 1))
    made_by = rng.integers(behaviour, size=count)
    arrays = np.zeros((count, steps, 1)), done * taken, np.where(taken, logged[cells, done], 1)
    data = Trajectories(*arrays, np.zeros((count, steps)), taken, made_by)
    first = np.arange(count) < count // 5
    return check_actions(*(data.each(lambda x, rows=rows: x[rows]) for rows in (first, ~first)))


CELLS = np.random.default_rng(1).dirichlet(np.ones(5), 4)
RARE = np.array([[0.001, 0.599, 0.4]])
MANY = np.full((1, 100), 0.01)


@pytest.mark.parametrize(
    ("true", "logged"),
    [
        (CELLS, CELLS),
        (RARE, RARE),
        (MANY, MANY),
        (np.array([[0, 0.7, 0.3], [0.2, 0.5, 0.3]]),) * 2,  # one is impossible in a cell
        (np.array([[1 / 3, 2 / 3]]), np.array([[0.33, 0.67]])),
    ],
    ids=["cells", "rare", "many", "impossible", "rounded"],
)
def test_actions_of_right_probabilities_are_hardly_ever_refuted(true, logged):
    """In one of 100 logs at most: of 400 no more than 10, which has probability .003."""
    rng, shapes = np.random.default_rng(0), [(100, 1, 1), (100, 5, 3), (1_000, 5, 1), (1_000, 1, 3)]
    found = [check(rng, n, true, logged, *more) for n, *more in shapes for _ in range(100)]
    assert sum(one["is_refuted"] for one in found) <= 10


def test_several_arrays_may_be_observed():
    """A pytree of observations, whose leaves are looked at as columns of one array are."""
    rng = np.random.default_rng(0)
    done = rng.integers(2, size=(600, 1))
    seen = {"made": done[..., None] * rng.random((600, 1, 1)), "noise": rng.random((600, 1))}

    @dataclasses.dataclass(frozen=True)
    class Half:  # a basis of one number and one that is always 1
        num_features: int = 2

        def __call__(self, observation):
            return jnp.stack([observation["noise"], jnp.ones_like(observation["noise"])], -1)

    policies = LinearSoftmax(Half(), 2)
    data = trajectories(seen, done, np.full((600, 1), 0.5), rng.random((600, 1)))
    method = PolicyImprovement(policies, ReturnRange(0, 1), StudentT())
    found = method.run(jax.random.key(0), data, method.params(floor=0.1))
    assert bool(found.is_refuted)


def test_rounding_of_probabilities_refutes_nothing_in_large_logs():
    found = check(np.random.default_rng(0), 100_000, [[1 / 3] * 3], [[0.33] * 3], steps=9)
    assert not found["is_refuted"]


@pytest.mark.parametrize(
    ("true", "logged"),
    [([[0.5, 0.3, 0.2]], [[0.3333] * 3]), (CELLS, np.roll(CELLS, 1, 1))],
    ids=["thirds", "of the wrong action"],
)
def test_actions_of_wrong_ones_are_refuted(true, logged):
    rng = np.random.default_rng(0)
    assert sum(check(rng, 1_000, true, logged)["is_refuted"] for _ in range(100)) > 95


def test_an_action_that_is_taken_more_often_than_logged_certifies_nothing():
    """Thirds, though one is taken in half of the decisions: what it earns looks larger.

    The best policy, for some of the old alone, has a mean weight of 1 by chance.
    """
    rng = np.random.default_rng(0)
    age, done = rng.random(3_000), rng.choice(["email", "push", "wait"], 3_000, p=[0.5, 0.3, 0.2])
    mean = 0.8 * ((age > 0.556) & (done == "email")) + 0.3 * ((age <= 0.556) & (done == "wait"))
    log = {"age": age, "action": done, "reward": (rng.random(3_000) < mean).astype(float)}
    ways = {"bound": "betting", "floor": 0.55, "candidates": "none"}
    result = improve(log | {"probability": np.full(3_000, 0.3333)}, 0, 1, **ways)
    found = result.summary["taken_actions"]
    assert not result.summary["weights"]["is_refuted"]
    assert result.summary["lower_bound"] > 0.55, "what is earned is .522"
    assert not result.found
    assert (found["is_refuted"], found["action"], found["decisions"]) == (True, "email", 2_400)
    assert found["ratio"] == pytest.approx(1.5, abs=0.1)
    assert "DATA REFUSED: the logged probabilities are too small" in str(result)
    assert f"email was taken in {found['taken']:,} of 2,400 tested decisions" in result.meaning()


def test_the_check_of_weights_is_in_words():
    """Of the policy in use all weights are 1, which says nothing."""
    rng = np.random.default_rng(0)
    log = {"age": rng.random(400), "action": rng.integers(2, size=400), "probability": [0.5] * 400}
    best = improve(log | {"reward": log["action"]}, 0, 1, candidates="none")
    assert any(re.search(r": mean weight [\d.]+ \+- [\d.]+, should be 1$", x) for x in best.notes)
    same = improve(log | {"reward": np.full(400, 0.5)}, 0, 1)
    assert same.summary["alpha"] == 0
    assert same.summary["weights"] is None
    assert any("mean weight not checked" in note for note in same.notes)


@pytest.mark.slow
def test_a_log_of_too_small_probabilities_certifies_nothing(tmp_path, capsys):
    """Of a coin, logged as if each side came up in one of five throws: all returns look larger."""
    rng = np.random.default_rng(0)
    rows = [f"{i},{rng.random():.3f},{rng.integers(2)},0.2,0.3" for i in range(400)]
    (tmp_path / "log.csv").write_text("\n".join([HEAD, *rows]) + "\n")
    command = ["improve", str(tmp_path / "log.csv"), "--floor", "0.5"]
    command += ["--low", "0", "--high", "1", "--bound", "betting", "--candidates", "none"]
    assert main([*command, "--out", str(tmp_path / "run")]) == 4
    summary = runs.read_summary(tmp_path / "run")
    assert summary["lower_bound"] > 0.5, "what is earned is 0.3"
    assert summary["weights"]["mean"] == pytest.approx(2.5, abs=0.3)
    assert not summary["passed"]["mean"]
    assert not runs.read_log(tmp_path / "run")["passed"].any()
    said = capsys.readouterr().out
    assert "DATA REFUSED: the logged probabilities are too small" in said
    assert "is safe" not in said
