"""What players are told at the table, what is noted of a hand, and hands of two, all at once.

Who wins a showdown, and how strong hands are, is computed once for all who play a deck. Axes: 4
streets, 2 hands of a deck, A = 7 actions; [...] is any batch of hands.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.typing import ArrayLike

from jaxrace.core.validation import BadArgument
from jaxrace.envs.holdem import abstraction, betting
from jaxrace.envs.holdem.betting import BettingState, Rules
from jaxrace.envs.holdem.evaluation import showdown


class Deals(NamedTuple):
    """What decides over decks."""

    winner: jax.Array  # int32 [...], of the showdown: 1 hand 0, -1 hand 1, 0 none
    strengths: jax.Array  # float32 [4, 2, ...], of each hand on each street, as players see it


class Seating(NamedTuple):
    """Who sits where, with which cards; players are 0 and 1.

    Other `button` and `first` exchange the players, cards and all; another `first` the hands alone.
    """

    button: jax.Array | int  # int32 [...], the player on the button
    first: jax.Array | int  # int32 [...], the player who has hand 0


# Every way to play a deck; the first two are those of duplicate poker.
SEATINGS = (Seating(0, 0), Seating(1, 1), Seating(0, 1), Seating(1, 0))


class Observation(NamedTuple):
    """What the player to act knows."""

    seat: jax.Array  # int32 [...], its own: 0 the button, 1 the big blind
    street: jax.Array  # int32 [...], 0..3
    own: jax.Array  # int32 [...], chips that it has put in during this hand
    other: jax.Array  # int32 [...], chips that the opponent has
    strength: jax.Array  # float32 [...], of its hand on this street: `Deals.strengths`
    legal: jax.Array  # bool [A, ...]
    totals: jax.Array  # int32 [A, ...], `own` after each action


class Move(NamedTuple):
    """An action, and what it answered."""

    made: jax.Array  # bool [...]; False after the end of the hand, where the rest means nothing
    seat: jax.Array  # int32 [...], who acted
    street: jax.Array  # int32 [...]
    action: jax.Array  # int32 [...] in 0..6
    own: jax.Array  # int32 [...], what the seat had put in before
    other: jax.Array  # int32 [...], what the other one had
    total: jax.Array  # int32 [...], what the seat had put in afterwards


def prepare(decks: ArrayLike, strengths: ArrayLike | None = None) -> Deals:
    """What decides over decks, int32 [9, ...] as `deal` returns them.

    `strengths`, float32 [4, 2, ...], may be measured in any way; 0 unless given.

    >>> from jaxrace.envs.holdem.cards import parse
    >>> int(prepare(parse("2c 3c  As Ad  4c 5c 6c Ks Kd")).winner)
    1
    """
    winner = showdown(decks)
    shape = (len(betting.STREETS), 2, *winner.shape)
    if strengths is None:
        return Deals(winner, jnp.zeros(shape, jnp.float32))
    if jnp.shape(strengths) != shape:
        raise BadArgument("strengths", f"shape {shape}", str(jnp.shape(strengths)))
    return Deals(winner, jnp.asarray(strengths, jnp.float32))


def observe(state: BettingState, deals: Deals, seating: Seating) -> Observation:
    """What the player to act sees.

    >>> deals = Deals(jnp.int32(1), jnp.tile(jnp.array([0.25, 0.75]), (4, 1)))
    >>> state = betting.step(betting.init(betting.Rules()), 300)
    >>> seen = observe(state, deals, SEATINGS[0])  # player 1, in the big blind with hand 1
    >>> int(seen.seat), int(seen.own), int(seen.other), f"{seen.strength:.2f}"
    (1, 100, 300, '0.75')
    """
    own, other = betting.amounts(state)
    return Observation(
        seat=state.to_act,
        street=state.street,
        own=own,
        other=other,
        strength=_strength(state, deals, seating),
        legal=abstraction.legal(state),
        totals=abstraction.totals(state),
    )


def act(state: BettingState, action: jax.Array) -> tuple[BettingState, Move]:
    """The state after an action, and the note of it; a hand that is over stays.

    The action is int32 [...] in 0..6; an illegal one sets `BettingState.illegal`.

    >>> state, fold = act(betting.init(betting.Rules()), jnp.int32(abstraction.FOLD))
    >>> state, late = act(state, jnp.int32(abstraction.CALL))
    >>> bool(fold.made), bool(late.made), bool(state.illegal)
    (True, False, False)
    """
    action, is_on = betting.as_integer(action), betting.is_on(state)
    stepped = abstraction.advance(state, action)
    after = jax.tree.map(lambda new, old: jnp.where(is_on, new, old), stepped, state)
    own, other = betting.amounts(state)
    total = jnp.where(state.to_act == betting.BUTTON, *after.contributions)
    made = is_on & ~after.illegal
    return after, Move(made, state.to_act, state.street, action, own, other, total)


def winnings(state: BettingState, deals: Deals, seating: Seating) -> jax.Array:
    """What player 0 has won, int32 [...]; player 1 has lost it.

    >>> state = betting.step(betting.step(betting.init(betting.Rules()), 300), betting.FOLD)
    >>> deals = Deals(jnp.int32(1), jnp.zeros((4, 2)))
    >>> [int(winnings(state, deals, seating)) for seating in SEATINGS]  # the button has won
    [100, -100, 100, -100]
    """
    is_first = seating.button == seating.first  # Has the button hand 0?
    winner = jnp.where(is_first, deals.winner, -deals.winner)
    return jnp.where(seating.button == 0, *betting.payoffs(state, winner))


def as_seating(seating: Seating, deals: Deals) -> Seating:
    """A seating of N decks, leaves int32 [] or [N]; BadArgument if it, or the deals, do not fit."""
    shape = jnp.shape(deals.winner)
    if len(shape) != 1:
        raise BadArgument("deals", "a list of them", f"shape {shape}")
    expected, got = (len(betting.STREETS), 2, *shape), jnp.shape(deals.strengths)
    if got != expected:
        raise BadArgument("deals.strengths", f"shape {expected}", str(got))
    for name, players in zip(Seating._fields, seating, strict=True):
        if not isinstance(players, Tracer) and not np.isin(np.asarray(players), (0, 1)).all():
            raise BadArgument(f"seating.{name}", "players 0 or 1", str(players))
        if (got := jnp.shape(players)) not in ((), shape):
            raise BadArgument(f"seating.{name}", f"shape () or {shape}", str(got))
    return Seating(*(jnp.asarray(players, jnp.int32) for players in seating))


def player_to_act(state: BettingState, seating: Seating) -> jax.Array:
    """Who is to act, int32 [...]."""
    return state.to_act ^ seating.button


def _strength(state: BettingState, deals: Deals, seating: Seating) -> jax.Array:
    """That of the hand of the player to act, on the present street."""
    hand = player_to_act(state, seating) ^ seating.first
    strengths = jnp.where(hand == 0, deals.strengths[:, 0], deals.strengths[:, 1])
    # Street by street, as a gather is slow on a CPU.
    found = strengths[0]
    for street in range(1, len(betting.STREETS)):
        found = jnp.where(state.street == street, strengths[street], found)
    return found


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
    >>> deals = prepare(deal(jax.random.key(0), 3))
    >>> call, fold = (lambda key, seen, at=at: jnp.full_like(seen.seat, at) for at in (1, 0))
    >>> play((call, fold), jax.random.key(1), deals, SEATINGS[1], Rules()).winnings
    Array([50, 50, 50], dtype=int32)
    """
    seating = as_seating(seating, deals)
    final, played = _play(policies, with_moves, key, deals, seating, rules)
    if not isinstance(played.illegal, Tracer) and played.illegal.any():
        illegal = np.asarray(played.illegal)
        hand = int(illegal.argmax())
        players = np.broadcast_to(np.asarray(player_to_act(final, seating)), illegal.shape)
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

    def take_turn(state: BettingState, keys: jax.Array) -> tuple[BettingState, Move | None]:
        observation = observe(state, deals, seating)
        # Each by itself: merged with an integer, a truth value would pass.
        first, second = (
            betting.as_integer(policy(keys[i], observation)) for i, policy in enumerate(policies)
        )
        action = jnp.where(player_to_act(state, seating) == 0, first, second)
        state, move = act(state, action)
        return state, move if with_moves else None

    steps = abstraction.longest_hand(rules)
    final, moves = lax.scan(take_turn, start, jax.random.split(key, (steps, 2)))
    return final, Played(winnings(final, deals, seating), final.illegal, moves)
