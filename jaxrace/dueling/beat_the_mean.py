"""Beat the Mean (Yue and Joachims 2011). Axes: K arms."""

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.dueling.base import Algorithm
from jaxrace.kernels import first_best, pick
from jaxrace.protocol import pytree, verb
from jaxrace.validation import require_integer, require_number

# Its fourth power is a factor of the width.
_MOST_GAMMA = 1e9


@pytree
class BtmParams:
    """The numbers of Beat the Mean."""

    width: jax.Array  # float32 [], 9 gamma^4 ln(2 T K): the square of c sqrt(n)


@pytree
class BtmState:
    """Beat the Mean between two duels. Duels count for the first arm only."""

    time: jax.Array  # int32 [], duels told
    active: jax.Array  # bool [K], W
    wins: jax.Array  # int32 [K, K], of the first arm over the second
    duels: jax.Array  # int32 [K, K]
    all_wins: jax.Array  # int32 [K], over arms that are active
    all_duels: jax.Array  # int32 [K]
    settled_at: jax.Array  # int32 [], duels after which one arm was left; 0 before


@dataclasses.dataclass(frozen=True)
class BeatTheMean(Algorithm):
    """Every arm against the average of those that are left; the worst one is dropped.

    The arm with fewest duels meets a random one of those that are left. The worst one goes, and
    all duels against it with it, once min P + c <= max P - c with
    c = 3 gamma^2 sqrt(ln(2 T K) / n_min). The last one is played on.

    >>> from jaxrace.dueling import duels, matrices, play
    >>> algorithm, problem = BeatTheMean(num_arms=3), duels(matrices.flat(3, 0.95))
    >>> params = algorithm.params(horizon=1000)
    >>> play(algorithm, jax.random.key(0), problem, 1000, params, records=1).recommended.tolist()
    [0]
    """

    @property
    def needs_condorcet_winner(self) -> bool:
        return True

    @property
    def opening(self) -> int:
        return self.num_arms

    def params(self, horizon: int = 100_000, gamma: float = 1.0) -> BtmParams:
        """``horizon`` is T, ``gamma`` that of the relaxed transitivity, 1 if it is strict."""
        require_integer("horizon", horizon, 1)
        require_number("gamma", gamma, least=1, most=_MOST_GAMMA)
        width = 9 * gamma**4 * math.log(2 * horizon * self.num_arms)
        return BtmParams(jnp.asarray(width, jnp.float32))

    @verb
    def init(self, params: BtmParams) -> BtmState:
        pairs = jnp.zeros((self.num_arms, self.num_arms), jnp.int32)
        return BtmState(
            time=jnp.zeros((), jnp.int32),
            active=jnp.ones(self.num_arms, bool),
            wins=pairs,
            duels=pairs,
            all_wins=pairs[0],
            all_duels=pairs[0],
            settled_at=jnp.zeros((), jnp.int32),
        )

    def draw(self, key: jax.Array) -> jax.Array:
        return jax.random.uniform(key, (2,), jnp.float32)

    def choose(self, noise: jax.Array, state: BtmState, params: BtmParams) -> jax.Array:
        duels = jnp.where(state.active, state.all_duels, jnp.iinfo(jnp.int32).max)
        return jnp.stack([pick(duels == duels.min(), noise[0]), pick(state.active, noise[1])])

    def _check_wanted(self, state: BtmState, choice: np.ndarray) -> None:
        """One of the arms with fewest duels against one of those that are left."""
        active, duels = np.asarray(state.active), np.asarray(state.all_duels)
        first, second = choice
        fewest = duels[active].min()
        if not (active[first] and active[second] and duels[first] == fewest):
            least = np.flatnonzero(active & (duels == fewest)).tolist()
            raise ValueError(
                f"choice: expected one of {least} against one of "
                f"{np.flatnonzero(active).tolist()}, as asked, got {choice.tolist()}"
            )

    @verb
    def tell(self, state: BtmState, choice: Any, outcome: Any, params: BtmParams) -> BtmState:
        """Count a duel; those after the end do not count."""
        open_yet = (state.settled_at == 0).astype(jnp.int32)
        won = open_yet * outcome.astype(jnp.int32)
        first, second = choice[0], choice[1]
        wins = state.wins.at[first, second].add(won)
        duels = state.duels.at[first, second].add(open_yet)
        all_wins = state.all_wins.at[first].add(won)
        all_duels = state.all_duels.at[first].add(open_yet)
        rate = all_wins.astype(jnp.float32) / jnp.maximum(all_duels, 1).astype(jnp.float32)
        never = jnp.iinfo(jnp.int32).max
        fewest = jnp.where(state.active, all_duels, never).min()
        low = jnp.where(state.active, rate, jnp.inf).min()
        high = jnp.where(state.active, rate, -jnp.inf).max()
        width = jnp.sqrt(params.width / jnp.maximum(fewest, 1).astype(jnp.float32))
        goes = (fewest > 0) & (low + width <= high - width)
        worst = first_best(jnp.where(state.active, -rate, -jnp.inf))
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        active = state.active & ~(goes & (arms == worst))
        time = state.time + 1
        is_over = (active.sum(dtype=jnp.int32) == 1) & (state.settled_at == 0)
        return BtmState(
            time=time,
            active=active,
            wins=wins,
            duels=duels,
            all_wins=all_wins - jnp.where(goes, wins[:, worst], 0),
            all_duels=all_duels - jnp.where(goes, duels[:, worst], 0),
            settled_at=jnp.where(is_over, time, state.settled_at),
        )

    @verb
    def recommend(self, state: BtmState, params: BtmParams) -> jax.Array:
        """The arm that wins most often among those that are left."""
        duels = jnp.maximum(state.all_duels, 1).astype(jnp.float32)
        rate = state.all_wins.astype(jnp.float32) / duels
        return first_best(jnp.where(state.active, rate, -1.0))
