"""Right answers of `improve`: logs, logged probabilities, rewards and observations."""

import tempfile

import numpy as np
import pytest
from in_files import HEAD, command, in_file
from right_answers import check, params

from jaxrace import improve
from jaxrace.improvement import ReturnRange, check_weights, require_possible, trajectories
from jaxrace.judging.policies.loading import load
from jaxrace.judging.policies.plausibility import check_actions
from jaxrace.judging.policies.trajectories import checked

rng = np.random.default_rng(0)

# A trajectory of 2,000 steps, and 999 of one.
LONG = [*["0,1,0,.5,0"] * 2_000, *(f"{i},1,0,.5,0" for i in range(1, 1_000))]


def log(*rows, head=HEAD):
    """What becomes of a log with these rows of x, action, probability and reward, 20 of each."""
    shuffled = np.random.default_rng(0).permutation(rows * 20).tolist()
    lines = [f"{number},{row}" for number, row in enumerate(shuffled)]
    config = {"low": 0, "high": 1, "candidates": "none"}
    text = "\n".join([head, *lines]) + "\n"
    return in_file(text, lambda path: improve(path, **config) is not None)


def arrays(**changes):
    """Observations, as they are kept, of an NPZ file."""
    given = {
        "observations": np.arange(6.0).reshape(3, 2, 1),
        "actions": np.zeros((3, 2), int),
        "probabilities": np.full((3, 2), 0.5),
        "rewards": np.zeros((3, 2)),
        **changes,
    }
    found = in_file(
        lambda path: np.savez(path, **given),
        lambda path: load(path, ReturnRange(0, 10)),
        name="log.npz",
    )
    return found.seen[:, 0, 0].tolist()


def logged(**changes):
    """Trajectories from Python: rewards, as they are kept."""
    given = {
        "observations": np.zeros((3, 1, 1)),
        "actions": np.zeros((3, 1), int),
        "probabilities": np.full((3, 1), 0.5),
        "rewards": np.array([[0.25], [0.5], [1.0]]),
        **changes,
    }
    return trajectories(**given).rewards[:, 0].tolist()


def policies(probabilities, actions, observed, behaviour=None):
    count = len(actions)
    shape = count, 1
    data = trajectories(
        np.reshape(observed, (count, 1, 1)).astype(float),
        np.reshape(actions, shape),
        np.reshape(probabilities, shape),
        np.zeros(shape),
        behaviour=behaviour,
    )
    return require_possible(data)


def taken_too_often(logged):
    """Is a log of as many 0s as 1s refuted, and how many times as often as logged are they?"""
    shape = 400, 1
    done, chances = np.arange(400).reshape(shape) % 2, np.full(shape, logged)
    data = checked([np.zeros((*shape, 1))], done, chances, np.zeros(shape))
    found = check_actions(data, data)
    return found["is_refuted"], round(found["ratio"], 2)


def of_seed(seed):
    with tempfile.TemporaryDirectory() as folder:
        return command(
            folder, *["improve", "log.csv", "--low", "0", "--high", "1", "--seed"], str(seed)
        )


