"""Relative upper confidence bound (Zoghi et al. 2014). Axes: K arms."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace.core.protocol import pytree, verb
from jaxrace.dueling.counts import CountedDuels, CountedState, WidthParams
from jaxrace.kernels import first_best, pick


@pytree
class RucbState(CountedState):
    """RUCB between two duels."""

    released: jax.Array  # float32 [K], ln t from which on an arm is a candidate again
    champion: jax.Array  # int32 [], the arm of B; K if there is none


@dataclasses.dataclass(frozen=True)
class Rucb(CountedDuels):
    """RUCB: a candidate that may still beat everybody against the rival that may beat it.

    Candidate i: u_ij >= 1/2 for all j. As ln t grows, an arm that has lost to j becomes a candidate
    again once ln t reaches N_ij (1/2 - p_ij)^2 / alpha; only the two rows of a duel change, so that
    a step costs O(K).

    >>> from jaxrace.dueling import duels, matrices, play
    >>> algorithm, problem = Rucb(num_arms=3), duels(matrices.flat(3, 0.9))
    >>> log = play(algorithm, jax.random.key(0), problem, 400, algorithm.params(), records=1)
    >>> log.recommended.tolist()
    [0]
    """

    @property
    def needs_condorcet_winner(self) -> bool:
        return True

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
