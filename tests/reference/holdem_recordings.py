"""Hands of the betting with everything that another engine can be asked about.

The modules of the rules come as arguments, so that wrong ones can be recorded as well. Axis
letters: T steps, N hands, A = 7 actions.
"""

from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace.envs.holdem import deal, evaluation

# With raises of any size: after so many steps players only check and call, at most twice a street.
PATIENCE, SLACK = 40, 8


class Step(NamedTuple):
    """Before an action, and the action."""

    on: Any  # bool [T, N]
    seat: Any  # int32 [T, N]
    street: Any
    may_fold: Any  # bool [T, N]
    least: Any  # int32 [T, N], of the raises
    most: Any
    legal: Any  # bool [T, N, A]
    totals: Any  # int32 [T, N, A]
    choice: Any  # int32 [T, N] in 0..6, of the seven actions; -1 where any amount is raised
    action: Any  # int32 [T, N], as betting.step takes it


class Recording(NamedTuple):
    """Hands; NumPy arrays."""

    decks: Any  # int32 [9, N], hand 0 is the button's
    steps: Step
    finished: Any  # bool [N]
    illegal: Any  # bool [N]
    payoffs: Any  # int32 [N, 2], the button's and the big blind's


def record(
    betting: ModuleType, abstraction: ModuleType, seed: int, hands: int, free: bool
) -> Recording:
    """Play random hands.

    Args:
        betting: the module of that name.
        abstraction: the module of that name, which stands on it.
        seed: of cards and actions.
        hands: N.
        free: raise by any legal amount; otherwise all seven actions are equally likely.
    """
    keys = jax.random.split(jax.random.key(seed), 2)
    decks = deal(keys[0], hands)
    start = betting.init(betting.Rules(), (hands,))

    def act(state, inputs):
        key, number = inputs
        least, most = betting.raise_range(state)
        legal = abstraction.legal(state)
        if free:
            action = _free_action(key, betting.may_fold(state), least, most)
            action = jnp.where(number < PATIENCE, action, 1)
            choice = jnp.full_like(action, -1)
        else:
            choice = _one_of(key, legal)
            action = abstraction.to_betting(state, choice)
        on = betting.is_on(state)
        step = Step(
            on,
            state.to_act,
            state.street,
            betting.may_fold(state),
            least,
            most,
            legal.T,
            abstraction.totals(state).T,
            choice,
            action,
        )
        after = betting._step(state, action)
        return jax.tree.map(lambda new, old: jnp.where(on, new, old), after, state), step

    @jax.jit
    def run(key):
        numbers = jnp.arange(PATIENCE + SLACK, dtype=jnp.int32)
        final, steps = lax.scan(act, start, (jax.random.split(key, len(numbers)), numbers))
        payoffs = betting.payoffs(final, evaluation.showdown(decks))
        return Recording(decks, steps, final.finished, final.illegal, jnp.stack(payoffs, axis=-1))

    return jax.tree.map(np.asarray, run(keys[1]))


def _one_of(key, legal):
    """One of the legal actions, [A, N] -> [N]."""
    return jax.random.categorical(key, jnp.where(legal, 0.0, -jnp.inf), axis=0).astype(jnp.int32)


def _free_action(key, may_fold, least, most):
    """Fold now and then, call often, raise: by the least amount, all-in, a little or anything."""
    kind, size = jax.random.uniform(key, (2, *least.shape), jnp.float32)
    width = (most - least).astype(jnp.float32)
    power = jnp.where(kind > 0.8, 1.0, 8.0)
    between = least + jnp.minimum((width * size**power).astype(jnp.int32), most - least)
    raised = jnp.where(kind < 0.55, least, jnp.where(kind > 0.97, most, between))
    called = (kind < 0.45) | (least > most)
    return jnp.where((kind < 0.08) & may_fold, 0, jnp.where(called, 1, raised)).astype(jnp.int32)
