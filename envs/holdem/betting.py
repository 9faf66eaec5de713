"""The betting of heads-up no-limit Texas Hold'em, as in the Annual Computer Poker Competition.

The button (0) posts the small blind and acts first before the flop; the big blind (1) acts first on
later streets, and has its option after a call before the flop. A raise is named by what the raiser
has put in during the whole hand ("raise to"). It raises by at least the last raise of the street,
or one big blind; only all-in may be less. Nobody raises an all-in. Folding is not offered where
checking is free. Who folds loses what it has put in; the loser of a showdown loses the smaller of
the two amounts.

Functions of a state are pure; its leaves have any one shape, [...].
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike

from jaxrace.core.validation import BadArgument, require_integer

BUTTON, BIG_BLIND = 0, 1
STREETS = ("preflop", "flop", "turn", "river")

FOLD, CALL = 0, 1  # actions; any larger number is a raise to that amount

# Five times this, the largest size of `jaxrace.envs.holdem.abstraction`, fits into 32 bits.
_LARGEST_STACK = 400_000_000


@dataclasses.dataclass(frozen=True)
class Rules:
    """The amounts in chips; both stacks are equal.

    BadArgument unless 1 <= `small_blind` < `big_blind` <= `stack`.

    >>> Rules(stack=99)
    Traceback (most recent call last):
    jaxrace.core.validation.BadArgument: stack: expected an integer of at least 100, got 99
    """

    small_blind: int = 50
    big_blind: int = 100
    stack: int = 20_000

    def __post_init__(self) -> None:
        require_integer("small_blind", self.small_blind, 1)
        require_integer("big_blind", self.big_blind, self.small_blind + 1)
        require_integer("stack", self.stack, self.big_blind, _LARGEST_STACK)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class BettingState:
    """Where the betting of a hand stands; `to_act` means nothing once it is over."""

    contributions: tuple[jax.Array, jax.Array]  # int32 [...] each, what each seat has put in
    street: jax.Array  # int32 [...], 0..3; where the betting ended, once it is finished
    to_act: jax.Array  # int32 [...], a seat
    last_raise: jax.Array  # int32 [...], the least that a raise must raise by
    opened: jax.Array  # bool [...], has somebody acted on this street?
    folded: jax.Array  # int32 [...], the seat that has folded, or -1
    finished: jax.Array  # bool [...]
    illegal: jax.Array  # bool [...], was an action illegal? It was not played.
    rules: Rules = dataclasses.field(metadata={"static": True})


def init(rules: Rules, shape: tuple[int, ...] = ()) -> BettingState:
    """The state of hands before the first action.

    >>> state = init(Rules())
    >>> [int(amount) for amount in state.contributions], int(state.to_act)
    ([50, 100], 0)
    """
    no = jnp.zeros(shape, bool)
    amounts = (rules.small_blind, rules.big_blind, rules.big_blind)
    small_blind, big_blind, last_raise = (jnp.full(shape, x, jnp.int32) for x in amounts)
    return BettingState(
        contributions=(small_blind, big_blind),
        street=jnp.zeros(shape, jnp.int32),
        to_act=jnp.full(shape, BUTTON, jnp.int32),
        last_raise=last_raise,
        opened=no,
        folded=jnp.full(shape, -1, jnp.int32),
        finished=no,
        illegal=no,
        rules=rules,
    )


def amounts(state: BettingState) -> tuple[jax.Array, jax.Array]:
    """What the seat to act has put in, and what the other one has: int32 [...] each."""
    acts, both = state.to_act == BUTTON, state.contributions
    return jnp.where(acts, *both), jnp.where(acts, *reversed(both))


def is_on(state: BettingState) -> jax.Array:
    """Is somebody to act? bool [...]."""
    return ~(state.finished | state.illegal)


def may_fold(state: BettingState) -> jax.Array:
    """Is folding legal? bool [...]. Checking or calling always is, while the hand is on."""
    own, other = amounts(state)
    return is_on(state) & (own < other)


def raise_range(state: BettingState) -> tuple[jax.Array, jax.Array]:
    """The least and the most that may be raised to, int32 [...] each; (1, 0) for no raise.

    >>> least, most = raise_range(init(Rules()))
    >>> int(least), int(most)
    (200, 20000)
    """
    stack = jnp.int32(state.rules.stack)
    highest = jnp.maximum(*state.contributions)
    least = jnp.minimum(highest + state.last_raise, stack)
    may_raise = is_on(state) & (highest < stack)
    return jnp.where(may_raise, least, 1), jnp.where(may_raise, stack, 0)


def is_legal(state: BettingState, action: jax.Array) -> jax.Array:
    """Is an action, as `step` takes it, legal? bool [...]."""
    least, most = raise_range(state)
    raises = (action > CALL) & (least <= action) & (action <= most)
    return jnp.where(
        action == FOLD, may_fold(state), jnp.where(action == CALL, is_on(state), raises)
    )


def step(state: BettingState, action: jax.Array | int) -> BettingState:
    """The state after an action, int32 [...].

    0 folds, 1 checks or calls, any larger number raises to that amount. BadArgument if it is not
    legal; in compiled code such an action sets `illegal` alone, and ends the hand without a payoff.

    >>> state = step(step(init(Rules()), 300), CALL)
    >>> STREETS[int(state.street)], int(state.to_act), [int(x) for x in state.contributions]
    ('flop', 1, [300, 300])
    """
    action = as_integer(action)
    after = _step(state, action)
    if not isinstance(after.illegal, Tracer) and after.illegal.any():
        _refuse_illegal(after, action)
    return after


@jax.jit
def _step(state: BettingState, action: jax.Array) -> BettingState:
    legal = is_legal(state, action)
    after = _play(state, action)
    kept = jax.tree.map(lambda new, old: jnp.where(legal, new, old), after, state)
    return dataclasses.replace(kept, illegal=state.illegal | ~legal)


def _play(state: BettingState, action: jax.Array) -> BettingState:
    """The state after a legal action."""
    rules = state.rules
    own, other = amounts(state)
    highest = jnp.maximum(own, other)
    folds, calls = action == FOLD, action == CALL
    total = jnp.where(folds, own, jnp.where(calls, highest, action))
    raises = total > highest

    # If the blinds are all-in, the big blind has no option.
    closes = calls & (state.opened | (highest == rules.stack))
    last = (state.street == len(STREETS) - 1) | (highest == rules.stack)
    finishes = folds | (closes & last)
    goes_on = closes & ~last

    # A raise by less than the last one is all-in, and does not lower the next one.
    last_raise = jnp.where(raises, jnp.maximum(state.last_raise, total - highest), state.last_raise)
    button, big_blind = state.contributions
    acts = state.to_act == BUTTON
    return BettingState(
        contributions=(jnp.where(acts, total, button), jnp.where(acts, big_blind, total)),
        street=state.street + goes_on.astype(jnp.int32),
        to_act=jnp.where(goes_on, BIG_BLIND, 1 - state.to_act),
        last_raise=jnp.where(goes_on, rules.big_blind, last_raise),
        opened=~goes_on,
        folded=jnp.where(folds, state.to_act, state.folded),
        finished=finishes,
        illegal=state.illegal,
        rules=rules,
    )


def payoffs(state: BettingState, winner: ArrayLike) -> tuple[jax.Array, jax.Array]:
    """What the button and the big blind have won: int32 [...] each, of sum 0; 0 before the end.

    `winner` of the showdown is int32 [...]: 1 the button, -1 the big blind, 0 neither (BadArgument
    for another); it does not count after a fold.

    >>> state = step(step(init(Rules()), 300), FOLD)
    >>> [int(amount) for amount in payoffs(state, jnp.int32(0))]
    [100, -100]
    """
    if not isinstance(winner, Tracer) and not np.isin(np.asarray(winner), (-1, 0, 1)).all():
        raise BadArgument("winner", "-1, 0 or 1", str(winner))
    return _payoffs(state, jnp.asarray(winner, jnp.int32))


@jax.jit
def _payoffs(state: BettingState, winner: jax.Array) -> tuple[jax.Array, jax.Array]:
    button, big_blind = state.contributions
    shown = winner * jnp.minimum(button, big_blind)
    unfolded = jnp.where(state.folded == BIG_BLIND, big_blind, shown)
    won = jnp.where(state.folded == BUTTON, -button, unfolded)
    won = jnp.where(state.finished, won, 0)
    return won, -won


def as_integer(action: Any) -> jax.Array:
    """An action as int32 [...], -1 if 32 bits do not hold it; BadArgument for no integer."""
    array = action if isinstance(action, jax.Array) else np.asarray(action)
    if not jnp.issubdtype(array.dtype, jnp.integer):
        raise BadArgument("action", "an integer", repr(action))
    if array.dtype.itemsize > 4:
        # Without its upper bits it could be another action.
        module = jnp if isinstance(array, jax.Array) else np
        fits = (array >= 0) & (array < 2**31)
        array = module.where(fits, array.astype(np.int32), np.int32(-1))
    return jnp.asarray(array, jnp.int32)


def _refuse_illegal(after: BettingState, action: jax.Array) -> None:
    """Raise for the first illegal action that has led to `after`."""
    illegal = np.asarray(after.illegal)
    place = np.unravel_index(np.argmax(illegal), illegal.shape)
    # An illegal action has changed nothing but the flag.
    before = jax.tree.map(lambda leaf: leaf[place], after)
    before = dataclasses.replace(before, illegal=jnp.asarray(False))
    where = f" in hand {list(map(int, place))}" if place else ""
    got = np.broadcast_to(np.asarray(action), illegal.shape)[place]
    raise BadArgument("action", _describe_legal(before), f"{got}{where}")


def _describe_legal(state: BettingState) -> str:
    if not is_on(state):
        return "none, as the hand is over"
    least, most = raise_range(state)
    choices = ["0 (fold)"] if may_fold(state) else []
    choices += ["1 (check or call)"]
    choices += [f"{least}..{most} (raise to)"] if least <= most else []
    return "one of " + ", ".join(choices)
