"""Double Thompson sampling (Wu and Liu 2016). Axes: K arms, D = K // 2."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.core.protocol import pytree, verb
from jaxrace.dueling.counts import CountedDuels, CountedState, WidthParams, pairs_of
from jaxrace.dueling.matrices import from_upper
from jaxrace.dueling.regret import copeland_scores
from jaxrace.kernels import first_best, pick


@pytree
class DtsState(CountedState):
    """DTS between two duels."""

    released: jax.Array  # float32 [K, K], ln t from which on u_ij >= 1/2
    above: jax.Array  # float32 [D, K] by `place_in_circle`, posterior probability of p_ij > 1/2


class DtsNoise(NamedTuple):
    """The random numbers of a duel."""

    first_key: jax.Array  # of all theta_ij, or of the coins that say which ones exceed 1/2
    second_key: jax.Array  # of the rivals' theta
    tie: jax.Array  # float32 []


@dataclasses.dataclass(frozen=True)
class DoubleThompson(CountedDuels):
    """DTS: the first arm by sampled preferences among those that may be Copeland winners.

    The rival is the one that, by a second sample, beats it most, among those that may be better.
    The first stage asks of a sample theta_ij ~ Beta(w_ij + 1, w_ji + 1) only whether it exceeds
    1/2: a coin whose probability changes with the duels of the pair alone.

    Attributes:
        plus: DTS+: ties of the first stage are broken by the smallest expected regret,
            sum over j != i of r_ij / kl(theta_ij, 1/2), which needs the values of all theta.

    >>> from jaxrace.dueling import duels, matrices, play
    >>> algorithm, problem = DoubleThompson(num_arms=3), duels(matrices.flat(3, 0.9))
    >>> log = play(algorithm, jax.random.key(0), problem, 400, algorithm.params(), records=1)
    >>> log.recommended.tolist()
    [0]
    """

    plus: bool = False

    @verb
    def init(self, params: WidthParams) -> DtsState:
        size = self.num_arms
        return DtsState.begin(
            size,
            released=jnp.zeros((size, size), jnp.float32),
            above=jnp.full((size // 2, size), 0.5, jnp.float32),
        )

    def draw(self, key: jax.Array) -> DtsNoise:
        first_key, second_key, tie_key = jax.random.split(key, 3)
        return DtsNoise(first_key, second_key, jax.random.uniform(tie_key, (), jnp.float32))

    def choose(self, noise: DtsNoise, state: DtsState, params: WidthParams) -> jax.Array:
        possible = self.log_time(state.time) >= state.released  # u_ij >= 1/2
        scores = possible.sum(-1, dtype=jnp.int32)
        candidates = scores == scores.max()
        if self.plus:
            marked = _least_regret(candidates, self._sample_all(noise.first_key, state))
        else:
            coins = kernels.draw_uniforms(noise.first_key, state.above.shape)
            marked = _most_wins(candidates, wins_in_circle(coins < state.above))
        first = pick(marked, noise.tie)
        wins, duels = state.wins[first], state.duels[first]
        # theta_{i, first}: posterior of "i beats the first arm".
        theta = kernels.sample_beta(
            noise.second_key, (duels - wins + 1).astype(jnp.float32), (wins + 1).astype(jnp.float32)
        )
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        theta = jnp.where(arms == first, 0.5, theta)
        # l_{i, first} <= 1/2 says the same as u_{first, i} >= 1/2.
        second = first_best(jnp.where(possible[first], theta, -1.0))
        return jnp.stack([first, second])

    def _sample_all(self, key: jax.Array, state: DtsState) -> jax.Array:
        """Theta of every pair, float32 [K, K], drawn once for both orders."""
        first, second = pairs_of(self.num_arms)
        won, lost = state.wins[first, second], state.wins[second, first]
        theta = kernels.sample_beta(
            key, (won + 1).astype(jnp.float32), (lost + 1).astype(jnp.float32)
        )
        place = np.zeros((self.num_arms, self.num_arms), np.int32)
        place[first, second] = np.arange(len(first))
        return from_upper(theta[place])

    @verb
    def tell(self, state: DtsState, choice: Any, outcome: Any, params: WidthParams) -> DtsState:
        state = state.with_duel(choice, outcome)
        first, second = choice[0], choice[1]
        released = state.released
        for i, j in ((first, second), (second, first)):
            level = self.release_log_time(state.wins[i, j], state.duels[i, j], params)
            released = released.at[i, j].set(level)
        above = kernels.above_half(state.wins[first, second], state.wins[second, first])
        row, column, turned = place_in_circle(choice, self.num_arms)
        above = state.above.at[row, column].set(jnp.where(turned, 1 - above, above), mode="drop")
        return dataclasses.replace(state, released=released, above=above)


def _most_wins(candidates: jax.Array, wins: jax.Array) -> jax.Array:
    wins = jnp.where(candidates, wins, -1)
    return wins == wins.max()


def _least_regret(candidates: jax.Array, theta: jax.Array) -> jax.Array:
    """Those with most wins of smallest sum over j of r_ij / kl(theta_ij, 1/2)."""
    winners = _most_wins(candidates, (theta > 0.5).sum(-1, dtype=jnp.int32))
    scores = copeland_scores(theta)
    regret = scores.max() - (scores[:, None] + scores) / 2  # r_ij
    divergence = kernels.bernoulli_kl(theta, jnp.full_like(theta, 0.5))
    apart = ~jnp.eye(theta.shape[-1], dtype=bool)
    terms = jnp.where(apart, regret / jnp.maximum(divergence, 1e-12), 0.0)
    total = jnp.where(winners, terms.sum(-1), jnp.inf)
    return total == total.min()


def place_in_circle(pair: jax.Array, num_arms: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Row and column of a pair, int32 [], and whether its second arm is the one of the column.

    Each unordered pair has one place in a rectangle [D, K]. The arms stand in a circle; [r, i]
    belongs to arms i and (i + r + 1) mod K. With even K the last row has room for both orders of a
    pair, and only its first half counts. An arm and itself have the row D, which there is not.
    """
    ahead = (pair[1] - pair[0]) % num_arms
    behind = num_arms - ahead
    turned = (behind < ahead) | ((behind == ahead) & (pair[1] < pair[0]))
    row = jnp.where(ahead == 0, num_arms // 2, jnp.minimum(ahead, behind) - 1)
    return row, jnp.where(turned, pair[1], pair[0]), turned


def wins_in_circle(ahead: jax.Array) -> jax.Array:
    """How many others each arm beats, int32 [K]; bool [D, K]: does the column's arm win?"""
    num_distances, num_arms = ahead.shape
    counted = np.ones((num_distances, num_arms), bool)
    if num_arms % 2 == 0:
        counted[-1, num_arms // 2 :] = False
    rows = np.arange(num_distances)[:, None]
    of_second = (np.arange(num_arms) - rows - 1) % num_arms
    lost = (~ahead & counted)[rows, of_second]
    return ((ahead & counted).astype(jnp.int32) + lost.astype(jnp.int32)).sum(0)
