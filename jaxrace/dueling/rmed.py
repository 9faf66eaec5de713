"""RMED1 (Komiyama et al. 2015). Axes: K arms."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy.special import xlog1py

from jaxrace.core.protocol import make_params, number, pytree, verb
from jaxrace.core.validation import require_number
from jaxrace.dueling.counted import CountedDuels, CountedState
from jaxrace.kernels import first_best


@pytree
class RmedParams:
    """How unlikely an arm may be and still get its turn."""

    slack: jax.Array = number(require_number, least=0)  # f(K)


@pytree
class RmedState(CountedState):
    """RMED1 between two duels."""

    met: jax.Array  # int32 [K], how many others an arm has met
    divergence: jax.Array  # float32 [K], I_i
    waiting: jax.Array  # bool [K], L_R: arms whose turn in this loop is still to come
    following: jax.Array  # bool [K], L_N: arms of the next loop


@dataclasses.dataclass(frozen=True)
class Rmed1(CountedDuels):
    """RMED1: the likelier an arm is the Condorcet winner, the more often it has a turn.

    exp(-I_i) is the likelihood that arm i is the Condorcet winner, with I_i the sum of N_ij
    kl(p_ij, 1/2) over its opponents: all j with p_ij <= 1/2 (p: the estimates). Every pair duels
    once. Then there are loops, in each of which the arms with I_i - min I <= ln t + f(K) have a
    turn (eq. 4). They duel the likeliest arm, or if that is no opponent, the one that has beaten
    them most (Algorithm 2). What is told counts as the turn of the first arm of the pair.

    >>> from jaxrace.dueling import duels, matrices, run
    >>> algorithm, problem = Rmed1(num_arms=3), duels(matrices.flat(3, 0.9))
    >>> log = run(algorithm, jax.random.key(0), problem, 400, algorithm.params(), records=1)
    >>> log.recommended.tolist()
    [0]
    """

    needs_condorcet_winner = True

    @property
    def opening(self) -> int:
        """Every pair of different arms once."""
        return self.num_arms * (self.num_arms - 1) // 2

    def params(self, slack: float | None = None) -> RmedParams:
        """``slack``, at least 0, is f(K); .3 K^1.01 unless given, as in the paper's experiments."""
        return make_params(RmedParams, slack=0.3 * self.num_arms**1.01 if slack is None else slack)

    @verb
    def init(self, params: RmedParams) -> RmedState:
        size = self.num_arms
        return RmedState.begin(
            size,
            met=jnp.zeros(size, jnp.int32),
            divergence=jnp.zeros(size, jnp.float32),
            waiting=jnp.ones(size, bool),
            following=jnp.zeros(size, bool),
        )

    def choose(self, noise: None, state: RmedState, params: RmedParams) -> jax.Array:
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        lonely = state.met < self.num_arms - 1
        opens = lonely.any()
        first = jnp.argmax(jnp.where(opens, lonely, state.waiting)).astype(jnp.int32)
        unmet = (state.duels[first] == 0) & (arms != first)
        second = jnp.where(opens, jnp.argmax(unmet).astype(jnp.int32), self._rival(state, first))
        return jnp.stack([first, second])

    def _rival(self, state: RmedState, arm: jax.Array) -> jax.Array:
        """m(t), whom ``arm`` duels in its turn, int32 []: Algorithm 2."""
        is_other = jnp.arange(self.num_arms, dtype=jnp.int32) != arm
        opponents = is_other & (2 * state.wins[arm] <= state.duels[arm])
        likeliest = first_best(-state.divergence)
        count = jnp.maximum(state.duels[arm], 1).astype(jnp.float32)
        rate = state.wins[arm].astype(jnp.float32) / count
        worst = first_best(jnp.where(opponents, -rate, -jnp.inf))
        return jnp.where(opponents[likeliest] | ~opponents.any(), likeliest, worst)

    @verb
    def tell(self, state: RmedState, choice: Any, outcome: Any, params: RmedParams) -> RmedState:
        first, second = choice[0], choice[1]
        opens = (state.met < self.num_arms - 1).any()
        is_new = ((state.duels[first, second] == 0) & (first != second)).astype(jnp.int32)
        state = state.with_duel(choice, outcome)
        divergence = state.divergence
        for arm in (first, second):
            divergence = divergence.at[arm].set(_divergence(state.wins[arm], state.duels[arm]))
        # J_j: ln t of this duel, t from 1.
        limit = divergence.min() + jnp.log(state.time.astype(jnp.float32)) + params.slack
        waiting = state.waiting & (jnp.arange(self.num_arms, dtype=jnp.int32) != first)
        following = state.following | (~waiting & (divergence <= limit))
        ends = ~waiting.any()
        waiting, following = (
            jnp.where(ends, following, waiting),
            jnp.where(ends, False, following),
        )
        return dataclasses.replace(
            state,
            met=state.met.at[first].add(is_new).at[second].add(is_new),
            divergence=divergence,
            waiting=jnp.where(opens, state.waiting, waiting),
            following=jnp.where(opens, state.following, following),
        )

    @verb
    def recommend(self, state: RmedState, params: RmedParams) -> jax.Array:
        """The likeliest Condorcet winner, i*."""
        return first_best(-state.divergence)


def _divergence(wins: jax.Array, duels: jax.Array) -> jax.Array:
    """I_i of an arm, float32 []: the sum of N kl(p, 1/2) over the p <= 1/2, from counts [K]."""
    count = jnp.maximum(duels, 1).astype(jnp.float32)
    # p = (1 - x) / 2; 0 where it has won more often.
    x = jnp.maximum(duels - 2 * wins, 0).astype(jnp.float32) / count
    return (count / 2 * (xlog1py(1 - x, -x) + xlog1py(1 + x, x))).sum()
