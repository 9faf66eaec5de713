"""How often tables are wrong on nulls made to be hard; and controls, which must be wrong too often.

One pair whose null is just true, looked at after every run: the error is at most alpha. Axes: N
tables, T tasks or runs.
"""

import numpy as np
import pytest

from jaxrace.evidence.blocks import BlockPairs, block_values, independent_bets
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs

ALPHA, NUMBER = 0.05, 4_000
LEVEL = -np.log(ALPHA)
MOST = ALPHA + 4 * np.sqrt(ALPHA / NUMBER)  # four standard errors
ONE, OTHER = np.arange(NUMBER), NUMBER + np.arange(NUMBER)


def errors(x, y, by, num_tasks=None, null=0.0):
    """The share of tables [N, T] that ever say x over y."""
    values = np.concatenate([x, y])[..., None]
    pairs = SharedPairs(values, by, shared_bets(5.0, num_tasks), num_tasks)
    return np.mean(pairs.process(ONE, OTHER, null).highest >= LEVEL)


def streams(rng, kind, shape=(NUMBER, 150)):
    """Two options whose means are equal, and who win equally often; laws and dependence differ."""
    if kind == "common shock":
        task = rng.normal(0, 0.2, shape)
        return (np.clip(0.5 + task + rng.normal(0, 0.05, shape), 0, 1) for _ in range(2))
    if kind == "ties":
        return ((rng.random(shape) < 0.02).astype(float) for _ in range(2))
    if kind == "opposite":
        x = (rng.random(shape) < 0.5).astype(float)
        return x, 1 - x
    x = rng.random(shape)  # a copy plus noise
    return x, np.clip(x + rng.choice([-0.01, 0.01], shape), 0, 1)


@pytest.mark.parametrize("by", ["wins", "mean"])
@pytest.mark.parametrize("kind", ["common shock", "ties", "opposite", "copy"])
def test_streams(kind, by):
    x, y = streams(np.random.default_rng(0), kind)
    assert errors(x, y, by) <= MOST


@pytest.mark.parametrize("num_tasks", [20, 200])
@pytest.mark.parametrize("kind", ["half", "one against many", "ties"])
def test_lists(kind, num_tasks):
    """The differences add up to 0 over the list, to the last task; shuffled for each table."""
    rng = np.random.default_rng(1)
    if kind == "half":
        d = np.repeat([1.0, -1.0], num_tasks // 2)
    elif kind == "one against many":
        d = np.r_[-1.0, np.full(num_tasks - 1, 1 / (num_tasks - 1))]
    else:
        d = np.r_[np.zeros(num_tasks - 4), 1, 1, -1, -1]
    d = rng.permuted(np.tile(d, (NUMBER, 1)), axis=1)
    assert errors(np.maximum(d, 0), np.maximum(-d, 0), "mean", num_tasks) <= MOST
    short = d[:, : num_tasks - 2]
    assert errors(np.maximum(short, 0), np.maximum(-short, 0), "mean", num_tasks) <= MOST


@pytest.mark.parametrize("by", ["wins", "mean"])
def test_a_gap_that_is_the_tolerance(by):
    """x is worse by exactly m: in mean .2, or in win probability."""
    rng = np.random.default_rng(2)
    y = (rng.random((NUMBER, 150)) < 0.6).astype(float)
    x = (rng.random((NUMBER, 150)) < 0.4).astype(float)
    assert errors(x, y, by, null=-0.2) <= MOST
    assert errors(x, y, by, null=-0.5) > 0.5


@pytest.mark.parametrize("kind", ["coins", "unlike"])
def test_independent_runs(kind):
    rng = np.random.default_rng(3)
    x, y = rng.random((2, NUMBER, 60))
    if kind == "coins":
        x, y = x.round(), y.round()
    else:  # a constant against +1 and -1
        x, y = np.full_like(x, 0.5), y.round()
    values = np.concatenate([x, y])

    def differences(*blocks):
        return np.sign(np.subtract(*block_values(values, *blocks)))

    pairs = BlockPairs(differences, np.full(2 * NUMBER, 60), independent_bets(5.0, 300), 5, 5)
    assert np.mean(pairs.process(ONE, OTHER).highest >= LEVEL) <= MOST


def test_controls_are_wrong_too_often():
    rng = np.random.default_rng(4)
    # The order of a list is that of the differences, and was not drawn.
    d = np.tile(np.repeat([1.0, -1.0], 100), (NUMBER, 1))[:, :150]
    assert errors(np.maximum(d, 0), np.maximum(-d, 0), "mean", 200) == 1
    # A list of more tasks than the question says.
    d = rng.choice([1.0, -1.0], (NUMBER, 100))
    assert errors(np.maximum(d, 0), np.maximum(-d, 0), "mean", 100) > MOST
    # The better half of the tasks is kept.
    x, y = rng.random((2, NUMBER, 200))
    kept = np.argsort(y - x, axis=1)[:, :150]
    kept.sort(axis=1)
    x, y = (np.take_along_axis(one, kept, 1) for one in (x, y))
    assert errors(x, y, "mean") > MOST
    # A table that is judged with a tolerance that it is not asked for.
    x, y = ((rng.random((NUMBER, 150)) < p).astype(float) for p in (0.5, 0.6))
    assert errors(x, y, "mean", null=-0.3) > MOST
