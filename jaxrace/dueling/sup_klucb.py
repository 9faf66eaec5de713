"""Sup-KLUCB (Agrawal and Chaporkar 2019). Axes: K arms, P = K (K + 1) / 2 unordered pairs."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.core.protocol import make_params, number, pytree, verb
from jaxrace.core.validation import BadArgument, require_choice, require_function, require_number
from jaxrace.dueling.base import Algorithm
from jaxrace.dueling.decisions import Pairs, number_of, pairs_of
from jaxrace.dueling.problems import borda_scores, copeland_scores
from jaxrace.kernels import first_best

Score = Callable[[jax.Array], jax.Array]  # the score of each arm [K], of a matrix [K, K]
SCORES: dict[str, Score] = {"copeland": copeland_scores, "borda": borda_scores}


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
        score: Sup_i: "copeland", the share of the others that i seems to beat, "borda", its mean
            rate of winning, or a function that gives the scores float32 [K] of the estimates
            float32 [K, K] (entry [i, j]: i beats j; 1/2 on the diagonal and where no duel has
            been). Lemma 1.1 asks that they lie in [0, 1], for any matrix of probabilities, and
            that the best arm alone has the largest one; of h in [alpha, beta] give
            (h - alpha) / (beta - alpha), or (beta - h) / (beta - alpha) if the least is best. The
            same function is the same algorithm; a new ``lambda`` is compiled anew.

    >>> from jaxrace.dueling import duels, matrices, run
    >>> algorithm, problem = SupKlucb(num_arms=3), duels(matrices.flat(3, 0.9))
    >>> log = run(algorithm, jax.random.key(0), problem, 400, algorithm.params(), records=1)
    >>> log.recommended.tolist()
    [0]
    """

    score: str | Score = "copeland"

    min_arms = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.score, str):
            require_choice("score", self.score, SCORES)
        else:
            require_function("score", self.score)
            self._require_scores(self.score)

    def _require_scores(self, score: Score) -> None:
        """Raise ValueError if a function errs where all arms are alike, or are in an order."""
        size = self.num_arms
        ordered = np.triu(np.ones((size, size), np.float32), 1) + np.eye(size, dtype=np.float32) / 2
        for matrix in (np.full_like(ordered, 0.5), ordered):
            found = np.asarray(score(jnp.asarray(matrix)))
            if found.shape != (size,) or not ((found >= 0) & (found <= 1)).all():
                expected = f"a function that gives {size} scores in [0, 1] of a matrix"
                raise BadArgument("score", expected, f"one that gives {found.tolist()}")

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
        """Sup_i, float32 [K]."""
        size = self.num_arms
        rate = state.wins.astype(jnp.float32) / jnp.maximum(state.plays, 1).astype(jnp.float32)
        rate = jnp.where(state.plays > 0, rate, 0.5)
        listed = jnp.concatenate([rate, 1 - rate, jnp.full(1, 0.5, jnp.float32)])
        # Where p_ij stands in this list.
        first, second = self._pairs
        source = np.zeros((size, size), np.int32)
        source[second, first] = self.opening + np.arange(self.opening)
        source[first, second] = np.arange(self.opening)
        np.fill_diagonal(source, 2 * self.opening)
        score = SCORES[self.score] if isinstance(self.score, str) else self.score
        # Rounded, a mean may exceed 1 by a little.
        return jnp.clip(score(listed[source]), 0, 1).astype(jnp.float32)

    @verb
    def recommend(self, state: SupKlucbState, params: SupKlucbParams) -> jax.Array:
        return first_best(self._scores(state))
