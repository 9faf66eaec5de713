"""Duelers that count wins of pairs: uniform sampling, RUCB and double Thompson sampling.

Axes: K arms, D = K // 2.
"""

import dataclasses
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.core.protocol import make_params, number, pytree, verb
from jaxrace.core.validation import require_number
from jaxrace.dueling.base import Algorithm
from jaxrace.kernels import first_best, pick


@pytree
class CountedState:
    """Duels so far; one of an arm against itself takes time and is not counted."""

    time: jax.Array  # int32 [], duels told
    wins: jax.Array  # int32 [K, K], i over j
    duels: jax.Array  # int32 [K, K], symmetric

    @classmethod
    def begin(cls, num_arms: int, **more: jax.Array) -> Self:
        """Nothing yet."""
        zeros = jnp.zeros((num_arms, num_arms), jnp.int32)
        return cls(jnp.zeros((), jnp.int32), zeros, zeros, **more)

    def with_duel(self, pair: jax.Array, outcome: jax.Array) -> Self:
        """With one more duel."""
        one = (pair[0] != pair[1]).astype(jnp.int32)
        winner, loser = jnp.where(outcome, pair[0], pair[1]), jnp.where(outcome, pair[1], pair[0])
        duels = self.duels.at[winner, loser].add(one).at[loser, winner].add(one)
        wins = self.wins.at[winner, loser].add(one)
        return dataclasses.replace(self, time=self.time + 1, wins=wins, duels=duels)


class CountedDuels(Algorithm):
    """Those with a ``CountedState``; they recommend the arm that seems to beat most others."""

    @verb
    def recommend(self, state: Any, params: Any) -> jax.Array:
        """Ties go to the best mean, then to the first arm."""
        return jnp.argmax(self.standing(state)).astype(jnp.int32)

    @staticmethod
    def standing(state: Any) -> jax.Array:
        """How many others an arm seems to beat, and as a fraction its mean: float32 [K]."""
        wins, duels = state.wins.astype(jnp.float32), state.duels.astype(jnp.float32)
        rates = jnp.where(state.duels > 0, wins / jnp.maximum(duels, 1), 0.5)
        # A mean is below 1, and does not outweigh a win.
        return (rates > 0.5).sum(-1).astype(jnp.float32) + rates.sum(-1) / (2 * rates.shape[-1])


@dataclasses.dataclass(frozen=True)
class UniformDuels(CountedDuels):
    """Two different arms at random."""

    def params(self) -> None:
        """No numbers."""

    @verb
    def init(self, params: None) -> CountedState:
        return CountedState.begin(self.num_arms)

    def draw(self, key: jax.Array) -> jax.Array:
        return jax.random.uniform(key, (2,), jnp.float32)

    def choose(self, noise: jax.Array, state: CountedState, params: None) -> jax.Array:
        count = jnp.array([self.num_arms, self.num_arms - 1], jnp.int32)
        places = (noise * count.astype(jnp.float32)).astype(jnp.int32)
        first, second = jnp.minimum(places, count - 1)
        return jnp.stack([first, second + (second >= first).astype(jnp.int32)])

    @verb
    def tell(self, state: CountedState, choice: Any, outcome: Any, params: None) -> CountedState:
        return state.with_duel(choice, outcome)


@pytree
class WidthParams:
    """How wide confidence bounds are."""

    alpha: jax.Array = number(require_number, least=1e-6)  # of sqrt(alpha ln t / N)


class BoundedDuels(CountedDuels):
    """Those with bounds of p_ij: u_ij = w_ij / N_ij + sqrt(alpha ln t / N_ij)."""

    def params(self, alpha: float = 0.51) -> WidthParams:
        """The numbers: ``alpha``, positive, and above 1/2 in theory."""
        return make_params(WidthParams, alpha=alpha)

    @staticmethod
    def log_time(time: jax.Array) -> jax.Array:
        """ln t of the next duel, t from 1."""
        return jnp.log((time + 1).astype(jnp.float32))

    @staticmethod
    def release_log_time(wins: jax.Array, duels: jax.Array, params: WidthParams) -> jax.Array:
        """ln t from which on u_ij >= 1/2; 0 where i has not lost to j."""
        duels = duels.astype(jnp.float32)
        deficit = duels / 2 - wins.astype(jnp.float32)
        return jnp.maximum(deficit, 0) ** 2 / (jnp.maximum(duels, 1) * params.alpha)


@pytree
class RucbState(CountedState):
    """RUCB between two duels."""

    released: jax.Array  # float32 [K], ln t from which on an arm is a candidate again
    champion: jax.Array  # int32 [], the arm of B, or K


