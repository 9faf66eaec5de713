"""Interleaved Filter (Yue et al. 2012). Axes: K arms."""

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.dueling.base import Algorithm
from jaxrace.kernels import first_best
from jaxrace.protocol import pytree, verb
from jaxrace.validation import require_integer


@pytree
class FilterParams:
    """The numbers of Interleaved Filter."""

    log_level: jax.Array  # float32 [], ln(1 / delta)


@pytree
class FilterState:
    """Interleaved Filter between two duels."""

    time: jax.Array  # int32 [], duels told
    candidate: jax.Array  # int32 [], b
    rivals: jax.Array  # bool [K], W without b
    wins: jax.Array  # int32 [K], of the candidate over each, since it is one
    rounds: jax.Array  # int32 [], complete ones, since it is one
    next: jax.Array  # int32 [], the first arm that may be next in this round
    settled_at: jax.Array  # int32 [], duels after which no rival was left; 0 before


@dataclasses.dataclass(frozen=True)
class InterleavedFilter(Algorithm):
    """A candidate duels all others in turn, until it has beaten them or one has beaten it.

    After every round the arms that the candidate certainly beats are dropped. Where an arm
    certainly beats the candidate, it takes its place, and those that the candidate seemed to
    beat are dropped with it (IF2). Arm 0 is the first candidate; the end is played on.
    Certain: 1/2 is outside of P +- sqrt(4 ln(1/delta) / t), with delta = 1 / (T K^2).

    >>> from jaxrace.dueling import duels, matrices, play
    >>> algorithm, problem = InterleavedFilter(num_arms=3), duels(matrices.flat(3, 0.95))
    >>> params = algorithm.params(horizon=1000)
    >>> play(algorithm, jax.random.key(0), problem, 1000, params, records=1).recommended.tolist()
    [0]
    """

    @property
    def needs_condorcet_winner(self) -> bool:
        return True

    @property
    def opening(self) -> int:
        return self.num_arms - 1

    def params(self, horizon: int = 100_000) -> FilterParams:
        """``horizon``, at least 1, is T, the duels that are to be made."""
        require_integer("horizon", horizon, 1)
        return FilterParams(jnp.asarray(math.log(horizon * self.num_arms**2), jnp.float32))

    @verb
    def init(self, params: FilterParams) -> FilterState:
        zero = jnp.zeros((), jnp.int32)
        arms = jnp.arange(self.num_arms)
        nothing = jnp.zeros(self.num_arms, jnp.int32)
        return FilterState(zero, zero, arms > 0, nothing, zero, zero, zero)

    def choose(self, noise: None, state: FilterState, params: FilterParams | None) -> jax.Array:
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        waiting = state.rivals & (arms >= state.next)
        rival = jnp.where(waiting, arms, self.num_arms).min()
        second = jnp.where(state.rivals.any(), rival, state.candidate)
        return jnp.stack([state.candidate, second])

    def _check_wanted(self, state: FilterState, choice: np.ndarray) -> None:
        """Only the duel that is next can be counted."""
        wanted = np.asarray(self.choose(None, state, None)).tolist()
        if choice.tolist() != wanted:
            raise ValueError(f"choice: expected {wanted}, as asked, got {choice.tolist()}")

    @verb
    def tell(
        self, state: FilterState, choice: Any, outcome: Any, params: FilterParams
    ) -> FilterState:
        """Count a duel of the pair that ``ask`` wants."""
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        rival = choice[1]
        wins = state.wins + ((arms == rival) & outcome).astype(jnp.int32)
        state = dataclasses.replace(state, time=state.time + 1, wins=wins, next=rival + 1)
        is_complete = ~(state.rivals & (arms > rival)).any() & state.rivals.any()
        after = self._after_round(state, params)
        return jax.tree.map(lambda new, old: jnp.where(is_complete, new, old), after, state)

    def _after_round(self, state: FilterState, params: FilterParams) -> FilterState:
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        rounds = state.rounds + 1
        lead = 2 * state.wins - rounds  # wins minus losses
        # |P - 1/2| > sqrt(4 ln(1/delta) / t)
        size = lead.astype(jnp.float32)
        is_certain = size**2 > 16 * params.log_level * rounds.astype(jnp.float32)
        rivals = state.rivals & ~(is_certain & (lead > 0))
        beaten_by = rivals & is_certain & (lead < 0)
        # Of several, the one that has beaten it most often.
        successor = first_best(jnp.where(beaten_by, -lead, -1))
        dethroned = beaten_by.any()
        kept = rivals & ~(dethroned & ((lead > 0) | (arms == successor)))
        is_over = ~kept.any() & (state.settled_at == 0)
        return FilterState(
            time=state.time,
            candidate=jnp.where(dethroned, successor, state.candidate),
            rivals=kept,
            wins=jnp.where(dethroned, 0, state.wins),
            rounds=jnp.where(dethroned, 0, rounds),
            next=jnp.zeros_like(state.next),
            settled_at=jnp.where(is_over, state.time, state.settled_at),
        )

    @verb
    def recommend(self, state: FilterState, params: FilterParams) -> jax.Array:
        """The candidate."""
        return state.candidate
