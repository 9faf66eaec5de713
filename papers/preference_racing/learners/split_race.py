"""A search whose races are as long as the recombination needs, not as certainty needs.

Every generation is raced twice, with half the rounds each; where both halves would give the
policies about the same weights, the next generation gets fewer rounds. Axes: K policies.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace import racing
from jaxrace.agents.rollout import PolicyInTask
from jaxrace.core.validation import BadArgument, require_probability
from jaxrace.search.policy_search import PolicySearch, RankedPolicies


@dataclasses.dataclass(frozen=True)
class SplitRaceSearch(PolicySearch):
    """A ``PolicySearch`` that adapts n_max to how well the order of the best is known.

    The policies are ranked by both halves together. n_max is of both together too, rounded up to
    an even number.

    Attributes:
        agreement: n_max shrinks where the weights by one half, in the order of the other, are
            worth at least this share of those in their own order; random orders of 7 policies
            share .3, equal ones 1.
    """

    agreement: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        require_probability("agreement", self.agreement)
        if not isinstance(self.race, racing.PreferenceRace):
            raise BadArgument("race", "a PreferenceRace", f"{type(self.race).__name__}")

    def rank(
        self, key: jax.Array, options: PolicyInTask, table: Any, max_rounds: jax.Array
    ) -> RankedPolicies:
        """Race a generation, leaves [K, ...], in two halves."""
        half = self.race.params_at(table, (max_rounds + 1) // 2)

        def run(key: jax.Array) -> racing.PreferenceResult:
            common = self.common_random_numbers
            return racing.run(self.race, key, self.rollout, options, half, self.chunk, common)

        halves = jax.vmap(run)(jax.random.split(key))
        agreement = shared_weight(halves.ranking[0], halves.ranking[1], self.race.top)
        # Counts of a pair that one half dropped early are small, and its sign is known.
        net = halves.net.sum(0)
        wins, total = (net > 0).sum(-1), net.sum(-1)
        return RankedPolicies(
            ranking=jnp.lexsort((-total, -wins)).astype(jnp.int32),
            enough=agreement >= self.agreement,
            race_decided=halves.decided.all(),
            certain=(halves.selected | halves.discarded).all(0),
            samples=halves.samples.sum(dtype=jnp.int32),
            simulated=halves.simulated.sum(dtype=jnp.int32),
            # The earlier of the rounds in which the halves met the first, each counted from 1.
            invalid=jnp.where(halves.invalid.all(0), halves.invalid.min(0), halves.invalid.max(0)),
        )


def shared_weight(one: jax.Array, other: jax.Array, top: int) -> jax.Array:
    """How much of the recombination weights of one order [K] the other one gives too.

    That is sum w_i w'_i / sum w_i^2, float32 [], in [0, 1], with w_i proportional to
    ln(mu + 1) - ln i, and mu = ``top``.

    >>> order = jnp.arange(7)
    >>> float(shared_weight(order, order, 3)), float(shared_weight(order, order[::-1], 3))
    (1.0, 0.0)
    """
    ranks = jnp.arange(1, one.shape[0] + 1, dtype=jnp.float32)
    by_rank = jnp.maximum(jnp.log(jnp.float32(top + 1)) - jnp.log(ranks), 0.0)
    weights = [jnp.zeros_like(by_rank).at[order].set(by_rank) for order in (one, other)]
    return (weights[0] * weights[1]).sum() / (by_rank**2).sum()
