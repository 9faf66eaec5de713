"""Hands between two players with memory, one after the other; batch over lanes with `jax.vmap`.

A lane is one run of hands in which two players get to know each other. A player is a frozen,
hashable object of what is static, with pure methods for one hand of one lane. Its weights, a
pytree, are passed in. Its *memory*, any pytree, lasts from hand to hand and is written once, in
`end_hand`, because what is written in every step is copied in every step. Its *notes* are of the
present hand. `look` gathers from both what a decision needs, so the inputs of `decide` stay small.
The methods are called like this:

    memory = begin(weights)                              once per player
    for each hand:
        notes = begin_hand(memory, seat)
        for each step, T at most:
            view = look(memory, notes, observation)      for both players
            action = decide(key, weights, view, observation)
            notes = watch(memory, notes, move)           for both players
        memory = end_hand(memory, notes, ending)

A batch of lanes goes on to the next hand when all have finished theirs; what is decided after the
end of a hand is dropped. Axes: H hands of a lane, T steps of a hand.
"""

import dataclasses
import functools
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from jaxrace.core.validation import BadArgument
from jaxrace.envs.holdem import abstraction, betting, table
from jaxrace.envs.holdem.betting import BettingState, Rules
from jaxrace.envs.holdem.table import Deals, Move, Observation, Policy, Seating


class Ending(NamedTuple):
    """What a player is told at the end of a hand."""

    moves: Move  # leaves [T], those of both players
    winnings: jax.Array  # int32 [], its own
    folded: jax.Array  # int32 [], the seat that has folded, or -1: then hands were shown
    other_strengths: jax.Array  # float32 [4], of the opponent's if it was shown, else 0


class Player(Protocol):
    """What `play_lane` calls; all methods are pure."""

    def begin(self, weights: Any) -> Any:
        """The memory before the first hand."""

    def begin_hand(self, memory: Any, seat: jax.Array) -> Any:
        """The notes before a hand begins; `seat` is 0 on the button, 1 in the big blind."""

    def look(self, memory: Any, notes: Any, observation: Observation) -> Any:
        """What `decide` needs of memory and notes: the view, a pytree of small arrays.

        Called when the opponent is to act as well; then the observation is the opponent's, and the
        view is dropped.
        """

    def decide(
        self, key: jax.Array, weights: Any, view: Any, observation: Observation
    ) -> jax.Array:
        """One of the seven actions, int32 []; it has to be legal."""
        ...

    def watch(self, memory: Any, notes: Any, move: Move) -> Any:
        """The notes after an action of either player; dropped where it was not made."""

    def end_hand(self, memory: Any, notes: Any, ending: Ending) -> Any:
        """The memory after a hand: the only place where it changes."""


@dataclasses.dataclass(frozen=True)
class Memoryless:
    """A player that plays by a policy and remembers nothing; its weights do not count."""

    policy: Policy

    def begin(self, *_: Any, **__: Any) -> tuple[()]:
        """Return neither memory, notes nor view."""
        return ()

    begin_hand = look = watch = end_hand = begin

    def decide(
        self, key: jax.Array, weights: Any, view: Any, observation: Observation
    ) -> jax.Array:
        """The action of the policy."""
        del weights, view
        return self.policy(key, observation)


# What is kept of players 0 and 1.
Two = tuple[Any, Any]
Players = tuple[Player, Player]


class LanePlayed(NamedTuple):
    """What a lane leaves."""

    winnings: jax.Array  # int32 [H], of player 0, in chips; player 1 has lost them
    illegal: jax.Array  # bool [H], did a player take an illegal action? Such a hand has no winner
    memories: Two  # of the players, after the last hand


def play_lane(
    players: Players, weights: Two, key: jax.Array, deals: Deals, seating: Seating, rules: Rules
) -> LanePlayed:
    """Play one hand of each deck, in their order, with memories that are empty at the start.

    Pure; vmap it over weights, keys, and, where lanes play other cards, over deals. Hand number h
    has the key `fold_in(key, h)`. `deals` are what `prepare` returned for H decks; `seating` has
    leaves [] or [H]. ValueError if deals or seating do not fit, a player is made for other rules or
    has weights that are not finite, or, where nothing is traced, took an illegal action.

    >>> from jaxrace.envs.holdem import deal
    >>> from papers.holdem import policies
    >>> deals = table.prepare(deal(jax.random.key(0), 3))
    >>> pair = Memoryless(policies.always_fold), Memoryless(policies.always_call)
    >>> seating = Seating(button=jnp.array([0, 1, 0]), first=0)
    >>> play_lane(pair, (None, None), jax.random.key(1), deals, seating, Rules()).winnings
    Array([-50, 100, -50], dtype=int32)
    """
    seating = table.as_seating(seating, deals)
    for number, player in enumerate(players):
        own = getattr(player, "rules", rules)
        # A player whose memory has the shape of other games would look in the wrong places.
        if own != rules:
            raise BadArgument("rules", f"those of players[{number}], {own}", str(rules))
        for leaf in jax.tree.leaves(weights[number]):
            # With NaN no action would be better than any other.
            if not isinstance(leaf, Tracer) and not np.isfinite(np.asarray(leaf)).all():
                raise BadArgument(f"weights[{number}]", "finite numbers", "others")
    played = _play_lane(players, weights, key, deals, seating, rules)
    if not isinstance(played.illegal, Tracer) and played.illegal.any():
        hand, others = int(played.illegal.argmax()), int(played.illegal.sum()) - 1
        raise BadArgument(
            "players", "legal actions", f"another one in hand {hand} (and in {others} other hands)"
        )
    return played


