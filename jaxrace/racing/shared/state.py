"""The numbers and the progress of a race on shared tasks.

Axes: K options, P = K (K - 1) / 2 pairs, N = capacity tasks, L bets, Q nulls.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.core.protocol import pytree
from jaxrace.core.validation import Owner
from jaxrace.kernels.kahan import Total

# Tasks of a pair that are counted at once.
BLOCK = 8

# Means that are as close as this, in units of the range, are equal: float32 rounds scores by half.
TIE = 2.0**-23


@pytree
class SharedParams:
    """The numbers of a ``SharedRace``; make them with ``SharedRace.params``."""

    delta: jax.Array  # float32 []
    max_rounds: jax.Array  # int32 [], the most tasks of an option; of a finite list all, N
    tolerance: jax.Array  # float32 [], m, in units of the score or as a win probability
    level: jax.Array  # float32 [], the log e-value of a verdict
    strong_level: jax.Array  # float32 [], that of a verdict that counts; infinite by mean
    possible_level: jax.Array  # float32 [], that of being out of the best
    nulls: jax.Array  # float32 [Q], means of the differences: of verdicts, and 0 if that is not 0
    bets: jax.Array  # float32 [L], lambda
    weights: jax.Array  # float32 [L], w
    slack: jax.Array  # float32 []
    first: jax.Array  # int32 [], tasks before the first look
    least: jax.Array  # int32 [], tasks of a batch at least
    growth: jax.Array  # float32 [], those of a batch as a share of what an option has
    owner: Owner = dataclasses.field(metadata={"static": True})  # the kind and size of the race


@pytree
class SharedState:
    """The progress of a ``SharedRace``."""

    outcomes: Any  # leaves [K, N + BLOCK, ...], all outcomes so far
    simulated: jax.Array  # int32 [K], tasks told for options that had asked
    wanted: jax.Array  # int32 [K], tasks that are to be told before the next look
    first_bad: jax.Array  # int32 [K], number of the first outcome that is no score, or 0
    pairs: "PairEvidence"  # leaves [P, ...], the evidence of each pair
    certificate: jax.Array  # int32 [], a number of ``CERTIFICATES``

    @property
    def samples(self) -> jax.Array:
        """int32 [K]: outcomes that counted, which are all."""
        return self.simulated

    @property
    def round(self) -> jax.Array:
        """int32 []: tasks told of every option."""
        return self.simulated.min(-1)

    @property
    def invalid(self) -> jax.Array:
        """int32 [K]: number of the first outcome that counted and is no score, or 0."""
        return self.first_bad


class PairEvidence(NamedTuple):
    """The evidence of P pairs (i, j), i < j: of i over j, and of j over i."""

    bets: jax.Array  # float32 [Q, L, 2, P], w times the products of factors over the common tasks
    highest: jax.Array  # float32 [Q, 2, P], the largest E so far; infinite where it is certain
    total: Total  # float32 [P], S: the sum of the differences of i and j


def pairs_first(evidence: PairEvidence) -> PairEvidence:
    """Leaves [P, ...], in which a pair is a row."""
    return jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), evidence)


def pairs_last(evidence: PairEvidence) -> PairEvidence:
    """Undo ``pairs_first``."""
    return jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), evidence)


def pairs_of(num_options: int) -> tuple[jax.Array, jax.Array]:
    """The options i and j of the P pairs, i < j: int32 [P] each."""
    first, second = np.triu_indices(num_options, 1)
    return jnp.asarray(first, jnp.int32), jnp.asarray(second, jnp.int32)


def squared(numbers: jax.Array, num_options: int) -> jax.Array:
    """Numbers [..., 2, P], in both orders, as [..., K, K]; the diagonal is anything."""
    place = np.zeros((num_options, num_options), np.int32)
    first, second = np.triu_indices(num_options, 1)
    place[first, second] = np.arange(first.size)
    place[second, first] = np.arange(first.size, 2 * first.size)
    return numbers.reshape(*numbers.shape[:-2], -1)[..., place]
