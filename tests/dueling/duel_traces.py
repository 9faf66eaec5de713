"""Duels by `ask` and `tell`, one by one, to compare with the reference and with `run`.

Axes: B matrices, K arms, n duels, R records.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.dueling import DuelRecord, draw_outcome, duels, run, shuffled, step_keys
from jaxrace.dueling.counted import CountedState
from jaxrace.dueling.matrices import hard_condorcet

# Of the short runs by `run`.
HORIZON, RECORDS = 60, 3


class Trace(NamedTuple):
    """Leaves [B, n, ...], in NumPy."""

    noise: Any  # what `draw` made of the key of `ask`; keys as their data
    pair: Any  # int [2]
    outcome: Any  # bool []
    recommended: Any  # int [], after the duel
    decided_at: Any  # int [], after the duel
    state: Any  # after the duel


def matrices_of(num_arms, number, seed=0):
    """Float32 [number, K, K]: random, with exact ties, with certain wins, in a circle, in order."""
    rng = np.random.default_rng((num_arms, seed))
    place = np.arange(num_arms)
    ahead = (place - place[:, None]) % num_arms
    found = []
    for which in range(number):
        upper = rng.random((num_arms, num_arms))
        if which % 5 == 1:
            upper[rng.random(upper.shape) < 0.4] = 0.5
        elif which % 5 == 2:
            upper = upper.round()
        elif which % 5 == 3:
            upper = np.where(2 * ahead < num_arms, 0.75, 0.25)
        elif which % 5 == 4:
            upper = 0.5 + upper / 2
        above = np.triu(upper - 0.5, 1)
        order = rng.permutation(num_arms)
        found.append((0.5 + above - above.T)[order[:, None], order])
    return np.array(found, np.float32)


def trace(algorithm, matrices, params, count, seed=0) -> Trace:
    """`count` duels on each matrix [B, K, K], by the public verbs, with the keys of `run`."""
    keys = jax.random.split(jax.random.key(seed), len(matrices))
    return jax.tree.map(np.asarray, _trace(algorithm, keys, matrices, params, count))


@functools.partial(jax.jit, static_argnums=(0, 4))
def _trace(algorithm, keys, matrices, params, count):
    def game(key_and_matrix):
        key, matrix = key_and_matrix
        problem = duels(matrix)

        def step(state, time):
            ask_key, outcome_key = step_keys(key, time)
            pair = algorithm.ask(ask_key, state, params)
            outcome = draw_outcome(outcome_key, problem, pair)
            state = algorithm.tell(state, pair, outcome, params)
            recommended = algorithm.recommend(state, params)
            decided_at = algorithm.decided_at(state, params)
            noise = jax.tree.map(_key_data, algorithm.draw(ask_key))
            return state, Trace(noise, pair, outcome, recommended, decided_at, state)

        return jax.lax.scan(step, algorithm.init(params), jnp.arange(count))[1]

    return jax.lax.map(game, (keys, matrices))


def _key_data(leaf):
    is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return jax.random.key_data(leaf) if is_key else leaf


def duels_of(trace, game):
    """What happened in one game: (noise, pair, outcome, recommended, decided_at, state) each."""
    count = trace.pair.shape[1]
    for time in range(count):
        moment = jax.tree.map(lambda leaf: leaf[game, time], trace)  # noqa: B023
        yield moment._replace(pair=tuple(moment.pair.tolist()), outcome=bool(moment.outcome))


def assert_same_duels(trace, make_reference, choose):
    """`choose(reference, noise)` has every pair of the trace; reference by `make_reference()`."""
    for game in range(len(trace.pair)):
        reference = make_reference()
        for time, moment in enumerate(duels_of(trace, game)):
            assert choose(reference, moment.noise) == moment.pair, (game, time)
            reference.tell(moment.pair, moment.outcome)
            assert reference.best() == moment.recommended, (game, time)
            assert reference.decided_at == moment.decided_at, (game, time)
        if isinstance(trace.state, CountedState):
            np.testing.assert_array_equal(trace.state.wins[game, -1], reference.wins)


_step_keys = jax.jit(step_keys)
_draw_outcome = jax.jit(draw_outcome)


def loop(algorithm, key, problem, params):
    """What `run` is to return for `HORIZON` and `RECORDS`: numbers [R, ...] by ask and tell."""
    state = algorithm.init(params)
    costs = np.asarray(problem.costs)
    rows = []
    for record in range(RECORDS):
        regret = np.zeros(len(costs), np.float32)
        for time in range(record * HORIZON // RECORDS, (record + 1) * HORIZON // RECORDS):
            ask_key, outcome_key = _step_keys(key, time)
            pair = np.asarray(algorithm.ask(ask_key, state, params))
            outcome = _draw_outcome(outcome_key, problem, pair)
            state = algorithm.tell(state, pair, outcome, params)
            regret += costs[:, pair[0], pair[1]]
        decided_at = algorithm.decided_at(state, params)
        recommended = algorithm.recommend(state, params)
        rows.append(DuelRecord(state.time, regret, recommended, decided_at))  # pyright: ignore
    return jax.tree.map(lambda *leaves: np.array(leaves), *rows)


def assert_play_is_the_loop(algorithm, params):
    """`run` gives what `loop` gives, to the last bit."""
    for seed, matrix in enumerate(matrices_of(algorithm.num_arms, 2)):
        key, problem = jax.random.key(seed), duels(matrix)
        found = run(algorithm, key, problem, HORIZON, params, RECORDS)
        expected = loop(algorithm, key, problem, params)
        jax.tree.map(np.testing.assert_array_equal, found, expected)
        assert found.time.tolist() == [20, 40, 60]


def assert_other_numbers_compile_nothing(algorithm, params, others, count_compilations):
    """Neither `run` nor the verbs, with another key, matrix and other params."""

    def use(key, problem, params):
        log = run(algorithm, key, problem, HORIZON, params, RECORDS)
        state = algorithm.init(params)
        pair = algorithm.ask(key, state, params)
        state = algorithm.tell(state, np.asarray(pair), True, params)
        return jax.block_until_ready((log, algorithm.recommend(state, params)))

    first, second = (duels(matrix) for matrix in matrices_of(algorithm.num_arms, 2))
    keys = jax.random.key(0), jax.random.key(1)
    use(keys[0], first, params)
    with count_compilations() as compilations:
        use(keys[1], second, others)
    assert compilations.count == 0


def assert_bad_calls_raise(algorithm, params):
    """Every wrong argument of `ask` and `tell`, by its name."""
    state = algorithm.init(params)
    K = algorithm.num_arms
    for pair in ([0, K], [-1, 0], [0], [0, 1, 2], [[0, 1]], [0.0, 1.0], "01", None, 1):
        with pytest.raises(ValueError, match=r"^choice: expected 2 arms from 0 to"):
            algorithm.tell(state, pair, True, params)
    for outcome in (2, -1, 0.5, [True], None, float("nan"), "1"):
        with pytest.raises(ValueError, match=r"^outcome: expected 0 or 1, got"):
            algorithm.tell(state, [0, 1], outcome, params)
    with pytest.raises(ValueError, match=r"^key: "):
        algorithm.ask(7, state, params)


def growth(algorithm, horizon, runs):
    """How strong regret grows on the hard Condorcet matrix of 6 arms, in another order each run.

    Returns:
        The slope against ln t from a tenth of the horizon on, by least squares; how much steeper
        the second half of the points is than the first: 1 for a logarithm, 2.9 for a straight line
        through 0; and the share of the runs that recommend the winner.
    """
    problem, params = duels(np.asarray(hard_condorcet(6))), algorithm.params()

    def one(key):
        order_key, own_key = jax.random.split(key)
        return run(algorithm, own_key, shuffled(order_key, problem), horizon, params, 10)

    log = jax.vmap(one)(jax.random.split(jax.random.key(0), runs))
    regret = np.asarray(log.regret[..., 1], np.float64).cumsum(1).mean(0)
    time = np.log(np.arange(1, 11))
    late, early = ((regret[b] - regret[a]) / (time[b] - time[a]) for a, b in ((4, 9), (0, 4)))
    slope = np.polyfit(time, regret, 1)[0]
    return slope, late / early, np.mean(log.recommended[:, -1] == 0)


# p_1j - 1/2 of that matrix.
GAPS = np.arange(2, 7) / 12
