"""The numbers and the progress of a race on shared tasks.

Axes: K options, N = capacity tasks, R values of an option on a task, L bets, Q nulls.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace.protocol import pytree
from jaxrace.validation import Owner

# Tasks of a pair that are counted at once.
BLOCK = 8


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
    bets: jax.Array  # float32 [K, K, Q, L], w times the products of factors over the common tasks
    highest: jax.Array  # float32 [K, K, Q], the largest E_ij so far; infinite where it is certain
    total: jax.Array  # float32 [K, K], S_ij: the sum of the differences
    total_rest: jax.Array  # float32 [K, K], what the sum lacks for being rounded
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


def common_tasks(told: jax.Array) -> jax.Array:
    """Tasks that each two options have in common: int32 [K, K]."""
    return jnp.minimum(told[:, None], told[None, :])
