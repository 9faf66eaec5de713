"""Sup-KLUCB (Agrawal and Chaporkar 2019). Axes: K arms, P = K (K + 1) / 2 unordered pairs."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.core.protocol import pytree, verb
from jaxrace.core.validation import require_choice, require_number
from jaxrace.dueling import counts
from jaxrace.dueling.base import Algorithm
from jaxrace.kernels import first_best

SCORES = ("copeland", "borda")


@pytree
class SupKlucbParams:
    """The numbers of Sup-KLUCB."""

    c1: jax.Array  # float32 []
    c2: jax.Array  # float32 []


@pytree
class SupKlucbState:
    """Sup-KLUCB between two duels."""

    time: jax.Array  # int32 [], duels told
    plays: jax.Array  # int32 [P], of arms against themselves too
    wins: jax.Array  # int32 [P], of the first arm of a pair


@dataclasses.dataclass(frozen=True)
class SupKlucb(Algorithm):
    """KL-UCB over pairs of arms, where a pair is worth the product of its arms' scores.

    There is no guarantee: the product is not the mean of what a duel shows. In the paper's
    Algorithm 1 line 11 overwrites the wins of a pair; they are added up here. Ties go to the
    pair that comes first.

    Attributes:
        score: Sup_i: "copeland", the share of the others that i seems to beat, or "borda", its
            mean rate of winning.

    >>> from jaxrace.dueling import duels, matrices, play
    >>> algorithm, problem = SupKlucb(num_arms=3), duels(matrices.flat(3, 0.9))
    >>> log = play(algorithm, jax.random.key(0), problem, 400, algorithm.params(), records=1)
    >>> log.recommended.tolist()
    [0]
    """

    score: str = "copeland"

    min_arms = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("score", self.score, SCORES)

    @property
    def target(self) -> str:
        return self.score

    @property
    def opening(self) -> int:
        """P: every pair once."""
        return self.num_arms * (self.num_arms + 1) // 2

    @property
    def pairs(self) -> counts.Pairs:
        """The arms of each pair, int32 [2, P]."""
        return counts.pairs_of(self.num_arms, with_itself=True)

    def params(self, c1: float | None = None, c2: float | None = None) -> SupKlucbParams:
        """Factors, at least 0: c1 of ln n, c2 of ln(ln n + 1).

        Unless given they are 2 / K and 3 / K + 40 / (K - 2)^2.
        """
        default = 3 / self.num_arms + 40 / (self.num_arms - 2) ** 2
        c1 = 2 / self.num_arms if c1 is None else c1
        c2 = default if c2 is None else c2
        require_number("c1", c1, least=0)
        require_number("c2", c2, least=0)
        return SupKlucbParams(jnp.asarray(c1, jnp.float32), jnp.asarray(c2, jnp.float32))

    @verb
    def init(self, params: SupKlucbParams) -> SupKlucbState:
        nothing = jnp.zeros(self.opening, jnp.int32)
        return SupKlucbState(jnp.zeros((), jnp.int32), nothing, nothing)

    def choose(self, noise: None, state: SupKlucbState, params: SupKlucbParams) -> jax.Array:
        first, second = self.pairs
        log_time = jnp.log(jnp.maximum(state.time + 1 - self.opening, 1).astype(jnp.float32))
        budget = params.c1 * log_time + params.c2 * jnp.log(log_time + 1)
        scores = self._scores(state)
        means = scores[first] * scores[second]  # mu_(i,j)
        upper = kernels.kl_upper(means, budget / jnp.maximum(state.plays, 1).astype(jnp.float32))
        # Not by the clock: whoever tells of other duels than asked has not tried every pair yet.
        untried = state.plays == 0
        pair = jnp.where(untried.any(), jnp.argmax(untried), first_best(upper))
        return jnp.asarray(self.pairs)[:, pair]

    @verb
    def tell(
        self, state: SupKlucbState, choice: Any, outcome: Any, params: SupKlucbParams
    ) -> SupKlucbState:
        """A pair may be given in either order."""
        pair = counts.number_of(choice, self.num_arms, with_itself=True)
        won = (outcome == (choice[0] <= choice[1])).astype(jnp.int32)
        return SupKlucbState(
            time=state.time + 1,
            plays=state.plays.at[pair].add(1),
            wins=state.wins.at[pair].add(won),
        )

    def _scores(self, state: SupKlucbState) -> jax.Array:
        """Sup_i, float32 [K]; a pair that has not been played counts 0, or 1/2 by Borda."""
        if self.score == "copeland":
            ahead, behind = 2 * state.wins > state.plays, 2 * state.wins < state.plays
        else:
            rate = state.wins.astype(jnp.float32) / jnp.maximum(state.plays, 1).astype(jnp.float32)
            ahead = jnp.where(state.plays > 0, rate, 0.5)
            behind = 1 - ahead
        sums = counts.sums_by_arm(self.pairs, ahead, behind)
        return jnp.clip(sums / (self.num_arms - 1), 0, 1)

    @verb
    def recommend(self, state: SupKlucbState, params: SupKlucbParams) -> jax.Array:
        return first_best(self._scores(state))