@dataclasses.dataclass(frozen=True)
class Rucb(BoundedDuels):
    """RUCB (Zoghi et al. 2014): an arm that may beat all others, and the rival that may beat it.

    Candidate i: u_ij >= 1/2 for all j, again once ln t reaches N_ij (1/2 - p_ij)^2 / alpha. Only
    the two rows of a duel change: a step costs O(K).

    >>> from jaxrace.dueling import duels, matrices, run
    >>> algorithm, problem = Rucb(num_arms=3), duels(matrices.flat(3, 0.9))
    >>> log = run(algorithm, jax.random.key(0), problem, 400, algorithm.params(), records=1)
    >>> log.recommended.tolist()
    [0]
    """

    needs_condorcet_winner = True

    @verb
    def init(self, params: WidthParams) -> RucbState:
        return RucbState.begin(
            self.num_arms,
            released=jnp.zeros(self.num_arms, jnp.float32),
            champion=jnp.asarray(self.num_arms, jnp.int32),
        )

    def draw(self, key: jax.Array) -> jax.Array:
        return jax.random.uniform(key, (2,), jnp.float32)

    def choose(self, noise: jax.Array, state: RucbState, params: WidthParams) -> jax.Array:
        candidates = self.log_time(state.time) >= state.released
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        others = candidates & (arms != state.champion)
        anyone = jnp.where(candidates.any(), others, True)
        takes_champion = (state.champion < self.num_arms) & ((noise[0] < 0.5) | ~others.any())
        first = jnp.where(takes_champion, state.champion, pick(anyone, noise[1]))
        upper = self._upper(state, first, params)
        rival = first_best(jnp.where(arms == first, -1.0, upper))
        # Ties between the arm itself, at 1/2, and a rival go to the rival.
        second = jnp.where(upper[rival] >= 0.5, rival, first)
        return jnp.stack([first, second])

    def _upper(self, state: RucbState, arm: jax.Array, params: WidthParams) -> jax.Array:
        """u_ji of all j against i = ``arm``, float32 [K]."""
        duels = state.duels[arm].astype(jnp.float32)
        losses = duels - state.wins[arm].astype(jnp.float32)
        least = jnp.maximum(duels, 1)
        bound = losses / least + jnp.sqrt(params.alpha * self.log_time(state.time) / least)
        return jnp.where(duels > 0, bound, 1.0)

    @verb
    def tell(self, state: RucbState, choice: Any, outcome: Any, params: WidthParams) -> RucbState:
        state = state.with_duel(choice, outcome)
        released = state.released
        for arm in (choice[0], choice[1]):
            level = self.release_log_time(state.wins[arm], state.duels[arm], params)
            released = released.at[arm].set(level.max())
        candidates = self.log_time(state.time) >= released
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        stays = (candidates & (arms == state.champion)).any()
        alone = candidates.sum(dtype=jnp.int32) == 1
        champion = jnp.where(stays, state.champion, self.num_arms)
        champion = jnp.where(alone, jnp.argmax(candidates).astype(jnp.int32), champion)
        return dataclasses.replace(state, released=released, champion=champion)

    @verb
    def recommend(self, state: RucbState, params: WidthParams) -> jax.Array:
        """The champion; without one, the arm that seems to beat most others."""
        leader = super().recommend(state, params)
        return jnp.where(state.champion < self.num_arms, state.champion, leader)


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
class DoubleThompson(BoundedDuels):
    """DTS (Wu and Liu 2016): the first arm by sampled preferences among likely Copeland winners.

    A second sample chooses the rival: the arm that beats it most, among those that may be better.
    Whether the first sample theta_ij ~ Beta(w_ij + 1, w_ji + 1) exceeds 1/2 is a coin whose
    probability changes with the duels of the pair alone.

    >>> from jaxrace.dueling import duels, matrices, run
    >>> algorithm, problem = DoubleThompson(num_arms=3), duels(matrices.flat(3, 0.9))
    >>> log = run(algorithm, jax.random.key(0), problem, 400, algorithm.params(), records=1)
    >>> log.recommended.tolist()
    [0]
    """

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
        first = pick(self.likeliest(candidates, noise.first_key, state), noise.tie)
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

    def likeliest(self, candidates: jax.Array, key: jax.Array, state: DtsState) -> jax.Array:
        """The candidates, bool [K], that beat most others by a sample."""
        coins = kernels.draw_uniforms(key, state.above.shape)
        return most_wins(candidates, wins_in_circle(coins < state.above))

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


def most_wins(candidates: jax.Array, wins: jax.Array) -> jax.Array:
    """Those of most wins among the candidates, bool [K]."""
    wins = jnp.where(candidates, wins, -1)
    return wins == wins.max()


def place_in_circle(pair: jax.Array, num_arms: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Row and column of a pair, int32 [], and whether its second arm is the one of the column.

    Place [r, i] of a rectangle [D, K] belongs to arms i and (i + r + 1) mod K. With even K only the
    first half of the last row counts. An arm and itself have row D, outside.
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
