"""What races by e-values share: levels and bets, samples kept, who leads, and what is certain.

The pseudo-code is in docs/theory/dominance_race.md, "The allocation". Axes: B races, K options,
N = capacity, r rounds told at once, L bets.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.core.validation import (
    BadArgument,
    require_choice,
    require_integer,
    require_number,
    require_positive,
    require_probability,
)
from jaxrace.evidence.decision import COUNTS, Seen, SortKeys, perhaps_best, perhaps_tied, sort_keys
from jaxrace.evidence.levels import By, Levels, dominance_weights, levels, require_scale
from jaxrace.racing import base
from jaxrace.racing.comparing import ComparingRace

# The signs of i over j and of j over i, float32 [2, 1]. XLA writes down what is stacked.
ORDERS = np.array([[1], [-1]], np.float32)


class CertifiedRace(ComparingRace):
    """A race by e-values. Subclasses have the fields ``by``, ``low`` and ``high``."""

    by: By
    low: float | None
    high: float | None

    _is_unequal: ClassVar = True
    _weights: ClassVar = staticmethod(lambda count: [1.0] * count)  # of bets given without them

    def __post_init__(self) -> None:
        require_choice("by", self.by, ("wins", "mean"))
        require_float32_scale(self.by, self.low, self.high)
        super().__post_init__()

    @property
    def _compares(self) -> bool:
        return self.by == "wins"

    @property
    def width(self) -> float:
        """What a tolerance is less than: the range of scores; by wins 1/2, a win probability."""
        return 0.5 if self.low is None or self.high is None else self.high - self.low

    def _mixture(
        self,
        delta: float,
        tolerance: float,
        horizon: int,
        bets: Sequence[float] | None,
        weights: Sequence[float] | None,
        largest: float,
        choose: Callable[[float, int], Sequence[float]],
    ) -> tuple[Levels, Sequence[float], np.ndarray]:
        """Levels; bets [L]: those given, or those that ``choose`` has; weights [L], with sum 1."""
        require_probability("delta", delta)
        require_integer("horizon", horizon, 1)
        require_number("tolerance", tolerance, least=0, below=self.width)
        needed = levels(self.by, self.num_options, self.top, delta, has_tolerance=tolerance > 0)
        if bets is None:
            bets = choose(needed.verdict, horizon)
            weights = dominance_weights(len(bets)) if weights is None else weights
        weights = self._weights(len(bets)) if weights is None else weights
        if not len(bets):
            raise BadArgument("bets", "at least one", "none")
        if len(bets) != len(weights):
            raise BadArgument("weights", f"as many as bets, {len(bets)}", f"{len(weights)}")
        for bet, weight in zip(bets, weights, strict=True):
            require_positive("bets", bet)
            if bet > largest:
                raise BadArgument("bets", f"at most {largest}", f"{bet}")
            require_positive("weights", weight)
        return needed, bets, np.asarray(weights, float) / np.sum(weights)

    def _certain(
        self, state: Any, params: Any, seen: Seen, keys: SortKeys, certified: jax.Array, beats: Any
    ) -> dict[str, Any]:
        """What results of both kinds of races hold; ``beats`` [K, K] are verdicts on the best."""
        ranking = keys.ranking(jnp).astype(jnp.int32)
        in_top = jnp.argsort(ranking) < self.top
        possible, sure = perhaps_best(beats, self.top)
        tied = perhaps_tied(seen.strong, in_top) & (state.certificate == COUNTS)
        is_exact = certified & (params.tolerance == 0)
        return {
            "ranking": ranking,
            "selected": jnp.where(certified, in_top, sure),
            "discarded": jnp.where(certified, ~in_top, ~possible),
            "possible": jnp.where(is_exact, in_top | tied, possible),
            "tied": tied,
            "decided": certified,
            "certificate_number": state.certificate,
            "wins": keys.wins,
            "total": keys.total,
            "by": self.by,
        }

    def _bad(self, outcomes: Any) -> jax.Array:
        """Which outcomes, leaves [K, r, ...], are not finite or out of their range: bool [K, r]."""
        bad = ~base.finite_rounds(outcomes)
        if self.low is not None and self.high is not None:
            first = jax.tree.leaves(outcomes)[0]
            is_out = (first < self.low) | (first > self.high)
            bad |= is_out.any(tuple(range(2, first.ndim)))
        return bad


def require_float32_scale(by: By, low: float | None, high: float | None) -> None:
    """Raise ValueError unless a range is a million times wider than float32 rounds its ends by."""
    require_scale(by, low, high)
    if low is None or high is None:
        return
    is_wide = high - low <= float(np.finfo(np.float32).max)
    if not is_wide or (high - low) * 2.0**24 < 1e6 * max(abs(low), abs(high)):
        expected = "a range in which float32 tells scores apart"
        hint = "; subtract what scores have in common"
        raise BadArgument("low, high", expected, f"{low} to {high}", hint)


def keep_samples(states: Any, outcomes: Any, lacking: jax.Array, bad: jax.Array) -> Any:
    """Append samples [B, K, r, ...], of each option as many as it lacks, int32 [B, K].

    What exceeds that is overwritten by later ones. ``bad``, bool [B, K, r]: which are invalid.
    """
    num_told = bad.shape[2]
    told = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), outcomes)
    kept = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states.outcomes)
    start = states.simulated.reshape(-1)
    rounds = jnp.arange(num_told, dtype=jnp.int32)

    def write(rows: jax.Array, kept: Any) -> Any:
        # What exceeds the capacity is dropped; so is a row out of range.
        at = (rows[:, None], start[jnp.minimum(rows, start.size - 1)][:, None] + rounds)
        return jax.tree.map(
            lambda old, new: old.at[at].set(new[rows].astype(old.dtype), mode="drop"), kept, told
        )

    block = kernels.listing_block(lacking.size, light=True)
    kept = kernels.for_listed(lacking > 0, block, write, kept)
    numbers = states.simulated[..., None] + 1 + rounds
    none = jnp.iinfo(jnp.int32).max
    first_bad = jnp.where(bad & (rounds < lacking[..., None]), numbers, none).min(-1)
    is_first = (states.first_bad == 0) & (first_bad < none)
    return dataclasses.replace(
        states,
        outcomes=jax.tree.map(lambda x, old: x.reshape(old.shape), kept, states.outcomes),
        simulated=states.simulated + jnp.minimum(lacking, num_told),
        first_bad=jnp.where(is_first, first_bad, states.first_bad),
    )


def pairs_of(num_options: int) -> tuple[jax.Array, jax.Array]:
    """The options i and j of the P pairs, i < j: int32 [P] each."""
    first, second = np.triu_indices(num_options, 1)
    return jnp.asarray(first, jnp.int32), jnp.asarray(second, jnp.int32)


def squared(numbers: jax.Array, num_options: int, diagonal: float = 0) -> jax.Array:
    """Numbers of pairs as a state has them, [P, ..., 2] in both orders, as [..., K, K]."""
    place = np.zeros((num_options, num_options), np.int32)  # among those of i over j, then j over i
    place[np.triu_indices(num_options, 1)] = np.arange(len(numbers))
    place += np.tril(place.T + len(numbers), -1)
    numbers = jnp.moveaxis(numbers, 0, -1)
    found = numbers.reshape(*numbers.shape[:-2], -1)[..., place]
    return jnp.where(jnp.eye(num_options, dtype=bool), diagonal, found)


def standing(seen: Seen) -> SortKeys:
    """What the options of a race are ranked by."""
    total = base.fixed_point(seen.mean, len(seen.mean)).sum(1, dtype=jnp.int32)
    return sort_keys(seen.over, seen.mean, total, jnp)


def common(progress: jax.Array) -> jax.Array:
    """Blocks or tasks that each two options have in common: int32 [K, K]."""
    return jnp.minimum(progress[:, None], progress[None, :])
