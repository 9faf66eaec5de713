"""Hands played step by step, with everything that a player computes on the way."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxrace.envs.holdem import abstraction, betting, table
from jaxrace.envs.holdem.betting import Rules
from jaxrace.envs.holdem.table import Deals, Move, Observation
from papers.holdem.lanes import Ending


class Step(NamedTuple):
    """One action."""

    observation: Observation
    views: Any  # of both players; that of the one who is not to act means nothing
    utilities: jax.Array  # [7], of the one who is to act
    wanted: jax.Array  # what that player decides
    move: Move  # what is played


class Hand(NamedTuple):
    """Leaves of `steps` are [T, ...]; steps without a move mean nothing."""

    steps: Step
    endings: tuple[Ending, ...]  # what each is told
    memories: tuple[Any, Any]  # after it


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def play_hand(
    player: Any, policy: Any, rules: Rules, weights: Any, key: Any, memories: Any, deals: Any
) -> Hand:
    """Play a hand of two players of a kind, player 0 on the button; a policy may act for them.

    Args:
        player: of both.
        policy: what is played; None lets the players decide.
        rules: the amounts.
        weights: of the two.
        key: for the policy.
        memories: of the two.
        deals: one.
    """
    seating = jax.tree.map(jnp.int32, table.SEATINGS[0])
    notes = tuple(player.begin_hand(memories[i], jnp.int32(i)) for i in range(2))

    def act(carried: Any, key: jax.Array) -> tuple[Any, Step]:
        state, notes = carried
        observation = table.observe(state, deals, seating)
        turn = table.player_to_act(state, seating)
        views = tuple(player.look(memories[i], notes[i], observation) for i in range(2))

        def choose(pair: Any) -> Any:
            return jax.tree.map(lambda a, b: jnp.where(turn == 0, a, b), *pair)

        own_weights, view = choose(weights), choose(views)
        wanted = player.decide(key, own_weights, view, observation)
        utilities = player.utilities(own_weights, view, observation)
        state, move = table.act(state, policy(key, observation) if policy else wanted)
        watched = tuple(player.watch(memories[i], notes[i], move) for i in range(2))
        notes = jax.tree.map(lambda new, old: jnp.where(move.made, new, old), watched, notes)
        return (state, notes), Step(observation, views, utilities, wanted, move)

    keys = jax.random.split(key, abstraction.longest_hand(rules))
    (state, notes), steps = jax.lax.scan(act, (betting.init(rules), notes), keys)
    winnings = table.winnings(state, deals, seating)
    shown = state.folded < 0
    endings = tuple(
        Ending(
            moves=steps.move,
            winnings=winnings * (1 - 2 * i),
            folded=state.folded,
            other_strengths=jnp.where(shown, deals.strengths[:, 1 - i], 0),
        )
        for i in range(2)
    )
    memories = tuple(player.end_hand(memories[i], notes[i], endings[i]) for i in range(2))
    return Hand(steps, endings, memories)


def deal_of(deals: Deals, number: int) -> Deals:
    """One of many."""
    return Deals(deals.winner[number], deals.strengths[..., number])
