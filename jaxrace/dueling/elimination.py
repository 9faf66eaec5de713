"""Interleaved Filter (Yue et al. 2012) and Beat the Mean (Yue and Joachims 2011). Axes: K arms."""

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace.core.protocol import make_params, number, pytree, verb
from jaxrace.core.validation import BadArgument, require_integer, require_number
from jaxrace.dueling.base import Algorithm
from jaxrace.dueling.problems import Problem
from jaxrace.kernels import first_best, pick

# Its fourth power is a factor of the width.
_MOST_GAMMA = 1e9
_NEVER = jnp.iinfo(jnp.int32).max


@pytree
class LevelParams:
    """The number of an algorithm that eliminates arms."""

    level: jax.Array = number()  # ln(1 / delta); or 9 gamma^4 ln(2 T K), the square of c sqrt(n)


@pytree
class FilterState:
    """Interleaved Filter between two duels."""

    time: jax.Array  # int32 [], duels told
    candidate: jax.Array  # int32 [], b
    rivals: jax.Array  # bool [K], W without b
    wins: jax.Array  # int32 [K], of the candidate over each, since it is one
    rounds: jax.Array  # int32 [], complete ones, since it is one
    next: jax.Array  # int32 [], the first arm that may be next in this round
    decided_at: jax.Array  # int32 [], duels after which no rival was left; 0 before


