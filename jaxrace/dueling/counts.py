"""What is known of pairs of arms: wins and duels, as matrices and as a flat list.

Axes: K arms, P pairs (first, second) with first <= second.
"""

import dataclasses
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxrace.core.protocol import pytree, verb
from jaxrace.core.validation import require_number
from jaxrace.dueling.base import Algorithm

Pairs = NDArray[np.int32]


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


def copeland_leader(state: CountedState) -> jax.Array:
    """The arm that beats most others, then the one of the best mean, then the first: int32 []."""
    wins, duels = state.wins.astype(jnp.float32), state.duels.astype(jnp.float32)
    # p_ij as far as one knows.
    rates = jnp.where(state.duels > 0, wins / jnp.maximum(duels, 1), 0.5)
    # A mean is below 1, and does not outweigh a win.
    score = (rates > 0.5).sum(-1).astype(jnp.float32) + rates.sum(-1) / (2 * rates.shape[-1])
    return jnp.argmax(score).astype(jnp.int32)


@pytree
class WidthParams:
    """How wide confidence bounds are."""

    alpha: jax.Array  # float32 [], of sqrt(alpha ln t / N)


class CountedDuels(Algorithm):
    """Those with a ``CountedState``; u_ij = w_ij / N_ij + sqrt(alpha ln t / N_ij) bounds p_ij."""

    def params(self, alpha: float = 0.51) -> Any:
        """The numbers: ``alpha``, positive, and above 1/2 in theory."""
        require_number("alpha", alpha, least=1e-6)
        return WidthParams(jnp.asarray(alpha, jnp.float32))

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

    @verb
    def recommend(self, state: Any, params: Any) -> jax.Array:
        """The arm that seems to beat most others."""
        return copeland_leader(state)


@dataclasses.dataclass(frozen=True)
class Uniform(Algorithm):
    """Two different arms at random; recommends the one that seems to beat most others."""

    def params(self) -> None:
        """There are none."""

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

    @verb
    def recommend(self, state: CountedState, params: None) -> jax.Array:
        return copeland_leader(state)


def pairs_of(num_arms: int, with_itself: bool = False) -> Pairs:
    """The arms of each pair, int32 [2, P]; ``with_itself``: also (i, i)."""
    return np.array(np.triu_indices(num_arms, 0 if with_itself else 1), np.int32)


def number_of(pair: jax.Array, num_arms: int, with_itself: bool = False) -> jax.Array:
    """The place of a pair, in either order, in the list of ``pairs_of``: int32 []."""
    low, high = jnp.minimum(pair[0], pair[1]), jnp.maximum(pair[0], pair[1])
    diagonal = 0 if with_itself else 1
    before = low * num_arms - low * (low - 1 + 2 * diagonal) // 2
    return before + high - low - diagonal


def sums_by_arm(pairs: Pairs, of_first: jax.Array, of_second: jax.Array) -> jax.Array:
    """What the pairs of each arm add up to, float32 [K]; pairs (i, i) do not count.

    A pair of ``pairs_of`` adds ``of_first`` [P] to its first arm, ``of_second`` [P] to the other.
    """
    num_arms, count = int(pairs.max()) + 1, pairs.shape[1]
    apart = pairs[0] != pairs[1]
    # Where what i gets from its pair with j stands in the list below, whose last number is 0.
    source = np.full((num_arms, num_arms), 2 * count)
    source[pairs[0][apart], pairs[1][apart]] = np.flatnonzero(apart)
    source[pairs[1][apart], pairs[0][apart]] = count + np.flatnonzero(apart)
    listed = jnp.concatenate([of_first, of_second, jnp.zeros_like(of_first, shape=(1,))])
    return listed.astype(jnp.float32)[source].sum(-1)
