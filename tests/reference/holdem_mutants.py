"""The rules of the betting, each of them changed once: a text in the source, and a wrong one."""

import sys
from pathlib import Path
from types import ModuleType

from jaxrace.envs.holdem import abstraction, betting

# What is changed: module, right text, wrong text. That a short all-in leaves the least raise as it
# is cannot be seen with equal stacks: nobody may raise afterwards (test_holdem_betting has it).
MUTANTS = {
    "blinds": (
        betting,
        "(jnp.int32(rules.small_blind), jnp.int32(rules.big_blind))",
        "(jnp.int32(rules.big_blind), jnp.int32(rules.small_blind))",
    ),
    "amount of the blinds": (betting, "small_blind: int = 50", "small_blind: int = 40"),
    "stacks": (betting, "stack: int = 20_000", "stack: int = 10_000"),
    "the button begins": (betting, "to_act=jnp.int32(BUTTON)", "to_act=jnp.int32(BIG_BLIND)"),
    "the big blind begins later streets": (
        betting,
        "jnp.where(goes_on, BIG_BLIND, 1 - state.to_act)",
        "jnp.where(goes_on, BUTTON, 1 - state.to_act)",
    ),
    "turns alternate": (
        betting,
        "jnp.where(goes_on, BIG_BLIND, 1 - state.to_act)",
        "jnp.where(goes_on, BIG_BLIND, state.to_act)",
    ),
    "the big blind has its option": (
        betting,
        "opened=jnp.asarray(False)",
        "opened=jnp.asarray(True)",
    ),
    "a check alone does not end a street": (betting, "opened=~goes_on", "opened=jnp.asarray(True)"),
    "raise by the last raise": (
        betting,
        "jnp.maximum(state.last_raise, total - highest)",
        "state.last_raise",
    ),
    "the least raise is one big blind on a new street": (
        betting,
        "jnp.where(goes_on, rules.big_blind, last_raise)",
        "last_raise",
    ),
    "the first raise is by one big blind": (
        betting,
        "last_raise=jnp.int32(rules.big_blind)",
        "last_raise=jnp.int32(rules.small_blind)",
    ),
    "a short all-in is legal": (
        betting,
        "least = jnp.minimum(highest + state.last_raise, stack)",
        "least = highest + state.last_raise",
    ),
    "no raise beyond the stack": (
        betting,
        "jnp.where(may_raise, stack, 0)",
        "jnp.where(may_raise, 2 * stack, 0)",
    ),
    "no raise against an all-in": (
        betting,
        "is_on(state) & (highest < stack)",
        "is_on(state)",
    ),
    "no fold where checking is free": (
        betting,
        "is_on(state) & (own < other)",
        "is_on(state)",
    ),
    "a fold ends the hand": (
        betting,
        "finishes = folds | (closes & last)",
        "finishes = closes & last",
    ),
    "a call of an all-in ends the betting": (
        betting,
        "(state.street == len(STREETS) - 1) | (highest == rules.stack)",
        "state.street == len(STREETS) - 1",
    ),
    "four streets": (betting, "len(STREETS) - 1", "len(STREETS) - 2"),
    "a call matches the other": (
        betting,
        "jnp.where(calls, highest, action)",
        "jnp.where(calls, own, action)",
    ),
    "who folds loses its own chips": (
        betting,
        "jnp.where(state.folded == BUTTON, -button, unfolded)",
        "jnp.where(state.folded == BUTTON, -big_blind, unfolded)",
    ),
    "who wins by a fold gets what the other has put in": (
        betting,
        "jnp.where(state.folded == BIG_BLIND, big_blind, shown)",
        "jnp.where(state.folded == BIG_BLIND, button, shown)",
    ),
    "at a showdown the loser loses what it has put in": (
        betting,
        "winner * jnp.minimum(button, big_blind)",
        "winner * (button + big_blind)",
    ),
    "the better hand wins": (betting, "shown = winner *", "shown = -winner *"),
    "sizes of raises": (
        abstraction,
        "jnp.where(is_size, action, 0) * highest",
        "jnp.where(is_size, action + 1, 0) * highest",
    ),
    "sizes of raises, as told": (
        abstraction,
        "size * highest for size",
        "(size + 1) * highest for size",
    ),
    "no size takes the whole stack": (
        abstraction,
        "(size * highest < most)",
        "(size * highest <= most)",
    ),
    "a short all-in may be chosen": (
        abstraction,
        "*sizes, least <= most",
        "*sizes, least < most",
    ),
}


def mutate(name: str) -> tuple[ModuleType, ModuleType]:
    """Return the modules `betting` and `abstraction` with one rule changed."""
    module, right, wrong = MUTANTS[name]
    changed = _changed(module, right, wrong)
    if module is abstraction:
        return betting, changed
    standing_on_it = _changed(abstraction, "", "")
    standing_on_it.__dict__["betting"] = changed
    return changed, standing_on_it


def _changed(module: ModuleType, right: str, wrong: str) -> ModuleType:
    """A copy of a module with one text replaced in its source."""
    assert module.__file__
    source = Path(module.__file__).read_text("utf-8")
    if right:
        assert source.count(right) == 1, f"{right!r} occurs {source.count(right)} times"
        source = source.replace(right, wrong)
    copy = ModuleType(f"changed_{module.__name__.rpartition('.')[2]}")
    sys.modules[copy.__name__] = copy  # where dataclasses look their module up
    exec(compile(source, f"<{copy.__name__}>", "exec"), copy.__dict__)
    return copy
