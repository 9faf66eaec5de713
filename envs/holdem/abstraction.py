"""Seven actions of the betting: fold, check or call, four sizes of raises, and all-in.

A raise of 1/2, 1, 3/2 or 2 pots, counted after the call, is a raise to 2, 3, 4 or 5 times the
higher of the two amounts, and less than the stack: so no two actions are the same. All-in is legal
wherever there is a raise, even as a short one. Axes: A = 7 actions.
"""

import jax
import jax.numpy as jnp

from jaxrace.envs.holdem import betting
from jaxrace.envs.holdem.betting import BettingState, Rules

# The number of a raise is what it multiplies the higher amount by.
FOLD, CALL, HALF_POT, POT, POT_AND_HALF, TWO_POTS, ALL_IN = range(7)
SIZES = (HALF_POT, POT, POT_AND_HALF, TWO_POTS)
ACTIONS = ("fold", "check or call", "1/2 pot", "1 pot", "3/2 pots", "2 pots", "all-in")
NUM_ACTIONS = len(ACTIONS)


def legal(state: BettingState) -> jax.Array:
    """Which of the seven actions are legal: bool [A, ...].

    >>> legal(betting.init(Rules())).tolist()
    [True, True, True, True, True, True, True]
    """
    least, most = betting.raise_range(state)
    highest = jnp.maximum(*state.contributions)
    sizes = [(least <= size * highest) & (size * highest < most) for size in SIZES]
    return jnp.stack([betting.may_fold(state), betting.is_on(state), *sizes, least <= most])


def totals(state: BettingState) -> jax.Array:
    """What the seat to act will have put in after each action, legal or not: int32 [A, ...]."""
    own, _ = betting.amounts(state)
    highest = jnp.maximum(*state.contributions)
    stack = jnp.full_like(own, state.rules.stack)
    return jnp.stack([own, highest, *(size * highest for size in SIZES), stack])


def to_betting(state: BettingState, action: jax.Array) -> jax.Array:
    """An action, int32 [...], as `betting.step` takes it; -1 for what is not legal.

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


@jax.jit
def advance(state: BettingState, action: jax.Array) -> BettingState:
    """The state after an action, int32 [...]; an illegal one sets `illegal`."""
    return betting.step(state, to_betting(state, action))


def longest_hand(rules: Rules) -> int:
    """The largest number of actions in a hand: two on each street, and one more for every raise.

    The smallest raises double the amount, until the last one is all-in.
    """
    raises, amount = 0, rules.big_blind
    while amount < rules.stack:
        raises, amount = raises + 1, 2 * amount
    return 2 * len(betting.STREETS) + raises
