"""The numbers and the progress of a dominance race.

How bets are chosen is in docs/dominance_race.md. Axes: K options, N = capacity, L bets.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace.core.protocol import pytree
from jaxrace.core.validation import Owner, require_positive


@pytree
class DominanceParams:
    """The numbers of a ``DominanceRace``; make them with ``DominanceRace.params``."""

    delta: jax.Array  # float32 []
    max_rounds: jax.Array  # int32 [], n_max, samples per option
    tolerance: jax.Array  # float32 [], m, in units of the score or as a win probability
    null: jax.Array  # float32 [], mu: the mean of differences in [-1, 1] under the null
    level: jax.Array  # float32 [], LA: the log e-value of a verdict
    strong_level: jax.Array  # float32 [], LB: that of a strong verdict; infinite without (b)
    possible_level: jax.Array  # float32 [], that of being out of the best; infinite in a tolerance
    bets: jax.Array  # float32 [L], lambda
    log_weights: jax.Array  # float32 [L], ln w
    slack: jax.Array  # float32 []
    give_up: jax.Array  # float32 [], standard errors; infinity to go on to the last block
    owner: Owner = dataclasses.field(metadata={"static": True})  # the kind and size of the race


@pytree
class DominanceState:
    """The progress of a ``DominanceRace``."""

    outcomes: Any  # leaves [K, N, ...], all samples so far
    simulated: jax.Array  # int32 [K], samples told for options that had asked
    samples: jax.Array  # int32 [K], samples that counted
    first_bad: jax.Array  # int32 [K], number of the first sample that was not finite, or 0
    log_bets: jax.Array  # float32 [K, K, L], sum of ln F_m(lambda) over the common blocks
    highest: jax.Array  # float32 [K, K], e_ij: the largest ln E_ij so far, -inf without blocks
    margin: jax.Array  # int32 [K, K], sum of the blocks' margins 2 S - 1, in units of their common
    # denominator
    asked: jax.Array  # bool [K]
    certificate: jax.Array  # int32 [], a number of ``CERTIFICATES``
    net: jax.Array  # int32 [K, K], wins less losses of all common samples, of an uncertified end

    @property
    def round(self) -> jax.Array:
        """int32 []: samples told of every option."""
        return self.simulated.min(-1)

    @property
    def invalid(self) -> jax.Array:
        """int32 [K]: number of the first sample that counted and was not finite, or 0."""
        counted = (self.first_bad > 0) & (self.first_bad <= self.samples)
        return jnp.where(counted, self.first_bad, 0)


# What the certificate's number stands for.
RUNNING, DOMINANCE, COUNTS, EXHAUSTED, GIVEN_UP = range(5)
CERTIFICATES = ("running", "dominance", "counts", "exhausted", "given up")


@dataclasses.dataclass(frozen=True)
class Blocks:
    """How the samples of an option are cut into blocks, the same for all options."""

    first: int  # samples of the first block
    later: int  # samples of every other block
    unit: int  # what a margin of 1 in a block counts in ``DominanceState.margin``

    def complete(self, samples: jax.Array) -> jax.Array:
        """How many whole blocks so many samples hold."""
        # Towards zero, which is a third of the work of the division of Python, and no matter here.
        later = lax.div(samples - self.first, jnp.asarray(self.later, samples.dtype))
        return jnp.where(samples < self.first, 0, 1 + later)

    def start(self, block: jax.Array) -> jax.Array:
        """Samples before a block, or in so many blocks."""
        return jnp.where(block > 0, self.first + (block - 1) * self.later, 0)

    def rounds_to_tell(self, state: Any) -> int:
        """How many samples of each option that asks complete its next block.

        ``state`` is that of one race, not under a trace, or its result.
        """
        samples = np.asarray(state.simulated)
        in_later = (samples - self.first) % self.later
        lacking = np.where(samples < self.first, self.first - samples, self.later - in_later)
        return int(lacking.max(initial=0, where=np.asarray(state.asked)))

    def num_complete(self, max_rounds: int) -> int:
        """``complete`` for a number known in Python: blocks in so many samples."""
        return 0 if max_rounds < self.first else 1 + (max_rounds - self.first) // self.later


def require_bets(bets: Sequence[float], weights: Sequence[float], largest: float) -> None:
    """Raise ValueError unless each bet is in (0, largest], with a positive weight."""
    if not len(bets):
        raise ValueError("bets: expected at least one, got none")
    if len(bets) != len(weights):
        raise ValueError(f"weights: expected as many as bets, {len(bets)}, got {len(weights)}")
    for bet in bets:
        require_positive("bets", bet)
        if bet > largest:
            raise ValueError(f"bets: expected at most {largest}, got {bet}")
    for weight in weights:
        require_positive("weights", weight)
