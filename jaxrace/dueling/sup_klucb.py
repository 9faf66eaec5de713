"""Sup-KLUCB (Agrawal and Chaporkar 2019). Axes: K arms, P = K (K + 1) / 2 unordered pairs."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.core.protocol import make_params, number, pytree, verb
from jaxrace.core.validation import require_choice, require_number
from jaxrace.dueling.base import Algorithm
from jaxrace.dueling.decisions import Pairs, number_of, pairs_of, sums_by_arm
from jaxrace.kernels import first_best

SCORES = ("copeland", "borda")


@pytree
class SupKlucbParams:
    """The numbers of Sup-KLUCB."""

    c1: jax.Array = number(require_number, least=0)  # of ln n
    c2: jax.Array = number(require_number, least=0)  # of ln(ln n + 1)


@pytree
class SupKlucbState:
    """Sup-KLUCB between two duels."""

    time: jax.Array  # int32 [], duels told
    plays: jax.Array  # int32 [P], of arms against themselves too
    wins: jax.Array  # int32 [P], of the first arm of a pair


@dataclasses.dataclass(frozen=True)
class SupKlucb(Algorithm):
    """KL-UCB over pairs of arms, where a pair is worth the product of its arms' scores.

    It has no guarantee: the product is not the mean of what a duel shows. Line 11 of the paper's
    Algorithm 1 overwrites the wins of a pair; they are added up here. Ties go to the first pair.

    Attributes:
        score: Sup_i: "copeland", the share of the others that i seems to beat, or "borda", its
            mean rate of winning.

    >>> from jaxrace.dueling import duels, matrices, run
    >>> algorithm, problem = SupKlucb(num_arms=3), duels(matrices.flat(3, 0.9))
    >>> log = run(algorithm, jax.random.key(0), problem, 400, algorithm.params(), records=1)
    >>> log.recommended.tolist()
    [0]
    """

    score: str = "copeland"

    min_arms = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("score", self.score, SCORES)

    @property
    def opening(self) -> int:
        """P: every pair once."""
        return self.num_arms * (self.num_arms + 1) // 2

    def params(self, c1: float | None = None, c2: float | None = None) -> SupKlucbParams:
        """Factors, at least 0; 2 / K and 3 / K + 40 / (K - 2)^2 unless given."""
        size = self.num_arms
        c1 = 2 / size if c1 is None else c1
        c2 = 3 / size + 40 / (size - 2) ** 2 if c2 is None else c2
        return make_params(SupKlucbParams, c1=c1, c2=c2)

    @verb
    def init(self, params: SupKlucbParams) -> SupKlucbState:
        nothing = jnp.zeros(self.opening, jnp.int32)
        return SupKlucbState(jnp.zeros((), jnp.int32), nothing, nothing)

    def choose(self, noise: None, state: SupKlucbState, params: SupKlucbParams) -> jax.Array:
        first, second = self._pairs
        log_time = jnp.log(jnp.maximum(state.time + 1 - self.opening, 1).astype(jnp.float32))
        budget = params.c1 * log_time + params.c2 * jnp.log(log_time + 1)
        scores = self._scores(state)
        means = scores[first] * scores[second]  # mu_(i,j)
        upper = kernels.kl_upper(means, budget / jnp.maximum(state.plays, 1).astype(jnp.float32))
        # Not by the clock: told duels may be others than those asked for.
        untried = state.plays == 0
        pair = jnp.where(untried.any(), jnp.argmax(untried), first_best(upper))
        return jnp.asarray(self._pairs)[:, pair]

    @verb
    def tell(
        self, state: SupKlucbState, choice: Any, outcome: Any, params: SupKlucbParams
    ) -> SupKlucbState:
        """A pair may be given in either order."""
        pair = number_of(choice, self.num_arms, with_itself=True)
        won = (outcome == (choice[0] <= choice[1])).astype(jnp.int32)
        plays, wins = state.plays.at[pair].add(1), state.wins.at[pair].add(won)
        return SupKlucbState(state.time + 1, plays, wins)

    @property
    def _pairs(self) -> Pairs:
        return pairs_of(self.num_arms, with_itself=True)

    def _scores(self, state: SupKlucbState) -> jax.Array:
        """Sup_i, float32 [K]; a pair that has not been played counts 0, or 1/2 by Borda."""
        if self.score == "copeland":
            ahead, behind = 2 * state.wins > state.plays, 2 * state.wins < state.plays
        else:
            rate = state.wins.astype(jnp.float32) / jnp.maximum(state.plays, 1).astype(jnp.float32)
            ahead = jnp.where(state.plays > 0, rate, 0.5)
            behind = 1 - ahead
        sums = sums_by_arm(self._pairs, ahead, behind)
        return jnp.clip(sums / (self.num_arms - 1), 0, 1)

    @verb
    def recommend(self, state: SupKlucbState, params: SupKlucbParams) -> jax.Array:
        return first_best(self._scores(state))
