"""Self-Sparring with independent arms (Sui et al. 2017). Axes: K arms."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.core.protocol import make_params, number, pytree, verb
from jaxrace.core.validation import require_number
from jaxrace.dueling.base import Algorithm
from jaxrace.kernels import first_best


@pytree
class SparringParams:
    """How much is learned from a duel."""

    rate: jax.Array = number(require_number, least=1e-6)  # eta


@pytree
class SparringState:
    """Self-Sparring between two duels. A duel of an arm with itself is a win and a loss of it."""

    time: jax.Array  # int32 [], duels told
    wins: jax.Array  # int32 [K], S_i, over any arm
    losses: jax.Array  # int32 [K], F_i


@dataclasses.dataclass(frozen=True)
class SelfSparring(Algorithm):
    """Self-Sparring: Thompson sampling of the arm that wins most often against what it plays.

    Both arms of a duel are drawn alike (IndSelfSparring with m = 2): the one with the largest of
    theta_i ~ Beta(eta S_i + 1, eta F_i + 1), theta drawn anew for each. So they are often the same
    arm. With a total order whose probabilities are about linear in the distance the best arm is
    played ever more often; without one there is no guarantee. A step costs O(K).

    >>> from jaxrace.dueling import duels, matrices, run
    >>> algorithm, problem = SelfSparring(num_arms=3), duels(matrices.flat(3, 0.9))
    >>> log = run(algorithm, jax.random.key(0), problem, 400, algorithm.params(), records=1)
    >>> log.recommended.tolist()
    [0]
    """

    needs_condorcet_winner = True

    def params(self, rate: float = 1.0) -> SparringParams:
        """``rate`` is eta, above 0: how many wins or losses a duel counts for."""
        return make_params(SparringParams, rate=rate)

    @verb
    def init(self, params: SparringParams) -> SparringState:
        nothing = jnp.zeros(self.num_arms, jnp.int32)
        return SparringState(jnp.zeros((), jnp.int32), nothing, nothing)

    def draw(self, key: jax.Array) -> jax.Array:
        return key

    def choose(self, noise: jax.Array, state: SparringState, params: SparringParams) -> jax.Array:
        shapes = (
            jnp.broadcast_to(params.rate * count.astype(jnp.float32) + 1, (2, self.num_arms))
            for count in (state.wins, state.losses)
        )
        first, second = kernels.sample_beta(noise, *shapes)
        return jnp.stack([first_best(first), first_best(second)])

    @verb
    def tell(
        self, state: SparringState, choice: Any, outcome: Any, params: SparringParams
    ) -> SparringState:
        winner = jnp.where(outcome, choice[0], choice[1])
        loser = jnp.where(outcome, choice[1], choice[0])
        return SparringState(
            state.time + 1, state.wins.at[winner].add(1), state.losses.at[loser].add(1)
        )

    @verb
    def recommend(self, state: SparringState, params: SparringParams) -> jax.Array:
        """The arm that it has played most often; of several, the first one."""
        return jnp.argmax(state.wins + state.losses).astype(jnp.int32)
