"""Hands between two players, all at once. Axes: N hands, T steps, as many as the longest may take.

In each step both players are asked for all hands, and the action of the one to act is played.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from jaxrace.core.validation import BadArgument
from jaxrace.envs.holdem import abstraction, betting, table
from jaxrace.envs.holdem.betting import BettingState, Rules
from jaxrace.envs.holdem.table import Deals, Move, Observation, Seating

# A pure, hashable policy(key, observation) -> action. The leaves of the observation have any one
# shape [...], and so has the action, int32 in 0..6: it plays all hands of a batch with one key.
Policy = Callable[[jax.Array, Observation], jax.Array]


class Played(NamedTuple):
    """How hands have ended."""

    winnings: jax.Array  # int32 [N], of player 0, in chips; player 1 has lost them
    illegal: jax.Array  # bool [N], did a player take an illegal action? Such a hand has no winner
    moves: Move | None = None  # leaves [T, N], where asked for


def play(
    policies: tuple[Policy, Policy],
    key: jax.Array,
    deals: Deals,
    seating: Seating,
    rules: Rules,
    with_moves: bool = False,
) -> Played:
    """Play one hand of each of N decks, with the policies of player 0 and player 1.

    A policy draws for a whole batch: batches of other sizes play out otherwise. `deals` are those
    of `prepare`; `seating` has leaves [] or [N]. BadArgument if they do not fit or, where nothing
    is traced, a policy took an illegal action. `with_moves` also returns what was done.

    >>> from jaxrace.envs.holdem import deal
    >>> deals = table.prepare(deal(jax.random.key(0), 3))
    >>> call, fold = (lambda key, seen, at=at: jnp.full_like(seen.seat, at) for at in (1, 0))
    >>> play((call, fold), jax.random.key(1), deals, table.SEATINGS[1], Rules()).winnings
    Array([50, 50, 50], dtype=int32)
    """
    seating = table.as_seating(seating, deals)
    final, played = _play(policies, with_moves, key, deals, seating, rules)
    if not isinstance(played.illegal, Tracer) and played.illegal.any():
        illegal = np.asarray(played.illegal)
        hand = int(illegal.argmax())
        players = np.broadcast_to(np.asarray(table.player_to_act(final, seating)), illegal.shape)
        where = f"on street {final.street[hand]} of hand {hand}"
        got = f"another one {where} (and in {illegal.sum() - 1} other hands)"
        raise BadArgument(f"policies[{players[hand]}]", "legal actions", got)
    return played


@functools.partial(jax.jit, static_argnums=(0, 1, 5))
def _play(
    policies: tuple[Policy, Policy],
    with_moves: bool,
    key: jax.Array,
    deals: Deals,
    seating: Seating,
    rules: Rules,
) -> tuple[BettingState, Played]:
    start = betting.init(rules, deals.winner.shape)

    def act(state: BettingState, keys: jax.Array) -> tuple[BettingState, Move | None]:
        observation = table.observe(state, deals, seating)
        # Each by itself: merged with an integer, a truth value would pass.
        first, second = (
            betting.as_integer(policy(keys[i], observation)) for i, policy in enumerate(policies)
        )
        action = jnp.where(table.player_to_act(state, seating) == 0, first, second)
        state, move = table.act(state, action)
        return state, move if with_moves else None

    steps = abstraction.longest_hand(rules)
    final, moves = lax.scan(act, start, jax.random.split(key, (steps, 2)))
    return final, Played(table.winnings(final, deals, seating), final.illegal, moves)