@functools.partial(jax.jit, static_argnums=(0, 5))
def _play_lane(
    players: Players, weights: Two, key: jax.Array, deals: Deals, seating: Seating, rules: Rules
) -> LanePlayed:
    hands = deals.winner.shape[0]
    seating = Seating(*(jnp.broadcast_to(leaf, (hands,)) for leaf in seating))
    by_hand = Deals(deals.winner, jnp.moveaxis(deals.strengths, -1, 0))
    play_one = functools.partial(_play_hand, players, rules, weights)

    def play_next(memories: Two, hand: tuple) -> tuple[Two, tuple]:
        number, *cards_and_seats = hand
        return play_one(jax.random.fold_in(key, number), memories, *cards_and_seats)

    numbers = jnp.arange(hands, dtype=jnp.int32)
    memories = tuple(player.begin(own) for player, own in zip(players, weights, strict=True))
    memories, (winnings, illegal) = lax.scan(play_next, memories, (numbers, by_hand, seating))
    return LanePlayed(winnings, illegal, memories)


class _Hand(NamedTuple):
    """A hand that is being played."""

    state: BettingState
    notes: Two
    steps: jax.Array  # int32 [], how many so far
    moves: Move  # leaves [T]


def _play_hand(
    players: Players,
    rules: Rules,
    weights: Two,
    key: jax.Array,
    memories: Two,
    deals: Deals,
    seating: Seating,
) -> tuple[Two, tuple[jax.Array, jax.Array]]:
    """The memories after a hand, what player 0 has won in it, and whether it was illegal."""
    start = betting.init(rules)
    notes = tuple(
        player.begin_hand(memories[number], jnp.asarray(seating.button ^ number, jnp.int32))
        for number, player in enumerate(players)
    )
    num_steps = abstraction.longest_hand(rules)
    keys = jax.random.split(key, num_steps)
    places = jnp.arange(num_steps, dtype=jnp.int32)

    def act(hand: _Hand) -> _Hand:
        observation = table.observe(hand.state, deals, seating)
        turn = table.player_to_act(hand.state, seating)
        views = tuple(
            player.look(memory, notes, observation)
            for player, memory, notes in zip(players, memories, hand.notes, strict=True)
        )
        action = _decide(players, keys[hand.steps], weights, views, turn, observation)
        state, move = table.act(hand.state, action)
        watched = tuple(
            player.watch(memory, notes, move)
            for player, memory, notes in zip(players, memories, hand.notes, strict=True)
        )
        notes = jax.tree.map(lambda new, old: jnp.where(move.made, new, old), watched, hand.notes)
        moves = jax.tree.map(
            lambda new, old: jnp.where(places == hand.steps, new, old), move, hand.moves
        )
        return _Hand(state, notes, hand.steps + 1, moves)

    _, move = jax.eval_shape(table.act, start, jnp.int32(0))
    moves = jax.tree.map(lambda leaf: jnp.zeros(num_steps, leaf.dtype), move)
    # Where hands are over, a batch keeps what they have come to.
    final = lax.while_loop(
        lambda hand: betting.is_on(hand.state), act, _Hand(start, notes, jnp.int32(0), moves)
    )
    winnings = table.winnings(final.state, deals, seating)
    shown = final.state.finished & (final.state.folded < 0)

    def ending(player: int) -> Ending:
        hand = seating.first ^ player
        other = deals.strengths[:, 1 - hand]
        return Ending(
            moves=final.moves,
            winnings=winnings if player == 0 else -winnings,
            folded=final.state.folded,
            other_strengths=jnp.where(shown, other, 0),
        )

    memories = tuple(
        player.end_hand(memories[number], final.notes[number], ending(number))
        for number, player in enumerate(players)
    )
    return memories, (winnings, final.state.illegal)


def _decide(
    players: Players, key: jax.Array, weights: Two, views: Two, turn: jax.Array, seen: Observation
) -> jax.Array:
    """The action of the player whose turn it is."""

    def choose(first: Any, second: Any) -> Any:
        return jax.tree.map(lambda a, b: jnp.where(turn == 0, a, b), first, second)

    if players[0] == players[1]:
        own_weights, view = choose(*weights), choose(*views)
        return players[0].decide(key, own_weights, view, seen)
    keys = jax.random.split(key)
    actions = (
        player.decide(keys[number], weights[number], views[number], seen)
        for number, player in enumerate(players)
    )
    return choose(*map(betting.as_integer, actions))