@dataclasses.dataclass(frozen=True)
class InterleavedFilter(Algorithm):
    """A candidate duels all others in turn, until it has beaten them or one has beaten it.

    After every round the arms that it certainly beats are dropped. An arm that certainly beats the
    candidate takes its place, and those that the candidate seemed to beat go too (IF2). Arm 0 is
    the first candidate; the last duel is played on. Certain: 1/2 is outside of
    P +- sqrt(4 ln(1/delta) / t), with delta = 1 / (T K^2).

    >>> from jaxrace.dueling import duels, matrices, run
    >>> algorithm, problem = InterleavedFilter(num_arms=3), duels(matrices.flat(3, 0.95))
    >>> params = algorithm.params(horizon=1000)
    >>> run(algorithm, jax.random.key(0), problem, 1000, params, records=1).recommended.tolist()
    [0]
    """

    needs_condorcet_winner = True  # else it may drop the best arm

    @property
    def opening(self) -> int:
        return self.num_arms - 1

    def params(self, horizon: int = 100_000) -> LevelParams:
        """``horizon``, at least 1, is T, the duels that are to be made."""
        require_integer("horizon", horizon, 1)
        return make_params(LevelParams, level=math.log(horizon * self.num_arms**2))

    @verb
    def init(self, params: LevelParams) -> FilterState:
        zero, wins = jnp.zeros((), jnp.int32), jnp.zeros(self.num_arms, jnp.int32)
        return FilterState(zero, zero, jnp.arange(self.num_arms) > 0, wins, zero, zero, zero)

    def choose(self, noise: None, state: FilterState, params: LevelParams | None) -> jax.Array:
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        waiting = state.rivals & (arms >= state.next)
        rival = jnp.where(waiting, arms, self.num_arms).min()
        second = jnp.where(state.rivals.any(), rival, state.candidate)
        return jnp.stack([state.candidate, second])

    def _check_wanted(self, state: FilterState, choice: np.ndarray) -> None:
        """Only the duel that is next can be counted."""
        wanted = np.asarray(self.choose(None, state, None)).tolist()
        if choice.tolist() != wanted:
            raise BadArgument("choice", f"{wanted}, as asked", str(choice.tolist()))

    @verb
    def tell(
        self, state: FilterState, choice: Any, outcome: Any, params: LevelParams
    ) -> FilterState:
        """Count a duel of the pair that ``ask`` wants."""
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        rival = choice[1]
        wins = state.wins + ((arms == rival) & outcome).astype(jnp.int32)
        state = dataclasses.replace(state, time=state.time + 1, wins=wins, next=rival + 1)
        return self._ended(state, params)

    def _ended(self, state: FilterState, params: LevelParams) -> FilterState:
        """The state with its round ended, if that is complete."""
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        is_complete = ~(state.rivals & (arms >= state.next)).any() & state.rivals.any()
        after = self._after_round(state, params)
        return jax.tree.map(lambda new, old: jnp.where(is_complete, new, old), after, state)

    def _after_round(self, state: FilterState, params: LevelParams) -> FilterState:
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        rounds = state.rounds + 1
        lead = 2 * state.wins - rounds  # wins minus losses
        # |P - 1/2| > sqrt(4 ln(1/delta) / t)
        size = lead.astype(jnp.float32)
        is_certain = size**2 > 16 * params.level * rounds.astype(jnp.float32)
        rivals = state.rivals & ~(is_certain & (lead > 0))
        beaten_by = rivals & is_certain & (lead < 0)
        # Of several, the one that has beaten it most often.
        successor = first_best(jnp.where(beaten_by, -lead, -1))
        dethroned = beaten_by.any()
        kept = rivals & ~(dethroned & ((lead > 0) | (arms == successor)))
        is_over = ~kept.any() & (state.decided_at == 0)
        return FilterState(
            time=state.time,
            candidate=jnp.where(dethroned, successor, state.candidate),
            rivals=kept,
            wins=jnp.where(dethroned, 0, state.wins),
            rounds=jnp.where(dethroned, 0, rounds),
            next=jnp.zeros_like(state.next),
            decided_at=jnp.where(is_over, state.time, state.decided_at),
        )

    def play(
        self,
        state: FilterState,
        uniforms: jax.Array,
        count: jax.Array | int,
        problem: Problem,
        params: LevelParams,
    ) -> tuple[FilterState, jax.Array]:
        """The state after ``count`` duels, one or more, and their regret, float32 [M].

        As one by one, but all of a round at once; each is decided by the next of ``uniforms``,
        float32 [n] with n >= ``count``. What the last arm wins against itself is not counted.
        """
        arms, all_costs = jnp.arange(self.num_arms, dtype=jnp.int32), problem.costs
        assert all_costs is not None

        def play_round(carry: tuple[FilterState, jax.Array]) -> tuple[FilterState, jax.Array]:
            state, regret = carry
            done = state.time - begun
            waiting = state.rivals & (arms >= state.next)
            number = done + jnp.cumsum(waiting, dtype=jnp.int32) - 1  # of the duel with each
            told = waiting & (number < count)
            against = problem.order[state.candidate], problem.order
            chances = problem.probabilities[against]
            won = told & (uniforms.at[number].get(mode="clip") < chances)
            # The last arm plays itself to the end.
            alone = ~state.rivals.any()
            played = told | (alone & (arms == state.candidate))
            each = jnp.where(alone, count - done, 1)
            costs = jnp.where(played, all_costs[:, *against], 0).sum(-1)
            time = state.time + jnp.where(alone, each, told.sum(dtype=jnp.int32))
            after = dataclasses.replace(
                state,
                time=time,
                wins=state.wins + won.astype(jnp.int32),
                next=jnp.where(played, arms + 1, 0).max(),
            )
            return self._ended(after, params), regret + each.astype(jnp.float32) * costs

        begun, nothing = state.time, jnp.zeros(problem.num_measures, jnp.float32)
        return lax.while_loop(
            lambda carry: carry[0].time - begun < count, play_round, (state, nothing)
        )

    @verb
    def recommend(self, state: FilterState, params: LevelParams) -> jax.Array:
        return state.candidate


@pytree
class BtmState:
    """Beat the Mean between two duels. Duels count for the first arm only."""

    time: jax.Array  # int32 [], duels told
    active: jax.Array  # bool [K], W
    wins: jax.Array  # int32 [K, K], of the first arm over the second
    duels: jax.Array  # int32 [K, K]
    all_wins: jax.Array  # int32 [K], over arms that are active
    all_duels: jax.Array  # int32 [K]
    decided_at: jax.Array  # int32 [], duels after which one arm was left; 0 before


