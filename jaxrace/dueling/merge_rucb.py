"""MergeRUCB (Zoghi et al. 2015). Axes: K arms, B batches at first."""

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxrace.core.protocol import make_params, number, pytree, verb
from jaxrace.core.validation import require_float32_probability, require_integer, require_number
from jaxrace.dueling.counted import CountedDuels, CountedState
from jaxrace.kernels import first_best, pick


@pytree
class MergeParams:
    """How wide confidence bounds are."""

    alpha: jax.Array = number(require_number, least=0.51)  # of sqrt(alpha ln(t + C) / N)
    log_start: jax.Array = number()  # ln C(delta)


@pytree
class MergeState(CountedState):
    """MergeRUCB between two duels."""

    batch: jax.Array  # int32 [K], number of the batch of an arm; -1 once it is dropped
    num_batches: jax.Array  # int32 [], b_S
    stage: jax.Array  # int32 [], S, from 1
    decided_at: jax.Array  # int32 [], duels after which one arm was left; 0 before


@dataclasses.dataclass(frozen=True)
class MergeRucb(CountedDuels):
    """MergeRUCB, for many arms: RUCB in small batches, which are merged as arms are dropped.

    The batches take turns. In each a random arm meets the one that may beat it most, by
    u_ji = w_ji / N_ij + sqrt(alpha ln(t + C) / N_ij), and an arm goes as soon as u_ij < 1/2 for one
    j of its batch. When K / 2^S arms are left, small batches are merged with large ones, to
    3/2 of ``batch_size`` arms at most, and stage S + 1 begins.

    Attributes:
        batch_size: p, arms of a batch at first, at least 2; 4 in the paper.

    >>> from jaxrace.dueling import duels, matrices, run
    >>> algorithm, problem = MergeRucb(num_arms=6), duels(matrices.flat(6, 0.9))
    >>> log = run(algorithm, jax.random.key(0), problem, 2000, algorithm.params(), records=1)
    >>> log.recommended.tolist(), bool(log.decided_at > 0)
    ([0], True)
    """

    batch_size: int = 4

    needs_condorcet_winner = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer("batch_size", self.batch_size, 2)

    @property
    def most_batches(self) -> int:
        """B."""
        return -(-self.num_arms // self.batch_size)

    def params(self, alpha: float = 1.01, delta: float = 0.01) -> MergeParams:
        """``alpha`` is at least .51; with probability 1 - ``delta`` no bound ever fails."""
        require_number("alpha", alpha, least=0.51)
        require_float32_probability("delta", delta)
        power = 2 * alpha - 1  # C^power = (4 alpha - 1) K^2 / ((2 alpha - 1) delta)
        log_factor = math.log((4 * alpha - 1) * self.num_arms**2 / (power * delta))
        return make_params(MergeParams, alpha=alpha, log_start=log_factor / power)

    @verb
    def init(self, params: MergeParams) -> MergeState:
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        return MergeState.begin(
            self.num_arms,
            batch=arms * self.most_batches // self.num_arms,  # of equal sizes, or nearly
            num_batches=jnp.int32(self.most_batches),
            stage=jnp.int32(1),
            decided_at=jnp.int32(0),
        )

    def draw(self, key: jax.Array) -> jax.Array:
        return jax.random.uniform(key, (), jnp.float32)

    def choose(self, noise: jax.Array, state: MergeState, params: MergeParams) -> jax.Array:
        here = state.batch == (state.time + 1) % state.num_batches
        first = pick(here, noise)
        duels = state.duels[first]
        upper = _upper(duels - state.wins[first], duels, state.time + 1, params)
        others = here & (jnp.arange(self.num_arms, dtype=jnp.int32) != first)
        second = first_best(jnp.where(others, upper, -jnp.inf))
        return jnp.stack([first, jnp.where(others.any(), second, first)])

    @verb
    def tell(self, state: MergeState, choice: Any, outcome: Any, params: MergeParams) -> MergeState:
        """An arm is dropped by duels within its batch alone."""
        state = state.with_duel(choice, outcome)
        together = state.batch[choice[0]] == state.batch[choice[1]]
        batch = state.batch
        for i, j in (choice, choice[::-1]):
            upper = _upper(state.wins[i, j], state.duels[i, j], state.time, params)
            batch = batch.at[i].set(jnp.where(together & (upper < 0.5), -1, batch[i]))
        left = (batch >= 0).sum(dtype=jnp.int32)
        # Batches of single arms are merged, too: nothing could be learned in them.
        is_due = (left <= self.num_arms >> state.stage) | (left == state.num_batches)
        merges = is_due & (state.num_batches > 1)
        is_over = (left == 1) & (state.decided_at == 0)
        merged, count = self._merged(batch, state.num_batches)
        return dataclasses.replace(
            state,
            batch=jnp.where(merges, merged, batch),
            num_batches=jnp.where(merges, count, state.num_batches),
            stage=state.stage + merges.astype(jnp.int32),
            decided_at=jnp.where(is_over, state.time, state.decided_at),
        )

    def _merged(self, batch: jax.Array, count: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Small ones with large ones: the batch of each arm, int32 [K], and their number."""
        names = jnp.arange(self.most_batches, dtype=jnp.int32)
        sizes = (batch[:, None] == names).sum(0, dtype=jnp.int32)
        order = jnp.argsort(jnp.where(names < count, sizes, self.num_arms + 1), stable=True)

        def take(_: int, carry: tuple) -> tuple:
            small, large, made, renamed = carry
            is_open, least, last = small <= large, order[small], order[large]
            pairs = (small < large) & (2 * (sizes[least] + sizes[last]) <= 3 * self.batch_size)
            taken = is_open & ((names == last) | (pairs & (names == least)))
            steps = pairs.astype(jnp.int32), is_open.astype(jnp.int32)
            return small + steps[0], large - 1, made + steps[1], jnp.where(taken, made, renamed)

        start = jnp.int32(0), count - 1, jnp.int32(0), names
        _, _, made, renamed = lax.fori_loop(0, self.most_batches, take, start)
        return jnp.where(batch >= 0, renamed[batch], -1), made

    @verb
    def recommend(self, state: MergeState, params: MergeParams) -> jax.Array:
        """Of the arms that are left, the one that seems to beat most."""
        return first_best(jnp.where(state.batch >= 0, self.standing(state), -1.0))


def _upper(wins: jax.Array, duels: jax.Array, time: jax.Array, params: MergeParams) -> jax.Array:
    """u_ij from counts of any shape; infinite without a duel, so that such a pair comes first."""
    least = jnp.maximum(duels, 1).astype(jnp.float32)
    log_time = jnp.logaddexp(jnp.log(time.astype(jnp.float32)), params.log_start)
    bound = wins.astype(jnp.float32) / least + jnp.sqrt(params.alpha * log_time / least)
    return jnp.where(duels > 0, bound, jnp.inf)
