"""Wins and duels so far. Axes: K arms."""

import dataclasses

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Tally:
    """Counts of all pairs; a duel of an arm against itself is not counted."""

    wins: jax.Array  # int32 [K, K], i over j
    duels: jax.Array  # int32 [K, K], symmetric


def empty(num_arms: int) -> Tally:
    """Nothing yet.

    >>> int(empty(3).duels.sum())
    0
    """
    zeros = jnp.zeros((num_arms, num_arms), jnp.int32)
    return Tally(zeros, zeros)


def counted(tally: Tally, pair: jax.Array, outcome: jax.Array) -> Tally:
    """With one more duel.

    >>> tally = counted(empty(2), jnp.array([1, 0]), jnp.bool_(True))
    >>> tally.wins.tolist(), tally.duels.tolist()
    ([[0, 0], [1, 0]], [[0, 1], [1, 0]])
    """
    one = (pair[0] != pair[1]).astype(jnp.int32)
    winner, loser = jnp.where(outcome, pair[0], pair[1]), jnp.where(outcome, pair[1], pair[0])
    duels = tally.duels.at[winner, loser].add(one).at[loser, winner].add(one)
    return Tally(tally.wins.at[winner, loser].add(one), duels)


def estimates(tally: Tally) -> jax.Array:
    """p_ij as far as one knows, float32 [K, K]: 1/2 where there was no duel.

    >>> estimates(counted(empty(2), jnp.array([1, 0]), jnp.bool_(True))).tolist()
    [[0.5, 0.0], [1.0, 0.5]]
    """
    wins, duels = tally.wins.astype(jnp.float32), tally.duels.astype(jnp.float32)
    return jnp.where(tally.duels > 0, wins / jnp.maximum(duels, 1), 0.5)


def copeland_leader(tally: Tally) -> jax.Array:
    """The arm that beats most others, then the one of the best mean, then the first: int32 [].

    >>> int(copeland_leader(counted(empty(2), jnp.array([1, 0]), jnp.bool_(True))))
    1
    """
    rates = estimates(tally)
    num_arms = rates.shape[-1]
    # A mean is below 1, and does not outweigh a win.
    score = (rates > 0.5).sum(-1).astype(jnp.float32) + rates.sum(-1) / (2 * num_arms)
    return jnp.argmax(score).astype(jnp.int32)
