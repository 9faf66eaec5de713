"""The betting: its rules one by one, the whole abstract game, and bad input."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.envs.holdem import abstraction, betting
from jaxrace.envs.holdem.abstraction import CALL, FOLD, POT, TWO_POTS
from jaxrace.envs.holdem.betting import BIG_BLIND, BUTTON, Rules

ACPC = Rules()


def after(*actions, rules=ACPC):
    """The state after actions as betting.step takes them."""
    return functools.reduce(betting.step, actions, betting.init(rules))


def chips(state):
    return tuple(int(amount) for amount in state.contributions)


def raises(state):
    least, most = betting.raise_range(state)
    return int(least), int(most)


def won(state, winner=0):
    return tuple(int(amount) for amount in betting.payoffs(state, jnp.int32(winner)))


CHECKS = (1, 1)


def test_blinds_are_posted_and_the_button_begins():
    state = after()
    assert chips(state) == (50, 100)
    assert state.to_act == BUTTON
    assert raises(state) == (200, 20_000)


def test_the_big_blind_has_its_option():
    state = after(1)
    assert (state.street, state.to_act, chips(state)) == (0, BIG_BLIND, (100, 100))
    assert not betting.may_fold(state)
    assert raises(state) == (200, 20_000)
    assert after(1, 1).street == 1
    assert after(1, 300).to_act == BUTTON


@pytest.mark.parametrize("streets", [1, 2, 3])
def test_the_big_blind_begins_later_streets(streets):
    state = after(*CHECKS * streets)
    assert (state.street, state.to_act) == (streets, BIG_BLIND)
    assert not state.finished


def test_raises_by_the_last_raise():
    assert raises(after(250)) == (400, 20_000)
    assert raises(after(250, 900)) == (1_550, 20_000)
    assert raises(after(250, 900, 1_550)) == (2_200, 20_000)


def test_the_least_raise_is_one_big_blind_on_a_new_street():
    assert raises(after(250, 900, 1)) == (1_000, 20_000)
    assert raises(after(250, 900, 1, 1)) == (1_000, 20_000)


def test_a_short_all_in_is_legal_and_does_not_lower_the_raise():
    state = after(15_000)
    assert raises(state) == (20_000, 20_000)
    state = betting.step(state, 20_000)
    assert state.last_raise == 14_900
    assert raises(state) == (1, 0)
    assert np.asarray(abstraction.legal(state)).tolist() == [True, True, *[False] * 5]


def test_a_call_of_an_all_in_ends_the_betting():
    for before in ((), CHECKS, CHECKS * 2, CHECKS * 3):
        state = after(*before, 20_000, 1)
        assert state.finished
        assert state.street == len(before) // 2
        assert (won(state, 1), won(state, 0)) == ((20_000, -20_000), (0, 0))


def test_folding_is_not_offered_where_checking_is_free():
    assert betting.may_fold(after())
    assert not betting.may_fold(after(1))
    assert not betting.may_fold(after(*CHECKS))
    assert betting.may_fold(after(*CHECKS, 200))


def test_who_folds_loses_its_chips():
    assert won(after(0)) == (-50, 50)
    assert won(after(300, 0), winner=-1) == (100, -100)
    assert won(after(300, 1, 600, 0), winner=1) == (-300, 300)
    assert won(after(300, 1, 600, 20_000, 0)) == (600, -600)


def test_showdown():
    state = after(300, 1, *CHECKS * 3)
    assert state.finished
    assert [won(state, winner) for winner in (1, 0, -1)] == [(300, -300), (0, 0), (-300, 300)]


def test_stacks_of_one_big_blind():
    rules = Rules(stack=100)
    state = after(rules=rules)
    assert raises(state) == (1, 0)
    assert won(after(0, rules=rules)) == (-50, 50)
    state = after(1, rules=rules)
    assert state.finished
    assert won(state, -1) == (-100, 100)


def test_stacks_below_the_least_raise():
    state = after(rules=Rules(stack=150))
    assert raises(state) == (150, 150)
    assert np.asarray(abstraction.legal(state)).tolist() == [True, True, *[False] * 4, True]
    assert betting.step(betting.step(state, 150), 1).finished


def test_sizes_are_pots():
    """A raise of p pots after the call is to highest + p (2 highest)."""
    state = after(300, 1, 600)
    expected = [600 + int(pots * 1_200) for pots in (0.5, 1, 1.5, 2)]
    assert abstraction.totals(state).tolist() == [300, 600, *expected, 20_000]


def test_the_whole_stack_is_all_in():
    """Five times 4,000 is the stack: not a size of its own."""
    state = after(4_000)
    assert np.asarray(abstraction.legal(state)).tolist() == [*[True] * 5, False, True]
    assert abstraction.advance(state, POT).contributions[1] == 12_000
    state = after(3_999)
    assert abstraction.legal(state)[TWO_POTS]


# Enumeration: the states of a batch as rows of numbers.

WIDTH = 2_048  # more than there are states


def to_rows(state):
    leaves = [jnp.broadcast_to(leaf, (WIDTH,)).astype(jnp.int32) for leaf in jax.tree.leaves(state)]
    return jnp.stack(leaves, axis=1)


def to_state(rows, rules):
    example = betting.init(rules)
    leaves, structure = jax.tree.flatten(example)
    columns = [column.astype(leaf.dtype) for leaf, column in zip(leaves, rows.T, strict=True)]
    return jax.tree.unflatten(structure, columns)


@functools.partial(jax.jit, static_argnums=1)
def follow(rows, rules):
    """Where each action leads, whether it is legal, and whether the hand is over then."""
    state = to_state(rows, rules)
    actions = [abstraction.advance(state, jnp.full(WIDTH, a, jnp.int32)) for a in range(7)]
    legal = abstraction.legal(state)
    illegal = jnp.stack([following.illegal for following in actions])
    finished = jnp.stack([following.finished for following in actions])
    return jnp.stack([to_rows(following) for following in actions]), legal, illegal, finished


def explore(rules):
    """Distinct states where somebody acts, distinct ends, histories to the end, actions.

    An end is who has put in what and who has folded; not the street, nor the way there.
    """
    level = {tuple(np.asarray(to_rows(betting.init(rules)))[0].tolist()): 1}
    decisions, ends, histories, actions = set(), set(), 0, 0
    while level:
        decisions.update(level)
        rows = np.zeros((WIDTH, len(next(iter(level)))), np.int32)
        rows[: len(level)] = list(level)
        following, legal, illegal, finished = map(np.asarray, follow(jnp.asarray(rows), rules))
        counts = list(level.values())
        level, actions = {}, actions + 1
        assert (legal != illegal)[:, : len(counts)].all()
        for action, place in zip(*np.nonzero(legal[:, : len(counts)]), strict=True):
            state = tuple(following[action, place].tolist())
            if finished[action, place]:
                button, big_blind, folded = state[0], state[1], state[6]
                ends.add((button, big_blind, folded))
                histories += counts[place]
            else:
                level[state] = level.get(state, 0) + counts[place]
    return decisions, ends, histories, actions


def test_the_abstract_game():
    decisions, ends, histories, actions = explore(ACPC)
    assert (len(decisions), len(ends), histories, actions) == (1_632, 343, 876_354, 16)
    assert actions == abstraction.longest_hand(ACPC)


@pytest.mark.parametrize("stack", [100, 400, 401])
def test_longest_hands(stack):
    """A bound, exact but for stacks of one big blind."""
    rules = Rules(stack=stack)
    longest = explore(rules)[-1]
    assert longest == (1 if stack == 100 else abstraction.longest_hand(rules))


# Bad input.


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"stack": 99}, "stack: expected an integer of at least 100, got 99"),
        ({"stack": 500_000_000}, "stack: expected .* got 500000000"),
        ({"stack": 20_000.0}, r"stack: expected .* got 20000\.0"),
        ({"small_blind": 0}, "small_blind: expected an integer of at least 1, got 0"),
        ({"small_blind": True}, "small_blind: expected an integer of at least 1, got True"),
        ({"big_blind": 50}, "big_blind: expected an integer of at least 51, got 50"),
        ({"big_blind": "100"}, "big_blind: expected .* got '100'"),
    ],
)
def test_wrong_rules(kwargs, message):
    with pytest.raises(ValueError, match=message):
        Rules(**kwargs)


@pytest.mark.parametrize(
    ("before", "action", "message"),
    [
        ((1,), 0, r"action: expected one of 1 \(check or call\), 200\.\.20000 \(raise to\), got 0"),
        ((), 199, r"action: expected one of 0 \(fold\), 1 \(check or call\), 200\.\.\d+ .*got 199"),
        ((), 20_001, "got 20001"),
        ((), -1, "got -1"),
        ((20_000,), 20_000, r"expected one of 0 \(fold\), 1 \(check or call\), got 20000"),
        ((0,), 1, "action: expected none, as the hand is over, got 1"),
        ((), 1.0, r"action: expected an integer, got 1\.0"),
        ((), True, "action: expected an integer, got True"),
    ],
)
def test_illegal_bets(before, action, message):
    with pytest.raises(ValueError, match=message):
        betting.step(after(*before), action)


@pytest.mark.parametrize(
    "wide", [2**32 + 1, 2**40, -(2**32) + 1, np.int64(2**32), np.uint64(2**63)]
)
def test_wide_integers_are_not_cut(wide):
    """The lower 32 bits would be a fold, a call or a raise."""
    with pytest.raises(ValueError, match=r"action: expected one of .* got -1"):
        betting.step(after(), wide)
    with jax.enable_x64(True):
        assert betting.as_integer(jnp.asarray(wide)) == -1


def test_an_illegal_action_of_a_batch_is_named():
    states = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (3,)), after(1))
    with pytest.raises(ValueError, match=r"got 0 in hand \[1\]"):
        betting.step(states, jnp.array([CALL, FOLD, CALL], jnp.int32))


def test_compiled_code_flags_illegal_actions_and_plays_nothing():
    before = after(4_000)
    state = jax.jit(abstraction.advance)(before, jnp.int32(TWO_POTS))
    assert state.illegal
    assert not state.finished
    assert chips(state) == chips(before)
    assert not abstraction.legal(state).any()
    assert raises(state) == (1, 0)
    later = jax.jit(abstraction.advance)(state, jnp.int32(CALL))
    assert later.illegal
    assert chips(later) == chips(before)
    assert won(later, 1) == (0, 0)