CASES = [
    # Logs.
    (
        "all probabilities 1 of three actions",
        lambda: log("0.1,0,1,1", "0.2,1,1,0", "0.3,2,1,1", "0.1,0,1,0", "0.3,2,1,0"),
        ValueError("probabilities: expected some below 1, as 3 different actions were taken"),
    ),
    (
        "one action, with certainty",
        lambda: log("0.1,0,1,1", "0.2,0,1,0", "0.1,0,1,0"),
        ValueError("expected two actions or more, got 0 alone"),
    ),
    ("a certain policy among others", lambda: log("0.1,0,1,1", "0.2,1,.5,0", "0.1,0,1,0"), True),
    (
        "three halves",
        lambda: log("7,0,.5,1", "7,1,.5,0", "7,2,.5,1"),
        ValueError(
            "line 3: probability: expected probabilities that are together 1 at most, .* 1.5"
        ),
    ),
    ("three thirds of two digits", lambda: log("7,0,.34,1", "7,1,.34,0", "7,2,.34,1"), True),
    ("three halves, not in one place", lambda: log("7,0,.5,1", "7,1,.5,0", "8,2,.5,1"), True),
    (
        "certain of two actions",
        lambda: policies([1, 1, 0.5], [0, 1, 1], [3, 3, 4]),
        ValueError(r"probabilities\[1, 0\]: .* got 1 of action 0 in probabilities\[0, 0\] and"),
    ),
    ("of two policies", lambda: policies([1, 1, 0.5], [0, 1, 1], [3, 3, 4], [0, 1, 0]), None),
    (
        "probability 0",
        lambda: log("1,0,0,1"),
        ValueError("expected a number in .0, 1. in .*, line 2, column .probability"),
    ),
    ("probability above 1", lambda: log("1,0,1.01,1"), ValueError("a number in .*, got '1.01'")),
    (
        "weights of right probabilities",
        lambda: check_weights(rng.exponential(size=400)).is_refuted,
        False,
    ),
    ("weights of 1.5", lambda: check_weights(1.5 * rng.exponential(size=400)).is_refuted, True),
    ("a coin that is logged as one in three", lambda: taken_too_often(1 / 3), (True, 1.5)),
    ("a coin that is logged as it is", lambda: taken_too_often(0.5), (False, 1.0)),
    (
        "cells with spaces",
        lambda: log("1, 0, .5 ,1", "1, 1, .5 ,1", head=HEAD.replace(",", " , ")),
        True,
    ),
    (
        "a ragged log",
        lambda: log("1,0,.5,1", "1,0,.5"),
        ValueError("expected 5 cells in .*, line 2, got 4"),
    ),
    (
        "a log of one long trajectory",
        lambda: in_file("\n".join([HEAD, *LONG]), lambda path: load(path, ReturnRange(0, 1))),
        ValueError("expected at most 1,000,000 steps"),
    ),
    # Their numbers.
    ("rewards", logged, [0.25, 0.5, 1]),
    (
        "rewards beside 1e9",
        lambda: logged(rewards=np.array([[1e9], [1e9 + 1], [1e9 + 2]])),
        ValueError(r"rewards: expected numbers that float32 tells apart, got 1000000000.0 to"),
    ),
    (
        "returns beside 1e6",
        lambda: logged(
            rewards=np.array([[1e6], [1e6 + 300], [1e6 - 300]]),
            returns=ReturnRange(1e6 - 301, 1e6 + 301),
        ),
        [1e6, 1e6 + 300, 1e6 - 300],
    ),
    (
        "returns of many rewards of 1e4",
        lambda: logged(
            observations=np.zeros((2, 10**4, 1)),
            actions=np.zeros((2, 10**4), int),
            probabilities=np.full((2, 10**4), 0.5),
            rewards=np.full((2, 10**4), 1e4) + np.array([[0.0, 0.3]] * 5_000).reshape(1, -1),
            returns=ReturnRange(1e8, 1e8 + 2_000),
        ),
        ValueError(r"rewards\[0\]: expected a return that float32 tells apart"),
    ),
    (
        "a range of returns beside 1e9",
        lambda: ReturnRange(1e9, 1e9 + 1),
        ValueError(r"high: expected a range in which float32 tells returns apart, got 1e\+09"),
    ),
    (
        "rewards that are dates",
        lambda: logged(rewards=np.zeros((3, 1), "datetime64[s]")),
        ValueError(r"rewards: expected arrays or numbers, got an array of datetime64\[s\]"),
    ),
    (
        "rewards that are durations",
        lambda: logged(rewards=np.zeros((3, 1), "timedelta64[s]")),
        ValueError("rewards: expected arrays or numbers, got an array of timedelta64"),
    ),
    (
        "rewards that are texts",
        lambda: logged(rewards=[["1"], ["2"], ["3"]]),
        ValueError("rewards: expected arrays or numbers, got an array of <U1"),
    ),
    (
        "probabilities that are truth values",
        lambda: logged(probabilities=np.ones((3, 1), bool)),
        ValueError("probabilities: expected numbers in .*, got bool"),
    ),
    (
        "a probability that devices take for 0",
        lambda: logged(probabilities=np.full((3, 1), 1e-40)),
        ValueError(r"probabilities\[0, 0\]: expected a number in"),
    ),
    (
        "observations of 2^32",
        lambda: logged(observations=np.full((3, 1, 1), 2**32)),
        ValueError("observations.* an integer of 32 bits, or floats, got 4294967296"),
    ),
    (
        "times as observations",
        lambda: logged(observations=1_700_000_000 + 60.0 * np.arange(3).reshape(3, 1, 1)),
        ValueError("observations: expected numbers that float32 tells apart"),
    ),
    ("an NPZ file", arrays, [0, 2, 4]),
    (
        "times of an NPZ file",
        lambda: arrays(observations=1_700_000_000 + 60 * np.arange(6).reshape(3, 2, 1)),
        [1_700_000_000, 1_700_000_120, 1_700_000_240],
    ),
    (
        "integers of an NPZ file beyond float64",
        lambda: arrays(observations=2**60 + np.arange(6).reshape(3, 2, 1)),
        ValueError("observations: expected integers of at most 9007199254740992, or floats"),
    ),
    (
        "actions of an NPZ file",
        lambda: arrays(actions=np.full((3, 2), 2**32)),
        ValueError(r"actions\[0, 0\]: expected a number from 0 to 2147483647, got 4294967296"),
    ),
    (
        "dates of an NPZ file",
        lambda: arrays(rewards=np.zeros((3, 2), "datetime64[s]")),
        ValueError("rewards: expected real numbers, got datetime64"),
    ),
    # Seeds, of which nothing is left.
    *(
        (f"improve --seed {seed}", lambda seed=seed: of_seed(seed), (2, False))
        for seed in (2**64, -1)
    ),
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)
