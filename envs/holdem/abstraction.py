"""Seven actions of the betting: fold, check or call, four sizes of raises, and all-in.

A raise of 1/2, 1, 3/2 or 2 pots, counted after the call, is a raise to 2, 3, 4 or 5 times the
higher of the two amounts that have been put in: heads-up, the pot after a call is twice that
amount. A size is legal where it is less than the stack; what would take the whole stack, or more,
is all-in, which has its own number, so that no two actions are the same. All-in is legal wherever
there is a raise, even as a short one. Axes: A = 7 actions.
"""

import jax
import jax.numpy as jnp
from jax.core import Tracer

from jaxrace.envs.holdem import betting
from jaxrace.envs.holdem.betting import BettingState, Rules

# The number of a raise is what it multiplies the higher amount by.
FOLD, CALL, HALF_POT, POT, POT_AND_HALF, TWO_POTS, ALL_IN = range(7)
SIZES = (HALF_POT, POT, POT_AND_HALF, TWO_POTS)
ACTIONS = ("fold", "check or call", "1/2 pot", "1 pot", "3/2 pots", "2 pots", "all-in")
NUM_ACTIONS = len(ACTIONS)


def legal(state: BettingState) -> jax.Array:
    """Return which of the seven actions are legal: bool [A, ...].

    >>> legal(betting.init(Rules())).tolist()
    [True, True, True, True, True, True, True]
    """
    least, most = betting.raise_range(state)
    highest = jnp.maximum(*state.contributions)
    sizes = [(least <= size * highest) & (size * highest < most) for size in SIZES]
    return jnp.stack([betting.may_fold(state), betting.is_on(state), *sizes, least <= most])


def totals(state: BettingState) -> jax.Array:
    """Return what the seat to act will have put in after each action, legal or not: int32 [A, ...].

    >>> totals(betting.init(Rules())).tolist()
    [50, 100, 200, 300, 400, 500, 20000]
    """
    own, _ = betting.amounts(state)
    highest = jnp.maximum(*state.contributions)
    stack = jnp.full_like(own, state.rules.stack)
    return jnp.stack([own, highest, *(size * highest for size in SIZES), stack])


def to_betting(state: BettingState, action: jax.Array) -> jax.Array:
    """Return one of the seven actions, int32 [...], as `betting.step` takes it.

    0, 1 or the amount to raise to; -1 for what is none of the seven, and for sizes that are not
    legal.

    >>> to_betting(betting.init(Rules()), jnp.arange(8)).tolist()  # there is no action 7
    [0, 1, 200, 300, 400, 500, 20000, -1]
    """
    least, most = betting.raise_range(state)
    highest = jnp.maximum(*state.contributions)
    is_size = (action >= HALF_POT) & (action <= TWO_POTS)
    total = jnp.where(is_size, action, 0) * highest
    total = jnp.where(is_size & (least <= total) & (total < most), total, -1)
    raised = jnp.where((action == ALL_IN) & (least <= most), most, total)
    return jnp.where((action == FOLD) | (action == CALL), action, raised)


def step(state: BettingState, action: jax.Array | int) -> BettingState:
    """Return the state after one of the seven actions, int32 [...]; else as `betting.step`.

    >>> state = step(betting.init(Rules()), ALL_IN)
    >>> step(state, POT)
    Traceback (most recent call last):
    ValueError: action: expected one of 0 (fold), 1 (check or call), got 3
    """
    action = betting.as_integer(action)
    after = advance(state, action)
    if not isinstance(after.illegal, Tracer):
        betting.refuse_illegal(after, action, _describe_legal)
    return after


@jax.jit
def advance(state: BettingState, action: jax.Array) -> BettingState:
    """Return what `step` returns, without refusing anything: `illegal` has to be looked at."""
    return betting.step(state, to_betting(state, action))


def longest_hand(rules: Rules) -> int:
    """Return the largest number of the seven actions in a hand.

    Each street takes two actions, if nobody raises; every raise is one more, wherever it comes, and
    the smallest ones double the amount: most are possible on the river, the last one all-in.

    >>> longest_hand(Rules())
    16
    """
    raises, amount = 0, rules.big_blind
    while amount < rules.stack:
        raises, amount = raises + 1, 2 * amount
    return 2 * len(betting.STREETS) + raises


def _describe_legal(state: BettingState) -> str:
    choices = [
        f"{action} ({ACTIONS[action]})" for action, is_legal in enumerate(legal(state)) if is_legal
    ]
    return "one of " + ", ".join(choices) if choices else "none, as the hand is over"
