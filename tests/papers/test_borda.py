"""The Borda winner by action elimination of arms that duel at random."""

import duel_traces
import jax
import numpy as np
from error_rates import upper_limit
from reference import arm_bandits
from reference.savage import Question

from jaxrace.dueling import borda_winners, copeland_winners, duels, run, shuffled
from jaxrace.dueling.matrices import flat
from papers.savage.borda import BordaElimination

# Arm 0 beats all others, hardly; arm 1 has the best mean.
MATRIX = np.array(
    [[0.5, 0.55, 0.55, 0.55], [0.45, 0.5, 0.9, 0.9], [0.45, 0.1, 0.5, 0.6], [0.45, 0.1, 0.4, 0.5]]
)


def test_against_the_reference():
    """Who is left is a matter of the wins of the first arm of each pair; then it stays alone."""
    algorithm, matrix = BordaElimination(3), np.asarray(flat(3, 0.98))[None]
    trace = duel_traces.trace(algorithm, matrix, algorithm.params(0.9), 700)
    pairs, outcomes = trace.pair[0], trace.outcome[0]
    history = [(arm, won) for (arm, _), won in zip(pairs.tolist(), outcomes, strict=True)]
    left = set(range(3))
    for t, after in enumerate(arm_bandits.survivors(Question("best", 3), False, history, 0.9)):
        assert pairs[t][0] == arm_bandits.next_survivor(left, history[:t], 3)
        assert set(np.flatnonzero(trace.state.active[0, t])) == after
        is_over = len(left) == 1
        assert (pairs[t][0] == pairs[t][1]) == is_over
        left = after
    assert len(left) == 1
    before = pairs[: trace.decided_at[0, -1]]
    shares = np.bincount((before[:, 1] - before[:, 0]) % 3, minlength=3) / len(before)
    assert shares[0] == 0
    assert abs(shares[1] - 1 / 2) < 2 / np.sqrt(len(before))  # four standard errors


def test_errors_are_rarer_than_delta():
    """And it finds the Borda winner, who is not the Condorcet winner."""
    assert (np.argmax(borda_winners(MATRIX)), np.argmax(copeland_winners(MATRIX))) == (1, 0)
    algorithm, problem = BordaElimination(4), duels(MATRIX)
    params = algorithm.params(0.1)

    def one(key):
        order_key, own_key = jax.random.split(key)
        return run(algorithm, own_key, shuffled(order_key, problem), 10_000, params, 1)

    log = jax.vmap(one)(jax.random.split(jax.random.key(0), 200))
    assert (log.decided_at > 0).mean() > 0.9
    wrong = (log.recommended[:, -1] != 1) & (log.decided_at[:, -1] > 0)
    assert upper_limit(np.asarray(wrong)) <= 0.1