@dataclasses.dataclass(frozen=True)
class BeatTheMean(Algorithm):
    """Every arm against the average of those that are left; the worst one is dropped.

    The arm with fewest duels meets a random one of those that are left. The worst one goes, and
    all duels against it with it, once min P + c <= max P - c with
    c = 3 gamma^2 sqrt(ln(2 T K) / n_min). The last one is played on.

    >>> from jaxrace.dueling import duels, matrices, run
    >>> algorithm, problem = BeatTheMean(num_arms=3), duels(matrices.flat(3, 0.95))
    >>> params = algorithm.params(horizon=1000)
    >>> run(algorithm, jax.random.key(0), problem, 1000, params, records=1).recommended.tolist()
    [0]
    """

    needs_condorcet_winner = True

    @property
    def opening(self) -> int:
        return self.num_arms

    def params(self, horizon: int = 100_000, gamma: float = 1.0) -> LevelParams:
        """``horizon`` is T, ``gamma`` that of the relaxed transitivity, 1 if it is strict."""
        require_integer("horizon", horizon, 1)
        require_number("gamma", gamma, least=1, most=_MOST_GAMMA)
        level = 9 * gamma**4 * math.log(2 * horizon * self.num_arms)
        return make_params(LevelParams, level=level)

    @verb
    def init(self, params: LevelParams) -> BtmState:
        zero, arms = jnp.zeros((), jnp.int32), jnp.zeros(self.num_arms, jnp.int32)
        pairs = jnp.zeros((self.num_arms, self.num_arms), jnp.int32)
        return BtmState(zero, jnp.ones(self.num_arms, bool), pairs, pairs, arms, arms, zero)

    def draw(self, key: jax.Array) -> jax.Array:
        return jax.random.uniform(key, (2,), jnp.float32)

    def choose(self, noise: jax.Array, state: BtmState, params: LevelParams) -> jax.Array:
        duels = jnp.where(state.active, state.all_duels, _NEVER)
        return jnp.stack([pick(duels == duels.min(), noise[0]), pick(state.active, noise[1])])

    def _check_wanted(self, state: BtmState, choice: np.ndarray) -> None:
        """One of the arms with fewest duels against one of those that are left."""
        active, duels = np.asarray(state.active), np.asarray(state.all_duels)
        first, second = choice
        fewest = duels[active].min()
        if not (active[first] and active[second] and duels[first] == fewest):
            least, left = np.flatnonzero(active & (duels == fewest)), np.flatnonzero(active)
            expected = f"one of {least.tolist()} against one of {left.tolist()}, as asked"
            raise BadArgument("choice", expected, str(choice.tolist()))

    @verb
    def tell(self, state: BtmState, choice: Any, outcome: Any, params: LevelParams) -> BtmState:
        """Count a duel; those after the end do not count."""
        open_yet = (state.decided_at == 0).astype(jnp.int32)
        won = open_yet * outcome.astype(jnp.int32)
        first, second = choice[0], choice[1]
        wins = state.wins.at[first, second].add(won)
        duels = state.duels.at[first, second].add(open_yet)
        all_wins = state.all_wins.at[first].add(won)
        all_duels = state.all_duels.at[first].add(open_yet)
        rate = _rate(all_wins, all_duels)
        fewest = jnp.where(state.active, all_duels, _NEVER).min()
        low = jnp.where(state.active, rate, jnp.inf).min()
        high = jnp.where(state.active, rate, -jnp.inf).max()
        width = jnp.sqrt(params.level / jnp.maximum(fewest, 1).astype(jnp.float32))
        goes = (fewest > 0) & (low + width <= high - width)
        worst = first_best(jnp.where(state.active, -rate, -jnp.inf))
        active = state.active & ~(goes & (jnp.arange(self.num_arms) == worst))
        time = state.time + 1
        is_over = (active.sum(dtype=jnp.int32) == 1) & (state.decided_at == 0)
        return BtmState(
            time=time,
            active=active,
            wins=wins,
            duels=duels,
            all_wins=all_wins - jnp.where(goes, wins[:, worst], 0),
            all_duels=all_duels - jnp.where(goes, duels[:, worst], 0),
            decided_at=jnp.where(is_over, time, state.decided_at),
        )

    @verb
    def recommend(self, state: BtmState, params: LevelParams) -> jax.Array:
        """The arm that wins most often among those that are left."""
        rate = _rate(state.all_wins, state.all_duels)
        return first_best(jnp.where(state.active, rate, -1.0))


def _rate(wins: jax.Array, duels: jax.Array) -> jax.Array:
    return wins.astype(jnp.float32) / jnp.maximum(duels, 1).astype(jnp.float32)
